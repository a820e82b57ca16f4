#pragma once
// Walking and rewriting the IR. All walks use `args` / `exprs` / `stmts`, so a walk need not handle
// the kinds of nodes that it is not interested in.

#include <type_traits>
#include <unordered_set>

#include "ir/expr_node.h"
#include "ir/shared.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// The same node with every child replaced by f(child); `e` itself if no child changed. Undefined
/// children stay undefined.
template <typename F> Expr map_children(const Expr &e, F &&f) {
    std::vector<Expr> args;
    for (size_t i = 0; i < e->args.size(); i++) {
        const Expr &old = e->args[i];
        Expr now = old.defined() ? f(old) : old;
        if (args.empty() && now.same_as(old))
            continue;
        if (args.empty())
            args = e->args;
        args[i] = std::move(now);
    }
    return args.empty() ? e : with_args(e, std::move(args));
}

/// As above, for a statement: fe on its expressions, fs on its statements.
template <typename FE, typename FS> Stmt map_children(const Stmt &s, FE &&fe, FS &&fs) {
    bool changed = false;
    std::vector<Expr> exprs = s->exprs;
    for (Expr &e : exprs) {
        if (!e.defined())
            continue;
        Expr now = fe(e);
        changed |= !now.same_as(e);
        e = std::move(now);
    }
    std::vector<Stmt> stmts = s->stmts;
    for (Stmt &child : stmts) {
        if (!child.defined())
            continue;
        Stmt now = fs(child);
        changed |= !now.same_as(child);
        child = std::move(now);
    }
    return changed ? with_children(s, std::move(exprs), std::move(stmts)) : s;
}

/// Rewrites bottom-up or top-down: override the two functions and call the base class for the
/// children.
class Mutator {
  public:
    virtual ~Mutator() = default;
    virtual Expr mutate(const Expr &e) {
        return map_children(e, [this](const Expr &c) { return mutate(c); });
    }
    virtual Stmt mutate(const Stmt &s) {
        return map_children(
            s, [this](const Expr &c) { return mutate(c); },
            [this](const Stmt &c) { return mutate(c); });
    }
};

/// Rewrites an expression graph, each shared node once (walking a graph as a tree can take
/// exponential time). For rewrites that do not depend on the path to the node.
class GraphMutator : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) final {
        return done_(e, [&] { return rewrite(e); });
    }

  protected:
    virtual Expr rewrite(const Expr &e) { return Mutator::mutate(e); }
    /// From here on, the same node may be rewritten differently.
    void forget() { done_.clear(); }

  private:
    Memo done_;
};

/// The visitor of walk() and each_node() below: visits nodes with several parents once.
template <typename F> class GraphWalk {
  public:
    explicit GraphWalk(F &f) : f_(f) {}
    void operator()(const Expr &e) {
        if (!e.defined() || (is_shared(e) && !seen_.insert(e.get()).second) || !f_(e))
            return;
        for (const Expr &child : e->args)
            (*this)(child);
    }

  private:
    F &f_;
    std::unordered_set<const ExprNode *> seen_;
};

/// Calls f on e and everything below it, parents first; f returns false to skip a node's children.
/// Shared nodes are visited once.
template <typename F> void walk(const Expr &e, F &&f) {
    GraphWalk<std::remove_reference_t<F>> visit(f);
    visit(e);
}

/// Calls fs on every statement and fe on every expression node below s, parents first; either
/// returns false to skip children. Nodes shared within a statement's expressions are visited once.
template <typename FS, typename FE> void walk(const Stmt &s, FS &&fs, FE &&fe) {
    if (!s.defined() || !fs(s))
        return;
    for (const Expr &e : s->exprs)
        walk(e, fe);
    for (const Stmt &child : s->stmts)
        walk(child, fs, fe);
}

/// Calls f on every node of an expression graph, each once, parents first, until it returns false.
template <typename F> void each_node(const Expr &e, F &&f) {
    bool go_on = true;
    walk(e, [&](const Expr &n) { return go_on = go_on && f(*n.get()); });
}

/// Whether f is true for some node of an expression graph.
template <typename F> bool contains(const Expr &e, F &&f) {
    bool found = false;
    each_node(e, [&](const ExprNode &n) { return !(found = f(n)); });
    return found;
}

/// Whether the expression has an element of the Func or image of this name.
inline bool calls(const Expr &e, const std::string &name) {
    return contains(e, [&](const ExprNode &n) { return n.op == Op::Call && n.name == name; });
}

/// Whether f is true for s or a statement below it.
template <typename F> bool contains_stmt(const Stmt &s, F &&f) {
    bool found = false;
    auto look = [&](const Stmt &child) { return !(found = found || f(*child.get())); };
    walk(s, look, [](const Expr &) { return false; });
    return found;
}

/// Whether the node binds the variable that it names.
inline bool binds_variable(const Expr &e) {
    return e->op == Op::Let;
}
inline bool binds_variable(const Stmt &s) {
    return s->op == StmtOp::Let || s->op == StmtOp::For;
}

/// Whether the node reads an element of a Func or image.
inline bool reads_elements(const Expr &e) {
    return contains(e, [](const ExprNode &n) {
        return n.op == Op::Call &&
               (n.call_kind == CallKind::Func || n.call_kind == CallKind::Image);
    });
}

/// Whether evaluating this node again may give another value: it loads, or calls an impure
/// function.
inline bool may_change(const ExprNode &n) {
    return n.op == Op::Load || (n.op == Op::Call && n.call_kind != CallKind::Intrinsic &&
                                n.call_kind != CallKind::PureExtern);
}

}  // namespace Pipe::ir
