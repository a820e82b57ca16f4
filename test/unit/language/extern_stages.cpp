// Funcs that a C function computes: define_extern.
#include <algorithm>
#include <atomic>

#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

std::atomic<int> queries{0}, calls{0};

/// The element (x, y) of a buffer of int.
int &at(RawBuffer *b, int64_t x, int64_t y) {
    auto *host = reinterpret_cast<int *>(b->host);
    return host[(x - b->dim[0].min) * b->dim[0].stride + (y - b->dim[1].min) * b->dim[1].stride];
}

int64_t last(const RawDimension &d) {
    return d.min + d.extent - 1;
}

bool holds(const RawBuffer *b, int d, int64_t low, int64_t high) {
    return b->dim[d].min <= low && high <= last(b->dim[d]);
}

template <typename F> void for_each(RawBuffer *b, F &&f) {
    for (int64_t y = b->dim[1].min; y <= last(b->dim[1]); y++)
        for (int64_t x = b->dim[0].min; x <= last(b->dim[0]); x++)
            f(x, y);
}

constexpr int too_little = 99;

}  // namespace

/// out(x, y) = in(x + dx, y + dy)
extern "C" int pipe_extern_translate(RawBuffer *in, int dx, int dy, RawBuffer *out) {
    if (in->is_bounds_query()) {
        queries++;
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min + (d == 0 ? dx : dy);
            in->dim[d].extent = out->dim[d].extent;
        }
        return 0;
    }
    calls++;
    if (in->type != Int(32) || out->type != Int(32) || in->dimensions != 2 || out->dimensions != 2)
        return 98;
    if (!holds(in, 0, out->dim[0].min + dx, last(out->dim[0]) + dx) ||
        !holds(in, 1, out->dim[1].min + dy, last(out->dim[1]) + dy))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, x + dx, y + dy); });
    return 0;
}

/// out(x, y) = in(-x, y)
extern "C" int pipe_extern_flip(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {
        in->dim[0].min = -last(out->dim[0]);
        in->dim[0].extent = out->dim[0].extent;
        return 0;  // dimension 1 is as it was
    }
    if (!holds(in, 0, -last(out->dim[0]), -out->dim[0].min) ||
        !holds(in, 1, out->dim[1].min, last(out->dim[1])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, -x, y); });
    return 0;
}

/// out(x, y) = 2 * in(x, y) + 1; does not answer queries.
extern "C" int pipe_extern_pointwise(RawBuffer *in, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    if (!holds(in, 0, out->dim[0].min, last(out->dim[0])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = 2 * at(in, x, y) + 1; });
    return 0;
}

/// (in / 10, in % 10), the latter as uint8
extern "C" int pipe_extern_digits(RawBuffer *in, RawBuffer *tens, RawBuffer *ones) {
    if (in->is_bounds_query())
        return 0;
    Buffer<uint8_t> o = ones->buffer<uint8_t>();
    for_each(tens, [&](int64_t x, int64_t y) {
        at(tens, x, y) = at(in, x, y) / 10;
        o(x, y) = static_cast<uint8_t>(at(in, x, y) % 10);
    });
    return 0;
}

/// (a + b of two Funcs, from the values of a Tuple) * factor + bias
extern "C" int pipe_extern_combine(RawBuffer *a, RawBuffer *b, uint8_t factor, bool negate,
                                   double bias, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    Buffer<uint8_t> bytes = b->buffer<uint8_t>();
    for_each(out, [&](int64_t x, int64_t y) {
        int value = (at(a, x, y) + bytes(x, y)) * factor + static_cast<int>(bias);
        at(out, x, y) = negate ? -value : value;
    });
    return 0;
}

/// Reads nothing.
extern "C" int pipe_extern_ramp(int step, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = static_cast<int>(x + step * y); });
    return 0;
}

/// out(x, y) = in(x, y) + 1, in multiples of 8 along x, as out and in must be.
extern "C" int pipe_extern_eights(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {
        RawDimension &d = out->dim[0];
        int64_t end = (last(d) + 8) & ~int64_t(7);
        d.min &= ~int64_t(7);
        d.extent = end - d.min;
        in->dim[0] = d;
        return 0;
    }
    calls++;
    if (out->dim[0].min % 8 != 0 || out->dim[0].extent % 8 != 0)
        return 8;
    if (!holds(in, 0, out->dim[0].min, last(out->dim[0])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, x, y) + 1; });
    return 0;
}

/// out(x) = sum of the rows 0 .. height - 1 of in
extern "C" int pipe_extern_columns(RawBuffer *in, int height, RawBuffer *out) {
    if (in->is_bounds_query()) {
        in->dim[1] = {0, height, 0, 0};
        return 0;
    }
    if (!holds(in, 1, 0, height - 1))
        return too_little;
    Buffer<int> o = out->buffer<int>();
    for (int64_t x = o.min(0); x <= o.max(0); x++) {
        o(x) = 0;
        for (int y = 0; y < height; y++)
            o(x) += at(in, x, y);
    }
    return 0;
}

extern "C" int pipe_extern_fails(RawBuffer *, int in_query, int code, RawBuffer *out) {
    return out->is_bounds_query() == (in_query != 0) ? code : 0;
}

extern "C" float pipe_extern_float(RawBuffer *) {
    return 0;
}

namespace {

Var x("x"), y("y");

int source(int64_t i, int64_t j) {
    return static_cast<int>(3 * i + 1000 * j);
}

Func ramp(const std::string &name) {
    Func f(name);
    f(x, y) = 3 * x + 1000 * y;
    return f;
}

void schedule_producer(Func &in, Func &stage, Func &out, int how) {
    if (how == 1)
        in.compute_root();
    if (how == 2)
        stage.compute_at(out, out.args()[1]);
    if (how == 3)
        stage.compute_at(out, out.args()[1]), in.compute_root();
    if (how == 4)
        stage.compute_at(out, out.args()[1]), in.compute_at(out, out.args()[1]).vectorize(x, 4);
    if (how == 5)
        stage.compute_root(), in.compute_root().parallel(y);
}

}  // namespace

TEST_CASE("an extern stage gets what it asks for, wherever it is computed", "[language][extern]") {
    for (int how = 0; how < 6; how++) {
        INFO("schedule " << how);
        everywhere::check<int>(
            [&] {
                Func in = ramp("in"), moved("moved"), out("out");
                moved.define_extern("pipe_extern_translate", {in, 5, -3}, Int(32), {x, y});
                out(x, y) = moved(x, y) + moved(x + 1, 2 * y);
                schedule_producer(in, moved, out, how);
                return out;
            },
            [](int i, int j) { return source(i + 5, j - 3) + source(i + 6, 2 * j - 3); });
    }
}

TEST_CASE("an extern stage whose rows are kept from row to row", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), out("out");
    moved.define_extern("pipe_extern_translate", {in, 5, -3}, Int(32), {x, y});
    out(x, y) = moved(x, y) + moved(x + 1, 2 * y);
    in.compute_root();
    moved.compute_at(out, y).store_root();
    for (auto [w, h, left, top] : everywhere::shapes) {
        Buffer<int> result(w, h);
        result.set_min(left, top);
        out.realize(result);
        result.for_each_element([&](int i, int j) {
            REQUIRE(result(i, j) == source(i + 5, j - 3) + source(i + 6, 2 * j - 3));
        });
    }
    in.compute_at(out, y).store_root();  // slides too
    Buffer<int> both(7, 5);
    out.realize(both);
    both.for_each_element([&](int i, int j) {
        REQUIRE(both(i, j) == source(i + 5, j - 3) + source(i + 6, 2 * j - 3));
    });
    in.compute_root();
    // Two threads would let it write one row: what it writes first may be something else.
    out.parallel(y);
    require_message<CompileError>([&] { out.compile_jit(); },
                                  {"moved.store_root", "parallel loop 'y'", "Store it inside"});
}

TEST_CASE("an extern stage computed per tile", "[language][extern]") {
    for (int how = 0; how < 4; how++) {
        Func in = ramp("in"), flipped("flipped"), out("out");
        Var xi("xi"), yi("yi");
        flipped.define_extern("pipe_extern_flip", {in}, Int(32), 2);
        out(x, y) = flipped(x - 1, y) + flipped(x + 1, y);
        out.tile(x, y, xi, yi, 16, 4, how == 1 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
        flipped.compute_at(out, x);
        if (how == 1)
            in.compute_at(out, x), out.align_bounds(x, 16).align_bounds(y, 4);
        if (how == 2)
            in.compute_at(out, y).store_root(), out.vectorize(xi, 8);
        if (how == 3)
            in.compute_root(), out.parallel(y), flipped.store_at(out, y);
        for (auto [w, h, left, top] : everywhere::shapes) {
            if (how == 1)
                w = 32, h = 8, left = -16, top = 4;
            Buffer<int> result(w, h);
            result.set_min(left, top);
            out.realize(result);
            everywhere::compare(
                result, [](int i, int j) { return source(1 - i, j) + source(-1 - i, j); },
                std::equal_to<int>(), "tiles " + std::to_string(how));
        }
    }
}

TEST_CASE("chains, several consumers, and an output that is extern", "[language][extern]") {
    auto make = [](int how) {
        Func in = ramp("in"), one("one"), two("two"), out("out");
        one.define_extern("pipe_extern_translate", {in, 2, 7}, Int(32), {x, y});
        two.define_extern("pipe_extern_flip", {one}, Int(32), {x, y});
        out(x, y) = two(x, y) - one(x, y + 1);
        if (how == 1)
            one.compute_at(out, y), two.compute_at(out, y);
        if (how == 2)
            two.compute_at(out, y), in.compute_root();
        return out;
    };
    for (int how = 0; how < 3; how++)
        everywhere::check<int>(
            [&] { return make(how); },
            [](int i, int j) { return source(-i + 2, j + 7) - source(i + 2, j + 8); });
    for (bool wrapped : {false, true})
        everywhere::check<int>(
            [&] {
                Func in = ramp("in"), one("one"), two("two");
                one.define_extern("pipe_extern_pointwise", {in}, Int(32), {x, y});
                two.define_extern("pipe_extern_translate", {one, -1, 1}, Int(32), {x, y});
                if (wrapped)
                    one.in(two).compute_root();
                Func out("out");
                out(x, y) = two(x, y);
                return out;
            },
            [](int i, int j) { return 2 * source(i - 1, j + 1) + 1; });
    Func in = ramp("in"), two("two");
    two.define_extern("pipe_extern_flip", {in}, Int(32), {x, y});
    for (auto [w, h, left, top] : everywhere::shapes) {
        Buffer<int> result(w, h), reference(w, h);
        result.set_min(left, top), reference.set_min(left, top);
        two.realize(result);
        two.realize_reference(Realization(reference));
        for (const auto &b : {result, reference})
            everywhere::compare(
                b, [](int i, int j) { return source(-i, j); }, std::equal_to<int>(), "output");
    }
}

TEST_CASE("extern stages with Tuples and numbers", "[language][extern]") {
    Param<uint8_t> factor("factor");
    factor.set(3);
    auto make = [&](bool at_rows) {
        Func in("in"), digits("digits"), both("both"), out("out");
        in(x, y) = abs(x) + 7 * abs(y);
        digits.define_extern("pipe_extern_digits", {in}, {Int(32), UInt(8)}, {x, y});
        both.define_extern("pipe_extern_combine",
                           {digits, factor, Expr(true), cast<double>(factor) + 0.5}, Int(32),
                           {x, y});
        out(x, y) = both(x, y) + cast<int>(digits(x + 1, y)[1]);
        if (at_rows)
            digits.compute_at(out, y), both.compute_at(out, y);
        return out;
    };
    for (bool at_rows : {false, true})
        everywhere::check<int>([&] { return make(at_rows); },
                               [](int i, int j) {
                                   auto value = [](int k, int l) {
                                       return std::abs(k) + 7 * std::abs(l);
                                   };
                                   int v = value(i, j);
                                   return -((v / 10 + v % 10) * 3 + 3) + value(i + 1, j) % 10;
                               });

    Func digits("digits"), in("in");
    in(x, y) = x + 20 * y;
    digits.define_extern("pipe_extern_digits", {in}, {Int(32), UInt(8)}, 2);
    Realization r = digits.realize({5, 4});
    Buffer<int> tens = r[0];
    Buffer<uint8_t> ones = r[1];
    CHECK(tens(4, 3) == 6);
    CHECK(ones(4, 3) == 4);

    everywhere::check<int>(
        [] {
            Func made("made"), out("out");
            made.define_extern("pipe_extern_ramp", {10}, Int(32), {x, y});
            out(x, y) = made(x, y) * 2;
            return out;
        },
        [](int i, int j) { return 2 * (i + 10 * j); });
}

TEST_CASE("an extern stage reads images", "[language][extern]") {
    ImageParam in(Int(32), 2, "in");
    Param<int> dx("dx");
    dx.set(4);
    Func moved("moved"), out("out");
    moved.define_extern("pipe_extern_translate", {in, dx, 1}, Int(32), {x, y});
    out(x, y) = moved(x, y) + 1;
    for (int how = 0; how < 2; how++) {
        if (how == 1)
            moved.compute_at(out, y);
        for (int w : {1, 9}) {
            in.reset();
            out.infer_input_bounds({w, 5});
            Buffer<> got = in.get();
            CHECK(got.dim(0).min() == 4);
            CHECK(got.dim(0).extent() == w);
            CHECK(got.dim(1).min() == 1);
            CHECK(got.dim(1).extent() == 5);
            Buffer<int> image(w, 5);
            image.set_min(4, 1);
            image.fill([](int i, int j) { return source(i, j); });
            in.set(image);
            for (const Buffer<int> &result :
                 {Buffer<int>(out.realize({w, 5})), Buffer<int>(out.realize_reference({w, 5}))})
                everywhere::compare(
                    result, [](int i, int j) { return source(i + 4, j + 1) + 1; },
                    std::equal_to<int>(), "image");
            require_message<RuntimeError>(
                [&] {
                    out.realize({w + 1, 5});
                },
                {"Input in is read from 4 to", "moved"});
            require_message<RuntimeError>(
                [&] {
                    out.realize_reference({w + 1, 5});
                },
                {"\"in\" is read from 4 to", "moved"});
        }
    }
    // A Buffer, with strides of its own.
    Buffer<int> planes = Buffer<int>::make_interleaved(6, 6, 2);
    planes.fill([](int i, int j, int c) { return source(i, j) + 7 * c; });
    Func of_buffer("of_buffer");
    of_buffer.define_extern("pipe_extern_translate", {planes.sliced(2, 1), 0, 2}, Int(32), 2);
    Buffer<int> result = of_buffer.realize({6, 4});
    everywhere::compare(
        result, [](int i, int j) { return source(i, j + 2) + 7; }, std::equal_to<int>(), "buffer");
}

TEST_CASE("an extern stage may compute more than what is needed", "[language][extern]") {
    for (int how = 0; how < 3; how++) {
        everywhere::check<int>(
            [&] {
                Func in = ramp("in"), eights("eights"), out("out");
                eights.define_extern("pipe_extern_eights", {in}, Int(32), {x, y});
                out(x, y) = eights(x + 1, y);
                if (how > 0)
                    eights.compute_at(out, y);
                if (how == 2)
                    in.compute_root();
                return out;
            },
            [](int i, int j) { return source(i + 1, j) + 1; });
    }
    // An output has the size that it is given.
    Func in = ramp("in"), eights("eights");
    eights.define_extern("pipe_extern_eights", {in}, Int(32), {x, y});
    CHECK(Buffer<int>(eights.realize({16, 2}))(3, 1) == source(3, 1) + 1);
    Buffer<int> part = eights.realize({17, 2});
    CHECK(part.extent(0) == 17);
    CHECK(part.stride(1) == 24);
    CHECK(part(16, 1) == source(16, 1) + 1);
    Buffer<int> small(17, 2);
    require_message<RuntimeError>(
        [&] { eights.realize(small); },
        {"Output eights is written from 0 to 23", "0 to 16", "asks to compute more"});
}

// Where nothing is needed it was called for one point, unasked.
TEST_CASE("an extern stage is not called in iterations that need nothing of it",
          "[language][extern]") {
    RVar ro("ro"), ri("ri"), v0("v0"), v1("v1");
    Var u("u");
    Func in = ramp("in"), eights("eights"), f("f");
    RDom r(-1, 3, "r");
    in.compute_root();
    eights.define_extern("pipe_extern_eights", {in}, Int(32), {x, y});
    f(x) = 0;
    f(x) += eights(x, r);
    Func part = f.update().split(r, ro, ri, 2).rfactor(ro, u);
    part.update().split(ri, v0, v1, 2);
    eights.compute_at(part.update(), v1);
    Buffer<int> result = f.realize({1});
    CHECK(result(0) == source(0, -1) + source(0, 0) + source(0, 1) + 3);
}

// What is read only where an extern stage's own value says so made that stage wait for the value.
TEST_CASE("an extern stage decides by its values what else is computed", "[language][extern]") {
    everywhere::check<int>(
        [] {
            Func in = ramp("in"), small("small"), moved("moved"), out("out");
            small.define_extern("pipe_extern_pointwise", {in}, Int(32), {x, y});
            moved.define_extern("pipe_extern_translate", {small, 5, -3}, Int(32), {x, y});
            out(x, y) = select(in(x, y) < 0, select(small(x, y) < in(x, y), 1, moved(x, y)), 2);
            Func copied = small.in(moved);
            in.compute_root();
            for (Func f : {moved, copied, small})
                f.compute_at(out, x);
            return out;
        },
        [](int i, int j) {
            int here = source(i, j), there = source(i + 5, j - 3);
            return here >= 0 ? 2 : 2 * here + 1 < here ? 1 : 2 * there + 1;
        });
}

TEST_CASE("a stage of other dimensions; memory in another order", "[language][extern]") {
    everywhere::check<int>(
        [] {
            Func in = ramp("in"), sums("sums"), out("out");
            sums.define_extern("pipe_extern_columns", {in, 5}, Int(32), {x});
            out(x, y) = sums(x) + y;
            in.reorder_storage(y, x).align_storage(y, 8);
            return out;
        },
        [](int i, int j) { return 5 * 3 * i + 10000 + j; });
}

TEST_CASE("Funcs around extern stages that are stored further out", "[language][extern]") {
    for (bool all : {false, true})
        everywhere::check<int>(
            [&] {
                Func in = ramp("in"), before("before"), moved("moved"), out("out");
                before(x, y) = in(x, y) + in(x, y - 1);
                moved.define_extern("pipe_extern_translate", {before, 1, 1}, Int(32), {x, y});
                out(x, y) = moved(x, y) + moved(x, y + 1) + in(x, y);
                moved.compute_at(out, y);
                before.compute_at(out, y).store_root();
                if (all)
                    in.compute_at(out, y).store_root();
                return out;
            },
            [](int i, int j) {
                auto b = [](int k, int l) { return source(k, l) + source(k, l - 1); };
                return b(i + 1, j + 1) + b(i + 1, j + 2) + source(i, j);
            });
}

TEST_CASE("autoschedule leaves extern stages at root", "[language][extern]") {
    for (bool placed : {false, true}) {
        Func in = ramp("in"), more("more"), moved("moved"), after("after"), out("out");
        more(x, y) = in(x, y) + in(x + 1, y);
        moved.define_extern("pipe_extern_translate", {more, 1, 1}, Int(32), {x, y});
        after(x, y) = moved(x, y) + moved(x, y + 1);
        out(x, y) = after(x, y) + after(x + 1, y);
        if (placed)
            more.compute_root();
        Pipeline p(out);
        p.autoschedule(Target());
        Buffer<int> result = p.realize({130, 70})[0], reference = out.realize_reference({130, 70});
        everywhere::compare(
            result, [&](int i, int j) { return reference(i, j); }, std::equal_to<int>(), "auto");
        std::string source = p.schedule_source();
        INFO(source);
        CHECK(source.find("moved\n    .compute_root()") != std::string::npos);
        CHECK(source.find("more\n    .compute_root()") != std::string::npos);
        CHECK(p.loop_nest().find("moved(x, y) = extern pipe_extern_translate") !=
              std::string::npos);
    }
}

// The ends of x, over which the extent of f was bounded, are what the C function says.
TEST_CASE("storage is not hoisted out of the loop in which its size is asked for",
          "[language][extern]") {
    Func f("f"), g("g"), e("e"), out("out");
    f(x, y) = x + y;
    f(0, y) += 1;
    g(x, y) = x + y;
    g(x, y) += f(x, y);
    e.define_extern("pipe_extern_pointwise", {g}, Int(32), {x, y});
    out(x, y) = e(x, y);
    e.compute_at(out, y);
    SECTION("beyond") {
        f.hoist_storage_root();
        require_message<CompileError>([&] { out.compile_jit(); },
                                      {"f.hoist_storage", "the C function of an extern stage"});
    }
    SECTION("inside") {
        f.hoist_storage(out, y);
        for (int width : {1, 7, 12}) {
            Buffer<int> got = out.realize({width, 3});
            got.for_each_element(
                [&](int i, int j) { CHECK(got(i, j) == 2 * (2 * (i + j) + (i == 0)) + 1); });
        }
    }
}

TEST_CASE("extern stages under async, hoist_storage, tracing and profiling", "[language][extern]") {
    auto expected = [](int i, int j) { return source(i + 1, j) + 2; };
    for (int how = 0; how < 4; how++) {
        Func in = ramp("in"), before("before"), moved("moved"), out("out");
        before(x, y) = in(x, y) + 2;
        moved.define_extern("pipe_extern_translate", {before, 1, 0}, Int(32), {x, y});
        out(x, y) = moved(x, y);
        before.compute_root();
        if (how == 0)
            moved.compute_at(out, y).async();
        if (how == 1)
            before.async();
        if (how == 2)
            moved.compute_at(out, y), out.vectorize(x, 4).unroll(x, 2);
        if (how == 3)
            moved.compute_at(out, y).trace_realizations().trace_loads(),
                before.trace_realizations();
        static int events;
        events = 0;
        out.jit_handlers().custom_trace = [](JITUserContext *, const TraceEvent *e) -> int32_t {
            events += e->event == TraceEventCode::Produce;
            return 1;
        };
        Target target = get_host_target();
        if (how == 2)
            target = target.with_feature(Target::Profile);
        out.jit_handlers().custom_print = [](JITUserContext *, const char *) {};
        Buffer<int> result = out.realize({19, 5}, target);
        everywhere::compare(result, expected, std::equal_to<int>(), "how " + std::to_string(how));
        CHECK(events == (how == 3 ? 6 : 0));
    }
}

TEST_CASE("a Callable without memory asks the C functions", "[language][extern]") {
    ImageParam in(Int(32), 2, "in");
    Func more("more"), moved("moved"), out("out");
    more(x, y) = in(x, y) + in(x + 2, y);
    moved.define_extern("pipe_extern_translate", {more, -3, 4}, Int(32), {x, y});
    out(x, y) = moved(x, y) + moved(x, y + 1);
    moved.compute_at(out, y);
    Callable call = out.compile_to_callable({in});
    Buffer<int> question(nullptr, {0, 0}), result(6, 5);
    result.fill(-1);
    CHECK(call(question, result) == 0);
    CHECK(question.dim(0).min() == -3);
    CHECK(question.dim(0).extent() == 8);
    CHECK(question.dim(1).min() == 4);
    CHECK(question.dim(1).extent() == 6);
    CHECK(result.all_equal(-1));
}

TEST_CASE("a sum over all cores of what a C function computes", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), total("total");
    RDom r(0, 40, 0, 30);
    moved.define_extern("pipe_extern_translate", {in, 2, 1}, Int(32), {x, y});
    total() += moved(r.x, r.y);
    total.update().parallel(r.y);
    int expected = 0;
    for (int j = 0; j < 30; j++)
        for (int i = 0; i < 40; i++)
            expected += source(i + 2, j + 1);
    CHECK(Buffer<int>(total.realize())() == expected);
    CHECK(Buffer<int>(total.realize_reference({}))() == expected);
}

TEST_CASE("extern stages and what they read are memoized", "[language][extern]") {
    for (bool tiles : {false, true}) {
        Param<int> dx("dx"), bias("bias");
        Func in("in"), moved("moved"), out("out");
        in(x, y) = 3 * x + 1000 * y + bias;
        moved.define_extern("pipe_extern_translate", {in, dx, 2}, Int(32), {x, y});
        out(x, y) = moved(x, y);
        in.compute_root().memoize();
        moved.memoize();
        if (tiles)
            moved.compute_at(out, y);
        calls = 0;
        for (auto [d, b] : {std::pair{1, 0}, {1, 0}, {2, 0}, {2, 5}}) {
            dx.set(d), bias.set(b);
            int added = b;
            Buffer<int> result = out.realize({9, 4});
            everywhere::compare(
                result, [&, d = d](int i, int j) { return source(i + d, j + 2) + added; },
                std::equal_to<int>(), "memoized");
        }
        CHECK(calls == (tiles ? 12 : 3));
    }
}

TEST_CASE("how often a C function is called", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), out("out");
    moved.define_extern("pipe_extern_translate", {in, 0, 0}, Int(32), {x, y});
    out(x, y) = moved(x, y);
    out.compile_jit();
    calls = 0;
    out.realize({10, 6});
    CHECK(calls == 1);
    moved.compute_at(out, y);
    calls = 0;
    out.realize({10, 6});
    CHECK(calls == 6);
}

TEST_CASE("a C function that fails", "[language][extern]") {
    for (int in_query : {0, 1}) {
        Func in = ramp("in"), bad("bad"), out("out");
        bad.define_extern("pipe_extern_fails", {in, in_query, -42}, Int(32), {x, y});
        out(x, y) = bad(x, y);
        for (int how = 0; how < 2; how++) {
            if (how == 1)
                bad.compute_at(out, y), out.parallel(y);
            require_message<RuntimeError>(
                [&] {
                    out.realize({30, 30});
                },
                {"bad", "extern_stages.cpp:", "'pipe_extern_fails'", "returned -42"});
        }
        require_message<RuntimeError>(
            [&] {
                out.realize_reference({3, 3});
            },
            {"bad", "'pipe_extern_fails'", "returned -42"});
    }
}

TEST_CASE("C functions by address", "[language][extern]") {
    Func in = ramp("in"), doubled("doubled"), out("out");
    doubled.define_extern("pipe_extern_a_lambda", {in}, Int(32), {x, y});
    out(x, y) = doubled(x, y);
    require_message<CompileError>(
        [&] {
            out.realize({3, 3});
        },
        {"doubled", "extern_stages.cpp:", "'pipe_extern_a_lambda'", "-rdynamic",
         "set_jit_externs"});
    require_message<CompileError>(
        [&] {
            out.realize_reference({3, 3});
        },
        {"'pipe_extern_a_lambda'"});
    Pipeline p(out);
    int (*function)(RawBuffer *, RawBuffer *) = [](RawBuffer *a, RawBuffer *b) {
        if (!b->is_bounds_query())
            for_each(b, [&](int64_t i, int64_t j) { at(b, i, j) = 2 * at(a, i, j); });
        return 0;
    };
    p.set_jit_externs({{"pipe_extern_a_lambda", JITExtern(function)}});
    CHECK(p.get_jit_externs().size() == 1);
    CHECK(Buffer<int>(p.realize({5, 4})[0])(4, 3) == 2 * source(4, 3));
    // What it takes is now known.
    Func wrong("wrong");
    wrong.define_extern("pipe_extern_a_lambda", {in, 3.f}, Int(32), {x, y});
    require_message<CompileError>(
        [&] {
            wrong.realize({3, 3});
        },
        {"wrong", "takes (a pointer, a pointer)", "(a pointer, float32, a pointer)"});
    int (*other)(RawBuffer *) = [](RawBuffer *) { return 0; };
    require_message<CompileError>(
        [&] {
            p.set_jit_externs({{"pipe_extern_a_lambda", JITExtern(other)}});
        },
        {"pipe_extern_a_lambda", "declared twice"});
    p.set_jit_externs({{"pipe_extern_float", JITExtern(pipe_extern_float)}});
    Func no_int("no_int");
    no_int.define_extern("pipe_extern_float", {}, Int(32), {x, y});
    require_message<CompileError>([&] { no_int.realize({3, 3}); }, {"no_int", "returns float32"});
}

// Halide's pipelines take it first.
TEST_CASE("a pipeline as extern stage that is given the user context", "[language][extern]") {
    Func made("made"), source("source"), e("e");
    ImageParam image(Int(32), 2, "image");
    source(x, y) = x + y;
    source.compute_root();
    made(x, y) = image(x, y) + 1;
    e.define_extern("pipe_extern_made", {user_context_value(), source}, Int(32), 2);
    Pipeline p(e);
    p.set_jit_externs({{"pipe_extern_made", JITExtern{made}}});
    CHECK(Buffer<int>(p.realize({8, 8})[0])(3, 4) == 8);
}

TEST_CASE("what an extern stage cannot have", "[language][extern]") {
    Func in = ramp("in"), e("e"), out("out");
    Param<int> p("p");
    auto define = [&](Func f, const std::vector<ExternFuncArgument> &args) {
        f.define_extern("pipe_extern_flip", args, Int(32), {x, y});
    };
    require_message<CompileError>(
        [&] { define(Func("f"), {in(x, y)}); },
        {"f.define_extern", "extern_stages.cpp:", "argument 1", "without coordinates"});
    require_message<CompileError>(
        [&] {
            define(Func("f"), {in, x + 1});
        },
        {"argument 2", "one number"});
    require_message<CompileError>([&] { define(Func("f"), {Func("g")}); },
                                  {"argument 1", "'g'", "not defined"});
    require_message<CompileError>([&] { define(Func("f"), {Expr()}); },
                                  {"argument 1", "undefined"});
    require_message<CompileError>([&] { define(in, {in}); },
                                  {"in.define_extern", "defined already"});
    require_message<CompileError>(
        [&] { Func("f").define_extern("g", {in}, Int(32), 2, NameMangling::CPlusPlus); },
        {"extern \"C\""});
    require_message<CompileError>(
        [&] { Func("f").define_extern("g", {in}, Int(32), 2, NameMangling::C, DeviceAPI::CUDA); },
        {"host"});
    require_message<CompileError>([&] { Func("f").define_extern("g", {in}, Int(32), -1); }, {"-1"});
    require_message<CompileError>(
        [&] { Func(Float(32), 2, "f").define_extern("g", {in}, Int(32), 2); },
        {"int32", "float32"});
    define(e, {in});
    out(x, y) = e(x, y);
    CHECK(e.is_extern());
    CHECK_FALSE(in.is_extern());
    CHECK(e.extern_function_name() == "pipe_extern_flip");
    CHECK_THROWS_AS(in.extern_function_name(), CompileError);
    std::string name = "'pipe_extern_flip'";
    require_message<CompileError>([&] { e(x, y) += 1; }, {"update 0 of Func 'e'", name, "final"});
    require_message<CompileError>([&] { e.split(x, x, Var("xi"), 4); },
                                  {"e.split", name, "no loops"});
    require_message<CompileError>([&] { e.vectorize(x, 4); }, {"e.vectorize", name, "no loops"});
    require_message<CompileError>([&] { e.parallel(y); }, {"e.parallel", name, "no loops"});
    require_message<CompileError>([&] { e.reorder(y, x); }, {"e.reorder", name});
    require_message<CompileError>([&] { e.specialize(p > 3); }, {"e.specialize", name});
    require_message<CompileError>([&] { e.atomic(); }, {"e.atomic", name});
    require_message<CompileError>([&] { e.allow_race_conditions(); },
                                  {"e.allow_race_conditions", name});
    require_message<CompileError>([&] { e.compute_with(out, y); }, {"e.compute_with", name});
    require_message<CompileError>([&] { e.compute_inline(); },
                                  {"e.compute_inline", name, "compute_at"});
    require_message<CompileError>([&] { e.value(); }, {"'e'", "value()"});
    require_message<CompileError>([&] { out.eager_inline(e); }, {"'e'", "extern stage"});
    require_message<CompileError>([&] { e.eager_inline(in); }, {"e.eager_inline", "stored"});
    auto rejects = [&](auto &&schedule, const std::vector<std::string> &parts) {
        Func i = ramp("i"), f("f"), g("g");
        define(f, {i});
        g(x, y) = f(x, y);
        schedule(i, f, g);
        require_message<CompileError>([&] { g.realize({8, 8}); }, parts);
    };
    rejects([](Func &, Func &f, Func &g) { f.compute_at(g, y), f.fold_storage(y, 4).store_root(); },
            {"f.fold_storage(y)", "C function"});
    rejects([](Func &i, Func &, Func &) { i.compute_root().fold_storage(y, 4); },
            {"i.fold_storage(y)", "C function"});
    rejects([](Func &, Func &f, Func &) { f.trace_stores(); }, {"f.trace_stores", "C function"});
    rejects([](Func &, Func &f, Func &g) { f.compute_at(g, x), g.vectorize(x); },
            {"f.compute_at", "'x' of g", "vectorized"});
    rejects([](Func &i, Func &f, Func &) { i.compute_at(f, x); },
            {"i.compute_at(f, x)", "no loop"});
}
