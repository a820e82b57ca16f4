// Max filter (docs/benchmarks.md, no. 17): the largest value in a disc around every pixel.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// The disc is cut into columns; the maximum of a column comes from two overlapping ones of a
/// length that is a power of two, and those from running maxima of doubled length, one slice per
/// length.
struct MaxFilter : Program {
    explicit MaxFilter(int radius = 26);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float, planes (x, y, c)
    dsl::Func height{"height"}, slice{"slice"}, running{"running"}, column{"column"},
        dilated{"dilated"};
    dsl::RDom rows, columns;  ///< of an update of `running`; of the disc
    int slices;
    dsl::Var x{"x"}, y{"y"}, c{"c"}, t{"t"}, s{"s"}, xo{"xo"}, xi{"xi"};
};

}  // namespace apps
