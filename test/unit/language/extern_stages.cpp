// Funcs that a C function computes: define_extern.
#include <algorithm>

#include "support/everywhere.h"
#include "support/require_message.h"
#include "unit/language/extern_functions.h"

using namespace Pipe;
using namespace extern_functions;

namespace {

Var x("x"), y("y");

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
        {"Output eights is written from 0 to 23", "0 to 16", "requests to compute more"});
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
