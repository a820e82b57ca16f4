// VDSR (docs/benchmarks.md, no. 13): a network of convolutions that sharpens the luminance.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// Maps are (channel, x, y): the channels of a pixel lie side by side. Every layer pads its own
/// input with zeros.
struct Vdsr : Program {
    explicit Vdsr(int layers = 20);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam picture;  ///< uint8 RGB, planes (x, y, c)
    dsl::ImageParam first;    ///< float, (channel out, x, y)
    dsl::ImageParam
        middle;            ///< float, (channel out, x, y, channel in, layer): layers 2 to last - 1
    dsl::ImageParam last;  ///< float, (channel in, x, y)
    dsl::ImageParam bias;  ///< float, (channel out, layer)
    dsl::Func luma{"luma"}, cb{"cb"}, cr{"cr"}, detail{"detail"}, sharpened{"sharpened"};
    /// Of the layers but the last: what they read, their sums, and their result.
    std::vector<dsl::Func> padded, conv, result;
    dsl::RDom r, r_first;  ///< channel in, x, y; x, y
    dsl::Var c{"c"}, x{"x"}, y{"y"};

  private:
    dsl::Func pad(const dsl::Func &f, bool channels) const;
    void to_luma();
    void define_layers(int layers);
    void to_rgb();
};

}  // namespace apps
