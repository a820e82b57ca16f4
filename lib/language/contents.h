#pragma once
// The objects behind the user's handles (Func, RDom, Param, ImageParam).
//
// Ownership: an Expr owns the Funcs, images and Params that it names; a Func owns the Exprs of its
// definitions. There are no cycles: a Func's calls of itself are stored without referent, a
// definition holds a copy of its RDom, levels name other Funcs by their Identity, and a definition
// that would create a cycle of Funcs is rejected.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ir/expr_node.h"
#include "support/error_text.h"
#include "support/text.h"
#include <pipe/buffer.h>
#include <pipe/loop_level.h>
#include <pipe/schedule.h>

namespace Pipe::language {

using graph::BufferPromise;
using graph::FuncNode;
using graph::Graph;
using graph::Image;
using graph::ReductionVar;
using graph::Requirement;
using graph::Scalar;
using graph::ShapePromise;
using graph::Stage;
using support::at;
using support::join;

/// Incremented whenever a definition, a directive or a promise changes anywhere: as long as it is
/// constant, no compiled code is out of date.
uint64_t modification_epoch();

/// The name of an object, and the number of its changes. Outlives the object.
struct Identity {
    /// `name`, or with "$1", "$2", ... if another unique Identity has it: for Funcs.
    static std::shared_ptr<Identity> unique(const std::string &name);
    /// The same without a user's name: `kind` is the base name, "f" or "lambda".
    static std::shared_ptr<Identity> unnamed(const std::string &kind);
    /// The user's name, which need not be unique; if it is empty, unnamed(kind).
    static std::shared_ptr<Identity> named(const std::string &name, const std::string &kind);
    /// Of a Func made from an object: its name and the suffix, and a user's name only if that object has one.
    static std::shared_ptr<Identity> derived(const Identity &from, const std::string &suffix);
    ~Identity();
    Identity(const Identity &) = delete;
    void touch();

    const std::string given;  ///< without "$1"; "" if the user gave no name
    const std::string name;
    const uint64_t number;  ///< of this object, never the same twice in a process; not 0
    std::atomic<uint64_t> version{0};

  private:
    Identity(std::string given_, std::string name_, bool unique);
    const bool unique_;
};

/// The state of an object at one time.
struct Stamp {
    std::shared_ptr<const Identity> identity;
    uint64_t version = 0;
    bool up_to_date() const { return identity->version.load(std::memory_order_acquire) == version; }
};

struct RDomContents : ir::Referent {
    std::shared_ptr<const Identity> identity;
    std::string name;  ///< the identity's
    SourceLocation where;
    std::vector<ReductionVar> vars;
    Expr predicate;  ///< undefined = everywhere
    bool used = false;
};

struct FuncContents;

/// Created by in() or clone_in(): the Func that some consumers read instead of another object.
struct Wrapper {
    std::vector<std::shared_ptr<const Identity>>
        consumers;  ///< none: all consumers without a wrapper of their own
    std::shared_ptr<FuncContents> func;
};

/// A Func or an ImageParam. Owns its wrappers; they refer to it weakly, but the user's handles to
/// wrappers (Func) own both.
struct Wrappable : ir::Referent, std::enable_shared_from_this<Wrappable> {
    std::shared_ptr<Identity> identity;
    std::vector<Wrapper> wrappers;
};

struct ParamContents : ir::Referent {
    std::shared_ptr<Identity> identity;
    SourceLocation where;
    Type type;
    std::atomic<uint64_t> bits{0};  ///< the value, in the first bytes
    std::atomic<bool> is_set{false};
    Expr min, max, estimate;

    /// "Param 'gain' at blur.cpp:3", for errors: marked.
    std::string description() const;
};

/// An ImageParam, or a Buffer used in an expression (`bound`), whose `where` is its first use.
struct ImageContents : Wrappable {
    Type type;
    int dimensions = 0;
    bool bound = false;
    bool is_output = false;  ///< of Func::output_buffer(): only its promises are used
    bool trace_loads = false;
    std::vector<std::string> trace_tags;
    SourceLocation where;
    Buffer<void> buffer;
    BufferPromise promise;  ///< may_alias is empty here; the graph's is made from the following
    std::vector<std::shared_ptr<const ImageContents>> may_alias;
};

/// One call of rfactor().
struct RFactor {
    int stage = 1;                                               ///< of the Func that was factored
    Stage before;                                                ///< its definition then
    schedules::StageSchedule loops;                              ///< and its loops
    std::vector<std::pair<std::string, std::string>> preserved;  ///< (loop, Var)
};

/// The objects to which a Func's schedule refers; the schedule itself is plain data.
struct ScheduleObjects {
    /// LoopLevels given to compute_at(), store_at() and hoist_storage(): they replace the schedule's when the
    /// graph is frozen. Null: the schedule's count.
    std::shared_ptr<LoopLevel::Contents> compute, store, hoist;
    std::vector<std::shared_ptr<const ImageContents>> prefetched;  ///< images given to prefetch()
};

struct FuncContents : Wrappable {
    SourceLocation where;
    std::vector<Type> promised_types;  ///< empty = any
    int promised_dimensions = -1;      ///< -1 = any
    std::vector<std::string> args;
    std::vector<Type> types;
    std::vector<Stage> stages;  ///< Exprs name RVars, and this Func, without referent
    std::vector<std::shared_ptr<const FuncContents>> callees;  ///< in order of first use, unique
    std::vector<std::shared_ptr<const ImageContents>> images;  ///< ImageParams, the same way
    /// The results of output_buffers(), one per value: not images, only their promises.
    std::vector<std::shared_ptr<ImageContents>> output_buffers;
    /// A wrapper: the object that it wraps. Calls of that in its definition have no referent.
    std::weak_ptr<const Wrappable> wrapped;
    /// Wrappers made for this Func, which must read the wrapped objects.
    std::vector<std::weak_ptr<const FuncContents>> promised;
    /// How C++ creates it: "f", "clone_in" and the consumers; method "" for a Func that was
    /// declared.
    struct {
        std::weak_ptr<const Wrappable> of;
        const char *method = "";
        std::vector<std::shared_ptr<const Identity>> consumers;
        std::shared_ptr<const RFactor> factored = nullptr;  ///< rfactor
    } origin;
    schedules::FuncSchedule schedule;
    ScheduleObjects schedule_objects;
    /// The compiled code for Func::realize, owned by the driver. Does not own this Func.
    std::shared_ptr<void> compiler;
    const char *reduction =
        nullptr;  ///< "sum", of an inline reduction to which the user gave no name

    const std::string &name() const { return identity->name; }
    bool defined() const { return !stages.empty(); }
    /// "Func 'blur' (blur.cpp:12)", for errors: marked.
    std::string description() const;
    /// "x, y"
    std::string arg_names() const;
};

/// The contents of a Func without definition.
std::shared_ptr<FuncContents> undefined_func(std::shared_ptr<Identity> identity,
                                             SourceLocation where);

/// "v$12", never the same twice: for Vars, whose names outlive them in expressions.
std::string fresh_name(const std::string &base);
/// The name, marked as the Func of an error (support/error_text.h).
std::string func_field(const std::string &name);

/// A Buffer as an image. `where`: the use of the Buffer; the first one is kept.
std::shared_ptr<ImageContents> image_of(const Buffer<void> &buffer, SourceLocation where = {});

/// Coordinates as int32. CompileError if one is undefined or not an integer.
std::vector<Expr> coordinates(const std::string &what, const std::vector<Expr> &args,
                              SourceLocation where);

/// The expression with calls of `func` in the form that a Func's own definitions use.
Expr without_referent(const Expr &e, const FuncContents &func);

/// A promise of an image about its own sizes, as stored in the promise (without referent, so that
/// an image does not own itself), and as an expression for others.
Expr without_referent(const Expr &e, const ImageContents &image);
Expr with_referent(const Expr &e, const std::shared_ptr<const ImageContents> &image);

/// Adds a definition: the pure one, or an update. The domain of an update is the RDom whose RVars
/// it uses, or `rdom` if it uses none. CompileErrors for undeclared Vars, RVars of a wrong RDom,
/// types, arity, recursion.
void define(FuncContents &func, const std::vector<Expr> &args, const std::vector<Expr> &values,
            SourceLocation where, std::shared_ptr<const RDomContents> rdom = nullptr);

}  // namespace Pipe::language
