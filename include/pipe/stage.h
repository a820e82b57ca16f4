#pragma once
// Stage: the schedule of one definition of a Func.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/loop_directives.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>
#include <pipe/var.h>

namespace Pipe {

namespace graph {
struct FuncContents;
}

/// All directives on one definition.
template <typename Self> class StageDirectives : public LoopDirectives<Self> {
  public:
    /// Lets loops that write the same elements run in parallel or as vectors: every update of an
    /// element is one atomic step, and lanes that all go to one element are combined first. An
    /// update of several elements (a Tuple whose values need each other, a scatter) is done by one
    /// thread at a time. The operator must be one of rfactor's; CompileError otherwise, unless
    /// `override_associativity_test` says that any order is right.
    Self &atomic(bool override_associativity_test = false);
    /// Loops may run in parallel, as vectors or in another order even where they then write and
    /// read the same elements: the result may depend on the order.
    Self &allow_race_conditions();

    /// A copy of the schedule so far, used where `condition` (a bool of Params and sizes) holds.
    /// Further directives on the result change the copy, and may specialize it again; those on this
    /// Stage change what is used otherwise. Conditions are tried in the order in which they were
    /// given.
    Stage specialize(const Expr &condition);
    /// Where none of the conditions holds: a RuntimeError with this message.
    void specialize_fail(const std::string &message);

    /// Whether the loop is taken apart into its edges and a middle without clamps and tests.
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
    /// Of all loops that there are now.
    Self &never_partition_all();
    Self &always_partition_all();

    /// Inside the loop `at`, fetches into the cache what the iteration `from + offset` of this
    /// stage, with all that is computed inside of `at`, reads of a Func or image that is stored
    /// outside of the loop `from`. `from` is `at` or a loop around it. Changes no result.
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
    /// Substitutes these Funcs, which must be pure, into this definition: at once, before anything
    /// is scheduled. CompileError for one that it does not call.
    Self &eager_inline(const std::vector<Func> &funcs);
    template <typename... Funcs> Self &eager_inline(const Func &f, const Funcs &...more);

    // Code for GPUs and DSPs is not there yet: CompileErrors that say so.
    template <typename... Args> Self &gpu(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu", loop);
    }
    template <typename... Args> Self &gpu_blocks(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_blocks", loop);
    }
    template <typename... Args> Self &gpu_threads(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_threads", loop);
    }
    template <typename... Args> Self &gpu_lanes(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_lanes", loop);
    }
    template <typename... Args> Self &gpu_tile(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_tile", loop);
    }
    Self &gpu_single_thread(DeviceAPI = DeviceAPI::Default_GPU) {
        return no_gpu("gpu_single_thread", "");
    }
    Self &hexagon(const VarOrRVar &loop = Var::outermost()) { return no_gpu("hexagon", loop); }

  protected:
    using LoopDirectives<Self>::stage;
    using LoopDirectives<Self>::self;
    Self &no_gpu(const char *directive, const VarOrRVar &loop);

  private:
    Self &prefetch_buffer(const Buffer<void, AnyDims> &source, const VarOrRVar &at,
                          const VarOrRVar &from, const Expr &offset,
                          PrefetchBoundStrategy strategy);
    Self &add_prefetch(schedules::Prefetch prefetch, const VarOrRVar &at, const VarOrRVar &from);
};

/// The schedule of one definition of a Func: its loop nest.
class Stage : public StageDirectives<Stage> {
  public:
    Stage(std::shared_ptr<graph::FuncContents> func, int stage,
          std::vector<size_t> specialization = {});

    /// Takes an update that combines (sums up, say) over RVars apart. The Func returned combines,
    /// for each value of `preserved` by itself, over the other RVars; this update then combines its
    /// values over `preserved`. `v` is a new dimension of that Func, where `preserved` was: its
    /// loop can be parallel or vectorized. RVars that splits have made may be preserved too. For +
    /// - * min max && || & | ^ on any type and Tuples of these, argmin and argmax as select() over a
    /// Tuple, and the product of complex numbers. CompileError, naming the operator, for others; and
    /// where the order of points matters (argmin), but the outer RVars are not those that are
    /// preserved.
    Func rfactor(const RVar &preserved, const Var &v,
                 SourceLocation where = std::source_location::current());
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved,
                 SourceLocation where = std::source_location::current());

    /// Says that the stage is meant to have no directives: the autoscheduler leaves it as it is.
    /// CompileError where it has some.
    void unscheduled();

    /// "f" or "f.update(0)".
    std::string name() const;
    /// The loops that there are now, innermost first.
    std::vector<VarOrRVar> loops() const;
    /// The same and Var::outermost(): all places where something can be computed.
    std::vector<VarOrRVar> split_vars() const;

    const std::shared_ptr<graph::FuncContents> &contents() const { return func_; }
    int index() const { return stage_; }
    /// Which specialization of which specialization; empty: what holds otherwise.
    const std::vector<size_t> &specialization() const { return specialization_; }
    /// What the directives have said so far. CompileError where there is no definition yet.
    schedules::StageSchedule &schedule() const;

  private:
    std::shared_ptr<graph::FuncContents> func_;
    int stage_ = 0;  // 0 = pure definition
    std::vector<size_t> specialization_;
};

template <typename Self> Stage LoopDirectives<Self>::stage() const {
    return static_cast<const Self &>(*this);
}

}  // namespace Pipe
