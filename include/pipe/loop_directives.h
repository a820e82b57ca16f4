#pragma once
// Directives that transform the loop nest of a definition.

#include <utility>
#include <vector>

#include <pipe/expr.h>
#include <pipe/loop_level.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>

namespace Pipe {

class Func;
class Stage;

/// For compute_with: how the ranges of shared loops are aligned with each other.
using LoopAlignments = std::vector<std::pair<VarOrRVar, LoopAlignStrategy>>;

/// The loops of one definition: of a Stage, or of the pure definition of a Func.
///
/// Directives name loops by Var or RVar. A definition starts with one serial loop per dimension,
/// dimension 0 innermost; an update has its RVars innermost, then the Vars among its arguments. For
/// f(x, y) = ..., realized as W x H:
///
///     for (y = 0; y < H; y++)
///       for (x = 0; x < W; x++)
///         f[y][x] = ...
///
/// Each directive changes that nest; later directives use the new names.
/// CompileErrors name the Func, the stage, the loop and the loops that exist.
///
/// \param Self  Stage or Func, which each directive returns
template <typename Self> class LoopDirectives {
  public:
    /// Replaces the loop `old` by two nested loops: old = outer * factor + inner, with inner in
    /// [0, factor). f.split(x, xo, xi, 8), for an extent that 8 divides:
    ///
    ///     for (xo = 0; xo < W / 8; xo++)
    ///       for (xi = 0; xi < 8; xi++)
    ///         f[y][xo * 8 + xi] = ...
    ///
    /// `tail` says what happens if it does not.
    Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    /// Replaces two loops by one over all pairs. They need not be adjacent: the new loop takes the
    /// place of `outer`. f.fuse(x, y, t):
    ///
    ///     for (t = 0; t < W * H; t++)
    ///       f[t / W][t % W] = ...
    Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    /// Renames the loop `old`; later directives must use the new name. f.rename(x, i):
    ///
    ///     for (i = 0; i < W; i++)
    ///       f[i] = ...
    Self &rename(const VarOrRVar &old, const VarOrRVar &now);

    /// Reorders these loops, listed innermost first, among their present positions; other loops
    /// stay. f.reorder(y, x):
    ///
    ///     for (x = 0; x < W; x++)
    ///       for (y = 0; y < H; y++)
    ///         f[y][x] = ...
    Self &reorder(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Self &reorder(const VarOrRVar &x, const VarOrRVar &y, const Loops &...loops) {
        return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(loops)...});
    }

    /// Splits x and y, and reorders to xi, yi, xo, yo (innermost first). f.tile(x, y, xo, yo, xi,
    /// yi, 64, 32):
    ///
    ///     for (yo = 0; yo < H / 32; yo++)
    ///       for (xo = 0; xo < W / 64; xo++)
    ///         for (yi = 0; yi < 32; yi++)
    ///           for (xi = 0; xi < 64; xi++)
    ///             f[yo * 32 + yi][xo * 64 + xi] = ...
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
               const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
               TailStrategy tail = TailStrategy::Auto);
    /// The same, with the outer loops keeping the names x and y.
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
               const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    /// In any number of dimensions.
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto);
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails);
    /// The same, with the outer loops keeping the old names.
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);

    /// Runs the iterations one after the other: the default. Reverts parallel, vectorize and
    /// unroll. f.serial(x):
    ///
    ///     for (x = 0; x < W; x++)
    ///       f[x] = ...
    Self &serial(const VarOrRVar &loop);
    /// Distributes the iterations over threads. Iterations of an RVar that combine values in the
    /// same element (sum, product, minimum, argmin, a histogram, ..; floating-point sums and products with
    /// Target::FastMath) have private accumulators. CompileError if others could write the same
    /// element (see atomic and allow_race_conditions).
    ///
    ///     #pragma omp parallel for
    ///     for (y = 0; y < H; y++)
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = ...
    Self &parallel(const VarOrRVar &loop);
    /// Splits by `task_size` first: each task runs this many iterations.
    Self &parallel(const VarOrRVar &loop, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto);
    /// Computes all iterations at once, as lanes of vectors. f.split(x, xo, xi, 8).vectorize(xi):
    ///
    ///     for (xo = 0; xo < W / 8; xo++)
    ///       f[y][xo * 8 .. xo * 8 + 7] = ...   // one vector operation each
    ///
    /// The extent must have a constant upper bound, which is the number of lanes; lanes beyond the
    /// extent are masked. If several loops of a definition are vectorized, the innermost becomes
    /// the vector and the others are unrolled. Updates: as for parallel().
    Self &vectorize(const VarOrRVar &loop);
    /// Splits by `lanes` first.
    Self &vectorize(const VarOrRVar &loop, const Expr &lanes,
                    TailStrategy tail = TailStrategy::Auto);
    /// Replaces the loop by one copy of its body per iteration. The extent must have a constant
    /// upper bound, which is the number of copies; copies beyond the extent are guarded by a test.
    /// f.bound(c, 0, 3).unroll(c):
    ///
    ///     f[0] = ..., f[1] = ..., f[2] = ...
    Self &unroll(const VarOrRVar &loop);
    /// Splits by `times` first.
    Self &unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail = TailStrategy::Auto);

    /// Computes this stage inside the loops of `other`, from the outermost to `loop`
    /// (Var::outermost(): none). In each iteration, `other` comes first. Neither may depend on the
    /// other. The ranges may differ: each stage runs only within its own range. `align` says how
    /// this stage's range of `loop` is aligned with that of `other`; a list sets this per loop.
    /// f.compute_with(g, y):
    ///
    ///     for (y = 0; y < H; y++)
    ///       for (x = 0; x < W; x++)
    ///         g[y][x] = ...
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = ...
    Self &compute_with(const Stage &other, const VarOrRVar &loop,
                       LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Self &compute_with(const Stage &other, const VarOrRVar &loop, const LoopAlignments &align);
    Self &compute_with(const Func &other, const VarOrRVar &loop,
                       LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Self &compute_with(const Func &other, const VarOrRVar &loop, const LoopAlignments &align);
    Self &compute_with(const LoopLevel &level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Self &compute_with(const LoopLevel &level, const LoopAlignments &align);

  protected:
    Stage stage() const;
    Self &self() { return static_cast<Self &>(*this); }
};

}  // namespace Pipe
