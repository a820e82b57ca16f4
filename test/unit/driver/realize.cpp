// Compile, cache, run.
#include <atomic>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pipe/pipe.h>

#include "test/support/everywhere.h"

using namespace Pipe;

namespace {

struct Blur {
    Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"};
    ImageParam in{UInt(16), 2, "in"};
    Func bx{"bx"}, by{"by"};
    Buffer<uint16_t> image{66, 66};

    Blur() {
        bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
        by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
        image.fill([](int x, int y) { return 3 * x + y; });
        in.set(image);
    }
    static bool right(const Buffer<uint16_t> &out) {
        bool all = true;
        out.for_each_element([&](int x, int y) { all &= out(x, y) == 3 * (x + 1) + y + 1; });
        return all;
    }
    void schedule() {
        by.split(y, yo, yi, 32).parallel(yo).vectorize(x, 16);
        bx.store_at(by, yo).compute_at(by, yi).vectorize(x, 16);
    }
};

}  // namespace

TEST_CASE_METHOD(Blur, "realize of sizes and of a Buffer", "[driver]") {
    Buffer<uint16_t> made = by.realize({64, 64});
    CHECK(right(made));
    Buffer<uint16_t> given(30, 20);
    by.realize(given);
    CHECK(right(given));
    Buffer<uint16_t> shifted(10, 10);
    shifted.set_min(20, 31);
    by.realize(shifted);
    CHECK(right(shifted));
}

TEST_CASE_METHOD(Blur, "directives after a realize are heeded", "[driver]") {
    Pipeline pipeline(by);
    Buffer<uint16_t> out(64, 64);
    pipeline.realize(out);
    CHECK(pipeline.loop_nest().find("parallel") == std::string::npos);
    schedule();
    out.fill(0);
    pipeline.realize(out);
    CHECK(right(out));
    CHECK(pipeline.loop_nest().find("parallel yo") != std::string::npos);
}

TEST_CASE_METHOD(Blur, "a schedule is right for every size", "[driver]") {
    schedule();
    for (int w : {1, 3, 16, 17, 40})
        for (int h : {1, 2, 31, 33, 64}) {
            Buffer<uint16_t> out = by.realize({w, h});
            INFO(w << " x " << h);
            CHECK(right(out));
        }
}

TEST_CASE_METHOD(Blur, "buffers that are not dense", "[driver]") {
    schedule();
    Buffer<uint16_t> wide(2 * 66, 66);
    Buffer<uint16_t> every_second(wide.data(), {{0, 66, 2}, {0, 66, 132}});
    every_second.copy_from(image);
    in.set(every_second);
    Buffer<uint16_t> out = by.realize({64, 64});
    CHECK(right(out));
}

TEST_CASE_METHOD(Blur, "several threads share one Pipeline", "[driver]") {
    schedule();
    Pipeline pipeline(by);
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 20; i++) {
                Buffer<uint16_t> out(64, 64);
                pipeline.realize(out);
                good += right(out);
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(good == 80);
}

TEST_CASE_METHOD(Blur, "autoschedule takes sizes from the first realize", "[driver]") {
    Pipeline pipeline(by);
    Buffer<uint16_t> out(64, 64);
    pipeline.autoschedule(get_host_target()).realize(out);
    CHECK(right(out));
    CHECK_FALSE(pipeline.schedule_report().empty());
    std::string source = pipeline.schedule_source();
    for (int w : {1, 7, 33}) {
        Buffer<uint16_t> small(w, w);
        pipeline.realize(small);
        CHECK(right(small));
    }
    CHECK(pipeline.schedule_source() == source);  // made once
    CHECK(pipeline.compile_times().llvm_ms > 0);
}

TEST_CASE_METHOD(Blur, "compile times tell the passes of lowering, of the last code only",
                 "[driver]") {
    by.specialize(in.dim(0).extent() == 32);  // every pass runs twice
    Pipeline pipeline(by);
    Buffer<uint16_t> out(32, 32);
    pipeline.realize(out);
    const CompileTimes first = pipeline.compile_times();
    double sum = 0;
    std::vector<std::string> names;
    for (const auto &[name, ms] : first.pass_ms) {
        names.push_back(name);
        sum += ms;
        CHECK(ms > 0);
    }
    CHECK(names.front() == "in-place");
    CHECK(names.back() == "lifetimes");
    CHECK(sum < first.lower_ms);
    pipeline.invalidate_cache();
    pipeline.realize(out);
    CHECK(pipeline.compile_times().pass_ms.size() == names.size());
}

TEST_CASE_METHOD(Blur, "a user's directives stay under the autoscheduler", "[driver]") {
    bx.compute_root().vectorize(x, 4);
    Pipeline pipeline(by);
    Buffer<uint16_t> out(64, 64);
    pipeline.autoschedule(get_host_target()).realize(out);
    CHECK(right(out));
    CHECK(pipeline.schedule_source().find("x_lane, 4") != std::string::npos);
}

TEST_CASE("a level inside a Func that is left open keeps that Func", "[driver]") {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = x + y;
    b(x, y) = a(x, y) + a(x, y + 1);
    c(x, y) = b(x, y) * 2;
    a.compute_at(b, y);
    Pipeline pipeline(c);
    Buffer<int> out(40, 30);
    pipeline.autoschedule(get_host_target()).realize(out);
    CHECK(out(3, 4) == 2 * (7 + 8));
    CHECK(pipeline.schedule_source().find("compute_at(b, b_y)") != std::string::npos);
}

TEST_CASE("an illegal directive is an error under the autoscheduler too", "[driver]") {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = x + y;
    b(x, y) = a(x, y);
    c(x, y) = b(x, y) + a(x, y);
    b.compute_root();
    a.compute_at(b, y);
    Pipeline pipeline(c);
    CHECK_THROWS_AS(pipeline.autoschedule(get_host_target()).realize({8, 8}), CompileError);
    a.compute_root();
    Buffer<int> out = pipeline.realize({8, 8});
    CHECK(out(2, 3) == 10);
}

TEST_CASE("a Param whose type is chosen when the program runs", "[driver]") {
    Var x("x");
    for (Type type : {UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32), UInt(64), Int(64),
                      Float(16), BFloat(16), Float(32), Float(64)}) {
        INFO(to_string(type));
        Param<> p(type, "p");
        CHECK(p.type() == type);
        Func f("f");
        f(x) = cast<double>(p) + x;
        p.set(0);
        CHECK(Buffer<double>(f.realize({3}))(2) == 2);
        for (int value : {0, 1, 96}) {
            p.set(value);
            CHECK(Buffer<double>(f.realize({3}))(2) == value + 2);
        }
        if (!type.is_uint()) {
            p.set(-5);
            CHECK(Buffer<double>(f.realize({3}))(0) == -5);
        }
        if (type.is_float()) {
            p.set(0.25);
            CHECK(Buffer<double>(f.realize({3}))(1) == 1.25);
        }
    }
    Param<> flag(Bool(), "flag"), big(UInt(64), "big");
    flag.set(true);
    big.set(uint64_t(1) << 63);
    CHECK(flag.get<bool>());
    CHECK(big.get<uint64_t>() == uint64_t(1) << 63);
    Func g("g");
    g(x) = select(flag, big + 1, 0);
    CHECK(Buffer<uint64_t>(g.realize({1}))(0) == (uint64_t(1) << 63) + 1);
}

// It was compiled a second time, for the same target by another name.
TEST_CASE("without a target, it is the one that was compiled for", "[driver]") {
    static int tables;
    tables = 0;
    Var x("x");
    Func f("f");
    f(x) = x;
    Pipeline p(f);
    p.jit_handlers().custom_print = [](JITUserContext *, const char *) { tables++; };
    const Target host = get_host_target(), profile = host.with_feature(Target::Profile);
    p.compile_jit(profile);
    p.realize({4});
    CHECK(tables > 0);
    p.compile_jit(host);
    tables = 0;
    p.realize({4});
    CHECK(tables == 0);
    p.realize({4}, profile);
    CHECK(tables > 0);
}

TEST_CASE("Params are read at every realize", "[driver]") {
    Var x("x");
    Param<float> gain("gain", 2.0f);
    Param<uint8_t> add("add", 200);
    Param<bool> negate("negate", false);
    Func f("f");
    f(x) = select(negate, -1.0f, 1.0f) * (gain * x + add);
    Buffer<float> out = f.realize({4});
    CHECK(out(3) == 206.0f);
    gain.set(0.5f);
    negate.set(true);
    f.realize(out);
    CHECK(out(2) == -201.0f);
}

TEST_CASE("several outputs and values", "[driver]") {
    Var x("x");
    Func a("a"), b("b");
    a(x) = x + 1;
    b(x) = Tuple(a(x) * 2, cast<float>(x) / 2);
    Buffer<int> out_a(10), out_b0(10);
    Buffer<float> out_b1(10);
    Pipeline({a, b}).realize(out_a, out_b0, out_b1);
    CHECK(out_a(3) == 4);
    CHECK(out_b0(3) == 8);
    CHECK(out_b1(3) == 1.5f);
    Realization all = Pipeline({a, b}).realize({10});
    CHECK(all.size() == 3);
}

TEST_CASE("several outputs and values, at all sizes and places", "[driver]") {
    Var x("x"), y("y");
    for (const char *how : everywhere::schedules)
        for (bool reference : {false, true}) {
            Func a("a"), b("b");
            a(x, y) = x + y;
            b(x, y) = Tuple(a(x, y) * 2, cast<float>(x));
            everywhere::schedule(a, how);
            everywhere::schedule(b, how);
            Pipeline pipeline({a, b});
            for (auto [width, height, left, top] : everywhere::shapes) {
                Buffer<int> sum(width, height), twice(width, height);
                Buffer<float> place(width, height);
                sum.set_min(left, top);
                twice.set_min(left, top);
                place.set_min(left, top);
                if (reference)
                    pipeline.realize_reference(Realization(sum, twice, place));
                else
                    pipeline.realize(sum, twice, place);
                int wrong = 0;
                sum.for_each_element([&](int i, int j) {
                    wrong += sum(i, j) != i + j;
                    wrong += twice(i, j) != 2 * (i + j);
                    wrong += place(i, j) != static_cast<float>(i);
                });
                INFO(how << ", " << width << " x " << height << ", reference " << reference);
                CHECK(wrong == 0);
            }
        }
}

TEST_CASE("inline reductions", "[driver]") {
    Var x("x");
    Buffer<int> data(10);
    data.fill([](int i) { return (i * 7) % 10; });
    RDom r(0, 10, "r");
    Func f("f"), g("g"), h("h");
    f(x) = sum(data(r)) + product(r, Expr(2)) + maximum(data(r)) * 10000 + minimum(data(r) + x);
    Buffer<int> out = f.realize({3});
    CHECK(out(2) == 45 + 1024 + 90000 + 2);
    g() = argmax(data(r));
    Realization best = g.realize();
    CHECK(Buffer<int>(best[0])() == 7);
    CHECK(Buffer<int>(best[1])() == 9);
    r = RDom(0, 10, "s");
    r.where(data(r) % 2 == 0);
    h(x) = sum(r, data(r) + x);
    Buffer<int> even = h.realize({2});
    CHECK(even(1) == 20 + 5);
}

TEST_CASE("boundary conditions", "[driver]") {
    Buffer<int> data(5);
    data.fill([](int i) { return i; });
    auto at = [&](const Func &f) {
        Buffer<int> out(15);
        out.set_min(-5);
        Func(f).realize(out);
        std::vector<int> values;
        for (int i = -5; i < 10; i++)
            values.push_back(out(i));
        return values;
    };
    using V = std::vector<int>;
    CHECK(at(BoundaryConditions::constant_exterior(data, 9)) ==
          V{9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 9, 9, 9, 9, 9});
    CHECK(at(BoundaryConditions::repeat_edge(data)) ==
          V{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4});
    CHECK(at(BoundaryConditions::repeat_image(data)) ==
          V{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    CHECK(at(BoundaryConditions::mirror_image(data)) ==
          V{4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0});
    CHECK(at(BoundaryConditions::mirror_interior(data)) ==
          V{3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1});
}

TEST_CASE_METHOD(Blur, "the reference evaluator agrees", "[driver]") {
    Buffer<uint16_t> out(20, 20);
    Pipeline(by).realize_reference(out);
    CHECK(right(out));
}

TEST_CASE("quick code computes the same", "[realize]") {
    Var x("x");
    Func f("f");
    f(x) = cast<float>(x) * 3 + sqrt(cast<float>(x + 5));
    f.vectorize(x, 8, TailStrategy::GuardWithIf);
    Pipeline pipeline(f);
    Buffer<float> normal = pipeline.realize({37});
    Buffer<float> quick = pipeline.realize({37}, Target().with_feature(Target::QuickCompile));
    for (int i = 0; i < 37; i++)
        CHECK(normal(i) == quick(i));
}

TEST_CASE_METHOD(Blur, "an output without elements, of which nothing is computed", "[driver]") {
    schedule();
    for (auto [w, h] : {std::pair{0, 4}, {4, 0}, {0, 0}}) {
        Buffer<uint16_t> none(w, h);
        CHECK_NOTHROW(by.realize(none));
        Buffer<uint16_t> made = by.realize({w, h});
        CHECK(made.width() == w);
        CHECK(made.height() == h);
    }
    CHECK(right(by.realize({64, 64})));
}

TEST_CASE("an input without elements", "[driver]") {
    Var x("x");
    ImageParam in(UInt(8), 1, "in");
    Func brighter("brighter"), count("count"), out("out");
    RDom r(in);
    brighter(x) = in(x) + 1;
    count(x) = 5;
    count(brighter(r)) += 1;
    out(x) = count(x) + sum(cast<int>(in(r)));
    int how = GENERATE(0, 1, 2, 3);
    if (how > 0)
        brighter.compute_root(), count.compute_root();
    if (how == 2)
        brighter.vectorize(x, 8), count.update().vectorize(r, 8);
    if (how == 3)
        brighter.vectorize(x, 8, TailStrategy::GuardWithIf).parallel(x),
            count.update().atomic().parallel(r);
    for (int size : {0, 3, 0, 20}) {
        Buffer<uint8_t> image(size);
        image.fill([](int i) { return i % 3; });
        in.set(image);
        Buffer<int> fast(256), slow(256);
        out.realize(fast);
        out.realize_reference(Realization(slow));
        fast.for_each_element([&](int i) { REQUIRE(fast(i) == slow(i)); });
        REQUIRE(fast(0) == (size == 0 ? 5 : 5 + (size == 3 ? 3 : 19)));
    }
}
