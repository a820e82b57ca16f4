// rfactor of argmin and argmax, in the forms in which programs write them.
#include <array>
#include <climits>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include <limits>

#include "test/support/require_message.h"

using namespace Pipe;

// The forms in which programs write it. Reads of one Buffer were different expressions.
TEST_CASE("rfactor of argmin and argmax, however they are written", "[rfactor]") {
    Buffer<int> in(23, 17);
    in.fill([](int i, int j) { return (i * 7 + j * 13) % 11; });
    Var u("u");
    for (int how = 0; how < 5; how++) {
        INFO("form " << how);
        RDom r(0, 23, 0, 17, "r");
        Func best("best");
        const bool largest = how == 3 || how == 4;
        best() = Tuple(largest ? -100 : 100, -1, -1);
        const Expr key = best()[0], i = best()[1], j = best()[2], value = in(r.x, r.y);
        if (how == 0)
            best() = Tuple(select(in(r.x, r.y) < key, in(r.x, r.y), key),
                           select(in(r.x, r.y) < key, r.x, i), select(key > in(r.x, r.y), r.y, j));
        if (how == 1)
            best() =
                Tuple(min(value, key), select(value < key, r.x, i), select(value < key, r.y, j));
        if (how == 2)
            best() = Tuple(select(key <= value, key, value), select(key <= value, i, r.x),
                           select(value >= key, j, r.y));
        if (how == 3)
            best() =
                Tuple(max(key, value), select(value > key, r.x, i), select(value > key, r.y, j));
        if (how == 4)
            best() = Tuple(select(key >= value, key, value), select(value <= key, i, r.x),
                           select(key >= value, j, r.y));
        best.update().rfactor(r.y, u).compute_root().update().parallel(u);
        Realization got = best.realize();
        int want = largest ? -100 : 100, x = -1, y = -1;
        for (int b = 0; b < 17; b++)
            for (int a = 0; a < 23; a++)
                if (largest ? in(a, b) > want : in(a, b) < want)
                    want = in(a, b), x = a, y = b;
        CHECK(Buffer<int>(got[0])() == want);
        CHECK(Buffer<int>(got[1])() == x);
        CHECK(Buffer<int>(got[2])() == y);
    }
}

namespace {

/// One way to write an argmin or argmax of `value` at (i, j): what update() gives is (key, i, j).
struct ArgForm {
    const char *name;
    bool largest, last;
    Tuple (*update)(const Expr &key, const Expr &i, const Expr &j, const Expr &value,
                    const RDom &r);
};

const ArgForm arg_forms[] = {
    {"min, <", false, true,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(min(key, v), select(key < v, i, r.x), select(key < v, j, r.y));
     }},
    {"min, >", false, true,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(min(v, key), select(v > key, i, r.x), select(key >= v, r.y, j));
     }},
    {"min, <=", false, true,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(select(v <= key, v, key), select(v <= key, r.x, i), select(key < v, j, r.y));
     }},
    {"max, >", true, true,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(max(key, v), select(key > v, i, r.x), select(v < key, j, r.y));
     }},
    {"max, >=", true, true,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(max(v, key), select(v >= key, r.x, i), select(key <= v, r.y, j));
     }},
    {"not", false, false,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         return Tuple(min(key, v), select(!(v < key), i, r.x), select(!!(v < key), r.y, j));
     }},
    {"casts", false, false,
     [](const Expr &key, const Expr &i, const Expr &j, const Expr &v, const RDom &r) {
         Expr better = cast<int64_t>(v) < cast<int64_t>(key);
         return Tuple(min(key, v), select(better, r.x, i), select(better, r.y, j));
     }},
};

/// (key, i, j) of all points in their order, as the form says.
std::array<int, 3> arg_of(const Buffer<int> &in, int width, int height, const ArgForm &form,
                          int start) {
    std::array<int, 3> best{start, -1, -1};
    for (int b = 0; b < height; b++)
        for (int a = 0; a < width; a++) {
            const int v = in(a, b);
            const bool better = form.largest ? v > best[0] : v < best[0];
            if (better || (form.last && v == best[0]))
                best = {v, a, b};
        }
    return best;
}

}  // namespace

TEST_CASE("rfactor of argmin that keeps the last of equal ones", "[rfactor]") {
    Buffer<int> in(23, 17);
    Var u("u"), v("v");
    RVar yo("yo"), yi("yi");
    // Many equal values; and none that is better than the start, which is the identity.
    for (bool flat : {false, true})
        for (const ArgForm &form : arg_forms)
            for (int how = 0; how < 3; how++) {
                INFO(form.name << ", schedule " << how << (flat ? ", flat" : ""));
                const int start = form.largest ? INT_MIN : INT_MAX;
                in.fill([&](int i, int j) { return flat ? start : (i * 7 + j * 13) % 11; });
                Param<int> height("height");
                RDom r(0, 23, 0, height, "r");
                Func best("best");
                best() = Tuple(start, -1, -1);
                best() = form.update(best()[0], best()[1], best()[2], in(r.x, r.y), r);
                if (how == 0)
                    best.update().rfactor(r.y, u).compute_root().update().parallel(u);
                if (how == 1)
                    best.update().split(r.y, yo, yi, 4).rfactor(yo, u).compute_root();
                if (how == 2)  // parts without a point at the end of the last rows of four
                    best.update().split(r.y, yo, yi, 4).rfactor({{yo, u}, {yi, v}}).compute_root();
                for (int rows : {17, 1, 0}) {
                    INFO(rows << " rows");
                    height.set(rows);
                    Realization got = best.realize();
                    const std::array<int, 3> want = arg_of(in, 23, rows, form, start);
                    for (size_t i = 0; i < 3; i++)
                        CHECK(Buffer<int>(got[i])() == want[i]);
                }
            }
}

TEST_CASE("rfactor of argmin that keeps the last of equal ones, where parts may have no points",
          "[rfactor][error]") {
    Buffer<int> in(23, 17);
    Var x("x"), u("u");
    RDom r(0, 23, 0, 17, "r");
    r.where(in(r.x, r.y) > 3);
    Func last("last");
    last() = Tuple(100, -1);
    last() = Tuple(select(in(r.x, r.y) <= last()[0], in(r.x, r.y), last()[0]),
                   select(in(r.x, r.y) <= last()[0], r.x, last()[1]));
    require_message<CompileError>(
        [&] { last.update().rfactor(r.y, u); },
        {"last.update(0).rfactor", "argmin.cpp:", "condition", "last one of equal values", "< for <="});
    RDom s(0, 23, 0, 17, "s");
    Func rows("rows");
    rows(x) = Tuple(100, -1);
    const Expr at = in(s.x, s.y) % 5, key = rows(at)[0];
    rows(at) = Tuple(min(s.x, key), select(s.x <= key, s.y, rows(at)[1]));
    require_message<CompileError>([&] { rows.update().rfactor(s.y, u); },
                                  {"rows.update(0).rfactor", "writes each element", "< for <="});
}

namespace {

/// Few different values, so that many are equal, and -infinity.
Buffer<float> with_ties(int width, int height) {
    Buffer<float> image(width, height);
    image.fill([](int x, int y) {
        const int v = (x * 7 + y * 5 + x * y) % 4;
        return v == 3 ? -std::numeric_limits<float>::infinity() : float(v);
    });
    return image;
}

}  // namespace

// Of equal values, the first one in the order of the definition counts, whichever lane or task finds it.
TEST_CASE("argmax in lanes and tasks keeps the first of equal ones", "[schedule]") {
    constexpr int width = 53, height = 19;
    const Buffer<float> image = with_ties(width, height);
    for (const bool largest : {false, true})
        for (const int first : {0, 3})
            for (const int form : {0, 1, 2, 3, 4, 5}) {
                INFO("largest " << largest << ", from " << first << ", form " << form);
                RDom r(first, width - first, first, height - first, "r");
                RVar outer("outer"), lane("lane"), all("all"), task("task"), step("step");
                Func best("best");
                best() = largest ? argmax(r, image(r.x, r.y), best.name() + "_arg")
                                 : argmin(r, image(r.x, r.y), best.name() + "_arg");
                Func arg = Pipeline(best).get_func(0);
                arg.compute_root();
                if (form == 1 || form == 3)
                    arg.update().split(r.x, outer, lane, 8).vectorize(lane);
                if (form == 2 || form == 3)
                    arg.update().parallel(r.y);
                if (form == 4)
                    arg.update().split(r.y, outer, lane, 4).parallel(outer);
                if (form == 5)
                    arg.update()
                        .fuse(r.x, r.y, all)
                        .split(all, task, step, 120)
                        .split(step, outer, lane, 8)
                        .vectorize(lane)
                        .parallel(task);
                const std::string loops = Pipeline(best).loop_nest();
                CHECK((loops.find("_parts") != std::string::npos) == (form > 0));
                int x = first, y = first;
                float value = largest ? -std::numeric_limits<float>::max()
                                      : std::numeric_limits<float>::max();
                for (int j = first; j < height; j++)
                    for (int i = first; i < width; i++)
                        if (largest ? image(i, j) > value : image(i, j) < value)
                            value = image(i, j), x = i, y = j;
                Realization found = best.realize();
                CHECK(Buffer<int>(found[0])() == x);
                CHECK(Buffer<int>(found[1])() == y);
                CHECK(Buffer<float>(found[2])() == value);
            }
}

TEST_CASE("argmin in lanes: where no value is better than the first one", "[schedule]") {
    Buffer<uint8_t> image(40);
    image.fill(255);
    RDom r(2, 38, "r");
    RVar outer("outer"), lane("lane");
    Func best("best");
    Var x("x");
    best(x) = argmin(r, image(r) + cast<uint8_t>(0 * x), "best_arg");
    Pipeline(best).get_func(0).compute_root().update().split(r, outer, lane, 8).vectorize(lane);
    Realization found = best.realize({3});
    CHECK(Buffer<int>(found[0])(1) == 2);
    CHECK(Buffer<uint8_t>(found[1])(1) == 255);
}

// What was there before the update would lose to an equal value at a smaller place, and a second update knows nothing of the places of
// the first one.
TEST_CASE("argmin in lanes is refused where equal values could be confused", "[schedule]") {
    Buffer<int> image(64);
    image.fill([](int x) { return x % 3; });
    RDom r(0, 64, "r");
    RVar outer("outer"), lane("lane");
    auto vectorized = [&](int initial, int stage) {
        Func f("f");
        f() = Tuple(initial, 1);
        for (int s = 0; s <= stage; s++) {
            const Expr better = image(r) < f()[1];
            f() = Tuple(select(better, Expr(r), f()[0]), select(better, image(r), f()[1]));
        }
        f.update(stage).split(r, outer, lane, 8).vectorize(lane);
        return Pipeline(f).loop_nest();
    };
    CHECK(vectorized(0, 0).find("_parts") != std::string::npos);
    CHECK(vectorized(-5, 0).find("_parts") != std::string::npos);
    CHECK_THROWS_AS(vectorized(1, 0), CompileError);
    CHECK_THROWS_AS(vectorized(0, 1), CompileError);
}

TEST_CASE("argmax of the place itself, in lanes", "[schedule]") {
    for (const bool key_first : {false, true}) {
        RDom r(0, 40, "r");
        RVar outer("outer"), lane("lane");
        Func f("f");
        f() = Tuple(-7, -7);
        const Expr best = f()[key_first ? 0 : 1], place = f()[key_first ? 1 : 0];
        const Expr new_best = select(r > best, r, best), new_place = select(r > best, r, place);
        f() = key_first ? Tuple(new_best, new_place) : Tuple(new_place, new_best);
        f.update().split(r, outer, lane, 8).vectorize(lane);
        Realization found = f.realize();
        CHECK(Buffer<int>(found[0])() == 39);
        CHECK(Buffer<int>(found[1])() == 39);
    }
}

// The order of the RVars decides which of equal values is kept.
TEST_CASE("argmin: its RVars keep their order", "[schedule]") {
    Buffer<int> image(32, 16);
    image.fill([](int x, int y) { return (x + y) % 3; });
    RDom r(image);
    Func best("best");
    best() = argmin(r, image(r.x, r.y), "best_arg");
    Func arg = Pipeline(best).get_func(0);
    arg.compute_root().update().reorder(r.y, r.x);
    CHECK_THROWS_AS(best.compile_jit(), CompileError);
}
