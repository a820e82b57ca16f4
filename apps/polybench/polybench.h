// Kernels of PolyBench/C (docs/benchmarks.md, no. 11), in double. Matrices are (column, row).
#pragma once

#include "apps/common/program.h"

namespace apps {

/// D = alpha·A·B·C + beta·D
struct TwoMm : Program {
    TwoMm();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam a, b, c, d;
    dsl::Func ab{"ab"}, tmp{"tmp"}, abc{"abc"}, result{"two_mm"};
    dsl::RDom k, j;  ///< of the first and of the second product
    dsl::Var col{"col"}, row{"row"};
};

/// A' = A + u1·v1ᵀ + u2·v2ᵀ; x = beta·A'ᵀ·y + z; w = alpha·A'·x
struct Gemver : Program {
    Gemver();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam a, u1, v1, u2, v2, y, z;
    dsl::Func updated{"updated"}, x{"x"}, w{"gemver"};
    dsl::RDom i, j;  ///< rows, columns
    dsl::Var col{"col"}, row{"row"};
};

/// The covariances of the columns of `data`, of which there are M, from N rows. The upper triangle
/// is computed and mirrored.
struct Covariance : Program {
    Covariance();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam data;
    dsl::Func total{"total"}, mean{"mean"}, centered{"centered"}, by_column{"by_column"},
        product{"product"}, upper{"upper"}, result{"covariance"};
    dsl::RDom i, k;  ///< rows, of the means and of the products
    dsl::Var col{"col"}, row{"row"};
};

}  // namespace apps
