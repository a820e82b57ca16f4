// MiniFluxDiv (docs/benchmarks.md, no. 9): fluxes of a flow on a grid, and their divergence.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct FluxDiv : Program {
    FluxDiv();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    /// double, (x, y, z, k): density, energy, velocities; 2 cells larger than the output on all
    /// sides
    dsl::ImageParam phi;
    /// Per direction: values on the faces, fluxes through them, and their difference.
    std::vector<dsl::Func> face, flux, difference;
    dsl::Func out{"flux_div"};
    dsl::Var x{"x"}, y{"y"}, z{"z"}, k{"k"}, zo{"zo"}, zi{"zi"};
};

}  // namespace apps
