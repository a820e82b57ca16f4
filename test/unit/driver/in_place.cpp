// Outputs in the memory of inputs.

#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <numeric>
#include <vector>

#include "support/require_message.h"

using namespace Pipe;

extern "C" int pipe_in_place_turn(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {  // a row as a whole
        in->dim[0].min = 0, in->dim[0].extent = 20;
        in->dim[1].min = out->dim[1].min, in->dim[1].extent = out->dim[1].extent;
        return 0;
    }
    Buffer<int> from = in->buffer<int>(), to = out->buffer<int>();
    to.for_each_element([&](int i, int j) { to(i, j) = from(19 - i, j); });
    return 0;
}

namespace {

Var x("x"), y("y"), c("c"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

int before(int64_t i, int64_t j) {
    return static_cast<int>((i * 7 + j * 131) % 1009);
}

void fill(const Buffer<int> &b) {
    b.for_each_element([&](int i, int j) { b(i, j) = before(i, j); });
}

/// Elements that are not `expected(x, y)`.
template <typename F> int count_wrong(const Buffer<int> &b, const F &expected) {
    int wrong = 0;
    b.for_each_element([&](int i, int j) { wrong += b(i, j) != expected(i, j); });
    return wrong;
}

/// f = 2 * in + 1 over 2 dimensions.
struct Pointwise {
    ImageParam in{Int(32), 2, "in"};
    Func f{"f"};
    Pointwise() { f(x, y) = 2 * in(x, y) + 1; }

    /// Computes it in the place of b; the number of wrong elements.
    int wrong_in(Buffer<int> b) {
        fill(b);
        in.set(b);
        f.realize(b);
        return count_wrong(b, [](int i, int j) { return 2 * before(i, j) + 1; });
    }
};

}  // namespace

TEST_CASE("a pointwise pipeline in place: every way that a split may end", "[in_place]") {
    for (TailStrategy tail :
         {TailStrategy::Auto, TailStrategy::GuardWithIf, TailStrategy::Predicate}) {
        for (int width : {1, 7, 8, 9, 16, 67}) {
            INFO("tail " << int(tail) << ", width " << width);
            Pointwise p;
            p.f.split(x, xo, xi, 24, tail).vectorize(xi, 8, tail).unroll(xi).parallel(y);
            CHECK(p.wrong_in(Buffer<int>(width, 5)) == 0);
        }
    }
    // These read or store whole vectors.
    for (TailStrategy tail :
         {TailStrategy::RoundUp, TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
        Pointwise p;
        p.f.vectorize(x, 8, tail).parallel(y);
        CHECK(p.wrong_in(Buffer<int>(64, 5)) == 0);
    }
    Pointwise tiled;
    tiled.f.tile(x, y, xo, yo, xi, yi, 20, 6).vectorize(xi, 8).parallel(yo);
    CHECK(tiled.wrong_in(Buffer<int>(67, 33)) == 0);
    Pointwise fused;
    fused.f.fuse(x, y, xo).vectorize(xo, 8).parallel(xo);
    CHECK(fused.wrong_in(Buffer<int>(13, 9)) == 0);
    Pointwise automatic;
    Buffer<int> b(301, 207);
    fill(b);
    automatic.in.set(b);
    Pipeline(automatic.f).autoschedule(get_host_target()).realize(b);
    CHECK(count_wrong(b, [](int i, int j) { return 2 * before(i, j) + 1; }) == 0);
}

TEST_CASE("points that are computed again are not in place", "[in_place]") {
    auto refused = [](const char *tail, const std::function<void(Pointwise &)> &schedule) {
        Pointwise p;
        schedule(p);
        require_message<RuntimeError>([&] { p.wrong_in(Buffer<int>(64, 5)); },
                                      {"Output 'f'", "input 'in'", "same address", tail,
                                       "recompute points", "GuardWithIf", "copy"});
    };
    refused("ShiftInwards", [](Pointwise &p) { p.f.vectorize(x, 8, TailStrategy::ShiftInwards); });
    refused("RoundUp",
            [](Pointwise &p) { p.f.split(x, xo, xi, 12).vectorize(xi, 8, TailStrategy::RoundUp); });
    refused("ShiftInwards", [](Pointwise &p) {
        p.f.specialize(p.in.width() > 10).vectorize(x, 8, TailStrategy::ShiftInwards);
    });
}

TEST_CASE("in place: any strides and mins, as long as they are the same", "[in_place]") {
    Pointwise p;
    p.f.vectorize(x, 8);
    Buffer<int> moved(19, 7);
    moved.set_min(-5, 3);
    CHECK(p.wrong_in(moved) == 0);
    CHECK(p.wrong_in(Buffer<int>(19, 7).cropped(0, 2, 13).cropped(1, 1, 5)) == 0);
    CHECK(p.wrong_in(Buffer<int>(7, 19).transposed(0, 1)) == 0);
    Buffer<int> pixels = Buffer<int>::make_interleaved(19, 7, 3);
    CHECK(p.wrong_in(Buffer<int>(pixels.sliced(2, 1))) == 0);
    Buffer<int> memory(200);
    CHECK(p.wrong_in(Buffer<int>(memory.data() + 18, {{0, 19, -1}, {0, 7, 20}})) == 0);

    // A part of the input.
    Buffer<int> whole(40, 9), part = whole.cropped(0, 11, 17).cropped(1, 2, 3);
    fill(whole);
    p.in.set(whole);
    p.f.realize(part);
    CHECK(count_wrong(whole, [&](int i, int j) {
              return part.contains(i, j) ? 2 * before(i, j) + 1 : before(i, j);
          }) == 0);
}

TEST_CASE("other coordinates for one element are not in place", "[in_place]") {
    Pointwise p;
    p.f.vectorize(x, 8);
    Buffer<int> whole(40, 9), later = whole.cropped(0, 1, 39);
    fill(whole);
    later.set_min(0, 0);
    p.in.set(later);
    require_message<RuntimeError>(
        [&] { p.f.realize(Buffer<int>(whole.cropped(0, 0, 39))); },
        {"'f'", "'in'", "4 bytes before", "same mins and strides", "copy"});
    p.in.set(whole.cropped(0, 0, 9));
    require_message<RuntimeError>(
        [&] { p.f.realize(Buffer<int>(whole.cropped(0, 0, 9).transposed(0, 1))); },
        {"'f'", "'in'", "same address", "same mins and strides"});
    CHECK(count_wrong(whole, before) == 0);  // nothing was stored

    // No element in common, though the ranges of addresses overlap.
    Buffer<int> pixels = Buffer<int>::make_interleaved(21, 5, 3);
    Buffer<int> red = pixels.sliced(2, 0), blue = pixels.sliced(2, 2);
    fill(blue);
    p.in.set(blue);
    p.f.realize(red);
    CHECK(count_wrong(red, [](int i, int j) { return 2 * before(i, j) + 1; }) == 0);
    CHECK(count_wrong(blue, before) == 0);
}

TEST_CASE("a stencil in place is refused, and right where its input is read before", "[in_place]") {
    Buffer<int> b(41, 17);
    auto expected = [&](int i, int j) {
        return before(std::max(i - 1, 0), j) + before(std::min(i + 1, 40), j);
    };
    for (bool at_root : {false, true}) {
        ImageParam in(Int(32), 2, "in");
        Func edge = BoundaryConditions::repeat_edge(in), g("g"), f("f");
        g(x, y) = edge(x - 1, y) + edge(x + 1, y);
        f(x, y) = g(x, y);
        f.vectorize(x, 8);
        if (at_root)
            g.compute_root().vectorize(x, 8);
        fill(b);
        in.set(b);
        if (at_root) {
            f.realize(b);
            CHECK(count_wrong(b, expected) == 0);
            // Where all is read before, other places are right, too.
            Buffer<int> half = b.cropped(0, 20, 21), out = b.cropped(0, 11, 21);
            std::vector<int> old(b.begin(), b.end());
            out.set_min(20, 0);
            in.set(half);
            f.realize(out);
            int wrong = 0;
            out.for_each_element([&](int i, int j) {
                auto at = [&](int k) { return old[size_t(std::clamp(k, 20, 40) + 41 * j)]; };
                wrong += out(i, j) != at(i - 1) + at(i + 1);
            });
            CHECK(wrong == 0);
        } else {
            require_message<RuntimeError>([&] { f.realize(b); },
                                          {"Output 'f'", "input 'in'", "in(",
                                           "for the point (x, y)", "another element", "at root"});
            CHECK(count_wrong(b, before) == 0);
        }
    }
}

TEST_CASE("stages that read the input while the output is stored", "[in_place]") {
    Pointwise p;
    Func g("g"), h("h");
    g(x, y) = p.in(x, y) + 1;
    h(x, y) = g(x, y) * 2;
    h.split(x, xo, xi, 8);
    g.compute_at(h, xo);
    Buffer<int> b(32, 5);
    p.in.set(b);
    require_message<RuntimeError>([&] { h.realize(b); },
                                  {"Output 'h'", "'in'", "g ", "inside of the loops of 'h'"});

    // A second output that reads the input, in any order.
    Func k("k");
    k(x, y) = p.in(x, y) * 3;
    Buffer<int> other(32, 5);
    fill(b);
    for (bool first : {true, false}) {
        Pipeline both = first ? Pipeline({p.f, k}) : Pipeline({k, p.f});
        require_message<RuntimeError>(
            [&] {
                first ? both.realize({b, other}) : both.realize({other, b});
            },
            {"Output 'f'", "'in'", "k ", "after 'f' has been stored"});
    }

    // A stage inside of one at root that the output is made of; async() instead.
    for (bool async : {false, true}) {
        Func inner("inner"), outer("outer"), out("out");
        inner(x, y) = p.in(x, y) + 1;
        outer(x, y) = inner(x, y) + inner(31 - x, y);
        out(x, y) = outer(31 - x, y);
        inner.compute_at(outer, y);
        outer.compute_root();
        if (async)
            outer.async();
        fill(b);
        if (async) {
            require_message<RuntimeError>([&] { out.realize(b); }, {"async()", "'out'"});
            continue;
        }
        out.realize(b);
        CHECK(count_wrong(b, [](int i, int j) { return before(i, j) + before(31 - i, j) + 2; }) ==
              0);
    }
}

TEST_CASE("updates of an output in the memory of its input", "[in_place]") {
    ImageParam in(Int(32), 2, "in");
    RDom r(0, 32);
    Buffer<int> b(32, 5);
    in.set(b);
    Func f("f");
    f(x, y) = in(x, y);
    f(x, 4) += f(x, 0) + f(x, 1);
    f(r, 2) += f(31 - r, 2);
    f.vectorize(x, 8);
    f.update(0).vectorize(x, 8);
    fill(b);
    f.realize(b);
    std::vector<int> row(32);
    for (int i = 0; i < 32; i++)
        row[size_t(i)] = before(i, 2);
    for (int i = 0; i < 32; i++)
        row[size_t(i)] += row[size_t(31 - i)];
    CHECK(count_wrong(b, [&](int i, int j) {
              return j == 2   ? row[size_t(i)]
                     : j == 4 ? before(i, 4) + before(i, 0) + before(i, 1)
                              : before(i, j);
          }) == 0);

    Func late("late");
    late(x, y) = 0;
    late(x, y) += in(x, y);
    require_message<RuntimeError>([&] { late.realize(b); },
                                  {"Output 'late'", "'in'", "late.update(0)", "pure definition"});
}

TEST_CASE("several values in the memory of several inputs", "[in_place]") {
    for (bool vectors : {false, true}) {
        ImageParam p(Int(32), 2, "p"), q(Int(32), 2, "q");
        Func f("f");
        f(x, y) = {q(x, y), p(x, y) + q(x, y)};
        if (vectors)
            f.vectorize(x, 8);
        Buffer<int> a(21, 4), b(21, 4);
        p.set(a), q.set(b);
        fill(a), b.fill([](int i, int j) { return 10000 + before(j, i); });
        f.realize({a, b});
        CHECK(count_wrong(a, [](int i, int j) { return 10000 + before(j, i); }) == 0);
        CHECK(count_wrong(b, [](int i, int j) { return 10000 + before(j, i) + before(i, j); }) ==
              0);
    }
    // Two outputs, each in the place of its input.
    ImageParam p(Int(32), 2, "p"), q(Int(32), 2, "q");
    Func f("f"), g("g");
    f(x, y) = p(x, y) + 1;
    g(x, y) = q(x, y) + 2;
    f.vectorize(x, 8), g.vectorize(x, 8);
    Buffer<int> a(21, 4), b(21, 4);
    p.set(a), q.set(b);
    fill(a), fill(b);
    Pipeline({f, g}).realize({a, b});
    CHECK(count_wrong(a, [](int i, int j) { return before(i, j) + 1; }) == 0);
    CHECK(count_wrong(b, [](int i, int j) { return before(i, j) + 2; }) == 0);
    require_message<RuntimeError>(
        [&] {
            Pipeline({f, g}).realize({b, a});
        },
        {"'f'", "'q'", "copy"});
    require_message<RuntimeError>(
        [&] {
            Pipeline({f, g}).realize(
                {Buffer<int>(a.cropped(0, 0, 11)), Buffer<int>(a.cropped(0, 10, 11))});
        },
        {"Output 'g'", "output 'f'", "shares elements", "40 bytes after"});
    // Both inputs may be the same.
    q.set(a);
    Func sum("sum");
    sum(x, y) = p(x, y) + q(x, y);
    sum.vectorize(x, 8);
    fill(a);
    sum.realize(a);
    CHECK(count_wrong(a, [](int i, int j) { return 2 * before(i, j); }) == 0);
}

TEST_CASE("other element types in place", "[in_place]") {
    Buffer<float> b(33, 3);
    b.fill([](int i, int j) { return static_cast<float>(before(i, j)); });
    ImageParam in(Float(32), 2, "in");
    in.set(b);
    Func f("f"), g("g");
    f(x, y) = cast<int>(in(x, y)) * 2;
    f.vectorize(x, 8);
    Buffer<int> out(reinterpret_cast<int *>(b.data()), 33, 3);
    f.realize(out);
    CHECK(count_wrong(out, [](int i, int j) { return 2 * before(i, j); }) == 0);
    g(x, y) = cast<uint8_t>(in(x, y));
    Buffer<uint8_t> narrow(reinterpret_cast<uint8_t *>(b.data()), 33, 3);
    require_message<RuntimeError>([&] { g.realize(narrow); }, {"'g'", "'in'", "same size"});
}

TEST_CASE("Buffers in expressions, and Callables, in place", "[in_place]") {
    Buffer<int> b(50, 4, "b");
    fill(b);
    Func scaled("scaled");
    scaled(x, y) = b(x, y) * 3;
    scaled.vectorize(x, 8);
    scaled.realize(b);
    CHECK(count_wrong(b, [](int i, int j) { return 3 * before(i, j); }) == 0);

    Pointwise p;
    p.f.vectorize(x, 8);
    Callable run = p.f.compile_to_callable({p.in});
    fill(b);
    CHECK(run(b, b) == 0);
    CHECK(count_wrong(b, [](int i, int j) { return 2 * before(i, j) + 1; }) == 0);
    fill(b);
    Buffer<int> apart(50, 4);
    CHECK(run(b, apart) == 0);
    CHECK(count_wrong(apart, [](int i, int j) { return 2 * before(i, j) + 1; }) == 0);
    Buffer<int> later = b.cropped(0, 1, 49);
    later.set_min(0, 0);
    require_message<RuntimeError>([&] { run(b, later); }, {"'f'", "'in'", "4 bytes after"});
}

TEST_CASE("extern stages in place", "[in_place]") {
    Buffer<int> b(20, 6);
    ImageParam in(Int(32), 2, "in");
    in.set(b);
    Func turn("turn"), f("f");
    turn.define_extern("pipe_in_place_turn", {in}, Int(32), {x, y});
    fill(b);
    require_message<RuntimeError>([&] { turn.realize(b); }, {"'turn'", "'in'", "C function"});
    f(x, y) = turn(x, y) + 1;
    turn.compute_root();
    f.realize(b);
    CHECK(count_wrong(b, [](int i, int j) { return before(19 - i, j) + 1; }) == 0);
}

TEST_CASE("may_alias says in advance that an output lies in the memory of an input", "[in_place]") {
    Pointwise p;
    p.f.vectorize(x, 8);
    p.f.output_buffer().may_alias(p.in);
    CHECK(p.wrong_in(Buffer<int>(67, 5)) == 0);
    Buffer<int> b(67, 5), apart(67, 5);
    fill(b);
    p.in.set(b);
    p.f.realize(apart);
    CHECK(count_wrong(apart, [](int i, int j) { return 2 * before(i, j) + 1; }) == 0);

    Func g("g");
    g(x, y) = p.in(x - 1, y);
    g.output_buffer().may_alias(p.in);
    require_message<CompileError>([&] { g.compile_jit(); },
                                  {"may_alias", "'g'", "'in'", "in(x - 1, y)", "another element"});
    Func h("h");
    h(x, y) = b(x, y);
    h.vectorize(x, 8, TailStrategy::ShiftInwards);
    h.output_buffer().may_alias(b);
    require_message<CompileError>([&] { h.compile_jit(); }, {"may_alias", "'h'", "ShiftInwards"});
    require_message<CompileError>([&] { p.in.may_alias(p.in); }, {"may_alias", "'in'", "output"});
    require_message<CompileError>([&] { p.f.compile_to_object("/dev/null", {p.in}, "f"); },
                                  {"may_alias", "memory"});

    // What the autoscheduler may choose does not make it wrong.
    ImageParam in(Int(32), 2, "in");
    Func k("k"), out("out");
    k(x, y) = in(x, y) * in(x, y);
    out(x, y) = k(x, y) + k(x, y) / 3;
    out.output_buffer().may_alias(in);
    Buffer<int> image(300, 200);
    fill(image);
    in.set(image);
    Pipeline(out).autoschedule(get_host_target()).realize(image);
    CHECK(count_wrong(image, [](int i, int j) {
              int square = before(i, j) * before(i, j);
              return square + square / 3;
          }) == 0);
}

TEST_CASE("outputs whose points share elements are refused, inputs are not", "[in_place]") {
    Buffer<int> b(40), row(8);
    Func f("f");
    f(x, y) = x + y;
    f(x, y) += 1;
    f.update().vectorize(y, 4);
    require_message<RuntimeError>(
        [&] {
            f.realize(Buffer<int>(b.data(), {{0, 8, 1}, {0, 8, 0}}));
        },
        {"Output 'f'", "dimension 1", "extent 8", "stride 0", "one element"});
    require_message<RuntimeError>(
        [&] {
            f.realize(Buffer<int>(b.data(), {{0, 8, 1}, {0, 4, 5}}));
        },
        {"Output 'f'", "strides 1, 5", "extents 8, 4", "rows"});
    // One point, or strides that interlock.
    Buffer<int> one(b.data(), {{0, 8, 1}, {0, 1, 0}});
    f.realize(one);
    CHECK(count_wrong(one, [](int i, int j) { return i + j + 1; }) == 0);
    Buffer<int> interlocked(b.data(), {{0, 2, 2}, {0, 2, 3}});
    f.realize(interlocked);
    CHECK(count_wrong(interlocked, [](int i, int j) { return i + j + 1; }) == 0);

    row.fill([](int i) { return i * i; });
    ImageParam in(Int(32), 2, "in");
    Func g("g");
    g(x, y) = in(x, y) + in(y, x);
    for (bool vectors : {false, true}) {
        if (vectors)
            g.vectorize(y, 4);
        in.set(Buffer<int>(row.data(), {{0, 8, 1}, {0, 8, 0}}));
        Buffer<int> out = g.realize({8, 8});
        CHECK(count_wrong(out, [](int i, int j) { return i * i + j * j; }) == 0);
    }
}

TEST_CASE("sums that start from the input in whose place they are stored", "[in_place]") {
    // The last block does not shift inwards, where the input is already overwritten.
    ImageParam in{Int(32), 2, "in"}, other{Int(32), 1, "other"};
    RDom r(0, 3, "r");
    Func f("f");
    f(x, y) = in(x, y);
    f(x, y) += other(r) * x;
    f.update().split(x, xo, xi, 4).reorder(xi, r, xo, y).vectorize(xi);
    Buffer<int> ones(3), b(10, 3);
    ones.fill(1);
    fill(b);
    in.set(b), other.set(ones);
    f.realize(b);
    CHECK(count_wrong(b, [](int i, int j) { return before(i, j) + 3 * i; }) == 0);
}

TEST_CASE("the error about an index that reads elsewhere is short, whatever the index",
          "[in_place]") {
    ImageParam in(Int(32), 1, "in");
    Buffer<int> b(1000);
    b.fill(5);
    in.set(b);
    Expr e = in(x);
    for (int i = 0; i < 60; i++)
        e = select(e > i * 3, e + i, e * 2 - i) % 997;
    Func f("f");
    f(x) = in(clamp(e, 0, 999));
    try {
        f.realize(b);
        FAIL("not refused");
    } catch (const RuntimeError &error) {
        CHECK(std::string(error.what()).size() < 2000);
    }
}
