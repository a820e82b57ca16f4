#include "ir/verify.h"

#include <set>
#include <unordered_set>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/scope.h"
#include "ir/shared.h"

namespace Pipe::ir {
namespace {

class Verifier {
  public:
    explicit Verifier(const VerifyOptions &options) : options_(options) {}

    Scope<Type> variables;
    Scope<Type> buffers;

    void check(const Stmt &s) {
        if (!s.defined())
            return;
        for (const Expr &e : s->exprs)
            if (e.defined())
                check(e);
        switch (s->op) {
        case StmtOp::Let:
            return check_under(s->name, s->value().type(), s->body());
        case StmtOp::For:
            return check_for(s);
        case StmtOp::If:
            require(is_bool(s->condition()) && s->condition().type().is_scalar(),
                    "condition is not a bool", s);
            break;
        case StmtOp::Assert:
            require(is_bool(s->condition()), "condition is not a bool", s);
            break;
        case StmtOp::Provide:
            check_provide(s);
            break;
        case StmtOp::Realize:
            check_realize(s);
            break;
        case StmtOp::Store:
            check_store(s);
            break;
        case StmtOp::Allocate:
            return check_allocate(s);
        case StmtOp::Free:
            return check_free(s);
        case StmtOp::Prefetch:
            check_prefetch(s);
            break;
        case StmtOp::Fork:
            return check_fork(s);
        case StmtOp::Memoize:
            return check_memoize(s);
        case StmtOp::Launch:
            return check_launch(s);
        case StmtOp::Barrier:
            require(in_kernel_, "barrier outside of a kernel", s);
            break;
        case StmtOp::Use:
            require(!in_kernel_ && (buffers.find(s->name) || options_.any_buffer), "no such buffer", s);
            break;
        case StmtOp::Acquire:
        case StmtOp::Release:
            require(options_.any_buffer || semaphores_.count(s->name) > 0, "no such semaphore", s);
            break;
        default:
            break;
        }
        for (const Stmt &child : s->stmts)
            check(child);
    }

    void check(const Expr &e) {
        if (is_shared(e) && !done_.insert(e.get()).second)
            return;
        if (e->op == Op::Let) {
            check(e->value());
            return check_under(e->name, e->value().type(), e->body());
        }
        for (const Expr &arg : e->args)
            if (arg.defined())
                check(arg);
        check_node(e);
    }

  private:
    template <typename Node>
    [[noreturn]] static void fail(const std::string &what, const Node &node) {
        std::string text = to_string(node);
        constexpr size_t enough = 2000;
        if (text.size() > enough)
            text = text.substr(0, enough) + "...";
        throw InternalError("malformed program: " + what + ": " + text);
    }
    template <typename Node>
    static void require(bool condition, const std::string &what, const Node &node) {
        if (!condition)
            fail(what, node);
    }

    static bool is_bool(const Expr &e) { return e.type().is_bool(); }
    static bool is_index(const Expr &e) {
        return e.type().is_int() && (e.type().bits() == 32 || e.type().bits() == 64);
    }

    /// A node checked outside a binding may mean something else inside.
    template <typename Node>
    void check_under(const std::string &name, Type type, const Node &body) {
        require(body.defined(), "nothing in the scope of", name_only(name));
        decltype(done_) outer;
        outer.swap(done_);
        ScopedBinding<Type> binding(variables, name, type);
        check(body);
        outer.swap(done_);
    }

    static Expr name_only(const std::string &name) { return make_string(name); }

    void check_node(const Expr &e) {
        const auto &args = e->args;
        switch (e->op) {
        case Op::Variable:
            return check_variable(e);
        case Op::Load:
            return check_load(e);
        case Op::Call:
            return check_call(e);
        case Op::Not:
            return require(is_bool(args[0]) && e.type() == args[0].type(),
                           "! of a value that is not a bool", e);
        case Op::Select:
            require(is_bool(args[0]) && args[1].type() == e.type() && args[2].type() == e.type() &&
                        (args[0].type().is_scalar() || args[0].type().lanes() == e.type().lanes()),
                    "operands of select", e);
            return;
        case Op::Ramp:
            return require(args[0].type() == args[1].type() &&
                               args[0].type() == e.type().element_of(),
                           "operands of ramp", e);
        case Op::Interleave:
            for (const Expr &arg : args)
                require(arg.type() == args[0].type(), "operands of interleave", e);
            return;
        case Op::Slice:
            return require(e->index >= 0 && e->int_value > 0 &&
                               args[0].type().element_of() == e.type().element_of() &&
                               e->index + e->int_value * (e.type().lanes() - 1) <
                                   args[0].type().lanes(),
                           "lanes of a slice", e);
        case Op::Broadcast:
            return require(args[0].type() == e.type().element_of(), "operand", e);
        case Op::Cast:
            return require(args[0].type().lanes() == e.type().lanes(), "lanes of a cast", e);
        default:
            break;
        }
        if (!is_binary(e->op))
            return;
        bool boolean_result = is_comparison(e->op) || e->op == Op::And || e->op == Op::Or;
        Type result = boolean_result ? Bool(args[0].type().lanes()) : args[0].type();
        require(args[0].type() == args[1].type() && e.type() == result, "operand types", e);
    }

    void check_variable(const Expr &e) {
        const Type *type = variables.find(e->name);
        bool free = options_.any_free_variable || options_.free_variables.count(e->name) != 0;
        require(type || free, "variable is not defined here", e);
        if (type && *type != e.type())
            fail("variable of type " + Pipe::to_string(*type) + " is used as " +
                     Pipe::to_string(e.type()),
                 e);
    }

    void check_buffer(const std::string &name, Type type, const Expr &index, const Expr &e) {
        const Type *element = buffers.find(name);
        bool known = element || options_.any_buffer || options_.buffers.count(name) != 0;
        require(known, "there is no buffer " + name + " here", e);
        require(freed_.count(name) == 0, "buffer " + name + " is free already", e);
        if (element && *element != type.element_of())
            fail("buffer " + name + " has elements of type " + Pipe::to_string(*element), e);
        require(is_index(index), "index is not an int32 or int64", e);
    }

    void check_load(const Expr &e) {
        check_buffer(e->name, e.type(), e->element(), e);
        require(e->element().type().lanes() == e.type().lanes(), "lanes of the index", e);
        if (e->predicate().defined())
            require(is_bool(e->predicate()) && e->predicate().type().lanes() == e.type().lanes(),
                    "predicate", e);
    }

    void check_intrinsic(const Expr &e) {
        const intrinsic::Properties *known = intrinsic::properties(e->name);
        const auto args = static_cast<int>(e->args.size());
        require(known, "unknown intrinsic", e);
        require(args >= known->min_args && (known->max_args < 0 || args <= known->max_args),
                "number of arguments", e);
        require(!options_.flattened || known->role != intrinsic::Role::FrontEnd,
                "intrinsic of the front end", e);
    }

    void check_call(const Expr &e) {
        bool to_flatten = e->call_kind == CallKind::Func || e->call_kind == CallKind::Image;
        require(!(options_.flattened && to_flatten), "call after flattening", e);
        if (e->call_kind == CallKind::Intrinsic)
            check_intrinsic(e);
    }

    void check_prefetch(const Stmt &s) {
        for (const Expr &e : s->exprs)
            require(e.defined() && is_index(e), "index is not an int32 or int64", s);
        if (!options_.flattened)
            return;
        require(s->exprs.size() == 1, "one index", s);
        require(buffers.find(s->name) || options_.any_buffer ||
                    options_.buffers.count(s->name) != 0,
                "there is no buffer " + s->name + " here", s);
    }

    void check_fork(const Stmt &s) {
        require(s->producer().defined() && s->consumer().defined(), "two tasks", s);
        for (const char *which : {".ready", ".free"})
            semaphores_.insert(s->name + which);
        check(s->producer());
        check(s->consumer());
        for (const char *which : {".ready", ".free"})
            semaphores_.erase(semaphores_.find(s->name + which));
    }

    void check_launch(const Stmt &s) {
        require(!in_kernel_, "kernel in a kernel", s);
        for (size_t d = 0; d < 3; d++)
            require(blocks_of_launch(*s.get(), d).type() == Int(32) && threads_of_launch(*s.get(), d).type() == Int(32),
                    "sizes of a launch", s);
        require(shared_bytes_of_launch(*s.get()).type() == Int(64), "bytes of shared memory", s);
        decltype(done_) outer;
        outer.swap(done_);
        in_kernel_ = true;
        for (size_t d = 0; d < 3; d++)
            for (const Expr &index : {block_index(d), thread_index(d)})
                variables.push(index->name, index.type());
        check(s->body());
        for (size_t d = 0; d < 3; d++)
            for (const Expr &index : {block_index(d), thread_index(d)})
                variables.pop(index->name);
        in_kernel_ = false;
        outer.swap(done_);
    }

    void check_memoize(const Stmt &s) {
        auto keys = static_cast<size_t>(s->num_values);
        require(!s->types.empty() && s->exprs.size() >= 2 + keys, "shape", s);
        for (size_t i = 2; i < s->exprs.size(); i++)
            require(s->exprs[i].defined() && s->exprs[i].type().is_scalar(), "key or shape", s);
        for (const Expr &e : shape_of_memoize(*s.get()))
            require(is_index(e), "shape", s);
        if (s->eviction_key().defined())
            require(s->eviction_key().type() == UInt(64), "eviction key", s);
        if (s->used().defined())
            require(s->used().type() == Bool(), "used", s);
        decltype(done_) outer;
        outer.swap(done_);
        for (size_t i = 0; options_.flattened && i < s->types.size(); i++)
            buffers.push(buffer_of_memoize(*s.get(), i), s->types[i]);
        check(s->producer());
        check(s->consumer());
        for (size_t i = 0; options_.flattened && i < s->types.size(); i++)
            buffers.pop(buffer_of_memoize(*s.get(), i));
        outer.swap(done_);
    }

    void check_for(const Stmt &s) {
        Type type = s->min().type();
        require(type.is_scalar() && is_index(s->min()) && s->extent().type() == type,
                "bounds of a loop", s);
        check_under(s->name, type, s->body());
    }

    void check_provide(const Stmt &s) {
        require(!options_.flattened, "provide after flattening", s);
        require(s->num_values >= 1 && s->exprs.size() >= static_cast<size_t>(1 + s->num_values),
                "number of values", s);
        if (s->predicate().defined())
            require(is_bool(s->predicate()), "predicate", s);
        for (size_t i = 1 + s->num_values; i < s->exprs.size(); i++)
            require(s->exprs[i].type().is_int(), "coordinate is not an integer", s);
    }

    void check_realize(const Stmt &s) {
        require(!options_.flattened, "realize after flattening", s);
        require(!s->types.empty() && s->exprs.size() % 2 == 0, "shape", s);
        for (const Expr &e : s->exprs)
            require(e.defined() && is_index(e), "shape", s);
    }

    void check_store(const Stmt &s) {
        const Expr &value = s->value(), &index = s->index(), &predicate = s->predicate();
        require(value.defined() && index.defined(), "operands", s);
        require(value.type().lanes() == index.type().lanes(), "lanes of a store", s);
        check_buffer(s->name, value.type(), index, value);
        if (predicate.defined())
            require(is_bool(predicate) && (predicate.type().lanes() == 1 ||
                                           predicate.type().lanes() == value.type().lanes()),
                    "predicate", s);
    }

    void check_allocate(const Stmt &s) {
        require(s->types.size() == 1 && s->types[0].is_scalar(), "element type of an allocation",
                s);
        for (const Expr &size : s->exprs)
            require(size.defined() && is_index(size), "size", s);
        require(s->body().defined(), "nothing in the scope of", name_only(s->name));
        decltype(done_) outer;
        outer.swap(done_);
        ScopedBinding<Type> binding(buffers, s->name, s->types[0]);
        check(s->body());
        freed_.erase(s->name);
        outer.swap(done_);
    }

    void check_free(const Stmt &s) {
        require(buffers.find(s->name) && freed_.insert(s->name).second, "nothing to free", s);
        done_.clear();  // discards results from outside
    }

    const VerifyOptions &options_;
    bool in_kernel_ = false;
    std::multiset<std::string> semaphores_;
    std::set<std::string> freed_;  ///< buffers freed inside their allocation
    std::unordered_set<const ExprNode *> done_;
};

}  // namespace

void verify(const Stmt &s, const VerifyOptions &options) {
    Verifier(options).check(s);
}

void verify(const Program &program) {
    VerifyOptions options;
    options.flattened = true;
    Verifier verifier(options);
    for (const Argument &arg : program.args) {
        if (arg.kind == Argument::Kind::Scalar) {
            verifier.variables.push(arg.name, arg.type);
            continue;
        }
        verifier.buffers.push(arg.name, arg.type);
        for (int d = 0; d < arg.dimensions; d++) {
            std::string dimension = "." + std::to_string(d);
            verifier.variables.push(arg.name + ".min" + dimension, Int(32));
            verifier.variables.push(arg.name + ".extent" + dimension, Int(32));
            verifier.variables.push(arg.name + ".stride" + dimension, Int(64));
        }
    }
    verifier.check(program.body);
}

}  // namespace Pipe::ir
