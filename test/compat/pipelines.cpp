// Pipelines as Halide's users write them; results against plain loops.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace Halide;
using namespace Halide::ConciseCasts;

// A name that users like, and that must not meet one of the library's.
static void schedule(Func f, const Var &x) {
    f.compute_root().vectorize(x, 8);
}

namespace {

int clamp_to(int v, int lo, int hi) {
    return std::min(std::max(v, lo), hi);
}

Buffer<uint8_t> test_image(int w, int h) {
    Buffer<uint8_t> image(w, h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            image(x, y) = uint8_t((x * 7 + y * 13 + x * y) % 251);
    return image;
}

}  // namespace

TEST_CASE("a gradient, for several sizes and mins", "[compat]") {
    Func gradient;
    Var x, y;
    Expr e = x + y;
    gradient(x, y) = e;
    for (int w : {1, 3, 800})
        for (int h : {1, 5, 17}) {
            Buffer<int32_t> output = gradient.realize({w, h});
            int wrong = 0;
            for (int j = 0; j < output.height(); j++)
                for (int i = 0; i < output.width(); i++)
                    wrong += output(i, j) != i + j;
            CHECK(wrong == 0);
        }
    Buffer<int> shifted(5, 7);
    shifted.set_min(100, -50);
    gradient.realize(shifted);
    CHECK(shifted(102, -49) == 53);
}

TEST_CASE("a function of the user's called schedule", "[compat]") {
    Func twice("twice"), next("next");
    Var x("x");
    twice(x) = 2 * x;
    next(x) = twice(x) + twice(x + 1);
    schedule(twice, x);
    Buffer<int> output = next.realize({19});
    for (int i = 0; i < 19; i++)
        CHECK(output(i) == 4 * i + 2);
}

TEST_CASE("brightening an image", "[compat]") {
    Buffer<uint8_t> input = test_image(31, 9);
    Func brighter("brighter");
    Var x("x"), y("y");
    Expr value = input(x, y);
    value = Halide::cast<float>(value);
    value = value * 1.5f;
    value = Halide::min(value, 255.0f);
    value = Halide::cast<uint8_t>(value);
    brighter(x, y) = value;
    Buffer<uint8_t> output = brighter.realize({input.width(), input.height()});
    int wrong = 0;
    input.for_each_element([&](int i, int j) {
        wrong += output(i, j) != uint8_t(std::min(input(i, j) * 1.5f, 255.0f));
    });
    CHECK(wrong == 0);
}

TEST_CASE("one blur, many schedules", "[compat]") {
    Buffer<uint8_t> input = test_image(70, 41);
    auto make = [&](int schedule) {
        Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), t("t");
        Func clamped("clamped"), bx("bx"), by("by");
        clamped(x, y) = u16(input(clamp(x, 0, input.width() - 1), clamp(y, 0, input.height() - 1)));
        bx(x, y) = (clamped(x - 1, y) + 2 * clamped(x, y) + clamped(x + 1, y)) / 4;
        by(x, y) = u8((bx(x, y - 1) + 2 * bx(x, y) + bx(x, y + 1)) / 4);
        switch (schedule) {
        case 0:
            break;
        case 1:
            bx.compute_root();
            break;
        case 2:
            bx.compute_at(by, y);
            break;
        case 3:
            bx.store_root().compute_at(by, y);
            break;
        case 4:
            by.tile(x, y, xo, yo, xi, yi, 16, 8).vectorize(xi, 8).parallel(yo);
            bx.compute_at(by, xo).vectorize(x, 8);
            break;
        case 5:
            by.split(y, yo, yi, 16).parallel(yo).vectorize(x, 16);
            bx.store_at(by, yo).compute_at(by, yi).vectorize(x, 16);
            break;
        case 6:
            by.tile(x, y, xo, yo, xi, yi, 32, 4, TailStrategy::GuardWithIf)
                .fuse(xo, yo, t)
                .parallel(t)
                .unroll(yi);
            break;
        case 7:
            clamped.compute_root(), by.reorder(y, x).unroll(y, 2);
            break;
        }
        return by;
    };
    auto at = [&](int x, int y) { return int(input(clamp_to(x, 0, 69), clamp_to(y, 0, 40))); };
    auto row = [&](int x, int y) { return (at(x - 1, y) + 2 * at(x, y) + at(x + 1, y)) / 4; };
    for (int schedule = 0; schedule < 8; schedule++) {
        INFO(schedule);
        Buffer<uint8_t> output = make(schedule).realize({70, 41});
        int wrong = 0;
        output.for_each_element([&](int x, int y) {
            wrong += output(x, y) != (row(x, y - 1) + 2 * row(x, y) + row(x, y + 1)) / 4;
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("update definitions and reductions", "[compat]") {
    Buffer<uint8_t> input = test_image(40, 30);
    Var x("x"), y("y"), i("i");
    RDom r(0, 40, 0, 30);
    Func histogram("histogram"), total("total"), rows("rows"), f("f");
    histogram(i) = 0;
    histogram(Halide::cast<int>(input(r.x, r.y))) += 1;
    total() = Halide::sum(Halide::cast<int>(input(r.x, r.y)));
    RDom rx(0, 40);
    rows(y) = Halide::maximum(input(rx, y));
    Buffer<int> h = histogram.realize({256});
    Buffer<int> t = total.realize();
    Buffer<uint8_t> m = rows.realize({30});
    std::vector<int> expected(256, 0), most(30, 0);
    int all = 0;
    input.for_each_element([&](int a, int b) {
        expected[input(a, b)]++;
        all += input(a, b);
        most[size_t(b)] = std::max<int>(most[size_t(b)], input(a, b));
    });
    CHECK(t() == all);
    int wrong = 0;
    for (int k = 0; k < 256; k++)
        wrong += h(k) != expected[size_t(k)];
    for (int k = 0; k < 30; k++)
        wrong += m(k) != most[size_t(k)];
    CHECK(wrong == 0);

    f(x, y) = x + y;
    f(x, 0) += 5;
    f(0, y) *= 3;
    RDom where(0, 10, 0, 10);
    where.where(where.x + where.y < 5);
    f(where.x, where.y) = -1;
    Buffer<int> out = f.realize({12, 12});
    out.for_each_element([&](int a, int b) {
        int v = a + b + (b == 0 ? 5 : 0);
        if (a == 0)
            v *= 3;
        if (a + b < 5)
            v = -1;
        wrong += out(a, b) != v;
    });
    CHECK(wrong == 0);
}

TEST_CASE("tuples, several outputs, argmax", "[compat]") {
    Var x("x"), y("y");
    Func pair("pair");
    pair(x, y) = Tuple(x + y, sin(Halide::cast<float>(x * y)));
    Realization r = pair.realize({9, 6});
    REQUIRE(r.size() == 2);
    Buffer<int> sums = r[0];
    Buffer<float> sines = r[1];
    int wrong = 0;
    sums.for_each_element([&](int a, int b) {
        wrong += sums(a, b) != a + b;
        wrong += std::fabs(sines(a, b) - std::sin(float(a * b))) > 1e-5f;
    });
    CHECK(wrong == 0);

    Func values("values"), best("best");
    values(x) = (x - 37) * (50 - x);
    RDom d(0, 100);
    Tuple found = argmax(values(d));
    best() = found;
    Realization answer = best.realize();
    Buffer<int> place = answer[0];
    Buffer<int> most = answer[1];
    CHECK(place() == 43);
    CHECK(most() == 42);

    Func a("a"), b("b");
    a(x) = x * 2;
    b(x) = a(x) + 1;
    Pipeline both({a, b});
    Buffer<int> out_a(5), out_b(5);
    both.realize({out_a, out_b});
    CHECK(out_a(4) == 8);
    CHECK(out_b(4) == 9);
}

TEST_CASE("params, image params and boundary conditions", "[compat]") {
    Var x("x"), y("y");
    Param<int> offset("offset", 5);
    Param<float> scale("scale", 1.0f, 0.0f, 10.0f);
    ImageParam input(type_of<float>(), 2, "input");
    Func inside = BoundaryConditions::repeat_edge(input);
    Func outside = BoundaryConditions::constant_exterior(input, 0.0f);
    Func f("f");
    f(x, y) = inside(x - offset, y) * scale + outside(x, y + 1);
    Buffer<float> data(10, 10);
    data.fill([](int a, int b) { return float(a + 10 * b); });
    input.set(data);
    for (int o : {0, 3, -12}) {
        offset.set(o);
        scale.set(2.0f);
        Buffer<float> out = f.realize({14, 12});
        int wrong = 0;
        out.for_each_element([&](int a, int b) {
            float edge = data(clamp_to(a - o, 0, 9), clamp_to(b, 0, 9));
            float next = a < 10 && b + 1 < 10 ? data(a, b + 1) : 0.0f;
            wrong += out(a, b) != edge * 2.0f + next;
        });
        CHECK(wrong == 0);
    }
    bool thrown = false;
    try {
        scale.set(11.0f);
        f.realize({3, 3});
    } catch (const RuntimeError &) {
        thrown = true;
    }
    CHECK(thrown);
}

TEST_CASE("types, select, casts and integer arithmetic", "[compat]") {
    Var x("x");
    Func f("f");
    Expr v = x - 10;
    f(x) = select(v<-5, v / 3, v> 5, v % 4, v * v);
    Buffer<int> out = f.realize({21});
    int wrong = 0;
    for (int i = 0; i <= 20; i++) {
        int w = i - 10;
        int floor_div = int(std::floor(w / 3.0)), mod = ((w % 4) + 4) % 4;
        wrong += out(i) != (w < -5 ? floor_div : w > 5 ? mod : w * w);
    }
    CHECK(wrong == 0);
    Func g("g");
    g(x) = u8(Halide::min(x * 3, 255)) + u8(1);
    Buffer<uint8_t> sat = g.realize({100});
    for (int i = 0; i < 100; i++)
        wrong += sat(i) != uint8_t(std::min(i * 3, 255) + 1);
    CHECK(wrong == 0);
    Func h("h");
    h(x) = lerp(cast<uint8_t>(0), cast<uint8_t>(200), Halide::cast<float>(x) / 10.0f);
    Buffer<uint8_t> ramp = h.realize({11});
    for (int i = 0; i <= 10; i++)
        wrong += std::abs(ramp(i) - 20 * i) > 1;
    CHECK(wrong == 0);
    CHECK(f.type() == Int(32));
    CHECK(g.types()[0] == UInt(8));
}

TEST_CASE("an autoscheduler by name", "[compat]") {
    load_plugin("autoschedule_mullapudi2016");
    Buffer<uint8_t> input = test_image(300, 200);
    Var x("x"), y("y");
    Func clamped = BoundaryConditions::repeat_edge(input);
    Func bx("bx"), by("by");
    bx(x, y) = (u16(clamped(x - 1, y)) + clamped(x + 1, y)) / 2;
    by(x, y) = u8((bx(x, y - 1) + bx(x, y + 1)) / 2);
    by.set_estimates({{0, 300}, {0, 200}});
    Pipeline p(by);
    AutoSchedulerResults results = p.apply_autoscheduler(
        get_jit_target_from_environment(),
        AutoschedulerParams("Mullapudi2016", {{"parallelism", "4"}, {"balance", "40"}}));
    CHECK(results.schedule_source.find("by") != std::string::npos);
    Buffer<uint8_t> output = p.realize({300, 200});
    auto at = [&](int i, int j) { return input(clamp_to(i, 0, 299), clamp_to(j, 0, 199)); };
    auto row = [&](int i, int j) { return (at(i - 1, j) + at(i + 1, j)) / 2; };
    int wrong = 0;
    output.for_each_element(
        [&](int i, int j) { wrong += output(i, j) != (row(i, j - 1) + row(i, j + 1)) / 2; });
    CHECK(wrong == 0);
    bool refused = false;
    try {
        p.apply_autoscheduler(get_host_target(), {"Adams2019", {{"parallelism", "many"}}});
    } catch (const CompileError &error) {
        refused = std::string(error.what()).find("many") != std::string::npos;
    }
    CHECK(refused);
}

TEST_CASE("bounds of inputs are inferred", "[compat]") {
    ImageParam in(UInt(8), 2);
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = in(x, y) + in(x + 2, y + 1);
    f.infer_input_bounds({10, 5});
    Buffer<uint8_t> b = in.get();
    CHECK(b.width() == 12);
    CHECK(b.height() == 6);
    b.fill(3);
    Buffer<uint8_t> out = f.realize({10, 5});
    CHECK(out.all_equal(6));
    std::cout << out.width() << "\n";
}
