#pragma once
// Func: a stage of a pipeline, what it computes and how.

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

namespace graph {
struct FuncContents;
}

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
///
/// The directives that it shares with Stage are on its pure definition; it is compiled and run as
/// the Pipeline of it alone.
class Func : public StageDirectives<Func>, public Realizable<Func> {
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
    /// and then a RawBuffer * for each value of this Func. It answers 0; anything else ends the
    /// call of the pipeline with a RuntimeError. It may be called from several threads at a time,
    /// and must not throw.
    ///
    /// Before anything is computed it is called with buffers that have no memory
    /// (RawBuffer::is_bounds_query), perhaps several times: the outputs say which box is needed,
    /// and it puts min and extent of what it reads into the others. Before, these say: for a Func
    /// the same box as the output, in further dimensions one element; for an image all of it. It
    /// may also make the box of the first output larger, to compute more than what is needed.
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
    // it is computed: what is computed again and again then only adds what is new). A Func stands for
    // all of its definitions: in each that has the loop and needs this Func; a Stage for one.
    /// What a Func without directives does: it is put where it is read, and an output is still computed.
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
    /// loops between hoist_storage and store_at take in turn, so that with async() that many
    /// iterations of them can be on their way at a time. (Without it, the first copy is enough.)
    /// CompileError where these loops leave iterations out or have not the same number each time.
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
    /// Stack: where the size is not constant, in memory that each thread keeps from iteration to
    /// iteration, and that grows with what is needed (which a custom_malloc is asked for each
    /// time). Register needs a constant size (see bound_storage); what a constant size does not fit
    /// in, or this machine does not have, is a CompileError.
    Func &store_in(MemoryType memory);
    /// What is written bypasses the caches: for results that are not read again soon, because they are
    /// larger than the caches. It concerns whole vectors at addresses that are multiples of their size.
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

    // Code for GPUs is not there yet: CompileErrors that say so. (Those on loops: see Stage.)
    Func &copy_to_device(DeviceAPI = DeviceAPI::Default_GPU) {
        return no_gpu("copy_to_device", "");
    }
    Func &copy_to_host() { return no_gpu("copy_to_host", ""); }

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
    /// The profiler counts what this Func takes to what encloses it: where it is computed.
    Func &no_profiling();

    const std::shared_ptr<graph::FuncContents> &contents() const { return contents_; }
    explicit Func(std::shared_ptr<graph::FuncContents> contents);

  private:
    Func wrap(const char *method, const std::vector<Func> &consumers, SourceLocation where) const;

    std::shared_ptr<graph::FuncContents> contents_;
};

template <typename Self>
template <typename... Funcs>
Self &StageDirectives<Self>::eager_inline(const Func &f, const Funcs &...more) {
    return eager_inline(std::vector<Func>{f, more...});
}

}  // namespace Pipe
