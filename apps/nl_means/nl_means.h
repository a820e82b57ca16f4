// Non-local means (docs/benchmarks.md, no. 18): every pixel becomes the mean of those around it,
// weighted by how alike their patches are.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct NlMeans : Program {
    explicit NlMeans(float sigma = 0.12f, int patch = 7, int search = 7);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float, planes (x, y, c), 0..1
    dsl::Func edged;        ///< the input with repeated edges
    dsl::Func difference{"difference"}, boxy{"boxy"}, boxx{"boxx"}, sums{"sums"},
        denoised{"denoised"};
    dsl::RDom window;  ///< of the search
    dsl::Var x{"x"}, y{"y"}, c{"c"}, u{"u"}, v{"v"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"};
};

}  // namespace apps
