// Directives on a Func that are those of its pure definition's loops.

#include <pipe/func.h>

namespace Pipe {

Func &Func::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                  const Expr &factor, TailStrategy tail) {
    Stage(*this).split(old, outer, inner, factor, tail);
    return *this;
}
Func &Func::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    Stage(*this).fuse(inner, outer, fused);
    return *this;
}
Func &Func::rename(const VarOrRVar &old, const VarOrRVar &now) {
    Stage(*this).rename(old, now);
    return *this;
}
Func &Func::reorder(const std::vector<VarOrRVar> &loops) {
    Stage(*this).reorder(loops);
    return *this;
}
Func &Func::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
                 const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                 TailStrategy tail) {
    Stage(*this).tile(x, y, xo, yo, xi, yi, xfactor, yfactor, tail);
    return *this;
}
Func &Func::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
                 const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    Stage(*this).tile(x, y, xi, yi, xfactor, yfactor, tail);
    return *this;
}
Func &Func::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                 const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                 TailStrategy tail) {
    Stage(*this).tile(old, outer, inner, factors, tail);
    return *this;
}
Func &Func::serial(const VarOrRVar &loop) {
    Stage(*this).serial(loop);
    return *this;
}
Func &Func::parallel(const VarOrRVar &loop) {
    Stage(*this).parallel(loop);
    return *this;
}
Func &Func::parallel(const VarOrRVar &loop, const Expr &task_size, TailStrategy tail) {
    Stage(*this).parallel(loop, task_size, tail);
    return *this;
}
Func &Func::vectorize(const VarOrRVar &loop) {
    Stage(*this).vectorize(loop);
    return *this;
}
Func &Func::vectorize(const VarOrRVar &loop, const Expr &lanes, TailStrategy tail) {
    Stage(*this).vectorize(loop, lanes, tail);
    return *this;
}
Func &Func::unroll(const VarOrRVar &loop) {
    Stage(*this).unroll(loop);
    return *this;
}
Func &Func::unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail) {
    Stage(*this).unroll(loop, times, tail);
    return *this;
}
Func &Func::compute_with(const Stage &other, const VarOrRVar &loop, LoopAlignStrategy align) {
    Stage(*this).compute_with(other, loop, align);
    return *this;
}
Func &Func::compute_with(const Stage &other, const VarOrRVar &loop, const LoopAlignments &align) {
    Stage(*this).compute_with(other, loop, align);
    return *this;
}
Func &Func::compute_with(const Func &other, const VarOrRVar &loop, const LoopAlignments &align) {
    Stage(*this).compute_with(other, loop, align);
    return *this;
}
Func &Func::compute_with(const LoopLevel &level, const LoopAlignments &align) {
    Stage(*this).compute_with(level, align);
    return *this;
}
Func &Func::compute_with(const Func &other, const VarOrRVar &loop, LoopAlignStrategy align) {
    Stage(*this).compute_with(other, loop, align);
    return *this;
}
Func &Func::compute_with(const LoopLevel &level, LoopAlignStrategy align) {
    Stage(*this).compute_with(level, align);
    return *this;
}
Stage Func::specialize(const Expr &condition) {
    return Stage(*this).specialize(condition);
}
void Func::specialize_fail(const std::string &message) {
    Stage(*this).specialize_fail(message);
}
Func &Func::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                 const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                 const std::vector<TailStrategy> &tails) {
    Stage(*this).tile(old, outer, inner, factors, tails);
    return *this;
}
Func &Func::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
                 const std::vector<Expr> &factors, TailStrategy tail) {
    Stage(*this).tile(old, inner, factors, tail);
    return *this;
}
Func &Func::partition(const VarOrRVar &loop, Partition policy) {
    Stage(*this).partition(loop, policy);
    return *this;
}
Func &Func::never_partition(const std::vector<VarOrRVar> &loops) {
    Stage(*this).never_partition(loops);
    return *this;
}
Func &Func::always_partition(const std::vector<VarOrRVar> &loops) {
    Stage(*this).always_partition(loops);
    return *this;
}
Func &Func::never_partition_all() {
    Stage(*this).never_partition_all();
    return *this;
}
Func &Func::always_partition_all() {
    Stage(*this).always_partition_all();
    return *this;
}
Func &Func::prefetch(const Func &source, const VarOrRVar &at, const VarOrRVar &from,
                     const Expr &offset, PrefetchBoundStrategy strategy) {
    Stage(*this).prefetch(source, at, from, offset, strategy);
    return *this;
}
Func &Func::prefetch(const ImageParam &source, const VarOrRVar &at, const VarOrRVar &from,
                     const Expr &offset, PrefetchBoundStrategy strategy) {
    Stage(*this).prefetch(source, at, from, offset, strategy);
    return *this;
}
Func &Func::allow_race_conditions() {
    Stage(*this).allow_race_conditions();
    return *this;
}
Func &Func::eager_inline(const std::vector<Func> &funcs) {
    Stage(*this).eager_inline(funcs);
    return *this;
}

}  // namespace Pipe
