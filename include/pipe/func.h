#pragma once
// Func: a stage of a pipeline, what it computes and how.

#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/operators.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/realization.h>
#include <pipe/schedule.h>
#include <pipe/target.h>
#include <pipe/tuple.h>
#include <pipe/var.h>

namespace Pipe {

namespace graph {
struct FuncContents;
}

class Callable;
class Func;
class Stage;
struct Argument;
struct JITHandlers;
struct JITUserContext;

/// How compile_to_lowered_stmt writes the loops.
enum StmtOutputFormat {
    Text,
    HTML,  ///< one page that needs nothing else: loops that fold, beside the schedule
};

/// `f(x, y)`: on the left of an assignment a definition, elsewhere a value.
///
/// The first definition of a Func is pure: its arguments are Vars, all different. Every further one
/// is an update: its arguments are Exprs, it may use an RDom and the Func itself, and runs after
/// those before it. `+=` and its kind on a Func that is undefined define it as 0 (`*=`, `/=`: 1)
/// first.
class FuncRef {
  public:
    FuncRef(std::shared_ptr<graph::FuncContents> func, std::vector<Expr> args,
            SourceLocation where);
    FuncRef(const FuncRef &) = default;
    FuncRef(FuncRef &&) = default;

    Stage operator=(const Expr &value) const;
    Stage operator=(const Tuple &values) const;
    Stage operator=(const FuncRef &value) const;
    Stage operator+=(const Expr &value) const;
    Stage operator-=(const Expr &value) const;
    Stage operator*=(const Expr &value) const;
    Stage operator/=(const Expr &value) const;

    /// The value. CompileError where the Func is undefined, has a Tuple of values, or has another
    /// number of dimensions.
    operator Expr() const;
    /// All values of a Func that has a Tuple.
    operator Tuple() const;
    /// One value of a Func that has a Tuple.
    Expr operator[](int element) const;
    /// Number of values.
    int size() const;

  private:
    Stage define(const std::vector<Expr> &values) const;
    Stage update_with(const char *op, int initial, const Expr &value) const;
    Expr element(int i) const;

    std::shared_ptr<graph::FuncContents> func_;
    std::vector<Expr> args_;
    SourceLocation where_;
};

// Without these, `using namespace std` would take elements of Funcs to std::min and std::max.
inline Expr min(const FuncRef &a, const FuncRef &b) {
    return min(Expr(a), Expr(b));
}
inline Expr max(const FuncRef &a, const FuncRef &b) {
    return max(Expr(a), Expr(b));
}

/// The schedule of one definition of a Func: its loop nest.
///
/// Directives name loops by Var or RVar. A definition starts with one loop per dimension (an
/// update: RVars innermost, then the Vars that are its arguments), dimension 0 innermost, all
/// serial. Each directive changes that nest; the nest's loops are then known by their new names.
/// CompileErrors name the Func, the stage, the loop and the loops that exist.
class Stage {
  public:
    Stage(std::shared_ptr<graph::FuncContents> func, int stage, int specialization = -1);

    /// old = outer * factor + inner, inner in [0, factor). See TailStrategy for what happens where
    /// the factor does not divide the extent.
    Stage &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                 const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    /// One loop over both; they need not be neighbours: the result stands in place of `outer`.
    Stage &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    Stage &rename(const VarOrRVar &old, const VarOrRVar &now);

    /// Puts these loops, innermost first, in the places that they have now.
    Stage &reorder(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Stage &reorder(const VarOrRVar &x, const VarOrRVar &y, const Loops &...loops) {
        return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(loops)...});
    }

    /// Splits x and y, and reorders to xi, yi, xo, yo.
    Stage &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
                const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                TailStrategy tail = TailStrategy::Auto);
    /// The same; the outer loops keep the names x and y.
    Stage &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
                const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    /// In any number of dimensions.
    Stage &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                TailStrategy tail = TailStrategy::Auto);

    Stage &serial(const VarOrRVar &loop);
    Stage &parallel(const VarOrRVar &loop);
    /// Splits by `task_size` first: each task runs that many iterations.
    Stage &parallel(const VarOrRVar &loop, const Expr &task_size,
                    TailStrategy tail = TailStrategy::Auto);
    /// The loop's extent must be constant.
    Stage &vectorize(const VarOrRVar &loop);
    /// Splits by `lanes` first.
    Stage &vectorize(const VarOrRVar &loop, const Expr &lanes,
                     TailStrategy tail = TailStrategy::Auto);
    /// The loop's extent must be constant.
    Stage &unroll(const VarOrRVar &loop);
    /// Splits by `times` first.
    Stage &unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail = TailStrategy::Auto);

    /// Shares the loops of `other`, which runs first, from the outermost in to `loop`.
    Stage &compute_with(const Stage &other, const VarOrRVar &loop);
    Stage &compute_with(const Func &other, const VarOrRVar &loop);

    /// A copy of the schedule so far, used where `condition` (a bool of Params and sizes) holds.
    Stage specialize(const Expr &condition);

    /// "f" or "f.update(0)".
    std::string name() const;
    /// The loops that there are now, innermost first.
    std::vector<VarOrRVar> loops() const;

    const std::shared_ptr<graph::FuncContents> &contents() const { return func_; }
    int index() const { return stage_; }

  private:
    schedule::StageSchedule &schedule() const;
    Stage &mark(const VarOrRVar &loop, LoopKind kind, const char *directive);
    Stage &mark(const VarOrRVar &loop, const Expr &factor, TailStrategy tail, LoopKind kind,
                const char *directive, const char *suffix);

    std::shared_ptr<graph::FuncContents> func_;
    int stage_ = 0;            // 0 = pure definition
    int specialization_ = -1;  // -1 = the schedule that holds otherwise
};

/// A function from integer coordinates to a value (or a Tuple of them): a stage of a pipeline.
/// Copies are the same Func. By default a Func is inlined into its uses; one with updates is
/// computed where it is used.
class Func {
  public:
    Func(SourceLocation where = std::source_location::current());
    explicit Func(const std::string &name, SourceLocation where = std::source_location::current());
    explicit Func(const char *name, SourceLocation where = std::source_location::current())
        : Func(std::string(name), where) {}

    const std::string &name() const;
    bool defined() const;
    int dimensions() const;
    /// The Vars of the pure definition.
    std::vector<Var> args() const;
    /// The value of the pure definition; CompileError where there is none or a Tuple.
    Expr value() const;
    Tuple values() const;
    /// One per value.
    const std::vector<Type> &types() const;
    Type type() const;
    int outputs() const;
    bool has_update_definition() const { return num_update_definitions() > 0; }
    int num_update_definitions() const;

    // f(x, y)
    FuncRef operator()(std::vector<Expr> args,
                       SourceLocation where = std::source_location::current()) const;
    FuncRef operator()(const std::vector<Var> &args,
                       SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>(args.begin(), args.end()), where);
    }
    FuncRef operator()(SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>(), where);
    }
    FuncRef operator()(const Expr &x,
                       SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x}, where);
    }
    FuncRef operator()(const Expr &x, const Expr &y,
                       SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y}, where);
    }
    FuncRef operator()(const Expr &x, const Expr &y, const Expr &z,
                       SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y, z}, where);
    }
    FuncRef operator()(const Expr &x, const Expr &y, const Expr &z, const Expr &w,
                       SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y, z, w}, where);
    }
    template <typename... More>
    requires(sizeof...(More) >= 1 && (std::convertible_to<More, Expr> && ...)) FuncRef
    operator()(const Expr &x, const Expr &y, const Expr &z, const Expr &w,
               const More &...more) const {
        return (*this)(std::vector<Expr>{x, y, z, w, Expr(more)...}, SourceLocation());
    }

    /// The i-th update definition, to schedule it.
    Stage update(int i = 0) const;
    operator Stage() const;

    // Wrappers: Funcs that consumers read in place of this one, with a schedule of their own.
    /// A Func equal to this one, which `consumer` (or each of `consumers`) reads in its place: to
    /// store this Func's values once more, nearer to where they are used. Asked for again, the same
    /// wrapper. A wrapper can be wrapped: f.in(g).in(g). CompileError where `consumer` does not
    /// call this Func in its definitions, or already reads another wrapper of it.
    Func in(const Func &consumer, SourceLocation where = std::source_location::current()) const;
    Func in(const std::vector<Func> &consumers,
            SourceLocation where = std::source_location::current()) const;
    /// The same for all that read this Func and have no wrapper of their own.
    Func in(SourceLocation where = std::source_location::current()) const;
    /// A copy of this Func, definitions and schedule so far, for these consumers: to compute it in
    /// two places. This Func may have no further definition afterwards.
    Func clone_in(const Func &consumer,
                  SourceLocation where = std::source_location::current()) const;
    Func clone_in(const std::vector<Func> &consumers,
                  SourceLocation where = std::source_location::current()) const;

    // Where the Func is computed, and where its storage lives (as far out as, or further out than,
    // it is computed: what is computed again and again then only adds what is new).
    Func &compute_inline();
    Func &compute_root();
    Func &compute_at(const Func &consumer, const VarOrRVar &loop);
    Func &compute_at(const Stage &consumer, const VarOrRVar &loop);
    Func &store_root();
    Func &store_at(const Func &consumer, const VarOrRVar &loop);
    Func &store_at(const Stage &consumer, const VarOrRVar &loop);
    Func &store_in(MemoryType memory);
    /// Dimensions of the storage, innermost first; those not named follow in their order.
    Func &reorder_storage(const std::vector<Var> &dims);
    template <typename... Vars>
    Func &reorder_storage(const Var &x, const Var &y, const Vars &...more) {
        return reorder_storage(std::vector<Var>{x, y, Var(more)...});
    }
    /// Stores dimension `dim` modulo `extent`, which must cover all that lives at one time.
    Func &fold_storage(const Var &dim, const Expr &extent, bool fold_forward = true);

    /// Promises the range that is asked of dimension `dim`; computing more or less is a
    /// RuntimeError.
    Func &bound(const Var &dim, const Expr &min, const Expr &extent);
    Func &bound_extent(const Var &dim, const Expr &extent);
    /// Typical range, for the autoscheduler. Changes no result.
    Func &set_estimate(const Var &dim, const Expr &min, const Expr &extent);
    Func &set_estimates(const Region &estimates);

    // Directives of the pure definition; see Stage.
    Func &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    Func &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    Func &rename(const VarOrRVar &old, const VarOrRVar &now);
    Func &reorder(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Func &reorder(const VarOrRVar &x, const VarOrRVar &y, const Loops &...loops) {
        return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(loops)...});
    }
    Func &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
               const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
               TailStrategy tail = TailStrategy::Auto);
    Func &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
               const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    Func &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto);
    Func &serial(const VarOrRVar &loop);
    Func &parallel(const VarOrRVar &loop);
    Func &parallel(const VarOrRVar &loop, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto);
    Func &vectorize(const VarOrRVar &loop);
    Func &vectorize(const VarOrRVar &loop, const Expr &lanes,
                    TailStrategy tail = TailStrategy::Auto);
    Func &unroll(const VarOrRVar &loop);
    Func &unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail = TailStrategy::Auto);
    Func &compute_with(const Stage &other, const VarOrRVar &loop);
    Func &compute_with(const Func &other, const VarOrRVar &loop);
    Stage specialize(const Expr &condition);

    // Of what is traced, events are printed, or given to JITHandlers::custom_trace (pipe/jit.h).
    // Code is made for what is asked for only. Loads and stores in vectorised loops are told
    // element by element. A Func that is inlined has none.
    /// Each element read of this Func, with its value.
    Func &trace_loads();
    /// Each element written of this Func, with its value, just before.
    Func &trace_stores();
    /// Begin and end of its storage, of its production and of its use, with the region.
    Func &trace_realizations();
    /// An event of this text at the begin of the pipeline.
    Func &add_trace_tag(const std::string &tag);

    // A Pipeline of this Func alone (see pipeline.h); compiled once and kept.
    /// Computes the elements of new Buffers of these sizes.
    Realization realize(const Sizes &sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, const Sizes &sizes = {},
                        const Target &target = Target());
    /// Computes the elements of `output` (a Buffer per value).
    void realize(const Realization &output, const Target &target = Target());
    void realize(JITUserContext *context, const Realization &output,
                 const Target &target = Target());
    template <typename T, int D>
    void realize(const Buffer<T, D> &output, const Target &target = Target()) {
        realize_into(nullptr, output, target);
    }
    template <typename T, int D>
    void realize(JITUserContext *context, const Buffer<T, D> &output,
                 const Target &target = Target()) {
        realize_into(context, output, target);
    }
    /// The same by the definitions alone: no schedule, slow, the oracle of the tests.
    Realization realize_reference(const Sizes &sizes);
    void realize_reference(const Realization &output);
    /// See pipeline.h.
    void infer_input_bounds(const Sizes &sizes, const Target &target = Target());
    void infer_input_bounds(const Realization &outputs, const Target &target = Target());
    void compile_jit(const Target &target = Target());
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = Target());
    /// What takes the place of the run time's own functions in all calls of this Func.
    JITHandlers &jit_handlers();
    void print_loop_nest();

    // Files; see pipeline.h.
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat format = Text, const Target &target = Target());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &function = "",
                                  const Target &target = Target());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &function = "", const Target &target = Target());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &function = "", const Target &target = Target());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &function = "", const Target &target = Target());

    const std::shared_ptr<graph::FuncContents> &contents() const { return contents_; }
    explicit Func(std::shared_ptr<graph::FuncContents> contents);

  private:
    Func wrap(const char *method, const std::vector<Func> &consumers, SourceLocation where) const;
    void realize_into(JITUserContext *context, const BufferBase &output, const Target &target);

    std::shared_ptr<graph::FuncContents> contents_;
};

}  // namespace Pipe
