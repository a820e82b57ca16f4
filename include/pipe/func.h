#pragma once
// Func: a stage of a pipeline, what it computes and how.

#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/loop_level.h>
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
class FuncRef;
class Stage;
struct Argument;
struct JITHandlers;
struct JITUserContext;

/// How ranges of loops that are shared are moved against each other (compute_with).
using LoopAlignments = std::vector<std::pair<VarOrRVar, LoopAlignStrategy>>;

/// How compile_to_lowered_stmt writes the loops.
enum StmtOutputFormat {
    Text,
    HTML,  ///< one page that needs nothing else: loops that fold, beside the schedule
};

/// How the name of a C function is to be read: as it stands. CPlusPlus is a CompileError.
enum class NameMangling { Default, C, CPlusPlus };

/// What the C function of an extern stage is given (Func::define_extern): a Func, ImageParam or
/// Buffer as a whole, or a number: an Expr of Params, sizes of ImageParams and constants.
class ExternFuncArgument {
  public:
    ExternFuncArgument() = default;
    ExternFuncArgument(const Func &f);
    ExternFuncArgument(const ImageParam &image);
    template <typename T, int D>
    ExternFuncArgument(const Buffer<T, D> &buffer)
        : kind_(Kind::Buffer), expr_(whole_buffer(Buffer<void, AnyDims>(buffer))) {}
    template <typename T>
    requires(std::convertible_to<const T &, Expr>) ExternFuncArgument(const T &number)
        : kind_(Kind::Expr), expr_(number) {}

    bool defined() const { return kind_ != Kind::Undefined; }
    bool is_func() const { return kind_ == Kind::Func; }
    bool is_image_param() const { return kind_ == Kind::ImageParam; }
    bool is_buffer() const { return kind_ == Kind::Buffer; }
    bool is_expr() const { return kind_ == Kind::Expr; }

    const std::shared_ptr<graph::FuncContents> &func() const { return func_; }
    /// The number, or a call of the image without coordinates, which stands for all of it.
    const Expr &expr() const { return expr_; }

  private:
    enum class Kind { Undefined, Func, ImageParam, Buffer, Expr };
    static Expr whole_buffer(const Buffer<void, AnyDims> &buffer);

    Kind kind_ = Kind::Undefined;
    std::shared_ptr<graph::FuncContents> func_;
    Expr expr_;
};

/// `f(x, y)[i]`: one value of a Func that has a Tuple. As the left side of an update it changes
/// that value and leaves the others as they are.
class FuncTupleElementRef {
  public:
    FuncTupleElementRef(const FuncRef &func, int element);

    Stage operator=(const Expr &value) const;
    Stage operator=(const FuncTupleElementRef &value) const;
    Stage operator+=(const Expr &value) const;
    Stage operator-=(const Expr &value) const;
    Stage operator*=(const Expr &value) const;
    Stage operator/=(const Expr &value) const;
    operator Expr() const;
    int index() const { return element_; }

  private:
    std::shared_ptr<const FuncRef> func_;
    int element_;
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
    // Element by element.
    Stage operator+=(const Tuple &values) const;
    Stage operator-=(const Tuple &values) const;
    Stage operator*=(const Tuple &values) const;
    Stage operator/=(const Tuple &values) const;
    Stage operator+=(const FuncRef &value) const;
    Stage operator-=(const FuncRef &value) const;
    Stage operator*=(const FuncRef &value) const;
    Stage operator/=(const FuncRef &value) const;

    /// The value. CompileError where the Func is undefined, has a Tuple of values, or has another
    /// number of dimensions.
    operator Expr() const;
    /// All values of a Func that has a Tuple.
    operator Tuple() const;
    /// One value of a Func that has a Tuple.
    FuncTupleElementRef operator[](int element) const;
    /// Number of values.
    int size() const;
    const std::vector<Type> &types() const;
    /// CompileError where the Func has a Tuple of values.
    Type type() const;
    Func function() const;

  private:
    friend class FuncTupleElementRef;
    Stage define(const std::vector<Expr> &values) const;
    Stage update_with(char op, const std::vector<Expr> &values) const;
    Expr element(int i) const;
    std::vector<Expr> all() const;

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
// And these could be of Exprs or of Tuples: Exprs are meant, as Tuple(f(x)) can be written.
inline Expr select(const Expr &condition, const FuncRef &if_true, const FuncRef &if_false) {
    return select(condition, Expr(if_true), Expr(if_false));
}
template <typename... Rest>
requires(sizeof...(Rest) >= 1) Expr select(const Expr &c0, const FuncRef &v0, const Expr &c1,
                                           const FuncRef &v1, const Rest &...rest) {
    return select(c0, Expr(v0), select(c1, v1, rest...));
}
inline Expr mux(const Expr &id, std::initializer_list<FuncRef> values) {
    return mux(id, std::vector<Expr>(values.begin(), values.end()));
}

/// The schedule of one definition of a Func: its loop nest.
///
/// Directives name loops by Var or RVar. A definition starts with one loop per dimension (an
/// update: RVars innermost, then the Vars that are its arguments), dimension 0 innermost, all
/// serial. Each directive changes that nest; the nest's loops are then known by their new names.
/// CompileErrors name the Func, the stage, the loop and the loops that exist.
class Stage {
  public:
    Stage(std::shared_ptr<graph::FuncContents> func, int stage,
          std::vector<size_t> specialization = {});

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
    Stage &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                const std::vector<TailStrategy> &tails);
    /// The outer loops keep the old names.
    Stage &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
                const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);

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

    /// Shares the loops of `other`, which runs first, from the outermost in to `loop`. Neither may
    /// need the other. The ranges may differ: each stage runs where its own is. `align` says how
    /// this stage's range of `loop` is moved against that of `other`, or, as a list, of each loop
    /// named there.
    Stage &compute_with(const Stage &other, const VarOrRVar &loop,
                        LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Stage &compute_with(const Stage &other, const VarOrRVar &loop, const LoopAlignments &align);
    Stage &compute_with(const Func &other, const VarOrRVar &loop,
                        LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Stage &compute_with(const Func &other, const VarOrRVar &loop, const LoopAlignments &align);
    Stage &compute_with(const LoopLevel &level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Stage &compute_with(const LoopLevel &level, const LoopAlignments &align);

    /// Takes an update that combines (sums up, say) over RVars apart. The Func returned combines,
    /// for each value of `preserved` by itself, over the other RVars; this update then combines its
    /// values over `preserved`. `v` is a new dimension of that Func, where `preserved` was: its
    /// loop can be parallel or vectorized. RVars that splits have made may be preserved too. For +
    /// - * min max && || & | ^ on any type, argmin and argmax as select() over a Tuple, the product
    /// of complex numbers, and Tuples of these. CompileError, naming the operator, for others; and
    /// where the order of points matters (argmin), but the outer RVars are not those that are
    /// preserved.
    Func rfactor(const RVar &preserved, const Var &v,
                 SourceLocation where = std::source_location::current());
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved,
                 SourceLocation where = std::source_location::current());

    /// Lets loops that write the same elements run in parallel or as vectors: every update of an
    /// element is one atomic step, and lanes that all go to one element are combined first. The
    /// operator must be one of rfactor's, of one value; CompileError otherwise, unless
    /// `override_associativity_test` says that any order is right.
    Stage &atomic(bool override_associativity_test = false);
    /// Loops may run in parallel, as vectors or in another order even where they then write and
    /// read the same elements: the result may depend on the order.
    Stage &allow_race_conditions();

    /// A copy of the schedule so far, used where `condition` (a bool of Params and sizes) holds.
    /// Further directives on the result change the copy, and may specialize it again; those on this
    /// Stage change what is used otherwise. Conditions are tried in the order in which they were
    /// given.
    Stage specialize(const Expr &condition);
    /// Where none of the conditions holds: a RuntimeError with this message.
    void specialize_fail(const std::string &message);

    /// Whether the loop is taken apart into its edges and a middle without clamps and tests.
    Stage &partition(const VarOrRVar &loop, Partition policy);
    Stage &never_partition(const std::vector<VarOrRVar> &loops);
    Stage &always_partition(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Stage &never_partition(const VarOrRVar &loop, const Loops &...more) {
        return never_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    template <typename... Loops>
    Stage &always_partition(const VarOrRVar &loop, const Loops &...more) {
        return always_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    /// Of all loops that there are now.
    Stage &never_partition_all();
    Stage &always_partition_all();

    /// Inside the loop `at`, fetches into the cache what the iteration `from + offset` of this
    /// stage reads of a Func or image that is stored outside of the loop `from`. `from` is `at` or
    /// a loop around it. Changes no result.
    Stage &prefetch(const Func &source, const VarOrRVar &at, const VarOrRVar &from,
                    const Expr &offset = 1,
                    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    Stage &prefetch(const ImageParam &source, const VarOrRVar &at, const VarOrRVar &from,
                    const Expr &offset = 1,
                    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    template <typename T, int D>
    Stage &prefetch(const Buffer<T, D> &source, const VarOrRVar &at, const VarOrRVar &from,
                    const Expr &offset = 1,
                    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
        return prefetch_buffer(Buffer<void, AnyDims>(source), at, from, offset, strategy);
    }

    /// Says that the stage is meant to have no directives: the autoscheduler leaves it as it is.
    /// CompileError where it has some.
    void unscheduled();
    /// Substitutes these Funcs, which must be pure, into this definition: at once, before anything
    /// is scheduled. Funcs that it does not call are passed over.
    Stage &eager_inline(const std::vector<Func> &funcs);
    template <typename... Funcs> Stage &eager_inline(const Func &f, const Funcs &...more);

    // Code for GPUs and DSPs is not there yet: CompileErrors that say so.
    template <typename... Args> Stage &gpu(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu", loop);
    }
    template <typename... Args> Stage &gpu_blocks(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_blocks", loop);
    }
    template <typename... Args> Stage &gpu_threads(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_threads", loop);
    }
    template <typename... Args> Stage &gpu_lanes(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_lanes", loop);
    }
    template <typename... Args> Stage &gpu_tile(const VarOrRVar &loop, const Args &...) {
        return no_gpu("gpu_tile", loop);
    }
    Stage &gpu_single_thread(DeviceAPI = DeviceAPI::Default_GPU) {
        return no_gpu("gpu_single_thread", "");
    }
    Stage &hexagon(const VarOrRVar &loop = Var::outermost()) { return no_gpu("hexagon", loop); }

    /// "f" or "f.update(0)".
    std::string name() const;
    /// The loops that there are now, innermost first.
    std::vector<VarOrRVar> loops() const;
    /// The same and Var::outermost(): all places where something can be computed.
    std::vector<VarOrRVar> split_vars() const;

    const std::shared_ptr<graph::FuncContents> &contents() const { return func_; }
    int index() const { return stage_; }

  private:
    friend class Func;
    schedules::StageSchedule &schedule() const;
    Stage &mark(const VarOrRVar &loop, LoopKind kind, const char *directive);
    Stage &mark(const VarOrRVar &loop, const Expr &factor, TailStrategy tail, LoopKind kind,
                const char *directive, const char *suffix);
    Stage &prefetch_buffer(const Buffer<void, AnyDims> &source, const VarOrRVar &at,
                           const VarOrRVar &from, const Expr &offset,
                           PrefetchBoundStrategy strategy);
    Stage &add_prefetch(schedules::Prefetch prefetch, const VarOrRVar &at, const VarOrRVar &from);
    Stage &no_gpu(const char *directive, const VarOrRVar &loop);

    std::shared_ptr<graph::FuncContents> func_;
    int stage_ = 0;  // 0 = pure definition
    /// Which specialization of which specialization ...; empty = the schedule that holds otherwise.
    std::vector<size_t> specialization_;
};

/// Given to Func::memoize(): a number by which memoization_cache_evict() finds what is kept.
class EvictionKey {
  public:
    explicit EvictionKey(const Expr &key = Expr()) : key_(key) {}
    const Expr &key() const { return key_; }

  private:
    Expr key_;
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
    /// Promises the types of the values, one per element of its Tuple, and the number of dimensions
    /// (-1: any). A definition that breaks the promise is a CompileError.
    Func(Type type, int dimensions, const std::string &name = "",
         SourceLocation where = std::source_location::current());
    Func(const std::vector<Type> &types, int dimensions, const std::string &name = "",
         SourceLocation where = std::source_location::current());
    /// f(_) = value: a Func of the implicit Vars of `value`.
    explicit Func(const Expr &value, SourceLocation where = std::source_location::current());
    /// f(_) = image(_)
    template <typename T, int D>
    explicit Func(const Buffer<T, D> &image, SourceLocation where = std::source_location::current())
        : Func(image_access(Buffer<void, AnyDims>(image), {Expr(_)}, where), where) {}

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
    /// types() by its older name.
    const std::vector<Type> &output_types() const { return types(); }
    bool has_update_definition() const { return num_update_definitions() > 0; }
    int num_update_definitions() const;
    /// Of the i-th update definition: the left side's coordinates, the right side, and the RVars
    /// (as loops; none where it runs over no RDom).
    std::vector<Expr> update_args(int i = 0) const;
    Expr update_value(int i = 0) const;
    Tuple update_values(int i = 0) const;
    std::vector<RVar> rvars(int i = 0) const;
    /// The shape of the Buffer that `realize` is given where the Func is an output, to promise
    /// something of it: `f.output_buffer().dim(0).set_stride(3)`. Of a Tuple: one per value. The
    /// Func must be defined.
    OutputImageParam output_buffer() const;
    std::vector<OutputImageParam> output_buffers() const;
    /// The Params and ImageParams that are needed to compute it.
    std::vector<Argument> infer_arguments() const;

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
    operator()(const detail::ExprAt &x, const Expr &y, const Expr &z, const Expr &w,
               const More &...more) const {
        return (*this)(std::vector<Expr>{x.expr, y, z, w, Expr(more)...}, x.where);
    }

    // An extern stage: a C function computes the elements.
    //
    //     extern "C" int flip(RawBuffer *in, int32_t offset, RawBuffer *out);
    //     f.define_extern("flip", {g, 3}, Float(32), 2);
    //
    /// The values are what the C function `function` stores. Its arguments are, in this order, what
    /// `args` says, a RawBuffer * for each value of a Func and for each image, numbers by value,
    /// and then a RawBuffer * for each value of this Func. It answers 0; anything else ends the call
    /// of the pipeline with a RuntimeError. It may be called from several threads at a time, and
    /// must not throw.
    ///
    /// Before anything is computed it is called with buffers that have no memory
    /// (RawBuffer::is_bounds_query), perhaps several times: the outputs say which box is needed, and
    /// it puts min and extent of what it reads into the others. Before, these say: for a Func the
    /// same box as the output, in further dimensions one element; for an image all of it. It may
    /// also make the box of the first output larger, to compute more than what is needed.
    ///
    /// How the function is found: see pipe/extern.h. The Func is computed at root unless it is told
    /// otherwise (compute_at); as a whole, so it has no loops to split or to vectorize, and no
    /// updates. What it reads is not inlined into it.
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, const std::vector<Var> &dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host,
                       SourceLocation where = std::source_location::current());
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       Type type, const std::vector<Var> &dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host,
                       SourceLocation where = std::source_location::current()) {
        define_extern(function, args, std::vector<Type>{type}, dimensions, mangling, device, where);
    }
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, int dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host,
                       SourceLocation where = std::source_location::current());
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       Type type, int dimensions, NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host,
                       SourceLocation where = std::source_location::current()) {
        define_extern(function, args, std::vector<Type>{type}, dimensions, mangling, device, where);
    }
    bool is_extern() const;
    /// CompileError where it is none.
    const std::string &extern_function_name() const;

    /// The i-th update definition, to schedule it.
    Stage update(int i = 0) const;
    operator Stage() const;
    /// The loops of the pure definition, innermost first, and Var::outermost().
    std::vector<Var> split_vars() const;

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
    Func &compute_at(const LoopLevel &level);
    Func &store_root();
    Func &store_at(const LoopLevel &level);
    Func &store_at(const Func &consumer, const VarOrRVar &loop);
    Func &store_at(const Stage &consumer, const VarOrRVar &loop);
    /// Where the memory is allocated: as far out as, or further out than, it is stored. What is
    /// stored anew in each iteration then takes the same memory.
    Func &hoist_storage(const LoopLevel &level);
    Func &hoist_storage(const Func &consumer, const VarOrRVar &loop);
    Func &hoist_storage(const Stage &consumer, const VarOrRVar &loop);
    Func &hoist_storage_root();
    /// `extent` (a positive constant) copies of the storage, which successive iterations of the
    /// loops between hoist_storage and store_at take in turn. With async(), that many iterations of
    /// them can be on their way at a time.
    Func &ring_buffer(const Expr &extent);
    /// Computes the Func in a task of its own, which runs ahead of its consumers as far as the
    /// storage allows.
    Func &async();
    /// Keeps what is computed of the Func, all values of the box at its compute level, in a cache
    /// that lives on from call to call (<pipe/memoization_cache.h>); where the same is asked for
    /// again, neither it is computed nor what at the same level is computed for it alone. "The
    /// same": the same compiled pipeline, box, and values of all Params and sizes of images that
    /// the Func depends on, or what memoize_tag() says in their place.
    ///
    /// The contents of images are no part of that. A Buffer used in an expression must therefore
    /// not change (or memoization_cache_cleanup() is to be called when it does), and a Func that
    /// depends on an ImageParam needs memoize_tag(image(x, y), version), with a Param that changes
    /// whenever the image does; without it, and for a Param that is a pointer: a CompileError. What
    /// the definition prints, or C functions with side effects do, does not happen again.
    ///
    /// `eviction_key`, if it is given, is made of integer constants and Params; what is kept under
    /// it goes by memoization_cache_evict(). CompileErrors for a Func that is inlined, an output,
    /// stored elsewhere than computed, on the stack, in a task of its own (async), that shares
    /// loops with others (compute_with), or that is computed inside of a vectorized loop.
    Func &memoize(const EvictionKey &eviction_key = EvictionKey());
    /// Stack and Register need a constant size (see bound_storage); what it does not fit in, or
    /// this machine does not have, is a CompileError.
    Func &store_in(MemoryType memory);
    /// What is written bypasses the caches: for results that are not read again soon.
    Func &store_nontemporal();
    /// What consumers load bypasses the caches, where the processor can.
    Func &load_nontemporal();
    /// Dimensions of the storage, innermost first; those not named follow in their order.
    Func &reorder_storage(const std::vector<Var> &dims);
    template <typename... Vars>
    Func &reorder_storage(const Var &x, const Var &y, const Vars &...more) {
        return reorder_storage(std::vector<Var>{x, y, Var(more)...});
    }
    /// Stores dimension `dim` modulo `extent`, which must cover all that lives at one time.
    Func &fold_storage(const Var &dim, const Expr &extent, bool fold_forward = true);

    /// Makes the storage's extent in `dim` a multiple of `alignment` elements, so that the strides
    /// of the dimensions outside are multiples too.
    Func &align_storage(const Var &dim, const Expr &alignment);
    /// Allocates exactly `extent` in `dim`; needing more is a RuntimeError.
    Func &bound_storage(const Var &dim, const Expr &extent);

    /// Grows what is computed so that its min in `dim` is `remainder` modulo `modulus`, and its
    /// extent a multiple of `modulus`.
    Func &align_bounds(const Var &dim, const Expr &modulus, const Expr &remainder = 0);
    /// Grows what is computed so that its extent in `dim` is a multiple of `modulus`.
    Func &align_extent(const Var &dim, const Expr &modulus);
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
    Func &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
               const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails);
    Func &tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);
    Func &serial(const VarOrRVar &loop);
    Func &parallel(const VarOrRVar &loop);
    Func &parallel(const VarOrRVar &loop, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto);
    Func &vectorize(const VarOrRVar &loop);
    Func &vectorize(const VarOrRVar &loop, const Expr &lanes,
                    TailStrategy tail = TailStrategy::Auto);
    Func &unroll(const VarOrRVar &loop);
    Func &unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail = TailStrategy::Auto);
    Func &compute_with(const Stage &other, const VarOrRVar &loop,
                       LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Func &compute_with(const Stage &other, const VarOrRVar &loop, const LoopAlignments &align);
    Func &compute_with(const Func &other, const VarOrRVar &loop,
                       LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Func &compute_with(const Func &other, const VarOrRVar &loop, const LoopAlignments &align);
    Func &compute_with(const LoopLevel &level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Func &compute_with(const LoopLevel &level, const LoopAlignments &align);
    Stage specialize(const Expr &condition);
    void specialize_fail(const std::string &message);
    Func &partition(const VarOrRVar &loop, Partition policy);
    Func &never_partition(const std::vector<VarOrRVar> &loops);
    Func &always_partition(const std::vector<VarOrRVar> &loops);
    template <typename... Loops>
    Func &never_partition(const VarOrRVar &loop, const Loops &...more) {
        return never_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    template <typename... Loops>
    Func &always_partition(const VarOrRVar &loop, const Loops &...more) {
        return always_partition(std::vector<VarOrRVar>{loop, VarOrRVar(more)...});
    }
    Func &never_partition_all();
    Func &always_partition_all();
    Func &prefetch(const Func &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    Func &prefetch(const ImageParam &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    template <typename T, int D>
    Func &prefetch(const Buffer<T, D> &source, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
        Stage(*this).prefetch(source, at, from, offset, strategy);
        return *this;
    }
    Func &eager_inline(const std::vector<Func> &funcs);
    template <typename... Funcs> Func &eager_inline(const Func &f, const Funcs &...more) {
        return eager_inline(std::vector<Func>{f, more...});
    }
    template <typename... Args> Func &gpu(const VarOrRVar &loop, const Args &...args) {
        return Stage(*this).gpu(loop, args...), *this;
    }
    template <typename... Args> Func &gpu_blocks(const VarOrRVar &loop, const Args &...args) {
        return Stage(*this).gpu_blocks(loop, args...), *this;
    }
    template <typename... Args> Func &gpu_threads(const VarOrRVar &loop, const Args &...args) {
        return Stage(*this).gpu_threads(loop, args...), *this;
    }
    template <typename... Args> Func &gpu_lanes(const VarOrRVar &loop, const Args &...args) {
        return Stage(*this).gpu_lanes(loop, args...), *this;
    }
    template <typename... Args> Func &gpu_tile(const VarOrRVar &loop, const Args &...args) {
        return Stage(*this).gpu_tile(loop, args...), *this;
    }
    Func &gpu_single_thread(DeviceAPI api = DeviceAPI::Default_GPU) {
        return Stage(*this).gpu_single_thread(api), *this;
    }
    Func &hexagon(const VarOrRVar &loop = Var::outermost()) {
        return Stage(*this).hexagon(loop), *this;
    }
    Func &copy_to_device(DeviceAPI = DeviceAPI::Default_GPU) {
        return Stage(*this).no_gpu("copy_to_device", ""), *this;
    }
    Func &copy_to_host() { return Stage(*this).no_gpu("copy_to_host", ""), *this; }
    Func &atomic(bool override_associativity_test = false);
    Func &allow_race_conditions();

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
    template <typename T, int D>
    void infer_input_bounds(const Buffer<T, D> &output, const Target &target = Target()) {
        infer_input_bounds(Realization(output), target);
    }
    template <typename Shape>
    void infer_input_bounds(JITUserContext *, const Shape &shape, const Target &target = Target()) {
        infer_input_bounds(shape, target);
    }
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

template <typename... Funcs> Stage &Stage::eager_inline(const Func &f, const Funcs &...more) {
    return eager_inline(std::vector<Func>{f, more...});
}

}  // namespace Pipe
