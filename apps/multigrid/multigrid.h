// Geometric multigrid (docs/benchmarks.md, no. 8): one V or W cycle for the Poisson equation on the
// unit square or cube, smoothed by weighted Jacobi.
#pragma once

#include "apps/common/program.h"

#include <functional>

namespace apps {

struct Multigrid : Program {
    struct Options {
        int dimensions = 2;
        bool w_cycle = false;
        int before = 4, coarsest = 4, after = 4;  ///< smoothing steps
        int levels = 4;
    };
    explicit Multigrid(const Options &options);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    Options options;
    /// double; arrays of (N + 2)^d with the boundary at 0 and N + 1, N = 2^levels (n + 1) / 2 - 1
    dsl::ImageParam guess, right_hand_side;
    dsl::Func out{"multigrid"};
    std::vector<dsl::Var> p;    ///< x, y, z
    std::vector<int> level_of;  ///< per stage: of what it reads
    std::vector<bool> kept;  ///< per stage: stored in full; those before it may slide in a window

  private:
    /// A grid function of one level. Undefined Func: 0 everywhere.
    struct Grid {
        dsl::Func inner;  ///< as it was computed, in the interior only
        dsl::Func whole;  ///< with its boundary
        bool zero() const { return !inner.defined(); }
    };
    using Value = std::function<dsl::Expr(const dsl::Expr &here)>;

    Grid cycle(Grid v, const dsl::Func &f, int level);
    Grid smoothed(Grid v, const dsl::Func &f, int level, int steps);
    dsl::Func residual(const Grid &v, const dsl::Func &f, int level);
    dsl::Func restricted(const dsl::Func &fine, int level);
    Grid corrected(const Grid &v, const Grid &error, int level);

    /// The last stage is one that is kept.
    void keep(bool keeps = true) {
        if (!kept.empty())
            kept.back() = keeps;
    }
    Grid stage(const char *name, int level, const dsl::Expr &value);
    dsl::Func with_boundary(const dsl::Func &inner, int level) const;
    /// Points along an edge of the interior, and 1/h, of that level.
    dsl::Expr points(int level) const;
    dsl::Expr inverse_h(int level) const;
    /// A·v at the point p.
    dsl::Expr operator_at_p(const dsl::Func &v, int level) const;
    dsl::Expr at_p(const dsl::Func &f) const;
};

}  // namespace apps
