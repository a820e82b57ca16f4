// The run-time side of Halide's JIT API: contexts, handlers, callables, tracing, files.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/require_message.h"

using namespace Halide;

static_assert(HALIDE_VERSION >= HALIDE_COMPUTE_VERSION(15, 0, 0));

namespace {

std::atomic<int> stores{0}, loads{0}, begins{0};

int my_trace(JITUserContext *user_context, const halide_trace_event_t *e) {
    (void)user_context;
    switch (e->event) {
    case halide_trace_store:
        stores++;
        if (e->type.code != halide_type_int || e->type.bits != 32)
            return -1;
        break;
    case halide_trace_load:
        loads++;
        break;
    case halide_trace_begin_realization:
        begins++;
        break;
    default:
        break;
    }
    return 1;
}

std::string last_error;

void my_error(JITUserContext *, const char *msg) {
    last_error = msg;
}

std::atomic<int> allocations{0}, frees{0};

void *my_malloc(JITUserContext *, size_t bytes) {
    allocations++;
    return malloc(bytes);
}

void my_free(JITUserContext *, void *ptr) {
    frees++;
    free(ptr);
}

int my_par_for(JITUserContext *context, int (*f)(JITUserContext *, int, uint8_t *), int min,
               int extent, uint8_t *closure) {
    for (int i = min + extent - 1; i >= min; i--) {
        int result = f(context, i, closure);
        if (result)
            return result;
    }
    return 0;
}

}  // namespace

TEST_CASE("tracing with a handler", "[compat]") {
    Var x("x"), y("y");
    Func producer("producer"), consumer("consumer");
    producer(x, y) = x + y;
    consumer(x, y) = producer(x, y) * 2;
    producer.compute_root();
    producer.trace_stores().trace_loads().trace_realizations();
    consumer.jit_handlers().custom_trace = my_trace;
    stores = loads = begins = 0;
    Buffer<int> out = consumer.realize({8, 4});
    CHECK(stores == 32);
    CHECK(loads == 32);
    CHECK(begins == 1);
    CHECK(out(7, 3) == 20);
}

TEST_CASE("handlers of a Func and of a call", "[compat]") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x - 1, y);
    f.compute_root().store_in(MemoryType::Heap);
    g.parallel(y);
    g.jit_handlers().custom_malloc = my_malloc;
    g.jit_handlers().custom_free = my_free;
    Buffer<int> out = g.realize({100, 100});
    CHECK(allocations == 1);
    CHECK(frees == 1);
    CHECK(out(10, 10) == 190);
    JITUserContext context;
    context.handlers.custom_do_par_for = my_par_for;
    out.fill(0);
    g.realize(&context, out);
    CHECK(allocations == 2);
    CHECK(out(10, 10) == 190);
}

TEST_CASE("errors: exceptions, or a handler", "[compat]") {
    Var x("x");
    ImageParam in(UInt(8), 1);
    Func f("f");
    f(x) = in(x + 5);
    Buffer<uint8_t> small(10);
    in.set(small);
    bool caught = false;
    try {
        f.realize({10});
    } catch (const Halide::RuntimeError &e) {
        caught = std::string(e.what()).find("14") != std::string::npos;
    }
    CHECK(caught);
    JITUserContext context;
    context.handlers.custom_error = my_error;
    f.realize(&context, {10});
    CHECK(last_error.find("14") != std::string::npos);
    try {
        Func undefined("undefined");
        undefined.realize({1});
        CHECK(false);
    } catch (const Halide::CompileError &) {
    } catch (const Halide::Error &) {
        CHECK(false);
    }
    CHECK(exceptions_enabled());
}

TEST_CASE("callables", "[compat]") {
    Var x("x"), y("y");
    Param<int32_t> p_int(42);
    Param<float> p_float(1.0f);
    ImageParam p_img(UInt(8), 2);
    Func f("fn");
    f(x, y) = p_img(x, y) + cast<uint8_t>(p_int / p_float);

    Buffer<uint8_t> in1(10, 10), in2(10, 10);
    in1.fill([](int x, int y) { return uint8_t(x * 10 + y); });
    in2.fill([](int x, int y) { return uint8_t(x + y * 10); });
    const Callable c = f.compile_to_callable({p_img, p_int, p_float});
    Buffer<uint8_t> out1(10, 10), out2(10, 10);
    CHECK(c(in1, 42, 1.0f, out1) == 0);
    JITUserContext context;
    CHECK(c(&context, in2, 22, 2.0f, out2) == 0);
    auto function = c.make_std_function<Buffer<uint8_t, 2>, int32_t, float, Buffer<uint8_t, 2>>();
    Buffer<uint8_t> out3(10, 10);
    CHECK(function(in1, 8, 4, out3) == 0);
    int wrong = 0;
    out1.for_each_element([&](int x, int y) {
        wrong += out1(x, y) != uint8_t(in1(x, y) + 42);
        wrong += out2(x, y) != uint8_t(in2(x, y) + 11);
        wrong += out3(x, y) != uint8_t(in1(x, y) + 2);
    });
    CHECK(wrong == 0);
}

extern "C" float compat_weighted(int x, float w) {
    return static_cast<float>(x) * w;
}
static float added(int x, float w) {
    return static_cast<float>(x) + w;
}
static float subtracted(int x, float w) {
    return static_cast<float>(x) - w;
}
static int with_other_types(int x) {
    return x;
}
HalideExtern_2(float, compat_weighted, int, float);

TEST_CASE("a Pipeline's own function in place of a declared one", "[compat]") {
    Var x("x");
    Func f("f");
    f(x) = compat_weighted(x, 3.0f);
    Pipeline p(f), q(f);
    auto at_two = [](Realization r) { return Buffer<float>(r)(2); };
    CHECK(at_two(p.realize({4})) == 6);
    p.set_jit_externs({{"compat_weighted", JITExtern(added)}});
    CHECK(at_two(p.realize({4})) == 5);
    CHECK(at_two(p.realize_reference({4})) == 5);
    CHECK(at_two(q.realize({4})) == 6);
    CHECK(at_two(f.realize({4})) == 6);
    q.set_jit_externs({{"compat_weighted", JITExtern(subtracted)}});
    CHECK(at_two(q.realize({4})) == -1);
    CHECK(at_two(p.realize({4})) == 5);
    float (*declared)(int, float) = compat_weighted;
    p.set_jit_externs({{"compat_weighted", JITExtern(declared)}});
    CHECK(at_two(p.realize({4})) == 6);
    require_message<CompileError>(
        [&] {
            p.set_jit_externs({{"compat_weighted", JITExtern(with_other_types)}});
        },
        {"compat_weighted", "different types"});
    int (*fills)(halide_buffer_t *) = [](halide_buffer_t *out) {
        if (!out->is_bounds_query())
            out->buffer<int>().fill(7);
        return 0;
    };
    int (*fills_otherwise)(halide_buffer_t *) = [](halide_buffer_t *out) {
        if (!out->is_bounds_query())
            out->buffer<int>().fill(8);
        return 0;
    };
    Func stage("stage");
    stage.define_extern("compat_filled", {}, Int(32), 1);
    Pipeline seven(stage), eight(stage);
    seven.set_jit_externs({{"compat_filled", JITExtern(fills)}});
    eight.set_jit_externs({{"compat_filled", JITExtern(fills_otherwise)}});
    CHECK(Buffer<int>(seven.realize({3})).all_equal(7));
    CHECK(Buffer<int>(eight.realize({3})).all_equal(8));
    CHECK(Buffer<int>(seven.realize({3})).all_equal(7));
}

TEST_CASE("callables of plain buffers", "[compat]") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x + 1) * 2;
    Callable call = f.compile_to_callable({in});
    Buffer<int> image(9), out(4);
    image.fill([](int i) { return i; });
    const halide_buffer_t *input = image.raw_buffer();
    CHECK(call(input, out.raw_buffer()) == 0);
    CHECK(out(3) == 8);
    // A bounds query is answered in the plain buffer.
    halide_dimension_t dim{};
    halide_buffer_t query;
    query.type = halide_type_of<int>();
    query.dimensions = 1;
    query.dim = &dim;
    call(&query, out);
    CHECK(dim.min == 1);
    CHECK(dim.extent == 4);
    halide_buffer_t *none = nullptr;
    require_message<RuntimeError>([&] { call(none, out); }, {"f", "'in'"});
    require_message<RuntimeError>([&] { call(image, none); }, {"'f'"});
}

TEST_CASE("files and loop nests", "[compat]") {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + 1;
    f.vectorize(x, 8).parallel(y);
    f.print_loop_nest();
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string stem = folder + "/pipe_compat_" + std::to_string(rand());
    f.compile_to_lowered_stmt(stem + ".stmt", {in}, Text);
    f.compile_to_lowered_stmt(stem + ".html", {in}, HTML);
    f.compile_to_llvm_assembly(stem + ".ll", {in}, "f");
    f.compile_to_bitcode(stem + ".bc", {in}, "f");
    f.compile_to_assembly(stem + ".s", {in}, "f");
    f.compile_to_object(stem + ".o", {in}, "f");
    for (const char *ending : {".stmt", ".html", ".ll", ".bc", ".s", ".o"}) {
        CHECK(std::filesystem::file_size(stem + ending) > 100);
        std::filesystem::remove(stem + ending);
    }
}

TEST_CASE("files of a function without a name of its own", "[compat]") {
    Var x("x");
    Func f("nameless");
    f(x) = x * 3;
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string stem = folder + "/pipe_compat_" + std::to_string(rand());
    Target target = get_host_target();
    f.compile_to_llvm_assembly(stem + ".ll", {}, target);
    f.compile_to_bitcode(stem + ".bc", {}, target);
    f.compile_to_assembly(stem + ".s", {}, target);
    f.compile_to_object(stem + ".o", {}, target);
    f.compile_to_conceptual_stmt(stem + ".stmt", {}, Text, target);
    Pipeline(f).compile_to_conceptual_stmt(stem + ".html", {}, HTML);
    auto read = [&](const char *ending) {
        std::ifstream file(stem + ending, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    CHECK(read(".ll").find("define") != std::string::npos);
    CHECK(read(".ll").find("@nameless(") != std::string::npos);
    CHECK(read(".bc").substr(0, 2) == "BC");
    CHECK(read(".s").find("nameless:") != std::string::npos);
    CHECK(read(".o").substr(1, 3) == "ELF");
    CHECK(read(".stmt").find("for") != std::string::npos);
    CHECK(read(".html").find("</html>") != std::string::npos);
    for (const char *ending : {".ll", ".bc", ".s", ".o", ".stmt", ".html"})
        std::filesystem::remove(stem + ending);
}

TEST_CASE("contexts for bounds and single values", "[compat]") {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    f(x, y) = in(x + 2, y) + in(x, y + 1);
    JITUserContext context;
    for (int width : {1, 9}) {
        in.reset();
        f.infer_input_bounds(&context, {width, 4});
        CHECK(in.get().width() == width + 2);
        CHECK(in.get().height() == 5);
        in.reset();
        Pipeline(f).infer_input_bounds(&context, {width, 4});
        CHECK(in.get().width() == width + 2);
        in.reset();
        Buffer<uint8_t> out(width, 3);
        out.set_min(-1, 6);
        f.infer_input_bounds(&context, out);
        CHECK(in.get().left() == -1);
        CHECK(in.get().bottom() == 9);
    }
    context.handlers.custom_print = [](JITUserContext *, const char *text) { last_error = text; };
    CHECK(evaluate<float>(&context, print(Expr(2.5f), "is it")) == 2.5f);
    CHECK(last_error.find("is it") != std::string::npos);
    int a = 0;
    float b = 0;
    evaluate(&context, Tuple(print(Expr(3), "or that"), 0.5f), &a, &b);
    CHECK(a == 3);
    CHECK(b == 0.5f);
    CHECK(last_error.find("or that") != std::string::npos);
}

namespace {

struct Reporter : CompileTimeErrorReporter {
    std::vector<std::string> errors;
    void warning(const char *) override {}
    void error(const char *message) override { errors.push_back(message); }
};

}  // namespace

TEST_CASE("a reporter is told of compile errors before they are thrown", "[compat]") {
    Var x("x"), y("y");
    Func f("wrong");
    f(x) = x;
    Reporter reporter;
    set_custom_compile_time_error_reporter(&reporter);
    std::string thrown;
    try {
        f.split(y, x, y, 4);
    } catch (const CompileError &error) {
        thrown = error.what();
    }
    REQUIRE(reporter.errors.size() == 1);
    CHECK(reporter.errors[0] == thrown);
    CHECK(thrown.find("wrong") != std::string::npos);
    // What Pipe tries by itself, and what fails at run time, is none.
    CHECK_FALSE(Target::validate_target_string("no-such-target"));
    Buffer<float> other(3);
    CHECK_THROWS_AS(f.realize(other), RuntimeError);
    CHECK(reporter.errors.size() == 1);
    set_custom_compile_time_error_reporter(nullptr);
    CHECK_THROWS_AS(f.split(y, x, y, 4), CompileError);
    CHECK(reporter.errors.size() == 1);
}

TEST_CASE("images from files", "[compat]") {
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string file = folder + "/pipe_compat_" + std::to_string(rand()) + ".png";
    Buffer<uint8_t> image(20, 10, 3);
    image.fill([](int x, int y, int c) { return uint8_t(x * 5 + y + 50 * c); });
    Tools::save_image(image, file);
    Buffer<uint8_t> back = Tools::load_image(file);
    Buffer<float> converted = Tools::load_and_convert_image(file);
    int wrong = 0;
    image.for_each_element([&](int x, int y, int c) {
        wrong += back(x, y, c) != image(x, y, c);
        float f = converted(x, y, c) * 255.0f - float(image(x, y, c));
        wrong += f > 0.01f || f < -0.01f;
    });
    CHECK(wrong == 0);
    Buffer<float> gray(6, 4);
    gray.fill([](int x, int) { return float(x) / 5.0f; });
    Tools::convert_and_save_image(gray, file);
    Buffer<uint16_t> loaded = Tools::load_image(file);
    CHECK(loaded.dimensions() == 2);
    CHECK(loaded(5, 0) == 65535);
    CHECK(loaded(0, 3) == 0);
    std::filesystem::remove(file);
}

TEST_CASE("memoize", "[compat]") {
    halide_memoization_cache_set_size(1000000);
    Var x("x"), y("y");
    Param<float> gain("gain");
    Param<uint64_t> token("token");
    ImageParam in(UInt(8), 2, "in");
    Func f("f"), g("g");
    f(x, y) = cast<uint8_t>(memoize_tag(in(x, y), token) * memoize_tag(cast<int>(gain * 2)));
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_root().memoize(EvictionKey(token));
    Buffer<uint8_t> picture(11, 10);
    picture.fill(3);
    in.set(picture);
    gain.set(1.25f);
    token.set(77);
    Buffer<uint8_t> out = g.realize({10, 10});
    CHECK(out(4, 4) == 12);
    picture.fill(5);  // f is taken to be the same
    out = g.realize({10, 10});
    CHECK(out(4, 4) == 12);
    halide_memoization_cache_evict(nullptr, 77);
    out = g.realize({10, 10});
    CHECK(out(4, 4) == 20);
    halide_memoization_cache_cleanup();
    halide_memoization_cache_set_size(0);
}
