#pragma once
// Directives that make the loop nest of a definition.

#include <utility>
#include <vector>

#include <pipe/expr.h>
#include <pipe/loop_level.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>

namespace Pipe {

class Func;
class Stage;

/// How ranges of loops that are shared are moved against each other (compute_with).
using LoopAlignments = std::vector<std::pair<VarOrRVar, LoopAlignStrategy>>;

/// The loops of one definition: of a Stage, or of the pure definition of a Func.
///
/// Directives name loops by Var or RVar. A definition starts with one loop per dimension (an
/// update: RVars innermost, then the Vars that are its arguments), dimension 0 innermost, all
/// serial. Each directive changes that nest; the nest's loops are then known by their new names.
/// CompileErrors name the Func, the stage, the loop and the loops that exist.
///
/// \param Self  Stage or Func, which each directive gives back
template <typename Self> class LoopDirectives {
  public:
    /// old = outer * factor + inner, inner in [0, factor). See TailStrategy for what happens where
    /// the factor does not divide the extent.
    Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    /// One loop over both; they need not be neighbours: the result stands in place of `outer`.
    Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    Self &rename(const VarOrRVar &old, const VarOrRVar &now);

    /// Puts these loops, innermost first, in the places that they have now.
    Self &reorder(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Self &reorder(const VarOrRVar &x, const VarOrRVar &y, const Loops &...loops) {
        return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(loops)...});
    }

    /// Splits x and y, and reorders to xi, yi, xo, yo.
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
               const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
               TailStrategy tail = TailStrategy::Auto);
    /// The same; the outer loops keep the names x and y.
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
               const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    /// In any number of dimensions.
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto);
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails);
    /// The outer loops keep the old names.
    Self &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);

    Self &serial(const VarOrRVar &loop);
    Self &parallel(const VarOrRVar &loop);
    /// Splits by `task_size` first: each task runs that many iterations.
    Self &parallel(const VarOrRVar &loop, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto);
    /// The loop's extent must be bounded by a constant: so many lanes, those beyond it masked. Of
    /// several vectorized loops of a definition the innermost fills the vectors; those around it make
    /// a copy of them per iteration, as unroll() does.
    Self &vectorize(const VarOrRVar &loop);
    /// Splits by `lanes` first.
    Self &vectorize(const VarOrRVar &loop, const Expr &lanes,
                    TailStrategy tail = TailStrategy::Auto);
    /// The loop's extent must be bounded by a constant: so many copies, those beyond it tested.
    Self &unroll(const VarOrRVar &loop);
    /// Splits by `times` first.
    Self &unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail = TailStrategy::Auto);

    /// Shares the loops of `other`, which runs first, from the outermost in to `loop`
    /// (Var::outermost(): none). Neither may need the other. The ranges may differ: each stage runs
    /// where its own is. `align` says how this stage's range of `loop` is moved against that of
    /// `other`, or, as a list, of each loop named there.
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
