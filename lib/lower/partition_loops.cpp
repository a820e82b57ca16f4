#include "lower/partition_loops.h"

#include <algorithm>
#include <unordered_set>

#include "ir/intrinsics.h"
#include "ir/shared.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/lanes.h"
#include "lower/steady_state.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// A loop of so few iterations is not worth partitioning, and does not make its parent an outer loop.
constexpr int64_t short_loop = 16;
/// Nodes of a body that may be doubled. Beyond it, compile time costs more than the tests.
constexpr int max_body_nodes = 20000;

bool is_long_loop(const StmtNode &s) {
    int64_t extent = 0;
    return s.op == StmtOp::For && !(as_const_int(s.exprs[1], &extent) && extent <= short_loop);
}

bool has_long_loop(const Stmt &s) {
    bool found = false;
    auto look = [&](const Stmt &child) { return !(found = found || is_long_loop(*child.get())); };
    walk(s, look, [](const Expr &) { return false; });
    return found;
}

/// Expression nodes below s, shared ones counted once; stops at the limit.
int count_nodes(const Stmt &s, int limit) {
    int count = 0;
    std::unordered_set<const ExprNode *> seen;
    auto count_expr = [&](const Expr &e) {
        return count <= limit && (!is_shared(e) || seen.insert(e.get()).second) && ++count > 0;
    };
    walk(s, [&](const Stmt &) { return count <= limit; }, count_expr);
    return count;
}

class RemoveLikely : public GraphMutator {
  public:
    using GraphMutator::mutate;

  private:
    Expr rewrite(const Expr &e) override {
        bool tag = e->op == Op::Call && e->name == intrinsic::likely;
        return tag ? mutate(e->args[0]) : GraphMutator::rewrite(e);
    }
};

class PartitionLoops : public Mutator {
  public:
    explicit PartitionLoops(bool at_edge) : at_edge_(at_edge) {}

    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        bool may = is_long_loop(*s.get()) && (s->kind == LoopKind::Serial || s->kind == LoopKind::Parallel);
        if (!may) return Mutator::mutate(s);
        if (!buffers_read(add(s->exprs[0], s->exprs[1])).empty()) return Mutator::mutate(s);
        bool innermost = !has_long_loop(s->stmts[0]);
        if (at_edge_ && !innermost) return Mutator::mutate(s);
        auto steady = find_steady_state(s, innermost);
        if (!steady || !steady->gains || count_nodes(s->stmts[0], max_body_nodes) > max_body_nodes)
            return Mutator::mutate(s);
        steady->body = steady->body.defined() ? mutate(steady->body) : steady->body;
        bool three = innermost && s->kind == LoopKind::Serial;
        return three ? three_loops(s, *steady) : two_bodies(s, *steady);
    }

  private:
    /// `e`, which may be an int64, as a value of the loop variable's type, which has at least the bounds
    /// lo <= hi.
    static Expr clamped(const Expr &e, const Expr &lo, const Expr &hi) {
        Type type = e.type(), narrow = lo.type();
        return make_cast(narrow, ir::max(ir::min(e, make_cast(type, hi)), make_cast(type, lo)));
    }

    static Stmt three_loops(const Stmt &s, const SteadyState &steady) {
        const Expr &min = s->exprs[0];
        Type type = min.type();
        Expr stop = simplify(add(min, s->exprs[1]));
        Expr begin = min, end = stop;
        std::vector<Stmt> loops;
        if (steady.first.defined()) {
            begin = make_variable(type, s->name + ".begin");
            loops.push_back(make_for(s->name, min, sub(begin, min), s->kind, s->stmts[0]));
        }
        if (steady.last.defined()) end = make_variable(type, s->name + ".end");
        if (steady.body.defined())
            loops.push_back(make_for(s->name, begin, sub(end, begin), s->kind, steady.body));
        if (steady.last.defined())
            loops.push_back(make_for(s->name, end, sub(stop, end), s->kind, s->stmts[0]));
        Stmt result = make_block(std::move(loops));
        if (steady.last.defined()) {
            Expr after = add(steady.last, make_const(steady.last.type(), 1));
            result = make_let(s->name + ".end", simplify(clamped(after, begin, stop)), result);
        }
        if (steady.first.defined())
            result = make_let(s->name + ".begin", simplify(clamped(steady.first, min, stop)), result);
        return result;
    }

    static Stmt two_bodies(const Stmt &s, const SteadyState &steady) {
        Expr variable = make_variable(s->exprs[0].type(), s->name), is_steady;
        std::vector<std::pair<std::string, Expr>> lets;
        auto test = [&](const Expr &end, const char *suffix, Op op) {
            if (!end.defined()) return;
            lets.emplace_back(s->name + suffix, simplify(end));
            Expr at = make_cast(end.type(), variable);
            is_steady = both(is_steady, make_binary(op, at, make_variable(end.type(), lets.back().first)));
        };
        test(steady.first, ".first", Op::GE);
        test(steady.last, ".last", Op::LE);
        Stmt at_edge = PartitionLoops(true).mutate(s->stmts[0]);
        Stmt body = steady.body.defined() ? make_if(is_steady, steady.body, at_edge)
                                          : make_if(negated(is_steady), at_edge);
        Stmt result = make_for(s->name, s->exprs[0], s->exprs[1], s->kind, body);
        for (auto &[name, value] : lets) result = make_let(name, value, result);
        return result;
    }

    const bool at_edge_;
};

}  // namespace

Stmt partition_loops(const Stmt &s) { return RemoveLikely().mutate(PartitionLoops(false).mutate(s)); }

}  // namespace Pipe::lower
