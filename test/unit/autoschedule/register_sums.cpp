// Sums that their reader takes from registers: computed in the register blocks of its loops.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// A window of rows that is summed, too long for unroll_updates(), and what one or two such sums become.
struct Windows {
    ImageParam in{Int(32), 2, "in"};
    RDom r{0, 40, "r"}, q{0, 36, "q"};
    Func total{"total"}, largest{"largest"}, out{"out"};

    Windows() {
        total(x, y) = in(x, y) * 3;
        total(x, y) += in(x, y + r) * (r + 1);
        largest(x, y) = 0;
        largest(x, y) = max(largest(x, y), in(x, y + q));
    }
    Buffer<int> feed(int width, int height) {
        Buffer<int> image(width, height + 39);
        image.fill([](int x, int y) { return (x * 31 + y * 17) % 1000 - 300; });
        in.set(image);
        return image;
    }
    /// The report of the schedule for this size, after the output was compared with the definition.
    std::string checked(int width, int height) {
        const Buffer<int> image = feed(width, height);
        Pipeline pipeline(out);
        pipeline.autoschedule(get_host_target());
        Buffer<int> got = pipeline.realize({width, height}), want(width, height);
        pipeline.realize_reference(want);
        int wrong = 0;
        got.for_each_element([&](int x, int y) { wrong += got(x, y) != want(x, y); });
        INFO(width << " x " << height << "\n" << pipeline.schedule_source());
        CHECK(wrong == 0);
        return pipeline.schedule_report();
    }
};

int count(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        n++;
    return n;
}

constexpr int sizes[][2] = {{1, 1}, {7, 5}, {64, 9}, {130, 67}, {1000, 3}};

/// So many sums of a large picture are in register blocks; the results are right for pictures of all sizes.
void check_blocks(Windows &w, int sums) {
    const std::string report = w.checked(2000, 1500);
    INFO(report);
    CHECK(count(report, "per register block") == sums);
    for (const auto &size : sizes)
        w.checked(size[0], size[1]);
}

}  // namespace

TEST_CASE("a sum that only the output reads, at its own point, is computed in its register blocks",
          "[autoschedule]") {
    Windows w;
    w.out(x, y) = max(w.total(x, y), 0) / 2;
    check_blocks(w, 1);
}

TEST_CASE("two sums of one reader share the registers", "[autoschedule]") {
    Windows w;
    w.out(x, y) = w.total(x, y) - w.largest(x, y);
    check_blocks(w, 2);
}

TEST_CASE("a sum that is read at several points is not", "[autoschedule]") {
    Windows w;
    w.out(x, y) = w.total(x, y) + w.total(max(x - 1, 0), y);
    check_blocks(w, 0);
}
