// Outputs whose vectors are dense only where they begin at multiples of their lanes.
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
