// Harris corner detection (docs/benchmarks.md, no. 2).
#pragma once

#include "apps/common/program.h"

namespace apps {

/// The stages that both forms share: from gray values to the corner response.
struct HarrisStages {
    /// Defines all stages on top of gray(x, y).
    template <typename Gray> void define(Gray gray);
    /// Schedules all stages but those that make `gray`.
    void schedule_by_hand(const dsl::Target &target);
    void schedule_for_gpu(const dsl::Func &gray);

    dsl::Func iy{"iy"}, ix{"ix"}, ixx{"ixx"}, iyy{"iyy"}, ixy{"ixy"}, sxx{"sxx"}, syy{"syy"},
        sxy{"sxy"}, det{"det"}, trace{"trace"}, harris{"harris"};
    dsl::Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"}, yu{"yu"};
};

/// Section 2.1: gray input. The response is defined 2 pixels away from the input's edges.
struct Harris : Program, HarrisStages {
    Harris();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float, 2 pixels larger than the output on each side
};

/// Section 2.2 (without boundary condition): RGB input, reduced to gray first. The response is
/// asked for 3 pixels away from the input's edges.
struct HarrisHalide : Program, HarrisStages {
    HarrisHalide();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float RGB, planes (x, y, c), 3 pixels larger on each side
    dsl::Func gray{"gray"};
};

}  // namespace apps
