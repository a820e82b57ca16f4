#include "lower/unroll_loops.h"

#include "ir/constant_bounds.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/iterations.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// More copies than this are surely a mistake, and would take forever to compile.
constexpr int64_t max_copies = 4096;

class UnrollLoops : public Mutator {
  public:
    explicit UnrollLoops(const graph::Graph *graph) : graph_(graph) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::Let)
            return lets_.inside(s, [&] { return Mutator::mutate(s); });
        Stmt now = Mutator::mutate(s);
        bool unrolled = now->op == StmtOp::For && now->kind == LoopKind::Unrolled;
        return unrolled ? copies(now) : now;
    }

  private:
    const graph::Graph *graph_;
    LetsAround lets_;

    Stmt copies(const Stmt &loop) const {
        Type type = loop->exprs[0].type();
        Expr extent = simplify(loop->exprs[1]);
        std::optional<int64_t> most = lets_.most_iterations(extent);
        if (!most)
            refuse(loop, "is not constant");
        if (*most > max_copies)
            refuse(loop, "is too large");
        ConstantInterval range = constant_bounds(extent);
        Expr count =
            range.is_single() ? extent : make_variable(extent.type(), loop->name + ".extent");
        std::vector<Stmt> copies;
        for (int64_t k = 0; k < *most; k++) {
            Expr at = add(loop->exprs[0], make_const(type, k));
            Stmt copy = substitute(loop->name, at, loop->stmts[0]);
            if (k >= range.lo)
                copy = make_if(make_binary(Op::LT, make_const(type, k), count), copy);
            copies.push_back(copy);
        }
        if (copies.empty())
            return make_evaluate(make_const(Int(32), 0));
        Stmt block = make_block(std::move(copies));
        return range.is_single() ? block : make_let(count->name, extent, block);
    }

    [[noreturn]] void refuse(const Stmt &loop, const char *why) const {
        throw CompileError("Cannot unroll loop " + describe_loop(graph_, loop->name) +
                           ": its extent " + ir::to_string(loop->exprs[1]) + " " + why +
                           ". Split it by a small constant factor and unroll the inner loop.");
    }
};

}  // namespace

Stmt unroll_loops(const Stmt &s, const graph::Graph *graph) {
    return UnrollLoops(graph).mutate(s);
}

}  // namespace Pipe::lower
