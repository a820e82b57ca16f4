// Bilateral grid (docs/benchmarks.md, no. 3): edge-aware smoothing. Pixels are added up in a coarse
// grid over space (8 pixels a cell) and intensity (10 cells), the grid is blurred, and every pixel
// reads the blurred grid at its own place and intensity.
#pragma once

#include "apps/common/program.h"

#include <functional>

namespace apps {

/// What the three variants share: the blurs and the slicing. The grid has two channels: the sum of
/// the values and their count.
struct BilateralGrid : Program {
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;
    dsl::Func grid{"grid"}, blurz{"blurz"}, blurx{"blurx"}, blury{"blury"}, interp{"interp"},
        filtered{"filtered"};
    dsl::Var x{"x"}, y{"y"}, z{"z"}, c{"c"};

  protected:
    BilateralGrid();
    /// The cells of the grid are filled where blurz is computed, from `picture`, which each of them sums up over r.
    void gather_for_gpu(const dsl::Func &picture, const dsl::RDom &r);
    /// Adds `value` to the cells of the grid at these coordinates.
    void splat(const dsl::Expr &i, const dsl::Expr &j, const dsl::Expr &z_of_value,
               const dsl::Expr &value);
    /// Defines the blurs; `valid(i, j, z)` says where they are, outside they are 0.
    using Valid = std::function<dsl::Expr(dsl::Expr i, dsl::Expr j, dsl::Expr z)>;
    void blur(const Valid &valid_z, const Valid &valid_xy);
    /// Defines what the pixel of that value reads; cell 0 of the picture is (offset, offset,
    /// offset_z) of the grid.
    void slice(const dsl::Expr &value, int offset, int offset_z);
};

/// Section 3.1 (PolyMage's text): every pixel is scattered to its cell.
struct BilateralGridScatter : BilateralGrid {
    BilateralGridScatter();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;
    dsl::RDom r;
};

/// Section 3.2 (PolyMage's C++): every cell gathers the 9x9 pixels around it. The input has a frame
/// of repeated edge pixels: 24 left and above, 32 right and below.
struct BilateralGridGather9 : BilateralGrid {
    BilateralGridGather9();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;
    dsl::RDom r;
};

/// Section 3.3 (Halide): every cell gathers 8x8 pixels, edges are repeated.
struct BilateralGridGather8 : BilateralGrid {
    BilateralGridGather8();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;
    dsl::RDom r;
    dsl::Func edged;  ///< the input with repeated edges
};

}  // namespace apps
