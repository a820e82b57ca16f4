// The identity of an algorithm: what changes it, and what does not.
#include <catch2/catch_test_macros.hpp>

#include <functional>

#include <pipe/pipe.h>

#include "language/algorithm.h"

using namespace Pipe;

namespace {

uint64_t fingerprint(const Func &output) {
    return language::algorithm_of({output}).fingerprint();
}

/// A blur, a sum of its rows, and what the tests change of them.
struct Program {
    ImageParam in{UInt(8), 2, "in"};
    Param<int> gain{"gain"};
    Var x{"x"}, y{"y"};
    RDom r{0, 8, "r"};
    Func blur{"blur"}, sums{"sums"};

    explicit Program(int weight = 2, Type type = Int(32)) {
        blur(x, y) = cast(type, in(x, y)) + weight * cast(type, in(x + 1, y));
        sums(y) = 0;
        sums(y) += cast<int>(blur(r, y)) * gain;
    }
};

std::string difference(const Func &before, const Func &now) {
    return language::difference(language::algorithm_of({before}), language::algorithm_of({now}));
}

}  // namespace

TEST_CASE("the same definitions have the same fingerprint", "[algorithm]") {
    const Program first, second;  // whose Funcs have other names in this process
    REQUIRE(first.sums.name() != second.sums.name());
    CHECK(fingerprint(first.sums) == fingerprint(second.sums));
    CHECK(difference(first.sums, second.sums) == "");
}

TEST_CASE("a changed definition is found and named", "[algorithm]") {
    const Program first;
    const Program constant(3);
    CHECK(fingerprint(first.sums) != fingerprint(constant.sums));
    CHECK(difference(first.sums, constant.sums) == "Func 'blur' has another definition");
    const Program type(2, Int(16));
    CHECK(difference(first.sums, type.sums) ==
          "Func 'blur' has another type: now int16, then int32; "
          "Func 'sums' has another definition");
    Program update;
    update.sums(update.y) += 1;
    CHECK(difference(first.sums, update.sums) == "Func 'sums' has another definition");
}

TEST_CASE("Funcs that come and go, and dimensions, are named", "[algorithm]") {
    Var x("x"), y("y"), z("z");
    auto build = [&](bool stored, const std::vector<Var> &args) {
        Func f("f"), g("g"), h("h");
        f(args) = Expr(args[0]) + 1;
        if (stored)
            g(x) = f(x) * 2;
        h(x) = stored ? g(x) : f(x) * 2;
        return h;
    };
    const Func with = build(true, {x}), without = build(false, {x});
    CHECK(difference(with, without) ==
          "Func 'h' has another definition; Func 'g' no longer exists");
    CHECK(difference(without, with) == "Func 'g' is new; Func 'h' has another definition");
    const Func renamed = build(false, {z});
    CHECK(difference(without, renamed) == "Func 'f' has other dimensions: now z, then x");
}

TEST_CASE("schedules and source lines do not belong to the algorithm", "[algorithm]") {
    const Program plain;
    Program scheduled;
    Var yi("yi");
    scheduled.blur.compute_at(scheduled.sums, scheduled.y).vectorize(scheduled.x, 8);
    scheduled.sums.split(scheduled.y, scheduled.y, yi, 4).parallel(scheduled.y);
    scheduled.in.in(scheduled.blur).compute_root();
    scheduled.blur.clone_in(scheduled.sums).compute_root();
    RVar outer("outer"), inner("inner");
    Var u("u");
    scheduled.sums.update().split(scheduled.r, outer, inner, 4).rfactor(inner, u).compute_root();
    CHECK(difference(plain.sums, scheduled.sums) == "");
    CHECK(fingerprint(plain.sums) == fingerprint(scheduled.sums));
}

TEST_CASE("what the user did not name is told by its position", "[algorithm]") {
    auto build = [](int constant) {
        Var x, y;
        Func f, g, out("out");
        RDom r(0, 3);
        f(x, y) = x + y;
        g(x, y) = f(x, y) * constant;
        out(x, y) = g(x, y);
        out(x, y) += f(x + r, y);
        return out;
    };
    const Func first = build(1), second = build(1), other = build(2);
    CHECK(fingerprint(first) == fingerprint(second));
    CHECK(difference(first, other) == "Func '#1' has another definition");
    CHECK(language::algorithm_of({first}).funcs[0].dimensions ==
          std::vector<std::string>{"#0", "#1"});
}

TEST_CASE("Params and images are told by their order, not by their names", "[algorithm]") {
    auto build = [](const std::string &a, const std::string &b, bool swapped) {
        Param<int> p(a), q(b);
        Var x("x");
        Func f("f");
        f(x) = swapped ? q - x - p : p - x - q;
        return f;
    };
    CHECK(fingerprint(build("p", "q", false)) == fingerprint(build("s", "t", false)));
    auto twice = [](bool same) {
        Param<int> p("p"), q("q");
        Var x("x");
        Func f("f");
        f(x) = p * x + (same ? p : q);
        return f;
    };
    CHECK(fingerprint(twice(true)) != fingerprint(twice(false)));
}

TEST_CASE("each kind of node counts", "[algorithm]") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 1, "in");
    const std::vector<std::function<Expr()>> values{
        [&] { return in(x); },
        [&] { return in(x) + 1; },
        [&] { return in(x) + 1.5f; },
        [&] { return in(x)-1; },
        [&] { return in(y); },
        [&] { return in(x + 1); },
        [&] { return sqrt(in(x)); },
        [&] { return exp(in(x)); },
        [&] { return select(x < y, in(x), 0.0f); },
        [&] { return select(x <= y, in(x), 0.0f); },
        [&] { return cast<float>(in.width()); },
        [&] { return cast<float>(in.left()); },
        [&] { return cast<float>(cast<int>(in(x))); },
        [&] { return cast<float>(cast<int8_t>(in(x))); },
        [&] { return reinterpret<float>(cast<int>(in(x))); },
    };
    std::vector<uint64_t> all;
    for (const auto &value : values) {
        Func f("f");
        f(x, y) = value();
        const uint64_t now = fingerprint(f);
        for (uint64_t before : all)
            CHECK(now != before);
        all.push_back(now);
    }
}
