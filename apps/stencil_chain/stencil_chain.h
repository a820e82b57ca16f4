// A chain of stencils: every stage is the sum of 5x5 pixels of the one before.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// On uint16, wrapping around. Every stage takes two pixels off each side.
struct StencilChain : Program {
    explicit StencilChain(int count = 32);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;
    dsl::Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"};
};

}  // namespace apps
