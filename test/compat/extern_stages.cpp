// define_extern as users of Halide write it.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

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
