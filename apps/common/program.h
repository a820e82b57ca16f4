// What every application is: inputs, an output and a schedule written by hand.
#pragma once

#include "apps/common/dsl.h"

#include <vector>

namespace apps {

/// An application's pipeline, built afresh by its constructor and not yet scheduled.
struct Program {
    virtual ~Program() = default;

    /// The schedule that an expert would write for a multicore CPU with the vectors of `target`.
    virtual void schedule_by_hand(const dsl::Target &target) = 0;

    /// The schedule that an expert would write for a GPU of the size of an A100. What a kernel cannot do stays
    /// on the host.
    virtual void schedule_for_gpu(const dsl::Target &target) = 0;

    /// The trivial schedule: every stage computed and stored in full, one pixel after another.
    void schedule_naively() {
        for (dsl::Func &stage : stages)
            stage.compute_root();
    }

    std::vector<dsl::ImageParam> inputs;
    std::vector<dsl::Func> stages;  ///< producers before consumers; the last one is the output

    dsl::Func output() const { return stages.back(); }
};

}  // namespace apps
