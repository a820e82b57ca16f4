#include "lower/gpu/threads.h"

#include "ir/facts.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/gpu/kernels.h"

namespace Pipe::lower {

using namespace ir;

namespace {

class Threads {
  public:
    explicit Threads(const StmtNode &launch) : launch_(launch) {}

    Stmt body() { return simplify(visit(launch_.body(), 3), facts()); }

  private:
    /// \param free  dimensions 0, .., free - 1 are not of a loop around `s`
    Stmt visit(const Stmt &s, size_t free) {
        if (!s.defined())
            return s;
        if (is_thread_loop(*s.get()))
            return thread_loop(s, free);
        const bool has_loops =
            contains_stmt(s, [](const StmtNode &n) { return is_thread_loop(n); });
        // With the lets around a store: what they load may be what the first thread stores.
        const bool is_step = free < 3 || !contains_stmt(s, [](const StmtNode &n) {
                                 return n.op == StmtOp::Barrier || n.op == StmtOp::Allocate;
                             });
        if (s->op == StmtOp::Store || s->op == StmtOp::Evaluate || (is_step && !has_loops))
            return in_first(s, 0, free);
        if (free < 3 && (s->op == StmtOp::For || s->op == StmtOp::Allocate))
            refuse(s);
        return map_children(
            s, [](const Expr &e) { return e; },
            [&](const Stmt &child) { return visit(child, free); });
    }

    [[noreturn]] void refuse(const Stmt &s) const {
        const bool loop = s->op == StmtOp::For;
        throw CompileError(
            "The kernel " + launch_.name + ": between two loops over threads " +
            (loop ? "stands the loop " + describe_loop(*s.get()) +
                        ". reorder() it, so that it is outside or inside of both."
                  : s->name +
                        " is stored. Store it inside of both loops, or at a loop over blocks."));
    }

    Stmt thread_loop(const Stmt &s, size_t free) {
        const size_t d = thread_dimension(*s.get());
        const Expr &min = s->min(), &extent = s->extent();
        const Type type = min.type();
        Expr count = make_cast(type, threads_of_launch(launch_, d)),
             place = make_cast(type, thread_index(d));
        Stmt body = in_thread(s->body(), d);
        if (can_prove(make_binary(Op::LE, extent, count))) {
            body = make_let(s->name, add(min, place), body);
            if (!can_prove(make_binary(Op::LE, count, extent)))
                body = make_if(make_binary(Op::LT, place, extent), body);
        } else {
            Expr step = make_variable(type, s->name + ".step"), one = make_int(type, 1);
            Expr at = add(mul(step, count), place);
            body = make_if(make_binary(Op::LT, at, extent), make_let(s->name, add(min, at), body));
            body = make_for(s->name + ".step", make_int(type, 0),
                            div(sub(add(extent, count), one), count), LoopKind::Serial, body,
                            Partitioning::Auto, s->origin);
        }
        return in_first(body, d + 1, free);
    }

    /// The body of a loop over dimension d.
    Stmt in_thread(const Stmt &s, size_t d) { return d == 0 ? s : visit(s, d); }

    /// Only in the threads that are the first in the dimensions begin, .., end - 1.
    Stmt in_first(Stmt s, size_t begin, size_t end) const {
        for (size_t d = begin; d < end; d++)
            if (!is_const(threads_of_launch(launch_, d), 1))
                s = make_if(make_binary(Op::EQ, thread_index(d), int32(0)), s);
        return s;
    }

    Facts facts() const {
        Facts facts;
        for (size_t d = 0; d < 3; d++)
            for (auto [index, count] :
                 {std::pair{block_index(d), blocks_of_launch(launch_, d)},
                  std::pair{thread_index(d), threads_of_launch(launch_, d)}}) {
                facts.assume(make_binary(Op::LE, int32(0), index));
                facts.assume(make_binary(Op::LT, index, count));
            }
        return facts;
    }

    const StmtNode &launch_;
};

class ThreadsOfKernels : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        if (s->op != StmtOp::Launch)
            return Mutator::mutate(s);
        Stmt body = Threads(*s.get()).body();
        return body.defined() ? with_children(s, s->exprs, {body}) : make_evaluate(int32(0));
    }
};

}  // namespace

Stmt map_threads(const Stmt &s) {
    return s.defined() ? ThreadsOfKernels().mutate(s) : s;
}

}  // namespace Pipe::lower
