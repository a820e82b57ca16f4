// specialize: which schedule is used where, in what order, and that it changes no result.
#include <cmath>
#include <sstream>

#include "compare.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xi("xi");

struct Special {
    Param<int> p{"p"};
    Param<bool> wide{"wide"};
    Func f{"f"}, g{"g"};
    Special() {
        f(x, y) = x * y + p;
        f(x, y) += x;
        g(x, y) = f(x, y) + f(x, y + 1);
        f.compute_root();
    }
};

/// The text of a loop nest that stands inside of something.
std::string indented(const std::string &text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        result += "  " + line + "\n";
    return result;
}

/// All stages of Special, f by plain loops, g by these.
std::string loops_with(const std::string &outer, const std::string &inner) {
    std::string f_loops = indented("for y:\n" + indented("for x:\n  f(x, y) = ...\n"));
    return "produce f:\n" + f_loops + "produce f.update(0):\n" + f_loops + "produce g:\n" +
           indented(outer + ":\n" + indented(inner));
}

}  // namespace

// The specialized code knows what its condition says.
TEST_CASE("loops of a size that the condition says are unrolled and vectorized", "[specialize]") {
    for (bool vectorized : {false, true}) {
        Var c("c");
        Func f("f"), first("first"), second("second");
        f(x, y, c) = x + 10 * y + 100 * c;
        first(x, y, c) = f(x, y, c) + 1;
        second(x, y, c) = f(x, y, c) * 2;
        OutputImageParam a = first.output_buffer(), b = second.output_buffer();
        Stage special = f.compute_root().specialize(a.dim(2).extent() == 3 && a.dim(2).min() == 0 &&
                                                    3 == b.dim(2).extent() && b.dim(2).min() == 0);
        if (vectorized)
            special.vectorize(c);
        else
            special.unroll(c);
        for (int channels : {3, 4, 1}) {
            Realization out = Pipeline({first, second}).realize({5, 4, channels});
            Buffer<int> one = out[0], two = out[1];
            one.for_each_element([&](int i, int j, int k) {
                REQUIRE(one(i, j, k) == i + 10 * j + 100 * k + 1);
                REQUIRE(two(i, j, k) == 2 * (i + 10 * j + 100 * k));
            });
        }
    }
}

TEST_CASE("what a condition says of Params", "[specialize]") {
    Param<int> n("n");
    Param<bool> p("p");
    Param<float> zero("zero");
    Func f("f"), g("g");
    f(x) = select(p, x * n, x - n) + cast<int>(1 / zero > 0);
    g(x) = f(x) + f(x + 1);
    f.compute_root().specialize(p && n == 4);
    f.specialize(!(p || n != 2));
    f.specialize(zero == 0.0f);
    for (int value : {4, 2, 3})
        for (bool which : {true, false})
            for (float z : {0.0f, -0.0f, 1.0f}) {
                n.set(value);
                p.set(which);
                zero.set(z);
                Buffer<int> fast = g.realize({9}), slow = g.realize_reference({9});
                for (int i = 0; i < 9; i++)
                    REQUIRE(fast(i) == slow(i));
            }
}

TEST_CASE_METHOD(Special, "the first condition that holds is taken", "[specialize]") {
    g.specialize(p > 10).vectorize(x, 4, TailStrategy::GuardWithIf);
    g.specialize(p > 5).parallel(y);
    const std::string rows = "for x:\n  g(x, y) = ...\n",
                      vectors = "for x:\n  vectorized x_lane:\n    g(x, y) = ...\n";
    CHECK(Pipeline(g).loop_nest() ==
          "where p > 10:\n" + indented(loops_with("for y", vectors)) + "otherwise:\n" +
              indented("where p > 5:\n" + indented(loops_with("parallel y", rows)) +
                       "otherwise:\n" + indented(loops_with("for y", rows))));
    for (int value : {0, 6, 11}) {
        p.set(value);
        check_sizes(g, {1, 4, 9});
    }
}

TEST_CASE_METHOD(Special, "each definition has its own, nested ones too", "[specialize]") {
    Stage both = f.specialize(p > 3);
    both.specialize(wide).vectorize(x, 8, TailStrategy::RoundUp);
    f.update().specialize(p > 3).vectorize(x, 4);
    g.specialize(!(p > 3)).unroll(x, 2, TailStrategy::GuardWithIf);
    for (int value : {0, 4})
        for (bool w : {false, true}) {
            p.set(value);
            wide.set(w);
            check_sizes(g, {1, 8, 11});
        }
    std::string nest = Pipeline(g).loop_nest();
    // Where p > 3, that of the update is known too: no third level of choices but `wide`.
    CHECK(nest.find("where p > 3:\n  where wide:\n") != std::string::npos);
}

TEST_CASE_METHOD(Special, "specialize_fail", "[specialize]") {
    g.specialize(p == 1).vectorize(x, 4, TailStrategy::GuardWithIf);
    g.specialize(p == 2);
    g.specialize_fail("only 1 and 2 were foreseen");
    for (int value : {1, 2}) {
        p.set(value);
        check_sizes(g, {1, 9});
    }
    p.set(3);
    require_message<RuntimeError>(
        [&] {
            g.realize({4, 4});
        },
        {"specialize_fail of g", "only 1 and 2 were foreseen"});
    require_message<CompileError>([&] { g.specialize(p > 7); },
                                  {"g.specialize", "specialize_fail"});
}

TEST_CASE_METHOD(Special, "pasted as C++", "[specialize]") {
    g.specialize(p > 3).vectorize(x, 4, TailStrategy::GuardWithIf).specialize(wide).parallel(y);
    g.specialize_fail("no");
    std::string source = Pipeline(g).schedule_source();
    Special other;
    {
        Func &f = other.f, &g = other.g;
        Param<int> &p = other.p;
        Param<bool> &wide = other.wide;
        const auto g_x = g.args()[0];
        const auto g_y = g.args()[1];
        Var x_lane("x_lane");
        Stage g_special0 = g.specialize(p > 3);
        Stage g_special0_special0 = g_special0.specialize(wide);
        g_special0_special0.split(g_x, g_x, x_lane, 4, TailStrategy::GuardWithIf)
            .reorder(x_lane, g_x, g_y)
            .vectorize(x_lane)
            .parallel(g_y);
        g_special0.split(g_x, g_x, x_lane, 4, TailStrategy::GuardWithIf)
            .reorder(x_lane, g_x, g_y)
            .vectorize(x_lane);
        g.specialize_fail("no");
        f.compute_root();
    }
    CHECK(source == Pipeline(other.g).schedule_source());
}

TEST_CASE_METHOD(Special, "loops that only one version has", "[specialize]") {
    g.specialize(p > 3).split(x, x, xi, 4);
    f.compute_at(g, y);
    p.set(5);
    check_sizes(g, {4, 9});
    g.split(x, x, xi, 8, TailStrategy::GuardWithIf);
    f.compute_at(g, xi);
    check_sizes(g, {4, 9});
    Var other("other");
    g.rename(xi, other);
    f.compute_at(g, other);
    require_message<CompileError>(
        [&] {
            g.realize({8, 8});
        },
        {"f.compute_at(g, other)", "no loop 'other'"});
}

TEST_CASE_METHOD(Special, "too many versions", "[specialize]") {
    std::vector<Func> chain{f};
    for (int i = 0; i < 8; i++) {
        Func next;
        next(x, y) = chain.back()(x, y) + 1;
        next.compute_root().specialize(p > 100 + i).parallel(y);
        chain.push_back(next);
    }
    require_message<CompileError>(
        [&] {
            chain.back().realize({4, 4});
        },
        {"specialize", "too many versions"});
}

TEST_CASE_METHOD(Special, "a level at a loop that only specializations have", "[specialize]") {
    Var xo("xo");
    g.specialize(wide).split(x, xo, xi, 4, TailStrategy::GuardWithIf);
    g.specialize(!wide).split(x, xo, xi, 3, TailStrategy::GuardWithIf);
    SECTION("all versions") {
        g.specialize_fail("neither");
        f.compute_at(g, xo);
        p.set(5);
        for (bool value : {false, true}) {
            wide.set(value);
            for (int size : {1, 7}) {
                Buffer<int> out = g.realize({size, size});
                int wrong = 0;
                out.for_each_element(
                    [&](int i, int j) { wrong += out(i, j) != i * (2 * j + 1) + 2 * (i + 5); });
                CHECK(wrong == 0);
            }
        }
    }
    SECTION("not all") {
        f.compute_at(g, xo);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"f.compute_at(g, xo)", "no loop 'xo'", "x, y"});
    }
}

// As many loads as there are elements: of the select, no arm is left to be chosen.
TEST_CASE("a specialization knows the answer to its condition, wherever it is asked",
          "[specialize]") {
    struct Counter : JITUserContext {
        int loads = 0;
    };
    Param<float> real("real");
    Param<int> number("number");
    Param<uint8_t> byte("byte");
    const std::pair<const char *, std::function<Expr()>> conditions[] = {
        {"real > 1", [&] { return real > 1.0f; }},
        {"real == 1", [&] { return real == 1.0f; }},
        {"real != 1", [&] { return real != 1.0f; }},
        {"number == 1", [&] { return number == 1; }},
        {"number != 1", [&] { return number != 1; }},
        {"number % 2 == 0", [&] { return number % 2 == 0; }},
        {"1 < number < 5", [&] { return number > 1 && number < 5; }},
        {"number outside", [&] { return number > 1 || number < -5; }},
        {"byte > 3", [&] { return byte > 3; }},
        {"odd byte", [&] { return (byte & cast<uint8_t>(1)) != 0; }},
    };
    Buffer<int> image(16, 16);
    image.fill([](int i, int j) { return 100 * j + i; });
    for (const auto &[name, condition] : conditions) {
        for (int value : {0, 1, 2, 4, 9}) {
            INFO(name << ", " << value);
            ImageParam in(Int(32), 2, "in");
            in.set(image);
            in.trace_loads();
            Func chosen("chosen");
            chosen(x, y) = select(condition(), in(x, y), in(x * 2, y * 2));
            chosen.specialize(condition());
            Counter counter;
            counter.handlers.custom_trace = [](JITUserContext *context, const TraceEvent *event) {
                static_cast<Counter *>(context)->loads += event->event == TraceEventCode::Load;
                return 0;
            };
            real.set(value), number.set(value), byte.set(uint8_t(value));
            Buffer<int> got(8, 8);
            chosen.realize(&counter, got);
            CHECK(counter.loads == 64);
            Buffer<int> expected = chosen.realize_reference({8, 8});
            got.for_each_element([&](int i, int j) { REQUIRE(got(i, j) == expected(i, j)); });
        }
    }
}

// Neither is true of a NaN.
TEST_CASE("what is no opposite of a comparison of floats is asked", "[specialize]") {
    Param<float> real("real");
    Func f("f");
    f(x, y) = select(real <= 1.0f, 1, 0) + select(real > 1.0f, 2, 0);
    f.specialize(real > 1.0f);
    for (float value : {0.0f, 2.0f, NAN}) {
        real.set(value);
        Buffer<int> got = f.realize({1, 1});
        CHECK(got(0, 0) == (value <= 1 ? 1 : 0) + (value > 1 ? 2 : 0));
    }
}
