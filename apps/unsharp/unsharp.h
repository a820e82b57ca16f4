// Unsharp mask (docs/benchmarks.md, no. 1): sharpen by adding back what a Gaussian blur takes away.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// Section 1.1: every channel on its own, a 5-tap binomial blur, and pixels that differ from their
/// blurred copy by less than 0.001 are kept. The input holds a ghost frame of 2 zero pixels.
struct Unsharp : Program {
    /// \param weight how much of the difference is added back
    explicit Unsharp(float weight = 3);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam
        input;  ///< float, planes (x, y, c); 2 pixels larger than the output on each side
    dsl::Func blury{"blury"}, blurx{"blurx"}, sharpen{"sharpen"}, masked{"masked"};
    dsl::Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"}, yu{"yu"};
};

/// Section 1.2: the luminance is blurred by a 7-tap Gaussian and all channels are scaled by the
/// ratio of the sharpened luminance to the plain one. Pixels outside repeat the edge.
struct UnsharpHalide : Program {
    UnsharpHalide();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float RGB > 0, planes (x, y, c), of the output's size
    dsl::Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, sharpen{"sharpen"}, ratio{"ratio"},
        unsharp{"unsharp"};
    dsl::Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"}, yu{"yu"};
};

}  // namespace apps
