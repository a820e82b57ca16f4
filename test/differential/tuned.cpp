// Every schedule that tune() tries can be used, and gives the pixels of the reference interpreter.
#include <catch2/catch_test_macros.hpp>

#include <functional>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

Var x("x"), y("y"), c("c");

template <typename T> Buffer<T> pixels(std::vector<int64_t> sizes) {
    Buffer<T> result(sizes);
    int64_t next = 0;
    result.for_each_value([&](T &value) { value = static_cast<T>((next++ * 7919) % 251); });
    return result;
}

/// Tunes for these sizes and compares all outputs.
void check(Pipeline pipeline, const std::vector<int64_t> &sizes, int candidates = 10) {
    const Realization expected = pipeline.realize_reference(sizes);
    std::vector<Buffer<void>> buffers;
    for (size_t i = 0; i < expected.size(); i++)
        buffers.push_back(expected[i].copy());
    TuneOptions options;
    options.seconds = 1000;
    options.candidates = candidates;
    options.samples = 1;
    options.target = get_host_target().with_feature(Target::QuickCompile);
    const TuneResult result = pipeline.tune(Realization(buffers), options);
    CHECK(result.complete);
    CHECK(result.candidates.size() >= 2);
    for (const TuneCandidate &candidate : result.candidates) {
        INFO(candidate.name << ": " << candidate.dropped);
        CHECK((candidate.dropped.empty() || candidate.dropped == "slower"));
    }
    for (size_t i = 0; i < expected.size(); i++) {
        const Buffer<int> now(buffers[i]), before(expected[i]);
        int64_t wrong = 0;
        now.for_each_value([&](int &a, int &b) { wrong += a != b; }, before);
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("tuned: a chain of stencils", "[tune]") {
    Func in = BoundaryConditions::mirror_image(pixels<int>({301, 203}));
    Func a("a"), b("b"), d("d"), out("out");
    a(x, y) = in(x - 1, y) + 2 * in(x, y) + in(x + 1, y);
    b(x, y) = a(x, y - 1) + 2 * a(x, y) + a(x, y + 1);
    d(x, y) = b(x - 2, y) - b(x + 2, y + 1);
    out(x, y) = d(x, y) * 3 + a(x, y);
    check(Pipeline(out), {301, 203});
}

TEST_CASE("tuned: a product of matrices", "[tune]") {
    const Buffer<int> left = pixels<int>({120, 90}), right = pixels<int>({150, 120});
    Func product("product"), out("out");
    RDom k(0, 120, "k");
    product(x, y) = 0;
    product(x, y) += left(k, y) * right(x, k);
    out(x, y) = product(x, y) / 16;
    check(Pipeline(out), {150, 90});
}

TEST_CASE("tuned: a pyramid", "[tune]") {
    Func in = BoundaryConditions::repeat_edge(pixels<int>({256, 192}));
    std::vector<Func> down{in};
    for (int level = 1; level < 4; level++) {
        Func f("down" + std::to_string(level));
        const Func &finer = down.back();
        f(x, y) = (finer(2 * x, 2 * y) + finer(2 * x + 1, 2 * y) + finer(2 * x, 2 * y + 1)) / 3;
        down.push_back(f);
    }
    Func up = down.back();
    for (int level = 2; level >= 0; level--) {
        Func f("up" + std::to_string(level));
        f(x, y) = down[static_cast<size_t>(level)](x, y) + up(x / 2, y / 2);
        up = f;
    }
    check(Pipeline(up), {256, 192});
}

TEST_CASE("tuned: a histogram, a scan and a color image", "[tune]") {
    const Buffer<uint8_t> image = pixels<uint8_t>({200, 150, 3});
    Func histogram("histogram"), sums("sums"), out("out");
    RDom r(0, 200, 0, 150, "r"), s(1, 255, "s");
    Var i("i");
    histogram(i, c) = 0;
    histogram(cast<int>(image(r.x, r.y, c)), c) += 1;
    sums(i, c) = histogram(i, c);
    sums(s, c) += sums(s - 1, c);
    out(x, y, c) = sums(cast<int>(image(x, y, c)), c) * 255 / (200 * 150);
    check(Pipeline(out), {200, 150, 3});
}

TEST_CASE("tuned: several outputs and tuples", "[tune]") {
    const Buffer<int> image = pixels<int>({180, 140});
    Func in = BoundaryConditions::constant_exterior(image, 5);
    Func pair("pair"), first("first"), second("second");
    pair(x, y) = {in(x, y) + in(x + 1, y), in(x, y) * in(x, y + 1)};
    first(x, y) = pair(x, y)[0] - pair(x, y + 1)[1];
    second(x, y) = {pair(x, y)[1], first(x, y) + 1};
    check(Pipeline({first, second}), {180, 140});
}
