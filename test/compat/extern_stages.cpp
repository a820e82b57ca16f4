// define_extern as users of Halide write it.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include "support/require_message.h"

#ifdef _WIN32
#define DLLEXPORT __declspec(dllexport)
#else
#define DLLEXPORT
#endif

using namespace Halide;

// Two inputs, one of them mirrored, and a number.
extern "C" DLLEXPORT int compat_extern_blend(halide_buffer_t *a, halide_buffer_t *mirrored,
                                             float weight, halide_buffer_t *out) {
    if (a->is_bounds_query() || mirrored->is_bounds_query()) {
        if (a->is_bounds_query()) {
            a->dim[0] = out->dim[0];
            a->dim[1] = out->dim[1];
        }
        if (mirrored->is_bounds_query()) {
            mirrored->dim[0].min = -(out->dim[0].min + out->dim[0].extent - 1);
            mirrored->dim[0].extent = out->dim[0].extent;
            mirrored->dim[1] = out->dim[1];
        }
        return 0;
    }
    assert(out->type == halide_type_of<float>());
    Halide::Runtime::Buffer<float> a_buf(*a), m_buf(*mirrored), out_buf(*out);
    for (int y = out_buf.dim(1).min(); y <= out_buf.dim(1).max(); y++)
        for (int x = out_buf.dim(0).min(); x <= out_buf.dim(0).max(); x++)
            out_buf(x, y) = a_buf(x, y) * weight + m_buf(-x, y) * (1 - weight);
    return 0;
}

extern "C" DLLEXPORT int compat_extern_move(halide_buffer_t *in, int dx, int dy,
                                            halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        in->dim[0].min = out->dim[0].min + dx;
        in->dim[1].min = out->dim[1].min + dy;
        in->dim[0].extent = out->dim[0].extent;
        in->dim[1].extent = out->dim[1].extent;
    } else {
        Halide::Runtime::Buffer<uint8_t> out_buf(*out);
        out_buf.translate({dx, dy});
        out_buf.copy_from(Halide::Runtime::Buffer<uint8_t>(*in));
    }
    return 0;
}

// An output of no dimensions: called for what it does.
static int consumed = 0;
extern "C" DLLEXPORT int compat_extern_consume(halide_buffer_t *in, int min, int extent,
                                               halide_buffer_t *) {
    if (in->is_bounds_query()) {
        in->dim[0].min = min;
        in->dim[0].extent = extent;
        return 0;
    }
    for (int x = min; x < min + extent; x++)
        consumed += ((int *)in->host)[x - in->dim[0].min];
    return 0;
}

/// Reads a row of its input; in a context with num_threads of 2 it knows no answer.
extern "C" HALIDE_EXPORT_SYMBOL int compat_extern_row(JITUserContext *context, halide_buffer_t *in,
                                                      halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        in->dim[0].min = out->dim[0].min;
        in->dim[0].extent = out->dim[0].extent + 2;
        return context && context->num_threads == 2 ? 7 : 0;
    }
    for (int i = 0; i < out->dim[0].extent; i++)
        ((int *)out->host)[i] = ((int *)in->host)[i + out->dim[0].min - in->dim[0].min];
    return 0;
}

namespace {

struct CountingContext : JITUserContext {
    int stages = 0;
    CountingContext() { num_threads = 2; }
};

}  // namespace

extern "C" HALIDE_EXPORT_SYMBOL int compat_extern_context(JITUserContext *context, int factor,
                                                          halide_buffer_t *out) {
    if (out->is_bounds_query())
        return 0;
    auto *counting = static_cast<CountingContext *>(context);
    // Without a context of the user's there is another one, or none.
    if (context && context->num_threads == 2)
        counting->stages++;
    for (int i = 0; i < out->dim[0].extent; i++)
        ((int *)out->host)[i] = factor * (out->dim[0].min + i);
    return 0;
}

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

float blended(int i, int j) {
    return (i + 100 * j) * 0.25f + (i * i + j) * 0.75f;
}

}  // namespace

TEST_CASE("an extern stage with two inputs and a Param", "[compat][extern]") {
    for (int schedule = 0; schedule < 3; schedule++) {
        Func f("f"), g("g"), h("h"), out("out");
        Param<float> weight("weight");
        weight.set(0.25f);
        f(x, y) = cast<float>(x + 100 * y);
        g(x, y) = cast<float>(x * x + y);
        std::vector<ExternFuncArgument> args = {f, g, weight};
        h.define_extern("compat_extern_blend", args, Float(32), 2);
        out(x, y) = h(x, y) + 1.0f;
        f.compute_root();
        g.compute_root();
        if (schedule > 0)
            out.tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
        if (schedule == 1)
            h.compute_at(out, x);
        if (schedule == 2) {
            h.compute_at(out, x);
            f.compute_at(out, x);
            g.compute_at(out, x);
        }
        Buffer<float> result = out.realize({21, 9});
        int wrong = 0;
        result.for_each_element([&](int i, int j) { wrong += result(i, j) != blended(i, j) + 1; });
        CHECK(wrong == 0);
    }
}

TEST_CASE("bounds of an image that only an extern stage reads", "[compat][extern]") {
    ImageParam input(UInt(8), 2);
    Func f;
    std::vector<ExternFuncArgument> args(3);
    args[0] = input;
    args[1] = Expr(3);
    args[2] = Expr(7);
    f.define_extern("compat_extern_move", args, UInt(8), 2);
    f.infer_input_bounds({30, 20});
    Buffer<uint8_t> in = input.get();
    CHECK(in.min(0) == 3);
    CHECK(in.width() == 30);
    CHECK(in.min(1) == 7);
    CHECK(in.height() == 20);
    in.fill([](int i, int j) { return uint8_t(i + 5 * j); });
    Buffer<uint8_t> out = f.realize({30, 20});
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != uint8_t(i + 3 + 5 * (j + 7)); });
    CHECK(wrong == 0);
    // One stage between.
    Func g, h;
    g(x, y) = input(x + 1, y) + cast<uint8_t>(1);
    h.define_extern("compat_extern_move", {g, 2, 2}, UInt(8), {x, y}, NameMangling::C);
    input.reset();
    h.infer_input_bounds({10, 10});
    CHECK(input.get().dim(0).min() == 3);
    CHECK(input.get().dim(1).min() == 2);
}

TEST_CASE("an extern stage that gets the context of the call", "[compat][extern]") {
    Func f("f"), out("out");
    f.define_extern("compat_extern_context", {user_context_value(), 5}, Int(32), 1);
    out(x) = f(x) + 1;
    f.compute_root();
    CountingContext context;
    Buffer<int> result = out.realize(&context, {10});
    for (int i = 0; i < 10; i++)
        CHECK(result(i) == 5 * i + 1);
    CHECK(context.stages == 1);
    CHECK(Buffer<int>(out.realize({4}))(3) == 16);
    CHECK(context.stages == 1);
    CHECK(Buffer<int>(out.realize_reference({4}))(3) == 16);
    f.memoize();
    bool refused = false;
    try {
        out.compile_jit();
    } catch (const CompileError &e) {
        refused = std::string(e.what()).find("user_context") != std::string::npos;
    }
    CHECK(refused);
}

TEST_CASE("bounds queries use the context of the call", "[compat][extern]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f"), out("out");
    f.define_extern("compat_extern_row", {user_context_value(), in}, Int(32), 1);
    out(x) = f(x) + 1;
    f.compute_root();
    struct : JITUserContext {
        std::string message;
    } context;
    context.num_threads = 2;
    context.handlers.custom_error = [](JITUserContext *c, const char *text) {
        static_cast<decltype(&context)>(c)->message = text;
    };
    out.infer_input_bounds(&context, {10});
    CHECK(context.message.find("compat_extern_row") != std::string::npos);
    CHECK_FALSE(in.get().defined());

    context.message.clear();
    auto call = out.compile_to_callable({in});
    Buffer<int> asked(nullptr, 0), result(10);
    CHECK(call(&context, asked, result) != 0);
    CHECK(context.message.find("compat_extern_row") != std::string::npos);

    context.num_threads = 1;
    CHECK(call(&context, asked, result) == 0);
    CHECK(asked.dim(0).extent() == 12);
    out.infer_input_bounds(&context, {10});
    CHECK(in.get().width() == 12);
}

TEST_CASE("an extern stage that only consumes", "[compat][extern]") {
    Func source, sink;
    source(x) = x * x;
    Param<int> min, extent;
    sink.define_extern("compat_extern_consume", {source, min, extent}, Int(32), 0);
    source.compute_root();
    for (int n : {10, 11}) {
        min.set(n);
        extent.set(3);
        consumed = 0;
        sink.realize();
        CHECK(consumed == n * n + (n + 1) * (n + 1) + (n + 2) * (n + 2));
    }
}

TEST_CASE("a Func as the function of an extern stage", "[compat][extern]") {
    ImageParam in(Int(32), 2, "in");
    Param<int> factor("factor");
    Func inner("inner");
    inner(x, y) = in(x - 1, y + 2) * factor + x;
    std::vector<Argument> order = inner.infer_arguments();
    REQUIRE(order.size() == 2);
    for (int schedule = 0; schedule < 3; schedule++) {
        Func source("source"), stage("stage"), out("out");
        source(x, y) = x + 10 * y;
        std::vector<ExternFuncArgument> args;
        for (const Argument &a : order)
            args.push_back(a.is_buffer() ? ExternFuncArgument(source) : ExternFuncArgument(3));
        stage.define_extern("compat_inner_pipeline", args, Int(32), 2);
        out(x, y) = stage(x, y) + stage(x + 1, y);
        source.compute_root();
        if (schedule == 1)
            stage.compute_at(out, y);
        if (schedule == 2) {
            stage.compute_at(out, y);
            source.compute_at(out, y);
            out.parallel(y);
        }
        Pipeline p(out);
        p.set_jit_externs({{"compat_inner_pipeline", JITExtern(inner)}});
        for (int size : {1, 9}) {
            Buffer<int> result(size, size + 2);
            result.set_min(-2, 5);
            p.realize(result);
            auto expected = [](int i, int j) { return (i - 1 + 10 * (j + 2)) * 3 + i; };
            int wrong = 0;
            result.for_each_element([&](int i, int j) {
                wrong += result(i, j) != expected(i, j) + expected(i + 1, j);
            });
            CHECK(wrong == 0);
            Buffer<int> reference(size, size + 2);
            reference.set_min(-2, 5);
            p.realize_reference(reference);
            CHECK(reference(-2, 5) == result(-2, 5));
        }
    }
}

TEST_CASE("a Pipeline of two outputs, an image and a bool as an extern stage", "[compat][extern]") {
    ImageParam in(UInt(8), 1, "in");
    Param<bool> twice("twice");
    Func sums("sums"), halves("halves");
    sums(x) = cast<int>(in(x)) * select(twice, 2, 1);
    halves(x) = cast<float>(in(x)) / 2;
    Pipeline inner({sums, halves});
    Buffer<uint8_t> image(20);
    image.fill([](int i) { return 3 * i; });
    for (bool doubled : {false, true}) {
        std::vector<ExternFuncArgument> args;
        for (const Argument &a : inner.infer_arguments())
            args.push_back(a.is_buffer() ? ExternFuncArgument(image)
                                         : ExternFuncArgument(Expr(doubled)));
        Func stage("stage"), out("out");
        stage.define_extern("compat_two_outputs", args, {Int(32), Float(32)}, 1);
        out(x) = cast<float>(stage(x)[0]) + stage(x)[1];
        Pipeline p(out);
        p.set_jit_externs({{"compat_two_outputs", inner}});
        for (int size : {1, 13}) {
            Buffer<float> result = p.realize({size});
            for (int i = 0; i < size; i++)
                CHECK(result(i) == 3 * i * (doubled ? 2 : 1) + 1.5f * i);
        }
    }
}

TEST_CASE("what goes wrong in a pipeline that is an extern stage", "[compat][extern]") {
    Param<int> limit("limit");
    Func inner("inner");
    inner(x) = require(x < limit, x, "beyond the limit");
    Func stage("stage");
    stage.define_extern("compat_limited", {5}, Int(32), 1);
    Pipeline p(stage);
    p.set_jit_externs({{"compat_limited", JITExtern(inner)}});
    CHECK(Buffer<int>(p.realize({5}))(4) == 4);
    require_message<RuntimeError>([&] { p.realize({6}); }, {"beyond the limit"});
    CHECK(Buffer<int>(p.realize({5}))(4) == 4);
    Func wrong("wrong");
    wrong.define_extern("compat_limited", {5.0f}, Int(32), 1);
    Pipeline q(wrong);
    q.set_jit_externs({{"compat_limited", JITExtern(inner)}});
    require_message<CompileError>([&] { q.realize({5}); },
                                  {"wrong", "compat_limited", "takes (int32, a pointer)"});
}

HalideExtern_2(int, compat_no_expression, int, void *);

TEST_CASE("a pipeline is no function of expressions", "[compat][extern]") {
    Param<int> offset("offset");
    Param<void *> nothing("nothing", nullptr);
    Func inner("inner"), f("f");
    inner(x) = x + offset;
    f(x) = compat_no_expression(x, nothing);
    Pipeline p(f);
    p.set_jit_externs({{"compat_no_expression", JITExtern(inner)}});
    require_message<CompileError>([&] { p.realize({3}); },
                                  {"'compat_no_expression'", "as a pipeline", "define_extern"});
    require_message<CompileError>([&] { p.realize_reference({3}); }, {"as a pipeline"});
}

TEST_CASE("a pipeline that is an extern stage answers what it reads", "[compat][extern]") {
    ImageParam in(Int(32), 2, "in"), given(Int(32), 2, "given");
    Func inner("inner"), stage("stage");
    inner(x, y) = in(x - 3, y) + in(x, 2 * y);
    stage.define_extern("compat_wide_reader", {given}, Int(32), 2);
    Pipeline p(stage);
    p.set_jit_externs({{"compat_wide_reader", JITExtern(inner)}});
    for (int size : {1, 6}) {
        given.reset();
        p.infer_input_bounds({size, 5});
        Buffer<int> read = given.get();
        CHECK(read.left() == -3);
        CHECK(read.width() == size + 3);
        CHECK(read.height() == 9);
        read.fill([](int i, int j) { return i + 100 * j; });
        Buffer<int> out = p.realize({size, 5});
        int wrong = 0;
        out.for_each_element(
            [&](int i, int j) { wrong += out(i, j) != i - 3 + 100 * j + i + 200 * j; });
        CHECK(wrong == 0);
    }
}

namespace {

int twice_as_much(int v) {
    return 2 * v;
}

}  // namespace

extern "C" int compat_halved(int v) {
    return v / 2;
}
HalideExtern_1(int, compat_halved, int);

TEST_CASE("C functions and their signatures as values", "[compat][extern]") {
    ExternCFunction function(twice_as_much);
    CHECK(function.address() == reinterpret_cast<void *>(twice_as_much));
    CHECK(function.signature().ret_type() == Int(32));
    CHECK(function.signature().arg_types() == std::vector<Type>{Int(32)});
    CHECK_FALSE(ExternSignature(twice_as_much).is_void_return());
    Func f("f");
    f(x) = compat_halved(x);
    Pipeline p(f);
    CHECK(Buffer<int>(p.realize({9}))(8) == 4);
    p.set_jit_externs({{"compat_halved", function}});
    CHECK(Buffer<int>(p.realize({9}))(8) == 16);
    CHECK(Buffer<int>(p.realize_reference({9}))(8) == 16);
}
