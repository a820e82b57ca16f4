#pragma once
// Stage: the schedule of one definition of a Func.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/gpu_directives.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>
#include <pipe/var.h>

namespace Pipe {

namespace language {
struct FuncContents;
}

/// All directives on one definition.
template <typename Self> class StageDirectives : public GPUDirectives<Self> {
  public:
    /// Allows loops whose iterations write the same element to be parallel or vectorized: each
    /// update of an element is atomic, and lanes that write the same element are combined first. An
    /// update of several elements (a Tuple whose values depend on each other, a scatter) is guarded
    /// by a lock. CompileError if the operator is not supported by rfactor, unless
    /// `override_associativity_test` asserts that the order does not matter.
    Self &atomic(bool override_associativity_test = false);
    /// Disables the race check: loops may be parallel, vectorized or reordered even if their
    /// iterations access the same elements. The result is then nondeterministic unless you know that
    /// the accesses do not conflict.
    Self &allow_race_conditions();

    /// Returns a copy of the present schedule, which is used if `condition` (a bool of Params and
    /// sizes) holds. Directives on the result change the copy and may specialize it further;
    /// directives on this Stage change the schedule that is used otherwise. Conditions are tested
    /// in the order in which they were added.
    Stage specialize(const Expr &condition);
    /// Throws a RuntimeError with this message if none of the conditions holds.
    void specialize_fail(const std::string &message);

    /// Sets whether the loop is partitioned into its boundary and an interior without clamps and
    /// tests (default: if worthwhile). CompileError if always_partition() finds nothing to remove, or
    /// the loop is vectorized or unrolled.
    Self &partition(const VarOrRVar &loop, Partition policy);
    Self &never_partition(const std::vector<VarOrRVar> &loops);
    Self &always_partition(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Self &never_partition(const VarOrRVar &loop, const Loops &...more) {
        return never_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    template <typename... Loops>
    Self &always_partition(const VarOrRVar &loop, const Loops &...more) {
        return always_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    /// Applies to all present loops.
    Self &never_partition_all();
    Self &always_partition_all();

    /// Inside the loop `at`, prefetches the region of a Func or image (stored outside the loop
    /// `from`) that this stage, including everything computed inside `at`, reads in iteration `from
    /// + offset`; of a window that moves along one dimension, what the iteration before that one does
    /// not read. `from` is `at` or a loop around it. Does not change results.
    ///
    ///     f.vectorize(x, 8).prefetch(in, x, y, 1, PrefetchBoundStrategy::NonFaulting);
    ///
    ///     for y: for x: { prefetch in(8 * x, y + 1); f(8 * x .. 8 * x + 7, y) = ... }
    Self &prefetch(const Func &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    Self &prefetch(const ImageParam &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    template <typename T, int D>
    Self &prefetch(const Buffer<T, D> &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
        return prefetch_buffer(Buffer<void, AnyDims>(source), at, from, offset, strategy);
    }
    /// Substitutes these pure Funcs into this definition immediately, before anything is
    /// scheduled. CompileError for a Func that the definition does not call.
    Self &eager_inline(const std::vector<Func> &funcs);
    template <typename... Funcs> Self &eager_inline(const Func &f, const Funcs &...more);

    /// Not supported: CompileError.
    Self &hexagon(const VarOrRVar &loop = Var::outermost()) { return no_device("hexagon", loop); }

  protected:
    using LoopDirectives<Self>::stage;
    using LoopDirectives<Self>::self;
    Self &no_device(const char *directive, const VarOrRVar &loop);

  private:
    Self &prefetch_buffer(const Buffer<void, AnyDims> &source, const VarOrRVar &at,
                          const VarOrRVar &from, const Expr &offset,
                          PrefetchBoundStrategy strategy);
    Self &prefetch_image(const std::shared_ptr<const language::ImageContents> &image,
                         const VarOrRVar &at, const VarOrRVar &from, const Expr &offset,
                         PrefetchBoundStrategy strategy);
    Self &add_prefetch(schedules::Prefetch prefetch, const VarOrRVar &at, const VarOrRVar &from);
};

/// The schedule of one definition of a Func: its loop nest.
class Stage : public StageDirectives<Stage> {
  public:
    Stage(std::shared_ptr<language::FuncContents> func, int stage,
          std::vector<size_t> specialization = {});

    /// Factors an associative update (a sum, for example) into two. The returned Func combines over
    /// the other RVars, separately for each value of `preserved`; this update then combines those
    /// values over `preserved`. In the returned Func, the dimension `v` replaces `preserved`, so
    /// its loop can be parallel or vectorized. RVars that result from splits may be preserved, too.
    /// Supported operators: + - * min max && || & | ^ on any type and Tuples of these, argmin and
    /// argmax as select() over a Tuple, and the product of complex numbers. CompileError, naming
    /// the operator, for others, and if the order of points matters (argmin) and the preserved
    /// RVars are not the outermost.
    Func rfactor(const RVar &preserved, const Var &v,
                 SourceLocation where = std::source_location::current());
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved,
                 SourceLocation where = std::source_location::current());

    /// Declares that the stage intentionally has no directives, so that the autoscheduler leaves it
    /// alone. CompileError if it has directives.
    void unscheduled();

    /// "f" or "f.update(0)".
    std::string name() const;
    /// The current loops, innermost first.
    std::vector<VarOrRVar> loops() const;
    /// The same and Var::outermost(): all loops at which a producer can be computed.
    std::vector<VarOrRVar> split_vars() const;

    const std::shared_ptr<language::FuncContents> &contents() const { return func_; }
    int index() const { return stage_; }
    /// Path of indices into nested specializations; empty: the schedule without one.
    const std::vector<size_t> &specialization() const { return specialization_; }
    /// The directives recorded so far. CompileError if there is no definition yet.
    schedules::StageSchedule &schedule() const;

  private:
    std::shared_ptr<language::FuncContents> func_;
    int stage_ = 0;  // 0 = pure definition
    std::vector<size_t> specialization_;
};

template <typename Self> Stage LoopDirectives<Self>::stage() const {
    return static_cast<const Self &>(*this);
}

}  // namespace Pipe
