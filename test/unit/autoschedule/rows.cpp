// Reductions and scans along the rows of a group: where they are computed, and with which lanes.
#include <algorithm>
#include <array>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

Target fast() {
    return get_host_target().with_feature(Target::FastMath);
}

/// The output of the automatic schedule against the reference evaluator: the number of elements that differ.
template <typename T>
int differences(Func f, std::vector<int> sizes, std::vector<int> mins, T tolerance = T(0)) {
    Pipeline p(f);
    p.autoschedule(fast());
    Buffer<T> got(sizes), want(sizes);
    got.set_min(mins), want.set_min(mins);
    p.realize(got, fast());
    p.realize_reference(want);
    int wrong = 0;
    got.for_each_element([&](const int *at) {
        const T a = got(at), b = want(at);
        wrong += std::max(a, b) - std::min(a, b) > tolerance;
    });
    return wrong;
}

Var x("x"), y("y");

/// The rows of a picture, each divided by its sum, above its largest value.
struct Normalized {
    ImageParam in{Int(32), 2, "in"};
    RDom c{0, in.width(), "c"};
    Func largest{"largest"}, total{"total"}, out{"out"};

    Normalized() {
        largest(y) = maximum(in(c, y));
        total(y) = sum(largest(y) - in(c, y)) + 1;
        out(x, y) = (largest(y) - in(x, y)) * 1000 / total(y);
    }
    Buffer<int> image(int width, int height) {
        Buffer<int> image(width, height);
        image.fill([](int x, int y) { return (x * 31 + y * 17) % 1000 - 300; });
        in.set(image);
        return image;
    }
};

}  // namespace

TEST_CASE("the sums of a row are computed with the row, in vectors along it", "[autoschedule]") {
    Normalized p;
    p.image(1000, 2000);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(get_host_target());
    pipeline.realize({1000, 2000});
    const std::string loops = pipeline.loop_nest(), source = pipeline.schedule_source();
    INFO(loops);
    CHECK_FALSE(contains(source, "compute_root"));
    CHECK(contains(loops, "vectorized c"));
    CHECK_FALSE(contains(loops, "vectorized y"));  // of the one sum of a row
    CHECK_FALSE(contains(loops, "produce sum.update(0):\n      for c"));
}

TEST_CASE("normalized rows are what the definition says", "[autoschedule]") {
    for (const auto &[width, height] : {std::array{1, 1}, std::array{7, 5}, std::array{130, 67}}) {
        INFO(width << " x " << height);
        Normalized p;
        const Buffer<int> image = p.image(width, height);
        Pipeline pipeline(p.out);
        pipeline.autoschedule(get_host_target());
        const Buffer<int> got = pipeline.realize({width, height});
        int wrong = 0;
        for (int j = 0; j < height; j++) {
            int largest = image(0, j), total = 1;
            for (int i = 0; i < width; i++)
                largest = std::max(largest, image(i, j));
            for (int i = 0; i < width; i++)
                total += largest - image(i, j);
            for (int i = 0; i < width; i++)
                wrong += got(i, j) != (largest - image(i, j)) * 1000 / total;
        }
        CHECK(wrong == 0);
    }
}

namespace {

/// Resampled by phases / step along x and y; the rows that a row needs are a Func of their own.
struct Resampled {
    static constexpr int taps = 6;
    ImageParam in{Int(32), 2, "in"}, weights{Int(32), 2, "weights"};
    RDom k{0, taps, "k"};
    Func columns{"columns"}, out{"out"};

    Resampled(int phases, int step) {
        columns(x, y) += weights(k, y % phases) * in(x, y * step / phases + k);
        out(x, y) += weights(k, x % phases) * columns(x * step / phases + k, y);
        Buffer<int> table(taps, phases);
        table.fill([](int i, int phase) { return (i * 5 + phase * 3) % 7 - 3; });
        weights.set(table);
    }
    void set_image(int width, int height) {
        Buffer<int> image(width, height);
        image.set_min(-20, -20);
        image.fill([](int i, int j) { return (i * 31 + j * 17) % 100 - 30; });
        in.set(image);
    }
};

}  // namespace

TEST_CASE("a period that vectors do not hold divides the loop: every load is dense or uniform",
          "[autoschedule]") {
    Resampled p(3, 2);
    p.set_image(1600, 1600);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(get_host_target());
    pipeline.realize({2000, 2000});
    const std::string source = pipeline.schedule_source();
    INFO(source);
    CHECK(contains(source, "out.update(0)"));
    CHECK(contains(source, "3, TailStrategy::GuardWithIf)"));
    // The rows that it needs are computed in the loops of the update.
    CHECK(contains(source, "compute_at(out.update(0), "));
}

TEST_CASE("resampled pictures are what the definition says", "[autoschedule]") {
    for (const auto &[phases, step] : {std::pair{3, 2}, {2, 1}, {5, 3}, {3, 4}, {7, 2}, {4, 3}}) {
        for (const auto &[width, height] : {std::array{7, 5}, std::array{150, 67}}) {
            for (const int min : {0, -7}) {
                INFO(phases << " / " << step << ": " << width << " x " << height << " from "
                            << min);
                Resampled p(phases, step);
                p.set_image(320, 320);
                CHECK(differences<int>(p.out, {width, height}, {min, min}) == 0);
            }
        }
    }
}

namespace {

/// Forth and back along each row, then along each column.
struct Filtered {
    ImageParam in{Int(32), 2, "in"};
    Func rows{"rows"}, out{"out"};

    Filtered() {
        const Expr width = in.width(), height = in.height();
        RDom rx(1, width - 1, "rx"), ry(1, height - 1, "ry");
        rows(x, y) = in(x, y);
        rows(rx, y) = (rows(rx, y) + 3 * rows(rx - 1, y)) / 4;
        rows(width - 1 - rx, y) = (rows(width - 1 - rx, y) + 3 * rows(width - rx, y)) / 4;
        out(x, y) = rows(x, y);
        out(x, ry) = (out(x, ry) + 3 * out(x, ry - 1)) / 4;
        out(x, height - 1 - ry) = (out(x, height - 1 - ry) + 3 * out(x, height - ry)) / 4;
    }
};

}  // namespace

TEST_CASE("scans along the rows take a vector of rows at a time", "[autoschedule]") {
    Filtered p;
    p.in.set(Buffer<int>(2048, 1536));
    Pipeline pipeline(p.out);
    pipeline.autoschedule(get_host_target());
    pipeline.realize({2048, 1536});
    const std::string source = pipeline.schedule_source();
    INFO(source);
    CHECK(contains(source, ".reorder_storage({rows_y, rows_x})"));
    CHECK_FALSE(contains(source, "compute_root"));
}

TEST_CASE("scans in both directions are what the definition says", "[autoschedule]") {
    for (const auto &[width, height] : {std::array{1, 1}, std::array{7, 5}, std::array{2, 100},
                                        std::array{33, 47}, std::array{130, 67}}) {
        INFO(width << " x " << height);
        Filtered p;
        Buffer<int> image(width, height);
        image.fill([](int i, int j) { return (i * 3100 + j * 1700) % 9999 - 3000; });
        p.in.set(image);
        CHECK(differences<int>(p.out, {width, height}, {0, 0}) == 0);
    }
}

TEST_CASE("a transposition takes blocks of whole vectors", "[autoschedule]") {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(x, y) = in(y, x);
    in.set(Buffer<float>(3000, 4000));
    Pipeline pipeline(out);
    pipeline.autoschedule(get_host_target());
    pipeline.realize({4000, 3000});
    INFO(pipeline.loop_nest());
    CHECK(contains(pipeline.loop_nest(), "unrolled y"));
    for (const auto &[width, height] : {std::array{1, 1}, std::array{7, 5}, std::array{130, 67}}) {
        Buffer<float> image(height, width);
        image.fill([](int i, int j) { return float(i * 1000 + j); });
        in.set(image);
        const Buffer<float> got = pipeline.realize({width, height});
        int wrong = 0;
        got.for_each_element([&](int i, int j) { wrong += got(i, j) != float(j * 1000 + i); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("a formula that is read at coordinates of data is computed there", "[autoschedule]") {
    ImageParam in(UInt(8), 2, "in");
    Var b("b");
    Func weight("weight"), out("out");
    weight(b) = cast<float>(min(b, 255 - b)) + 1;
    out(x, y) = weight(cast<int>(in(x, y))) / (1 + weight(cast<int>(in(x, y + 1))));
    Buffer<uint8_t> image(2000, 1501);
    image.fill([](int i, int j) { return uint8_t(i * 7 + j * 13); });
    in.set(image);
    Pipeline pipeline(out);
    pipeline.autoschedule(get_host_target());
    const Buffer<float> got = pipeline.realize({2000, 1500});
    INFO(pipeline.schedule_report());
    CHECK(contains(pipeline.schedule_report(), "inlined: weight"));
    auto value = [&](int i, int j) {
        return float(std::min<int>(image(i, j), 255 - image(i, j)) + 1);
    };
    int wrong = 0;
    got.for_each_element([&](int i, int j) {
        wrong += std::abs(got(i, j) - value(i, j) / (1 + value(i, j + 1))) > 1e-4f;
    });
    CHECK(wrong == 0);
}
