#include "apps/interleaved/interleaved.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

Interleaved::Interleaved(Kind k) : kind(k), input(UInt(8), 3, "input") {
    if (kind == Kind::FromPlanes)
        out(x, y, c) = input(x, y, c);
    if (kind == Kind::Brighten)
        out(x, y, c) = cast<uint8_t>(input(x, y, c) / 2 + 64);
    if (kind == Kind::ToGray) {
        auto channel = [&](int i) { return cast<uint16_t>(input(x, y, i)); };
        out(x, y) = cast<uint8_t>((channel(0) * 77 + channel(1) * 150 + channel(2) * 29) >> 8);
    }
    auto interleaved = [](OutputImageParam picture) {
        picture.dim(0).set_stride(3);
        picture.dim(2).set_stride(1).set_bounds(0, 3);
    };
    if (kind != Kind::FromPlanes)
        interleaved(input);
    if (kind != Kind::ToGray) {
        interleaved(out.output_buffer());
        out.bound(c, 0, 3);
    }
    inputs = {input};
    stages = {out};
}

// A vector per channel, all channels of the same points together.
void Interleaved::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(UInt(8));
    out.split(y, yo, yi, 64).parallel(yo);
    out.vectorize(x, vec);
    if (kind != Kind::ToGray)
        out.reorder(c, x, yi, yo).unroll(c);
}

// The channels of a pixel lie next to each other, and so do the threads that compute them.
void Interleaved::schedule_for_gpu(const Target &) {
    const GPUTile tile{.width = 64, .height = 4, .columns = 3, .rows = 2};
    if (kind != Kind::ToGray) {
        const Var element("element");
        out.reorder(c, x, y).fuse(c, x, element);
        GPUKernel{out, element, y}.schedule(tile);
        return;
    }
    GPUKernel kernel{out, x, y};
    kernel.schedule({.width = 64, .height = 4, .columns = 1, .rows = 2});
    Func read = input.in();
    const std::vector<Var> args = read.args();
    const Var element("element");
    read.compute_at(out, kernel.block)
        .reorder(args[2], args[0], args[1])
        .fuse(args[2], args[0], element)
        .gpu_threads(element, args[1]);
}

}  // namespace apps
