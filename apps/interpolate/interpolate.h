// Multiscale interpolation (docs/benchmarks.md, no. 4): missing pixels (alpha < 1) are filled from
// coarser levels of a pyramid.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// What both forms share: the steps of the pyramid between the levels.
struct InterpolateLevels : Program {
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    int levels;
    dsl::ImageParam input;  ///< float, planes (x, y, k): three colors, then alpha
    /// Premultiplied levels and, on the way to each, halved along y only.
    std::vector<dsl::Func> down, downy;
    /// Filled levels and, on the way to each, the next coarser one doubled along y and along both.
    std::vector<dsl::Func> filled, upy, upx;
    dsl::Func normalized{"normalized"};
    dsl::Var x{"x"}, y{"y"}, k{"k"};

  protected:
    bool finest_is_read_directly = false;  ///< by downy[1], without a border around it
    explicit InterpolateLevels(int levels);
    /// Defines level l from `finer`, level l - 1 as the kernel sees it.
    void define_down(int l, const dsl::Func &finer);
    /// Defines filled[l] from `coarser`, filled[l + 1] as the kernel sees it.
    void define_filled(int l, const dsl::Func &coarser);
    void define_output();
};

/// Section 4.1 (PolyMage): 0 outside of every level; alpha is premultiplied with itself.
struct Interpolate : InterpolateLevels {
    explicit Interpolate(int levels = 10);
};

/// Section 4.2 (Halide): edges of the picture are repeated. Level 4 reads level 3 clamped to the
/// picture.
struct InterpolateHalide : InterpolateLevels {
    enum class Form {
        Of2021,  ///< alpha is kept
        Of2020,  ///< level 3 is clamped to half of the picture along each edge
        Of2018,  ///< and alpha is premultiplied with itself
    };
    explicit InterpolateHalide(int levels = 10, Form form = Form::Of2021);
};

}  // namespace apps
