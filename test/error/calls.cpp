// What is done wrong where a pipeline is compiled and run: each message names the pipeline and its
// line, the argument, what is needed and what was given, and what to do. One misuse per section.
#include <cmath>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

/// bright(x, y) = photo(x + 1, y) * gain
struct Bright {
    Var x{"x"}, y{"y"};
    std::string at_photo, at_bright;
    ImageParam photo;
    Param<uint8_t> gain{"gain", 2, 1, 10};
    Func bright{"bright"};
    Bright() {
        at_photo = line(1);
        photo = ImageParam(UInt(8), 2, "photo");
        at_bright = line(1);
        bright(x, y) = photo(x + 1, y) * gain;
        Buffer<uint8_t> image(9, 8);
        image.fill(3);
        photo.set(image);
    }
    template <typename F> void require_run(const F &misuse, std::vector<std::string> parts) {
        parts.push_back("Pipeline bright (" + at_bright + ")");
        require_message<RuntimeError>(misuse, parts);
        Buffer<uint8_t> image(9, 8), out(8, 8);  // all is usable afterward
        image.fill(3);
        gain.set(2);
        photo.set(image);
        bright.realize(out);
        CHECK(out.all_equal(6));
    }
};

}  // namespace

TEST_CASE_METHOD(Bright, "output Buffers", "[error][calls]") {
    std::string output = "Output 'bright' at " + at_bright;
    SECTION("undefined") {
        require_run([&] { bright.realize(Buffer<uint8_t>()); },
                    {output, "undefined", "Give it sizes"});
    }
    SECTION("of another type") {
        require_run(
            [&] { bright.realize(Buffer<float>(4, 4)); },
            {output, "elements of uint8", "has float32", "Pass a Buffer of uint8", "cast<"});
    }
    SECTION("of fewer dimensions") {
        require_run([&] { bright.realize(Buffer<uint8_t>(4)); },
                    {output, "2 dimensions", "has 1", "sliced() or embedded()"});
    }
    SECTION("without memory") {
        require_run([&] { bright.realize(Buffer<uint8_t>(nullptr, 4, 4)); },
                    {output, "no memory", "Call allocate()"});
    }
    SECTION("too many of them") {
        Buffer<uint8_t> out(4, 4);
        require_run([&] { Pipeline(bright).realize(out, out); },
                    {"1 output value", "2 Buffers", "one Buffer per value"});
    }
    SECTION("coordinates beyond 32 bits") {
        uint8_t byte = 0;
        Buffer<uint8_t> far(&byte, {{int64_t{1} << 31, 1, 1}, {0, 1, 1}});
        require_run([&] { bright.realize(far); },
                    {output, "dimension 0", "2147483648", "32-bit", "set_min()"});
    }
    SECTION("a promised stride that is not kept") {
        bright.output_buffer().dim(0).set_stride(3);
        require_message<RuntimeError>(
            [&] {
                bright.realize({4, 4});
            },
            {"Pipeline bright (" + at_bright + ")", "Buffer bright", "stride of dimension 0",
             "promised to be 3", "is 1"});
        bright.output_buffer().dim(0).set_stride(Expr());
    }
    SECTION("a promised alignment that is not kept") {
        bright.output_buffer().set_host_alignment(64);
        std::vector<uint8_t> memory(200);
        auto address = reinterpret_cast<uintptr_t>(memory.data());
        uint8_t *odd = memory.data() + (64 - address % 64) + 1;
        require_run([&] { bright.realize(Buffer<uint8_t>(odd, 4, 4)); },
                    {output, "aligned to 64 bytes", "1 bytes after", "Align its memory"});
    }
}

TEST_CASE_METHOD(Bright, "sizes", "[error][calls]") {
    SECTION("too few") {
        require_message<RuntimeError>(
            [&] { bright.realize({4}); },
            {"Func 'bright' (" + at_bright + ")", "2 dimensions", "1 size.", "per dimension"});
    }
    SECTION("negative") {
        require_message<RuntimeError>(
            [&] {
                bright.realize({-4, 4});
            },
            {"Output 'bright' at " + at_bright, "extent of dimension 0 is -4", "at least 0"});
    }
}

TEST_CASE_METHOD(Bright, "inputs", "[error][calls]") {
    std::string input = "Input 'photo' at " + at_photo;
    SECTION("never set") {
        photo.reset();
        require_run([&] { bright.realize({4, 4}); }, {input, "no Buffer was given", "Call set()"});
    }
    SECTION("without memory") {
        photo.set(Buffer<uint8_t>(nullptr, 9, 9));
        require_run([&] { bright.realize({4, 4}); }, {input, "no memory", "Call allocate()"});
    }
    SECTION("too small") {
        require_run(
            [&] {
                bright.realize({9, 8});
            },
            {"Input photo is read from 1 to 9 in dimension 0", "holds only 0 to 8",
             "Read by bright (" + at_bright + ")", "Pass a larger input"});
    }
    SECTION("of another type") {
        require_message<RuntimeError>([&] { photo.set(Buffer<float>(9, 8)); },
                                      {"ImageParam 'photo' at " + at_photo, "2 dimensions of uint8",
                                       "2 dimensions of float32", "Convert the Buffer"});
    }
    SECTION("with channels where there are none") {
        require_message<RuntimeError>([&] { photo.set(Buffer<uint8_t>(9, 8, 3)); },
                                      {"ImageParam 'photo' at " + at_photo, "2 dimensions of uint8",
                                       "3 dimensions of uint8", "Convert the Buffer"});
    }
    SECTION("interleaved where planar was promised") {
        photo.dim(0).set_stride(1);
        photo.set(Buffer<uint8_t>::make_interleaved(9, 8, 3).sliced(2));
        require_message<RuntimeError>(
            [&] {
                bright.realize({4, 4});
            },
            {"Pipeline bright (" + at_bright + ")", "Buffer photo", "stride of dimension 0",
             "promised to be 1", "is 3"});
        photo.dim(0).set_stride(Expr());
    }
    SECTION("a dimension that is not there") {
        require_message<CompileError>([&] { photo.channels(); },
                                      {"ImageParam 'photo' at " + at_photo,
                                       "2 dimensions, numbered from 0", "no dimension 2"});
    }
    SECTION("an ImageParam of vectors") {
        require_message<CompileError>([&] { here(), ImageParam(Float(32, 4), 2, "wide"); },
                                      {"ImageParam 'wide'", "@", "a scalar type", "float32x4"});
    }
    SECTION("an undefined ImageParam") {
        require_message<CompileError>([&] { ImageParam().dim(0); },
                                      {"undefined ImageParam", "Give it a type and dimensions"});
    }
    SECTION("an alignment that is no power of two") {
        require_message<CompileError>(
            [&] { photo.set_host_alignment(48); },
            {"ImageParam 'photo' at " + at_photo, "48", "a power of two"});
    }
    SECTION("estimates of fewer dimensions") {
        require_message<CompileError>(
            [&] {
                photo.set_estimates({{0, 8}});
            },
            {"ImageParam 'photo' at " + at_photo, "2 dimensions", "1 range.", "per dimension"});
    }
    SECTION("a promise that is no integer") {
        require_message<CompileError>([&] { photo.dim(0).set_extent(2.5f); },
                                      {"ImageParam 'photo' at " + at_photo, "dimension 0",
                                       "the extent is", "2.5", "must be an integer"});
    }
}

TEST_CASE_METHOD(Bright, "Params", "[error][calls]") {
    SECTION("outside its range") {
        gain.set(11);
        require_run(
            [&] {
                bright.realize({4, 4});
            },
            {"Param 'gain' at calls.cpp:", "is 11", "range is 1 to 10",
             "within the range with set()"});
    }
    SECTION("a range that its type does not hold") {
        require_message<CompileError>([&] { gain.set_range(0, 256); },
                                      {"Param 'gain'", "256", "not a constant of its type uint8",
                                       "that the type can represent"});
    }
    Param<> untyped(UInt(8), "level");
    SECTION("a value that its type does not hold") {
        require_message<RuntimeError>([&] { untyped.set(300); },
                                      {"Param 'level'", "type uint8", "cannot represent", "300"});
        require_message<RuntimeError>([&] { untyped.set(1.5f); },
                                      {"Param 'level'", "type uint8", "cannot represent", "1.5"});
    }
    SECTION("a value that its static type does not hold") {
        require_message<RuntimeError>([&] { gain.set(300); },
                                      {"Param 'gain'", "type uint8", "cannot represent", "300"});
        require_message<RuntimeError>([&] { gain.set(-1); }, {"Param 'gain'", "uint8", "-1"});
        require_message<RuntimeError>([&] { gain.set(2.5); }, {"Param 'gain'", "uint8", "2.5"});
        CHECK(gain.get() == 2);
        gain.set(7L);
        CHECK(gain.get() == 7);
        gain.set(size_t{8});
        CHECK(gain.get() == 8);
        gain.set(9LL);
        CHECK(gain.get() == 9);
        Param<float> weight("weight");
        weight.set(0.1);  // a double, rounded as C++ does
        CHECK(weight.get() == 0.1f);
        enum { Large = 300, Small = 30 };
        require_message<RuntimeError>([&] { gain.set(Large); }, {"Param 'gain'", "300"});
        gain.set(Small);
        CHECK(gain.get() == 30);
        require_message<RuntimeError>([&] { gain.set(0.5L); }, {"Param 'gain'", "0.5"});
        weight.set(0.5);
        CHECK(weight.get() == 0.5f);
        weight.set(0.1f);
        CHECK(weight.get() == 0.1f);
        require_message<RuntimeError>([&] { weight.set((1 << 24) + 1); },
                                      {"'weight'", "float32", "16777217"});
        weight.set(double(NAN));
        CHECK(std::isnan(weight.get()));
        weight.set(3);
        CHECK(weight.get() == 3.0f);
        Param<int64_t> count("count");
        count.set(INT64_MIN);
        CHECK(count.get() == INT64_MIN);
        count.set(7u);
        CHECK(count.get() == 7);
        require_message<RuntimeError>([&] { count.set(UINT64_MAX); }, {"'count'", "int64"});
        Param<uint64_t> bits("bits");
        bits.set(UINT64_MAX);
        CHECK(bits.get() == UINT64_MAX);
        bits.set(5);
        CHECK(bits.get() == 5);
        require_message<RuntimeError>([&] { bits.set(-1); }, {"'bits'", "uint64", "-1"});
        Param<bool> flag("flag");
        flag.set(1);
        CHECK(flag.get());
        require_message<RuntimeError>([&] { flag.set(2); }, {"'flag'", "bool", "2"});
    }
    SECTION("a float that is an integer") {
        gain.set(3.0);
        CHECK(gain.get() == 3);
        untyped.set(4.0f);
        CHECK(untyped.get<uint8_t>() == 4);
        require_message<RuntimeError>([&] { gain.set(300.0); }, {"Param 'gain'", "300"});
        require_message<RuntimeError>([&] { gain.set(-1.0); }, {"Param 'gain'", "-1"});
        require_message<RuntimeError>([&] { gain.set(1e300); }, {"Param 'gain'", "uint8"});
        Param<bool> flag("flag");
        flag.set(1.0);
        CHECK(flag.get());
    }
    SECTION("that were never given a value") {
        for (int how = 0; how < 2; how++) {
            Param<int> count("count");
            Func f("f");
            Var i("i");
            f(i) = i + (how == 0 ? Expr(count) : Expr(untyped));
            std::string name = how == 0 ? "'count'" : "'level'";
            require_message<RuntimeError>([&] { f.realize({3}); },
                                          {"Pipeline f", "Param " + name, "no value", "set()"});
            require_message<RuntimeError>([&] { f.infer_input_bounds({3}); },
                                          {"Param " + name, "no value"});
            count.set(5), untyped.set(5);
            Buffer<int> got = f.realize({3});
            CHECK(got(2) == 7);
            untyped = Param<>(UInt(8), "level");
        }
    }
    SECTION("read as another type") {
        require_message<RuntimeError>([&] { untyped.get<int>(); },
                                      {"Param 'level'", "type uint8, not int32", "get<T>()"});
    }
}

TEST_CASE_METHOD(Bright, "pipelines", "[error][calls]") {
    SECTION("of nothing") {
        require_message<CompileError>([&] { Pipeline(std::vector<Func>()).realize({4}); },
                                      {"at least one output", "the list is empty"});
    }
    SECTION("undefined") {
        require_message<CompileError>([&] { Pipeline().realize({4}); },
                                      {"undefined Pipeline", "give it an output Func"});
    }
    SECTION("with an output twice") {
        require_message<CompileError>(
            [&] {
                Pipeline({bright, bright}).compile_jit();
            },
            {"Func 'bright'", at_bright.substr(0, 10), "listed twice", "List each Func once"});
    }
    SECTION("a Func that is not there") {
        require_message<CompileError>([&] { Pipeline(bright).get_func(1); },
                                      {"get_func(1)", "there is 1 Func", "numbered from 0"});
    }
    SECTION("a Realization of two taken for one Buffer") {
        Func pair("pair");
        pair(x) = Tuple(x, x);
        require_message<RuntimeError>([&] { Buffer<int> one = pair.realize({4}); },
                                      {"2 Buffers", "used as one", "[i]"});
    }
    SECTION("a Realization taken for a Buffer of another type") {
        require_message<RuntimeError>(
            [&] {
                Buffer<float> one = bright.realize({4, 4});
            },
            {"uint8", "float32"});
    }
    SECTION("a requirement that does not hold") {
        Pipeline p(bright);
        p.add_requirement(photo.width() % 2 == 0, "the width must be even, not", photo.width());
        require_run(
            [&] {
                p.realize({4, 4});
            },
            {"required: ", "photo.width() % 2 == 0", "the width must be even, not 9"});
    }
    SECTION("a requirement on a Var") {
        require_message<CompileError>(
            [&] { Pipeline(bright).add_requirement(x > 0); },
            {"add_requirement", "'x > 0'", "Params and sizes", "require()"});
    }
    SECTION("the size of an output in a definition") {
        Func g("g"), h("h");
        g(x) = x;
        h(x) = g(x) + g.output_buffer().width();
        require_message<CompileError>([&] { h.compile_jit(); },
                                      {"output buffer of Func 'g' at calls.cpp:", "as a Param"});
    }
    SECTION("cores that are no number") {
        require_message<CompileError>(
            [&] {
                Pipeline(bright).apply_autoscheduler(get_host_target(),
                                                     {"Mullapudi2016", {{"parallelism", "many"}}});
            },
            {"parallelism", "\"many\"", "number of cores", "at least 1"});
    }
}

TEST_CASE_METHOD(Bright, "Callables", "[error][calls]") {
    Buffer<uint8_t> image(9, 8), out(8, 8);
    image.fill(1);
    Callable c = bright.compile_to_callable({photo, gain});
    SECTION("a Param that is missing in the list") {
        require_message<CompileError>([&] { bright.compile_to_callable({photo}); },
                                      {"compile_to_callable", "the Param 'gain'", "Add it"});
    }
    SECTION("too few arguments") {
        require_message<RuntimeError>([&] { c(image, out); },
                                      {"The Callable 'bright' at calls.cpp:", "takes 3 arguments",
                                       "'photo', 'gain'", "is given 2", "Pass all of them"});
    }
    SECTION("a number of another type") {
        require_message<RuntimeError>([&] { c(image, 2, out); },
                                      {"argument 1 ('gain')", "uint8", "int32", "must match"});
    }
    SECTION("a number in place of a Buffer") {
        require_message<RuntimeError>([&] { c(uint8_t(1), uint8_t(2), out); },
                                      {"argument 0 ('photo')", "a 2-dimensional Buffer of uint8"});
    }
    SECTION("an output that is too small for the schedule") {
        require_message<RuntimeError>([&] { c(image, uint8_t(2), Buffer<uint8_t>(9, 8)); },
                                      {"Pipeline bright (" + at_bright + ")", "photo", "1 to 9"});
    }
    SECTION("undefined") {
        require_message<RuntimeError>([&] { Callable()(out); },
                                      {"undefined Callable", "compile_to_callable"});
    }
}

TEST_CASE_METHOD(Bright, "targets", "[error][calls]") {
    SECTION("a name that means nothing") {
        require_message<CompileError>([&] { Target("x86-64-linux-avx3"); },
                                      {"x86-64-linux-avx3", "\"avx3\"", "looks like"});
    }
    SECTION("a name without operating system") {
        require_message<CompileError>([&] { Target("x86-64"); },
                                      {"\"x86-64\"", "an operating system", "\"host\""});
    }
    SECTION("a GPU") {
        Target gpu = get_host_target().with_feature(Target::OpenCL);
        require_message<CompileError>([&] { bright.compile_jit(gpu); },
                                      {"opencl", "for NVIDIA GPUs only", "parallel()"});
    }
    SECTION("another processor") {
        Target other(Target::Linux, Target::WebAssembly, 32);
        require_message<CompileError>([&] { bright.compile_jit(other); },
                                      {"wasm-32-linux", "x86-64 and arm-64 only"});
    }
    SECTION("another operating system") {
        Target other(Target::Windows, Target::X86, 64);
        require_message<CompileError>([&] { bright.compile_jit(other); },
                                      {"x86-64-windows", "linux and osx only"});
    }
    SECTION("32 bits") {
        Target other(Target::Linux, Target::X86, 32);
        require_message<CompileError>([&] { bright.compile_jit(other); },
                                      {"x86-32-linux", "64-bit code only"});
    }
    SECTION("a feature of another architecture") {
        Target other("arm-64-linux-avx2");
        require_message<CompileError>([&] { bright.compile_jit(other); },
                                      {"arm-64-linux", "sse41", "x86-64 processors"});
    }
    SECTION("one that this machine is not") {
        bool arm = get_host_target().arch == Target::ARM;
        Target other(arm ? "x86-64-linux" : "arm-64-linux");
        require_message<CompileError>(
            [&] { bright.compile_jit(other); },
            {other.to_string(), "cannot run on this machine", "Realize for get_host_target()"});
    }
    SECTION("the instruments of a sanitizer") {
        Target other = get_host_target().with_feature(Target::ASAN);
        require_message<CompileError>([&] { bright.compile_jit(other); },
                                      {"asan", "cannot be instrumented", "realize_reference"});
    }
}

TEST_CASE("what runs wild", "[error][calls]") {
    Var x("x");
    ImageParam index(Int(32), 1, "index");
    Func table("table"), f("f");
    std::string where = line(2);
    table(x) = x * x;
    f(x) = table(index(x));
    table.compute_root();
    SECTION("an index that nothing bounds") {
        require_message<CompileError>(
            [&] { f.compile_jit(); },
            {"Unbounded access", "table", "read by f (" + where + ")", "clamp(index"});
    }
    SECTION("an index of 64 bits that does not fit") {
        Func g("g");
        where = line(1);
        g(x) = table(cast<int>(max(cast<int64_t>(index(x)) % Expr(int64_t(1) << 32), 4)));
        require_message<CompileError>(
            [&] { g.compile_jit(); },
            {"Unbounded access", "table", "read by g (" + where + ")", "clamp(index"});
    }
    SECTION("an index that is bounded, but by too much") {
        Func g("g");
        g(x) = table(clamp(index(x), -1500000000, 1500000000));
        require_message<CompileError>(
            [&] { g.compile_jit(); },
            {"table", "dimension 0 (x)",
             "more than 2147483647 coordinates, from -1500000000 to 1500000000", "clamp(index"});
    }
    SECTION("a require() that does not hold") {
        Func g("g");
        where = line(1);
        g(x) = require(x < 3, x, "x is", x);
        require_message<RuntimeError>([&] { g.realize({4}); },
                                      {"Pipeline g (" + where + ")", "x is 3", "required: x < 3"});
    }
    SECTION("a Buffer used as a table that is too small") {
        Buffer<float> curve(16, "curve");
        Func g("g");
        where = line(1);
        g(x) = curve(x * 2);
        require_message<RuntimeError>([&] { g.realize({9}); },
                                      {"Pipeline g (" + where + ")", "Input curve", "0 to 16",
                                       "0 to 15", "Read by g (" + where + ")", "larger input"});
    }
}

TEST_CASE("indices, sizes and handlers that do not fit", "[error]") {
    Var x("x"), y("y");
    Func f("f"), t("t");
    f(x, y) = x + y;
    t(x) = Tuple(x, x + 1);
    SECTION("a value that a Realization or a Tuple has not") {
        Realization r = f.realize({2, 2});
        require_message<RuntimeError>([&] { r[1]; }, {"Index 1", "Realization has 1"});
        require_message<CompileError>([&] { t(x)[2]; }, {"2", "numbered from 0"});
        require_message<CompileError>([&] { Tuple(x, x)[2]; }, {"Index 2", "Tuple has 2"});
    }
    SECTION("sizes of compile_jit and infer_input_bounds") {
        require_message<RuntimeError>([&] { Pipeline(f).compile_jit(Sizes({640})); },
                                      {"'f'", "2 dimensions", "1 size"});
        require_message<RuntimeError>(
            [&] {
                f.infer_input_bounds({640, -1});
            },
            {"'f'", "dimension 1 is -1"});
    }
    SECTION("custom_malloc without custom_free, and the other way round") {
        JITUserContext context;
        context.handlers.custom_malloc = [](JITUserContext *, size_t n) { return malloc(n); };
        Buffer<int> out(3, 3);
        require_message<RuntimeError>([&] { f.realize(&context, out); },
                                      {"custom_malloc", "custom_free", "Set both"});
        context.handlers.custom_malloc = nullptr;
        context.handlers.custom_free = [](JITUserContext *, void *p) { free(p); };
        require_message<RuntimeError>([&] { f.realize(&context, out); }, {"Set both"});
    }
    SECTION("16-bit floats outside of their range") {
        Param<float16_t> p("p");
        p.set(float16_t(0.5f));
        p.set_range(float16_t(0.25f), float16_t(1.f));
        Func g("g");
        g(x) = cast<float>(p);
        CHECK(Buffer<float>(g.realize({2})).all_equal(0.5f));
        p.set(float16_t(2.f));
        require_message<RuntimeError>([&] { g.realize({2}); }, {"'p' at calls.cpp:", "is 2", "0.25 to 1"});
        Param<bfloat16_t> q("q");
        q.set(bfloat16_t(0.5f));
        q.set_range(bfloat16_t(0.25f), bfloat16_t(1.f));
        Func h("h");
        h(x) = cast<float>(q);
        CHECK(Buffer<float>(h.realize({2})).all_equal(0.5f));
    }
}
