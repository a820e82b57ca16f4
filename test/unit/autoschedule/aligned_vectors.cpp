// Outputs whose vectors are dense only where they begin at multiples of their lanes.

#include <cmath>
#include <string>
#include <utility>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

/// The channels of a picture that is stored in blocks of 32 channels: (c % 32, x, c / 32).
struct Unblocked {
    ImageParam blocks{Float(32), 3, "blocks"};
    Var c{"c"}, x{"x"};
    Func channels{"channels"};

    Unblocked() { channels(c, x) = blocks(c % 32, x, c / 32) * 2.f; }

    std::string schedule() const {
        Pipeline p(channels);
        p.autoschedule(get_host_target());
        p.realize({96, 40});
        return p.schedule_source();
    }
    static float value(int lane, int x, int block) {
        return static_cast<float>(lane + 100 * x + 10000 * block);
    }
    Buffer<float> input() const {
        Buffer<float> image(32, 40, 3);
        image.fill(value);
        return image;
    }
};

}  // namespace

TEST_CASE("blocks of channels have a version for outputs that begin at 0", "[autoschedule]") {
    Unblocked p;
    p.blocks.set(p.input());
    const std::string source = p.schedule();
    INFO(source);
    CHECK(source.find("channels.specialize(channels.output_buffers()[0].dim(0).min() == 0)") !=
          std::string::npos);

    Pipeline pipeline(p.channels);
    pipeline.autoschedule(get_host_target());
    for (int first : {0, 5, 32}) {
        Buffer<float> part(96 - first, 40);
        part.set_min(first, 0);
        pipeline.realize(part);
        int wrong = 0;
        part.for_each_element(
            [&](int c, int x) { wrong += part(c, x) != 2 * Unblocked::value(c % 32, x, c / 32); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("no version where vectors are dense anyway", "[autoschedule]") {
    Unblocked promised;
    promised.blocks.set(promised.input());
    promised.channels.output_buffer().dim(0).set_min(0);
    CHECK(promised.schedule().find("specialize") == std::string::npos);

    ImageParam plain(Float(32), 2, "plain");
    Var c("c"), x("x");
    Func twice("twice");
    twice(c, x) = plain(c, x) * 2.f;
    Buffer<float> image(96, 40);
    image.fill(1.f);
    plain.set(image);
    Pipeline p(twice);
    p.autoschedule(get_host_target());
    p.realize({96, 40});
    CHECK(p.schedule_source().find("specialize") == std::string::npos);
}

namespace {

/// Planes of formulas of a picture, which share much.
struct Planes {
    ImageParam in{Float(32), 2, "in"};
    Var x{"x"}, y{"y"}, c{"c"};
    Func planes{"planes"};

    explicit Planes(int count) {
        const Expr root = sqrt(in(x, y) + 1.f) + exp(in(x, y) / -100.f) + sin(in(x, y));
        std::vector<Expr> values;
        for (int i = 0; i < count; i++)
            values.push_back(root * static_cast<float>(i) - in(x, y));
        planes(x, y, c) = mux(c, values);
    }
    static float value(int x, int y) { return static_cast<float>(x + 3 * y); }
    static float right(int x, int y, int c) {
        const float v = value(x, y);
        return (std::sqrt(v + 1.f) + std::exp(v / -100.f) + std::sin(v)) * static_cast<float>(c) -
               v;
    }
    /// The chosen schedule for all planes, with which parts are computed, too.
    std::string source(int count) {
        Buffer<float> image(200, 100);
        image.fill(value);
        in.set(image);
        Pipeline pipeline(planes);
        pipeline.autoschedule(get_host_target());
        pipeline.realize({200, 100, count});
        for (auto [first, planes] : {std::pair{0, count}, {1, 2}, {2, 1}, {0, 2}}) {
            Buffer<float> part(200, 100, planes);
            part.set_min(0, 0, first);
            pipeline.realize(part);
            part.for_each_element([&](int x, int y, int c) {
                REQUIRE(std::abs(part(x, y, c) - right(x, y, c)) <= 1e-3f);
            });
        }
        return pipeline.schedule_source();
    }
};

}  // namespace

TEST_CASE("a mux of many values that is unrolled has a version for the bounds at hand",
          "[autoschedule]") {
    const std::string six = Planes(6).source(6);
    INFO(six);
    CHECK(six.find("planes.specialize(planes.output_buffers()[0].dim(2).min() == 0 && "
                   "planes.output_buffers()[0].dim(2).extent() == 6)") != std::string::npos);
    const std::string three = Planes(3).source(3);
    INFO(three);
    CHECK(three.find(".unroll(c_u)") != std::string::npos);
    CHECK(three.find("specialize") == std::string::npos);
}

TEST_CASE("short rows of a known size have a version without a loop over vectors",
          "[autoschedule]") {
    const Var d("d"), t("t");
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(d, t) = select(d < 32, in(d + 32, t), in(d - 32, t) * 2.f);
    auto right = [](int d, int t) {
        return d < 32 ? Planes::value(d + 32, t) : Planes::value(d - 32, t) * 2.f;
    };
    Buffer<float> rows(300, 500);
    rows.set_min(-64, 0);
    rows.fill(Planes::value);
    in.set(rows);
    const Target avx2("x86-64-linux-avx2-fma-f16c");
    auto source_for = [&](int width) {
        Pipeline pipeline(out);
        pipeline.autoschedule(avx2);
        pipeline.realize({width, 400}, avx2);
        const std::string source = pipeline.schedule_source();
        for (int first : {0, 3}) {
            Buffer<float> part(width - first, 400);
            part.set_min(first, 0);
            pipeline.realize(part, avx2);
            part.for_each_element([&](int d, int t) { REQUIRE(part(d, t) == right(d, t)); });
        }
        return source;
    };
    const std::string special = "out.specialize(out.output_buffers()[0].dim(0).min() == 0 && "
                                "out.output_buffers()[0].dim(0).extent() == 64)";
    const std::string found = source_for(64);
    INFO(found);
    CHECK(found.find(special) != std::string::npos);
    CHECK(source_for(60).find("specialize") == std::string::npos);   // ends in a part of a vector
    CHECK(source_for(136).find("specialize") == std::string::npos);  // long
}
