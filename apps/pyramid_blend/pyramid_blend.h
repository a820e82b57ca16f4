// Pyramid blending (docs/benchmarks.md, no. 7): two pictures are joined along a mask, each level of
// their Laplacian pyramids with its own softness.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// Section 7.1. The inputs have a frame of repeated edge pixels, 31 before and 29 after, which the
/// kernels use up: the output lies 31 pixels inside.
struct PyramidBlend : Program {
    static constexpr int levels = 4;
    PyramidBlend();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam picture1, picture2;  ///< float, planes (x, y, c)
    dsl::ImageParam mask;                ///< float, (x, y): 1 where picture1 is wanted
    /// Of picture1, picture2 and the mask: Gaussian levels and, on the way, halved along y only.
    std::vector<dsl::Func> gauss[3], halfy[3];
    /// Of both pictures: the coarser level doubled along y, and the Laplacian level.
    std::vector<dsl::Func> upy[2], laplace[2];
    std::vector<dsl::Func> blended, outy, out;
    dsl::Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"};

  private:
    void define_pyramids();
    void list_stages();
};

}  // namespace apps
