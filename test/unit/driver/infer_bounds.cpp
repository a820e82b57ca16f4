// infer_input_bounds, and calls with Buffers that have no memory.
#include <pipe/pipe.h>

#include "test/support/everywhere.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

using Bounds = std::pair<int64_t, int64_t>;
Bounds range(const Buffer<> &b, int d) {
    return {b.dim(d).min(), b.dim(d).extent()};
}

}  // namespace

TEST_CASE("inputs get the size that is read", "[driver][bounds]") {
    ImageParam in(Int(32), 2, "in");
    Func blur("blur"), out("out");
    blur(x, y) = in(x - 1, y) + in(x + 2, y);
    out(x, y) = blur(x, y) + blur(x, 2 * y + 1);
    for (int schedule = 0; schedule < 3; schedule++) {
        if (schedule == 1)
            blur.compute_root();
        if (schedule == 2)
            out.vectorize(x, 8).parallel(y);
        for (int w : {1, 9})
            for (int h : {1, 4}) {
                in.reset();
                out.infer_input_bounds({w, h});
                CHECK(range(in.get(), 0) == Bounds{-1, w + 3});
                CHECK(range(in.get(), 1) == Bounds{0, 2 * h});
                Buffer<int> made = in.get();
                made.fill([](int i, int j) { return i + 100 * j; });
                Buffer<int> result = out.realize({w, h});
                int last = (w - 2) + 100 * (h - 1) + (w + 1) + 100 * (h - 1);
                last += (w - 2) + (w + 1) + 200 * (2 * (h - 1) + 1);
                CHECK(result(w - 1, h - 1) == last);
            }
    }
    in.reset();
    Buffer<int> shifted(5, 5);
    shifted.set_min(10, -20);
    Pipeline(out).infer_input_bounds(Realization(shifted));
    CHECK(range(in.get(), 0) == Bounds{9, 8});
    CHECK(range(in.get(), 1) == Bounds{-39, 24});
}

TEST_CASE("what is read depends on Params and on inputs that are set", "[driver][bounds]") {
    ImageParam a(UInt(8), 1, "a"), b(UInt(8), 1, "b");
    Param<int> shift("shift");
    Func f("f");
    f(x) = a(x + shift) + b(clamp(x, a.dim(0).min(), a.dim(0).max()));
    shift.set(7);
    f.infer_input_bounds({10});
    CHECK(range(a.get(), 0) == Bounds{7, 10});
    CHECK(range(b.get(), 0) == Bounds{7, 3});  // 0 .. 9, clamped to 7 .. 16
    a.set(Buffer<uint8_t>(30));
    b.reset();
    f.infer_input_bounds({10});
    CHECK(range(a.get(), 0) == Bounds{0, 30});  // stays
    CHECK(range(b.get(), 0) == Bounds{0, 10});
}

TEST_CASE("what is read at absolute values, and behind quotients by Params", "[driver][bounds]") {
    ImageParam in(Int(32), 1, "in");
    auto read = [&](const Expr &index, int size) {
        Func f("f");
        f(x) = in(index);
        in.reset();
        f.infer_input_bounds({size});
        return range(in.get(), 0);
    };
    CHECK(read(abs(cast<int8_t>(x)), 1000) == Bounds{0, 129});
    CHECK(read(abs(cast<int16_t>(x)), 7) == Bounds{0, 32769});
    CHECK(read(abs(clamp(cast<int8_t>(x), -3, 2)), 7) == Bounds{0, 4});
    CHECK(read(abs(x - 4), 20) == Bounds{0, 16});
    Param<int> n("n");
    Param<float> scale("scale");
    for (int divisor : {3, -2, 1}) {
        n.set(divisor);
        // 19 / -2 is -9: the remainder is not negative
        CHECK(read(x / n, 20) == (divisor > 0 ? Bounds{0, 19 / divisor + 1} : Bounds{-9, 10}));
    }
    scale.set(2.5f);
    CHECK(read(cast<int>(x / scale), 20) == Bounds{0, 8});
    CHECK(read(x / cast<int>(hypot(cast<float>(n), scale)), 20) ==
          Bounds{0, 10});  // hypot(1, 2.5) = 2.7
}

TEST_CASE("what is read where another Func says", "[driver][bounds]") {
    ImageParam in(Int(32), 1, "in");
    Param<int> last("last");
    Func at("at"), below("below"), cut("cut"), f("f"), g("g");
    at(x) = clamp(x, 10, last);
    at.compute_root();
    f(x) = in(at(x));
    last.set(20);
    f.infer_input_bounds({1000});
    CHECK(range(in.get(), 0) == Bounds{10, 11});
    // Of the first only the largest value is known, of the second both ends.
    below(x) = min(x, 100);
    cut(x) = max(below(x) - 10, 0);
    below.compute_root();
    cut.compute_root();
    g(x) = in(cut(cut(x)));
    in.reset();
    g.infer_input_bounds({1000});
    CHECK(range(in.get(), 0) == Bounds{0, 91});
}

TEST_CASE("a Callable asked for bounds computes nothing", "[driver][bounds]") {
    ImageParam in(Float(32), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + in(x + 1, y + 2);
    Callable call = f.compile_to_callable({in});
    Buffer<float> question(nullptr, {0, 0}), result(6, 4);
    result.fill(-1.0f);
    CHECK(call(question, result) == 0);
    CHECK(range(question, 0) == Bounds{0, 7});
    CHECK(range(question, 1) == Bounds{0, 6});
    CHECK(result.all_equal(-1.0f));
    question.allocate();
    question.fill(2.0f);
    CHECK(call(question, result) == 0);
    CHECK(result.all_equal(4.0f));
    require_message<RuntimeError>([&] { result.set_shape({}); }, {"set_shape", "without memory"});
    require_message<RuntimeError>([&] { f.infer_input_bounds({3}); }, {"'f'", "2 dimensions", "1"});
}

TEST_CASE("a Callable asked for bounds, at all sizes and places", "[driver][bounds]") {
    ImageParam in(Int(32), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + in(x + 1, y + 2);
    Callable call = f.compile_to_callable({in});
    for (auto [width, height, left, top] : everywhere::shapes) {
        INFO(width << " x " << height);
        Buffer<int> question(nullptr, {0, 0}), result(width, height);
        result.set_min(left, top);
        result.fill(-1);
        CHECK(call(question, result) == 0);
        CHECK(range(question, 0) == Bounds{left, width + 1});
        CHECK(range(question, 1) == Bounds{top, height + 2});
        CHECK(result.all_equal(-1));
        question.allocate();
        question.fill([](int i, int j) { return i + 100 * j; });
        CHECK(call(question, result) == 0);
        int wrong = 0;
        result.for_each_element(
            [&](int i, int j) { wrong += result(i, j) != 2 * (i + 100 * j) + 1 + 200; });
        CHECK(wrong == 0);
    }
}

namespace {

/// The range of the input that a sum over r needs, as text.
std::string needed(const std::function<Expr(RDom)> &index,
                   const std::function<Expr(RDom)> &where = {}) {
    ImageParam in(Int(32), 1, "in");
    RDom r(0, 100, 0, 100, 0, 100, "r");
    Var x("x");
    Func f("f");
    if (where)
        r.where(where(r));
    f(x) = 0;
    f(x) += in(index(r));
    Pipeline(f).infer_input_bounds({10});
    Buffer<> box = in.get();
    return std::to_string(box.dim(0).min()) + " to " + std::to_string(box.dim(0).max());
}

}  // namespace

TEST_CASE("bounds see what ties variables to each other", "[bounds]") {
    auto x = [](RDom r) -> Expr { return r.x; };
    auto difference = [](RDom r) { return r.x - r.y; };
    CHECK(needed(x, [](RDom r) { return r.x < r.y && r.y < 5; }) == "0 to 3");
    CHECK(needed(difference, [](RDom r) { return r.x >= r.y && r.x <= r.y + 1; }) == "0 to 1");
    CHECK(needed(difference, [](RDom r) { return abs(r.x - r.y) <= 1; }) == "-1 to 1");
    CHECK(needed([](RDom r) { return r.x + r.y + r.z; },
                 [](RDom r) { return r.x + r.y < 5 && r.y + r.z < 5 && r.x + r.z < 5; }) ==
          "0 to 6");
    CHECK(needed([](RDom r) { return 2 * r.x - r.y; },
                 [](RDom r) { return r.x + r.y == 20 && r.y >= 2 * r.x; }) == "-20 to -2");
    CHECK(needed([](RDom r) { return r.x / 2 - (r.x - 1) / 2; }) == "0 to 1");
    CHECK(needed([](RDom r) { return max(r.x, 99 - r.x); }) == "50 to 99");
}

TEST_CASE("inputs get the size and the strides that were promised of them", "[driver][bounds]") {
    Var c("c");
    Func f("f");
    SECTION("interleaved") {
        ImageParam in(UInt(8), 3, "in");
        in.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        f(x, y, c) = in(x, y, c) + 1;
        f.infer_input_bounds({10, 6, 3});
        Buffer<uint8_t> made = in.get();
        CHECK(made.dim(0).stride() == 3);
        CHECK(made.dim(1).stride() == 30);
        CHECK(made.dim(2).stride() == 1);
        made.fill(6);
        CHECK(Buffer<uint8_t>(f.realize({10, 6, 3}))(9, 5, 2) == 7);
    }
    SECTION("larger than what is read") {
        ImageParam in(UInt(8), 1, "in");
        in.dim(0).set_bounds(-2, 100);
        f(x) = in(x);
        f.infer_input_bounds({10});
        CHECK(range(in.get(), 0) == Bounds{-2, 100});
    }
    SECTION("a min alone: to the end of what is read") {
        ImageParam in(UInt(8), 1, "in");
        in.dim(0).set_min(-4);
        f(x) = in(x + 1);
        f.infer_input_bounds({10});
        CHECK(range(in.get(), 0) == Bounds{-4, 15});
    }
    SECTION("by sizes of others, and an output by its own") {
        ImageParam in(Float(32), 2, "in");
        f(x, y) = in(x + 1, y + 1) + in(x - 1, y - 1);
        auto out = f.output_buffer();
        in.dim(0).set_bounds(in.dim(1).min() - 5, in.dim(1).extent() + out.dim(0).extent());
        out.dim(0).set_bounds(
            0, select(out.dim(0).extent() < 22, out.dim(0).extent() + 1, out.dim(0).extent()));
        Buffer<float> asked(nullptr, 18, 8);
        asked.set_min(2, 2);
        f.infer_input_bounds(Realization(asked));
        CHECK(range(in.get(), 0) == Bounds{-4, 32});
        CHECK(range(in.get(), 1) == Bounds{1, 10});
        CHECK(range(asked, 0) == Bounds{0, 22});
        CHECK(range(asked, 1) == Bounds{2, 8});
    }
    SECTION("an output that a Callable is asked for") {
        f(x, y, c) = x + y + c;
        f.output_buffer().dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        Buffer<int> asked(nullptr, 10, 5, 3);
        f.compile_to_callable({})(asked);
        CHECK(asked.dim(0).stride() == 3);
        CHECK(asked.dim(1).stride() == 30);
        CHECK(asked.dim(2).stride() == 1);
    }
    SECTION("an output that breaks a promise is not made anew") {
        f(x) = x;
        f.output_buffer().dim(0).set_bounds(0, 8);
        require_message<RuntimeError>([&] { f.realize({7}); }, {"promised to be 8", "is 7"});
    }
}

TEST_CASE("a condition that ties a coordinate to a Param, of a reduction in parts",
          "[driver][bounds]") {
    ImageParam in(Int(32), 1, "in");
    Param<int> p("p");
    Func f("f");
    RDom r(0, 1, "r");
    r.where(x == p);
    f(x) = 4;
    f(x) = max(f(x), in(x - 1 + r));
    RVar ro("ro"), ri("ri");
    Var u("u");
    f.update().split(r, ro, ri, 2).rfactor(ro, u).compute_root();
    for (int at : {0, 3, 7}) {
        p.set(at);
        in.reset();
        f.infer_input_bounds({8});
        CHECK(range(in.get(), 0) == Bounds{at - 1, 1});
        Buffer<int> one = in.get();
        one.fill(10 + at);
        Buffer<int> result = f.realize({8});
        for (int i = 0; i < 8; i++)
            CHECK(result(i) == (i == at ? 10 + at : 4));
    }
}

TEST_CASE("an input that is never large enough", "[driver][bounds][error]") {
    ImageParam in(Float(32), 2, "in");
    Func f("f");
    f() = in(in.width(), in.height()) + in(0, 0);
    require_message<RuntimeError>([&] { f.infer_input_bounds(Sizes{}); },
                                  {"Pipeline f", "no size of 'in' is sufficient", "set_bounds"});
}
