#pragma once
// Runs a Func under several schedules, sizes and mins, and compares every element with a formula;
// the reference evaluator is compared with the same formula.

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string>
#include <vector>

#include <pipe/pipe.h>

namespace everywhere {

struct Shape {
    int width, height, left, top;
};

inline const Shape shapes[] = {{1, 1, 0, 0}, {7, 3, -5, 2}, {33, 5, 100, -7}};
inline const char *const schedules[] = {"naive", "vector", "odd vector", "parallel"};

/// Of the pure definition, whose first dimension is x (and second y).
inline void schedule(Pipe::Func &f, const std::string &how) {
    using namespace Pipe;
    std::vector<Var> args = f.args();
    if (args.empty())
        return;
    if (how == "vector")
        f.vectorize(args[0], 16, TailStrategy::GuardWithIf);
    if (how == "odd vector")
        f.vectorize(args[0], 3, TailStrategy::GuardWithIf);
    if (how == "parallel") {
        f.vectorize(args[0], 8, TailStrategy::GuardWithIf);
        if (args.size() > 1)
            f.parallel(args[1]);
    }
}

template <typename T, typename Expected, typename Same>
void compare(const Pipe::Buffer<T> &out, const Expected &expected, const Same &same,
             const std::string &how) {
    int wrong = 0;
    std::string first;
    for (int64_t y = out.min(1); y <= out.max(1); y++)
        for (int64_t x = out.min(0); x <= out.max(0); x++) {
            T want = expected(static_cast<int>(x), static_cast<int>(y)), got = out(x, y);
            if (same(got, want))
                continue;
            if (wrong++ == 0)
                first = "at (" + std::to_string(x) + ", " + std::to_string(y) +
                        "): " + std::to_string(static_cast<double>(got)) + " instead of " +
                        std::to_string(static_cast<double>(want));
        }
    INFO(how << ", " << out.width() << " x " << out.height() << ", " << first);
    CHECK(wrong == 0);
}

/// `make()` gives the Func of two dimensions, anew each time; expected(x, y) is its value.
template <typename T, typename Expected, typename Same = std::equal_to<T>>
void check(const std::function<Pipe::Func()> &make, const Expected &expected,
           const Same &same = Same()) {
    using namespace Pipe;
    auto buffer = [](const Shape &s) {
        Buffer<T> out(s.width, s.height);
        out.set_min(s.left, s.top);
        return out;
    };
    for (const char *how : schedules) {
        Func f = make();
        schedule(f, how);
        for (const Shape &s : shapes) {
            Buffer<T> out = buffer(s);
            f.realize(out);
            compare(out, expected, same, how);
        }
    }
    for (const Shape &s : shapes) {
        Buffer<T> out = buffer(s);
        make().realize_reference(Realization(out));
        compare(out, expected, same, "reference");
    }
}

}  // namespace everywhere
