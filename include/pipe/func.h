#pragma once
// Func: a stage of a pipeline, its definition and schedule.

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/extern_func_argument.h>
#include <pipe/func_ref.h>
#include <pipe/loop_level.h>
#include <pipe/operators.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/realizable.h>
#include <pipe/schedule.h>
#include <pipe/stage.h>
#include <pipe/target.h>
#include <pipe/tuple.h>
#include <pipe/var.h>

namespace Pipe {

namespace language {
struct FuncContents;
}

/// The argument of Func::memoize(): a number that selects entries in memoization_cache_evict().
class EvictionKey {
  public:
    explicit EvictionKey(const Expr &key = Expr()) : key_(key) {}
    const Expr &key() const { return key_; }

  private:
    Expr key_;
};

/// A function from integer coordinates to a value (or a Tuple of values): a stage of a pipeline.
/// Copies refer to the same Func. By default, a Func without updates is inlined into its consumers,
/// and one with updates is computed just before each use.
///
/// The directives that it shares with Stage apply to its pure definition. Func also has the
/// interface of a Pipeline of which it is the only output.
class Func : public StageDirectives<Func>, public Realizable<Func> {
  public:
    Func(SourceLocation where = std::source_location::current());
    /// Funcs of the same name get distinct name()s: the second is called "f$1".
    explicit Func(const std::string &name, SourceLocation where = std::source_location::current());
    explicit Func(const char *name, SourceLocation where = std::source_location::current())
        : Func(std::string(name), where) {}
    /// Declares the types of the values, one per element of its Tuple, and the number of dimensions
    /// (-1: any). A definition that contradicts this is a CompileError.
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

    /// The name passed to the constructor, or "f"; followed by "$1", "$2", ... if another Func that
    /// still exists has that name.
    const std::string &name() const;
    /// Whether there is a pure definition, or an extern one.
    bool defined() const;
    /// Number of dimensions. CompileError if the Func is neither defined nor declared with one.
    int dimensions() const;
    /// The Vars of the pure definition.
    std::vector<Var> args() const;
    /// The value of the pure definition; CompileError if there is none, or if it is a Tuple.
    Expr value() const;
    Tuple values() const;
    /// One per value.
    const std::vector<Type> &types() const;
    /// CompileError if there are several values.
    Type type() const;
    /// Number of values: 1, or the size of the Tuple.
    int outputs() const;
    /// Halide's older name of types().
    const std::vector<Type> &output_types() const { return types(); }
    bool has_update_definition() const { return num_update_definitions() > 0; }
    int num_update_definitions() const;
    /// Of the i-th update definition: the coordinates on its left side, its right side, and its
    /// RVars (as loops; none if it has no RDom).
    std::vector<Expr> update_args(int i = 0) const;
    Expr update_value(int i = 0) const;
    Tuple update_values(int i = 0) const;
    std::vector<RVar> rvars(int i = 0) const;
    /// The shape of the Buffer passed to `realize` for this output: to make a promise about it, as
    /// in `f.output_buffer().dim(0).set_stride(3)`, or to use its sizes in a definition, an RDom or
    /// a directive, as in `f.output_buffer().width()`. For a Tuple, there is one per value.
    /// CompileError if the Func is neither defined nor declared with types and dimensions, or if
    /// its sizes are used in a pipeline of which it is not an output.
    OutputImageParam output_buffer() const;
    std::vector<OutputImageParam> output_buffers() const;

    /// f(x, y): on the left of an assignment a definition, elsewhere the value. `_` stands for the
    /// missing coordinates. CompileError, where it is used, for a wrong number of coordinates, or if
    /// one is not an integer.
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

    // An extern stage: a C function computes the values.
    //
    //     extern "C" int flip(RawBuffer *in, int32_t offset, RawBuffer *out);
    //     f.define_extern("flip", {g, 3}, Float(32), 2);
    //
    /// The C function `function` computes and stores the values. Its arguments are, in this order,
    /// those of `args` (a RawBuffer * for each value of a Func and for each image, numbers by
    /// value), then a RawBuffer * for each value of this Func. It returns 0; any other result ends
    /// the pipeline with a RuntimeError. It may be called from several threads at a time, and must
    /// not throw.
    ///
    /// Before anything is computed it is called, possibly several times, with buffers without
    /// memory (RawBuffer::is_bounds_query). The outputs then hold the box that is needed, and the
    /// function sets min and extent of each input to what it reads. Their initial values: for a
    /// Func the box of the output, with one element in further dimensions; for an image, all of it.
    /// The function may also enlarge the box of the first output, to compute more than is needed.
    ///
    /// How the function is found: see pipe/extern.h. The Func is computed at root by default
    /// (see compute_at), as a whole: it has no loops to split or vectorize, and no
    /// updates. Its inputs are not inlined.
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
    /// The same, with the implicit Vars _0, _1, ... as dimensions.
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
    /// CompileError if this is not an extern stage.
    const std::string &extern_function_name() const;

    /// The i-th update definition, numbered from 0, to schedule it. CompileError if there is none.
    Stage update(int i = 0) const;
    /// The pure definition.
    operator Stage() const;
    /// The loops of the pure definition, innermost first, and Var::outermost().
    std::vector<Var> split_vars() const;

    // Wrappers: Funcs that consumers read in place of this one, with schedules of their own.
    /// Returns a Func equal to this one, which `consumer` (or each of `consumers`) reads in its
    /// place: to store this Func's values once more, closer to their use. A second call returns the
    /// same wrapper. A wrapper can be wrapped: f.in(g).in(g). CompileError if `consumer` does not
    /// call this Func, or already reads another wrapper of it.
    Func in(const Func &consumer, SourceLocation where = std::source_location::current()) const;
    Func in(const std::vector<Func> &consumers,
            SourceLocation where = std::source_location::current()) const;
    /// The same for all consumers that have no wrapper of their own.
    Func in(SourceLocation where = std::source_location::current()) const;
    /// Returns a copy of this Func (its definitions and its schedule so far) for these consumers:
    /// to compute it in two places. This Func cannot be given further definitions afterward.
    Func clone_in(const Func &consumer,
                  SourceLocation where = std::source_location::current()) const;
    Func clone_in(const std::vector<Func> &consumers,
                  SourceLocation where = std::source_location::current()) const;

    // Where the Func is computed, and where its values are stored. The loops below are those of
    //
    //     g(x, y) = in(x, y) * 2;  f(x, y) = g(x, y) + g(x, y + 1);  f.realize({W, H});
    //
    /// Inlines the Func into its consumers: the default. No effect on outputs, and on Funcs with
    /// updates, which are computed just before each use.
    ///
    ///     for (y = 0; y < H; y++)
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = in[y][x] * 2 + in[y + 1][x] * 2;
    Func &compute_inline();
    /// Computes the whole region that the pipeline needs of the Func before any consumer runs: each
    /// value once, at the cost of memory traffic.
    ///
    ///     g = allocate(W * (H + 1));
    ///     for (y = 0; y < H + 1; y++)
    ///       for (x = 0; x < W; x++)
    ///         g[y][x] = in[y][x] * 2;
    ///     for (y = 0; y < H; y++)
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = g[y][x] + g[y + 1][x];
    Func &compute_root();
    /// In each iteration of the loop `loop` of `consumer`, computes the region of the Func that
    /// this iteration needs, just before it is used. Good locality, but values needed by several
    /// iterations are computed several times, unless they are stored further out (see store_at).
    /// g.compute_at(f, y):
    ///
    ///     for (y = 0; y < H; y++)
    ///       g = allocate(W * 2);
    ///       for (gy = y; gy <= y + 1; gy++)
    ///         for (x = 0; x < W; x++)
    ///           g[gy - y][x] = in[gy][x] * 2;
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = g[0][x] + g[1][x];
    ///
    /// Given a Func, this applies to each of its definitions that has the loop and needs this Func;
    /// given a Stage, to that definition alone. CompileError if there is no such loop, or if it
    /// does not enclose all uses of the Func.
    Func &compute_at(const Func &consumer, const VarOrRVar &loop);
    Func &compute_at(const Stage &consumer, const VarOrRVar &loop);
    Func &compute_at(const LoopLevel &level);
    /// Stores the values outside all loops, while the compute level stays as compute_at says: see
    /// store_at.
    Func &store_root();
    /// Keeps the values across iterations of the loops between this level and the compute level, so
    /// that each iteration computes only what earlier ones did not (a sliding window). The storage
    /// is folded to the values that are live at one time. g.store_root().compute_at(f, y):
    ///
    ///     g = allocate(W * 2);
    ///     for (y = 0; y < H; y++)
    ///       for (gy = y == 0 ? 0 : y + 1; gy <= y + 1; gy++)
    ///         for (x = 0; x < W; x++)
    ///           g[gy % 2][x] = in[gy][x] * 2;
    ///       for (x = 0; x < W; x++)
    ///         f[y][x] = g[y % 2][x] + g[(y + 1) % 2][x];
    ///
    /// The level must enclose the compute level. CompileError if the window cannot slide because no
    /// serial loop lies in between.
    Func &store_at(const LoopLevel &level);
    Func &store_at(const Func &consumer, const VarOrRVar &loop);
    Func &store_at(const Stage &consumer, const VarOrRVar &loop);
    /// Allocates the memory at a level that encloses the store level, so that all iterations use
    /// the same memory and none allocates. Values are not kept. g.compute_at(f,
    /// y).hoist_storage_root():
    ///
    ///     g = allocate(W * 2);
    ///     for (y = 0; y < H; y++)
    ///       ... as under compute_at
    Func &hoist_storage(const LoopLevel &level);
    Func &hoist_storage(const Func &consumer, const VarOrRVar &loop);
    Func &hoist_storage(const Stage &consumer, const VarOrRVar &loop);
    Func &hoist_storage_root();
    /// Allocates `extent` copies of the storage (a positive constant). Successive iterations of the
    /// loops between hoist_storage and store_at use the copies in turn, so that with async() up to
    /// `extent` iterations can be in flight. CompileError if these loops skip iterations, or if
    /// their iteration counts vary.
    Func &ring_buffer(const Expr &extent);
    /// Computes the Func in a separate task, which runs ahead of its consumers as far as its
    /// storage allows (see ring_buffer). No effect on an output, because the caller waits for it.
    Func &async();
    /// Caches the values of the Func between calls (<pipe/memoization_cache.h>), for the whole box
    /// that is needed at its compute level. On a hit, neither the Func nor other Funcs at the same
    /// level that only this one needs are computed. The key consists of the compiled pipeline, the
    /// box, and the values of all Params and the sizes of all images that the Func depends on, or
    /// of the keys given to memoize_tag() instead.
    ///
    /// The contents of images are not part of the key. A Buffer used in an expression must
    /// therefore not change (call memoization_cache_cleanup() if it does). A Func that depends on
    /// an ImageParam needs memoize_tag(image(x, y), version), where the Param `version` changes
    /// whenever the image does: CompileError otherwise, and for a Param that is a pointer. On a
    /// hit, print() and C functions with side effects in the definition do not run.
    ///
    /// `eviction_key` is an expression of integer constants and Params, for
    /// memoization_cache_evict(). CompileError if the Func is inlined, an output, stored elsewhere
    /// than computed, on the stack, async, shares loops with others (compute_with), or is computed
    /// inside a vectorized loop.
    Func &memoize(const EvictionKey &eviction_key = EvictionKey());
    /// Selects the kind of memory: see MemoryType. Stack with a size that is not constant uses
    /// memory that each thread keeps across iterations. Register needs a constant size (see
    /// bound_storage and fold_storage), for a sliding window the size after folding. CompileError
    /// if a constant size does not fit, or the target has no such memory.
    Func &store_in(MemoryType memory);
    /// Makes the Func pure: its updates become part of the pure definition, with their loops over RVars unrolled, in the
    /// same order. For short reductions: the Func can then be inlined, each element is stored once, and windows of
    /// neighboring points share loads.
    ///
    ///     f(x) = 0;  f(x) += in(x + r);   // RDom r(0, 3)
    ///     f.unroll_updates();             // f(x) = 0 + in(x) + in(x + 1) + in(x + 2)
    ///
    /// The results are the same bit by bit (without FastMath). CompileError if an update stores another
    /// element than that of the pure variables, or has directives; if an RVar has no constant range, where() depends on
    /// more than RVars, or there are more than 256 iterations.
    Func &unroll_updates();
    /// Uses non-temporal stores, which write to memory without reading the cache line first and
    /// bypass the caches. For a result that is larger than the caches, this saves one of the two
    /// transfers that an ordinary store causes: a third of the traffic of a pipeline that reads as
    /// much as it writes, half if it reads little. The slower the memory is in relation to the cores,
    /// the closer the gain in time comes to that; without a memory bottleneck there is none. A result
    /// that fits in the caches must then be read back from memory by its consumers, which is slow.
    ///
    /// Processors combine such stores in a few buffers of one cache line (64 bytes) each. If
    /// vectors are shorter than a line and stores alternate between more than about four rows or
    /// planes (rows unrolled inside the loop over x), buffers are flushed before they are full,
    /// which is several times slower than ordinary stores: use vectors of at least 64 bytes in this
    /// case. Only whole vectors at aligned addresses are stored non-temporally.
    Func &store_nontemporal();
    /// Consumers use non-temporal loads, if the processor has them: for values that are read once, so
    /// that they do not evict other data from the caches. CompileError if no vectorized loop reads it.
    Func &load_nontemporal();
    /// Sets the storage order of the dimensions, innermost first; dimensions not named follow in
    /// their present order. For an output, this is the layout of Buffers that realize(sizes)
    /// allocates; a Buffer passed to realize keeps its strides.
    Func &reorder_storage(const std::vector<Var> &dims);
    template <typename... Vars>
    Func &reorder_storage(const Var &x, const Var &y, const Vars &...more) {
        return reorder_storage(std::vector<Var>{x, y, Var(more)...});
    }
    /// Stores dimension `dim` modulo `extent`, a constant. CompileError if more than `extent` planes
    /// of the dimension are live at a time, or if their number is unknown at compile time.
    /// `fold_forward` must be false if consumers move through the dimension downward.
    Func &fold_storage(const Var &dim, const Expr &extent, bool fold_forward = true);

    /// Rounds the storage's extent in `dim` up to a multiple of `alignment` elements, so that the
    /// strides of outer dimensions are multiples of it, too.
    Func &align_storage(const Var &dim, const Expr &alignment);
    /// Allocates exactly `extent` elements in `dim`; RuntimeError if more are needed.
    Func &bound_storage(const Var &dim, const Expr &extent);

    /// Expands the computed region so that its min in `dim` is `remainder` modulo `modulus`, and
    /// its extent a multiple of `modulus`.
    Func &align_bounds(const Var &dim, const Expr &modulus, const Expr &remainder = 0);
    /// Expands the computed region so that its extent in `dim` is a multiple of `modulus`.
    Func &align_extent(const Var &dim, const Expr &modulus);
    /// Promises that exactly [min, min + extent) of dimension `dim` is computed, which lets loops with
    /// a constant extent be unrolled or vectorized. RuntimeError if another range is requested.
    Func &bound(const Var &dim, const Expr &min, const Expr &extent);
    /// Promises the extent only.
    Func &bound_extent(const Var &dim, const Expr &extent);
    /// Typical range, for the autoscheduler. Does not change results.
    Func &set_estimate(const Var &dim, const Expr &min, const Expr &extent);
    Func &set_estimates(const Region &estimates);

    // Whole Buffers and Funcs are copied between host and GPU automatically, where that is needed. These directives are
    // for parts: with a compute level, only what its loops need is copied. The Func must be a copy of one Func or
    // Buffer, as what in() returns, and not within a kernel: else CompileError; for CPU targets, too.
    //
    //     result.split(y, strip, y, 256).gpu_tile(x, y, xi, yi, 32, 8);       // one kernel for 256 rows
    //     input.in().copy_to_device().compute_at(result, strip);              // which has only these on the GPU
    /// The host stores the elements in memory of this Func; from there they go to the GPU when a kernel reads them.
    Func &copy_to_device(DeviceAPI api = DeviceAPI::Default_GPU);
    /// The host stores the elements in memory of this Func, after they were copied from the GPU if they are newer there.
    Func &copy_to_host();

    // Traced events are printed, or passed to JITHandlers::custom_trace (pipe/jit.h). A vectorized
    // load or store is one event per element. Inlined Funcs have no events.
    /// Traces each read of an element of this Func, with its value.
    Func &trace_loads();
    /// Traces each write of an element of this Func, with its value, just before it is stored.
    Func &trace_stores();
    /// Traces begin and end of its storage, of its production and of its consumption, with the
    /// region.
    Func &trace_realizations();
    /// Adds a trace event with this text at the begin of the pipeline.
    Func &add_trace_tag(const std::string &tag);
    /// The profiler attributes the time of this Func to whatever encloses its compute level.
    Func &no_profiling();

    const std::shared_ptr<language::FuncContents> &contents() const { return contents_; }
    explicit Func(std::shared_ptr<language::FuncContents> contents);

  private:
    Func wrap(const char *method, const std::vector<Func> &consumers, SourceLocation where) const;

    std::shared_ptr<language::FuncContents> contents_;
};

template <typename Self>
template <typename... Funcs>
Self &StageDirectives<Self>::eager_inline(const Func &f, const Funcs &...more) {
    return eager_inline(std::vector<Func>{f, more...});
}

}  // namespace Pipe
