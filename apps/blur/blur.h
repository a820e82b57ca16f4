// Two-pass 3×3 box blur (docs/benchmarks.md, no. 16).
#pragma once

#include "apps/common/program.h"

namespace apps {

/// by(x, y) = mean over three rows of the mean over three columns, anchored at the top left pixel.
/// Works on uint16 (12-bit values, integer division) and on float.
struct Blur : Program {
    explicit Blur(dsl::Type type = dsl::UInt(16));
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< 2 columns and 2 rows larger than the output
    dsl::Func bx{"bx"}, by{"by"};
    dsl::Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"}, yu{"yu"};
};

}  // namespace apps
