#pragma once
// What the user's handles (Func, RDom, Param, ImageParam) hold.
//
// Who holds whom: an Expr holds the Funcs, images and Params that it names; a Func holds the Exprs
// of its definitions. There is no ring: a Func's calls of itself are stored without referent, a
// definition holds a copy of its RDom, levels name other Funcs by their Identity, and a definition
// that would close a ring of Funcs is refused.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/expr_node.h"
#include <pipe/buffer.h>
#include <pipe/schedule.h>

namespace Pipe::graph {

/// Goes up whenever a definition, a directive or a promise changes anywhere: while it stands still,
/// nothing that was compiled is out of date.
uint64_t modification_epoch();

/// The name of a thing, and how often it changed. Outlives the thing.
struct Identity {
    /// `name`, or with "$1", "$2", ... while another unique Identity has it: for Funcs.
    static std::shared_ptr<Identity> unique(const std::string &name);
    /// The same where nobody gave a name: `kind` says what it is, "f" or "lambda".
    static std::shared_ptr<Identity> unnamed(const std::string &kind);
    /// The name that the user gave, which need not be unique; if that is empty, unnamed(kind).
    static std::shared_ptr<Identity> named(const std::string &name, const std::string &kind);
    ~Identity();
    Identity(const Identity &) = delete;
    void touch();

    const std::string given;  ///< without "$1"; "" if nobody gave a name
    const std::string name;
    std::atomic<uint64_t> version{0};

  private:
    Identity(std::string given_, std::string name_, bool unique)
        : given(std::move(given_)), name(std::move(name_)), unique_(unique) {}
    const bool unique_;
};

/// A thing as it was at one time.
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

/// Made by in() or clone_in(): what some consumers read in place of something.
struct Wrapper {
    std::vector<std::shared_ptr<const Identity>> consumers;  ///< none: all that no other is for
    std::shared_ptr<FuncContents> func;
};

/// A Func or an ImageParam. Holds its wrappers; they only know it weakly, but the handles that the
/// user has of them (Func) hold both.
struct Wrappable : ir::Referent, std::enable_shared_from_this<Wrappable> {
    std::shared_ptr<Identity> identity;
    std::vector<Wrapper> wrappers;
};

struct ParamContents : ir::Referent {
    std::shared_ptr<Identity> identity;
    Type type;
    std::atomic<uint64_t> bits{0};  ///< the value, in the first bytes
    std::atomic<bool> is_set{false};
    Expr min, max, estimate;
};

/// An ImageParam, or a Buffer used in an expression (`bound`).
struct ImageContents : Wrappable {
    Type type;
    int dimensions = 0;
    bool bound = false;
    bool is_output = false;  ///< of Func::output_buffer(): only what is promised counts
    bool trace_loads = false;
    std::vector<std::string> trace_tags;
    SourceLocation where;
    Buffer<void> buffer;
    BufferPromise promise;  ///< may_alias: empty, the graph's is made of the following
    std::vector<std::shared_ptr<const ImageContents>> may_alias;
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
    /// What output_buffers() gave out, one per value: no images, but their promises.
    std::vector<std::shared_ptr<ImageContents>> output_buffers;
    /// A wrapper: what it is of. Its definition's calls of that have no referent.
    std::weak_ptr<const Wrappable> wrapped;
    /// Wrappers that were made for this Func, which must read what they wrap.
    std::vector<std::weak_ptr<const FuncContents>> promised;
    /// How C++ makes it: "f", "clone_in" and the consumers; method "" for a Func that was declared.
    struct {
        std::weak_ptr<const Wrappable> of;
        const char *method = "";
        std::vector<std::shared_ptr<const Identity>> consumers;
        /// rfactor: all of it, for the C++ name of `of`.
        std::function<std::string(const std::string &variable)> recipe;
    } origin;
    schedules::FuncSchedule schedule;
    /// What the driver keeps for Func::realize. Does not hold this Func.
    std::shared_ptr<void> compiler;

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

/// "v$12", never the same twice: of Vars, whose names outlive them in expressions.
std::string fresh_name(const std::string &base);
/// The name, marked as the Func that an error is about (support/error_text.h).
std::string func_field(const std::string &name);
/// " at blur.cpp:14", marked, or "" where unknown.
std::string at(const SourceLocation &where);
/// "x, y, c"
std::string join(const std::vector<std::string> &names);

/// A Buffer as an image of its own.
std::shared_ptr<ImageContents> image_of(const Buffer<void> &buffer);

/// Coordinates as int32. CompileError where one is undefined or no integer.
std::vector<Expr> coordinates(const std::string &what, const std::vector<Expr> &args,
                              SourceLocation where);

/// The expression with calls of `func` as a Func's definitions have them of itself.
Expr without_referent(const Expr &e, const FuncContents &func);

/// What an image promises of its own sizes, as its promise keeps it (without referent: an image does
/// not hold itself), and as an expression that others may use.
Expr without_referent(const Expr &e, const ImageContents &image);
Expr with_referent(const Expr &e, const std::shared_ptr<const ImageContents> &image);

/// Adds a definition: the pure one, or an update. An update runs over the RDom whose RVars it uses,
/// or over `rdom` where it uses none. CompileErrors for undeclared Vars, RDoms that do not belong,
/// types, arity, recursion.
void define(FuncContents &func, const std::vector<Expr> &args, const std::vector<Expr> &values,
            SourceLocation where, std::shared_ptr<const RDomContents> rdom = nullptr);

}  // namespace Pipe::graph
