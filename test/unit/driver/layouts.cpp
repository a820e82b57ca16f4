// Buffers of any layout without promises: the right values, and one kernel per layout.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include <map>
#include <string>

using namespace Pipe;

namespace {

Var x("x"), y("y"), c("c");
const int width = 45, height = 3;

/// Images of three channels with these strides, each in memory of its own.
struct Images {
    std::map<std::string, Buffer<uint8_t>> all;

    Images() {
        all["planar"] = Buffer<uint8_t>(width, height, 3);
        all["interleaved"] = Buffer<uint8_t>::make_interleaved(width, height, 3);
        all["the first 3 of 4 channels"] =
            Buffer<uint8_t>::make_interleaved(width, height, 4).cropped(2, 0, 3);
        all["the last 3 of 4 channels"] =
            Buffer<uint8_t>::make_interleaved(width, height, 4).cropped(2, 1, 3);
        all["the last 3 of 4 channels"].translate(2, -1);
        all["columns"] = Buffer<uint8_t>(std::vector<int>{width, height, 3}, {1, 0, 2});
        all["channels, then columns"] =
            Buffer<uint8_t>(std::vector<int>{width, height, 3}, {2, 1, 0});
        // Stride 3 in x, but no channels next to each other.
        all["every third pixel"] = Buffer<uint8_t>(3 * width, height, 3);
        Buffer<uint8_t> wide = all["every third pixel"];
        all["every third pixel"] = Buffer<uint8_t>(
            wide.data(), {{0, width, 3}, {0, height, 3 * width}, {0, 3, 3 * width * height}});
        memory = wide;
    }

  private:
    Buffer<uint8_t> memory;
};

int value(int i, int j, int k) {
    return (i * 5 + j * 31 + k * 77) % 251;
}

/// All channels together, in vectors.
Func halved(const ImageParam &in) {
    Func f("f");
    f(x, y, c) = cast<uint8_t>(in(x, y, c) / 2 + 1);
    f.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 16);
    return f;
}

}  // namespace

TEST_CASE("any layout of inputs and outputs", "[driver][layouts]") {
    ImageParam in(UInt(8), 3, "in");
    Func f = halved(in);
    Images inputs, outputs;
    for (auto &[from, input] : inputs.all)
        for (auto &[to, output] : outputs.all) {
            INFO("from " << from << " to " << to);
            input.fill(value);
            in.set(input);
            f.realize(output);
            bool right = true;
            output.for_each_element(
                [&](int i, int j, int k) { right &= output(i, j, k) == value(i, j, k) / 2 + 1; });
            CHECK(right);
        }
}

TEST_CASE("one kernel per layout", "[driver][layouts]") {
    ImageParam in(UInt(8), 3, "in");
    Pipeline pipeline(halved(in));
    Images inputs, outputs;
    // Compiling takes a different time each time.
    auto is_compiled_for = [&](const std::string &from, const std::string &to) {
        const double before = pipeline.compile_times().llvm_ms;
        in.set(inputs.all.at(from));
        pipeline.realize(outputs.all.at(to));
        return pipeline.compile_times().llvm_ms != before;
    };
    pipeline.compile_jit();
    CHECK(!is_compiled_for("planar", "planar"));
    CHECK(is_compiled_for("interleaved", "planar"));
    CHECK(is_compiled_for("interleaved", "interleaved"));
    CHECK(!is_compiled_for("interleaved", "planar"));
    CHECK(is_compiled_for("the first 3 of 4 channels", "planar"));
    CHECK(!is_compiled_for("the last 3 of 4 channels", "planar"));
    CHECK(is_compiled_for("columns", "planar"));  // like channels in y
    CHECK(is_compiled_for("channels, then columns", "planar"));
    CHECK(!is_compiled_for("every third pixel", "planar"));
}

// The real and the imaginary parts of a dense array are two elements apart: a kernel knows that, if they are.
TEST_CASE("one kernel for dense pairs, another one where more lies between them",
          "[driver][layouts]") {
    ImageParam in(Float(32), 3, "in");
    Func magnitude("magnitude");
    magnitude(x, y) = in(0, x, y) * in(0, x, y) + 2.0f * in(1, x, y);
    magnitude.vectorize(x, 8);
    Pipeline pipeline(magnitude);
    pipeline.compile_jit();
    auto is_compiled_for = [&](Buffer<float> input) {
        const double before = pipeline.compile_times().llvm_ms;
        input.for_each_element([&](int i, int j, int k) { input(i, j, k) = float(i + 3 * j + k); });
        in.set(input);
        const Buffer<float> result = pipeline.realize({40, 5});
        result.for_each_element([&](int i, int j) {
            const float re = float(3 * i + j), im = re + 1;
            REQUIRE(result(i, j) == re * re + 2 * im);
        });
        return pipeline.compile_times().llvm_ms != before;
    };
    CHECK(!is_compiled_for(Buffer<float>(100, 40, 5)));
    CHECK(is_compiled_for(Buffer<float>(2, 40, 5)));
    CHECK(!is_compiled_for(Buffer<float>(2, 41, 6)));
    CHECK(is_compiled_for(Buffer<float>(3, 40, 5)));
    CHECK(!is_compiled_for(Buffer<float>(100, 40, 5).cropped(0, 0, 3)));
    CHECK(!is_compiled_for(Buffer<float>(5, 40, 5)));
}

TEST_CASE("a promised stride needs no other kernel", "[driver][layouts]") {
    ImageParam in(UInt(8), 3, "in");
    in.dim(0).set_stride(3);
    in.dim(2).set_stride(1);
    Pipeline pipeline(halved(in));
    pipeline.compile_jit();
    const double compiled = pipeline.compile_times().llvm_ms;
    Images inputs, outputs;
    in.set(inputs.all.at("interleaved"));
    pipeline.realize(outputs.all.at("planar"));
    CHECK(pipeline.compile_times().llvm_ms == compiled);
}

TEST_CASE("autoscheduled for the layout of the first Buffers, used for others",
          "[driver][layouts]") {
    const Var x("x"), y("y"), c("c");
    for (const bool first_is_interleaved : {true, false}) {
        ImageParam in(UInt(8), 3, "in");
        Func out("out");
        out(x, y, c) = in(x, y, c) / 2 + cast<uint8_t>(10 * c);
        Pipeline pipeline(out);
        pipeline.autoschedule(get_host_target());
        for (const int channels : {3, 4, 1, 3})
            for (const bool interleaved : {first_is_interleaved, !first_is_interleaved}) {
                auto buffer = [&](int w, int h) {
                    return interleaved ? Buffer<uint8_t>::make_interleaved(w, h, channels)
                                       : Buffer<uint8_t>(w, h, channels);
                };
                Buffer<uint8_t> input = buffer(301, 67), result = buffer(301, 67);
                input.for_each_element([&](int i, int j, int k) {
                    input(i, j, k) = static_cast<uint8_t>(i * 3 + j * 5 + k * 7);
                });
                in.set(input);
                pipeline.realize(result);
                int wrong = 0;
                result.for_each_element([&](int i, int j, int k) {
                    wrong += result(i, j, k) != static_cast<uint8_t>(input(i, j, k) / 2 + 10 * k);
                });
                INFO(channels << (interleaved ? " interleaved" : " planar") << " channels");
                CHECK(wrong == 0);
            }
    }
}
