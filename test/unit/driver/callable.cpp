// compile_to_callable: typed calls, their checks, and that later changes do not reach them.
#include <atomic>
#include <thread>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

struct Scale {
    Var x{"x"}, y{"y"};
    ImageParam in{Float(32), 2, "in"};
    Param<float> factor{"factor"};
    Param<int> offset{"offset"};
    Func out{"out"};

    Scale() { out(x, y) = in(x, y) * factor + cast<float>(offset); }
    static Buffer<float> image(int w, int h) {
        Buffer<float> b(w, h);
        b.fill([](int i, int j) { return float(i + 10 * j); });
        return b;
    }
    static int wrong(const Buffer<float> &b, float factor, int offset) {
        int n = 0;
        b.for_each_element(
            [&](int i, int j) { n += b(i, j) != float(i + 10 * j) * factor + float(offset); });
        return n;
    }
};

}  // namespace

TEST_CASE_METHOD(Scale, "arguments are given in the order of the list, outputs last",
                 "[driver][callable]") {
    Callable scale = out.compile_to_callable({factor, in, offset});
    factor.set(1000);  // does not matter
    for (int w : {1, 5, 16})
        for (int h : {1, 3}) {
            Buffer<float> result(w, h);
            CHECK(scale(2.0f, image(w, h), 7, result) == 0);
            CHECK(wrong(result, 2, 7) == 0);
        }
    Buffer<float> shifted(3, 2);
    shifted.set_min(2, 1);
    scale(0.5f, image(8, 8), -1, shifted);
    CHECK(wrong(shifted, 0.5f, -1) == 0);
    std::vector<std::string> names;
    for (const Argument &a : scale.arguments())
        names.push_back(a.name);
    CHECK(names == std::vector<std::string>{"factor", "in", "offset", "out"});
}

TEST_CASE_METHOD(Scale, "a Callable as std::function, with and without context",
                 "[driver][callable]") {
    Callable scale = Pipeline(out).compile_to_callable({in, factor, offset});
    auto plain = scale.make_std_function<Buffer<float>, float, int, Buffer<float, 2>>();
    Buffer<float, 2> result(4, 4);
    CHECK(plain(image(4, 4), 3, 1, result) == 0);  // 3 becomes a float
    CHECK(wrong(result, 3, 1) == 0);
    auto with_context = scale.make_std_function<JITUserContext *, Buffer<>, float, int, Buffer<>>();
    JITUserContext context;
    CHECK(with_context(&context, image(4, 4), 2, 5, result) == 0);
    CHECK(wrong(result, 2, 5) == 0);
    require_message<RuntimeError>(
        [&] { scale.make_std_function<Buffer<float>, double, int, Buffer<float>>(); },
        {"'out'", "argument 1", "'factor'", "float32", "is float64"});
    require_message<RuntimeError>(
        [&] { scale.make_std_function<Buffer<float, 3>, float, int, Buffer<float>>(); },
        {"argument 0", "'in'", "2-dimensional Buffer of float32", "3-dimensional"});
    require_message<RuntimeError>([&] { scale.make_std_function<Buffer<float>, float>(); },
                                  {"takes 4 arguments", "'offset'", "given 2"});
}

TEST_CASE_METHOD(Scale, "wrong arguments of a Callable are named", "[driver][callable][error]") {
    Callable scale = out.compile_to_callable({in, factor, offset});
    Buffer<float> result(4, 4);
    require_message<RuntimeError>([&] { scale(image(4, 4), 1.0f, result); },
                                  {"takes 4 arguments", "'in', 'factor', 'offset', 'out'", "3"});
    require_message<RuntimeError>([&] { scale(image(4, 4), 1, 1, result); },
                                  {"argument 1 ('factor')", "float32", "is int32"});
    require_message<RuntimeError>([&] { scale(1.0f, 1.0f, 1, result); },
                                  {"argument 0 ('in')", "Buffer", "is float32"});
    require_message<RuntimeError>([&] { scale(Buffer<int>(4, 4), 1.0f, 1, result); },
                                  {"'in'", "float32", "int32"});
    require_message<RuntimeError>([&] { scale(image(2, 4), 1.0f, 1, result); },
                                  {"in", "0 to 3", "0 to 1", "dimension 0"});
    require_message<RuntimeError>([] { Callable()(1); }, {"undefined Callable"});
    CHECK(scale(image(4, 4), 1.0f, 1, result) == 0);
    CHECK(wrong(result, 1, 1) == 0);
    require_message<RuntimeError>(
        [&] { scale(Buffer<float>(), 2.0f, 1, result); },
        {"Input 'in'", "no Buffer was given (nullptr)", "give the Callable"});
    const RawBuffer *none = nullptr;
    require_message<RuntimeError>([&] { scale(image(4, 4), 2.0f, 1, none); },
                                  {"Output 'out'", "undefined (nullptr)"});
}

TEST_CASE_METHOD(Scale, "a Callable needs every parameter", "[driver][callable][error]") {
    require_message<CompileError>(
        [&] {
            out.compile_to_callable({in, factor});
        },
        {"compile_to_callable", "the Param 'offset'", "Add it"});
    require_message<CompileError>(
        [&] {
            out.compile_to_callable(
                {in, Argument("factor", Argument::InputScalar, Float(64), 0), offset});
        },
        {"'factor'", "float64", "float32"});
    // by name, and with one more that is not used
    Param<int> unused("unused");
    Callable scale = out.compile_to_callable(
        {in, Argument("factor", Argument::InputScalar, Float(32), 0), unused, offset});
    Buffer<float> result(4, 4);
    CHECK(scale(image(4, 4), 4.0f, 99, 2, result) == 0);
    CHECK(wrong(result, 4, 2) == 0);
    CHECK(Pipeline(out).infer_arguments().size() == 3);
}

TEST_CASE_METHOD(Scale, "a Callable stays as it was made", "[driver][callable]") {
    Callable scale = out.compile_to_callable({in, factor, offset});
    out.vectorize(x, 4);
    out(x, y) += 1.0f;
    Buffer<float> result(9, 2);
    scale(image(9, 2), 2.0f, 3, result);
    CHECK(wrong(result, 2, 3) == 0);
    in.set(image(9, 2)), factor.set(2), offset.set(3);
    out.realize(result);
    CHECK(wrong(result, 2, 4) == 0);
}

TEST_CASE("a Callable of tuples, constant images and several outputs", "[driver][callable]") {
    Var x("x");
    Buffer<int> table(10);
    table.fill([](int i) { return i * i; });
    Param<int> p("p");
    Func f("f"), g("g");
    f(x) = Tuple(table(x) + p, cast<uint8_t>(x));
    g(x) = f(x)[0] * 2;
    Callable both = Pipeline(std::vector<Func>{f, g}).compile_to_callable({p});
    Buffer<int> a(10), c(10);
    Buffer<uint8_t> b(10);
    both(5, a, b, c);
    int wrong = 0;
    for (int i = 0; i < 10; i++)
        wrong += a(i) != i * i + 5 || b(i) != i || c(i) != 2 * (i * i + 5);
    CHECK(wrong == 0);
}

TEST_CASE_METHOD(Scale, "buffers that are not dense, from several threads", "[driver][callable]") {
    Callable scale = out.compile_to_callable({in, factor, offset});
    std::atomic<int> bad{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            Buffer<float> source = Buffer<float>::make_interleaved(12, 5, 3).sliced(2, 1);
            source.fill([](int i, int j) { return float(i + 10 * j); });
            for (int i = 0; i < 50; i++) {
                Buffer<float> result(12, 5);
                scale(i % 2 ? source : image(12, 5), float(t), i, result);
                bad += wrong(result, float(t), i);
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(bad == 0);
}
