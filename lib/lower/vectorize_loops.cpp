#include "lower/vectorize_loops.h"

#include <optional>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/iterations.h"
#include "lower/vectorize_stmts.h"
#include "lower/vectorize_sums.h"

namespace Pipe::lower {

using namespace ir;

namespace {

bool is_vectorized_loop(const StmtNode &s) {
    return s.op == StmtOp::For && s.kind == LoopKind::Vectorized;
}

class VectorizeLoops : public Mutator {
  public:
    explicit VectorizeLoops(const Target *target) : target_(target) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::Let)
            return lets_.inside(s, [&] { return Mutator::mutate(s); });
        if (!is_vectorized_loop(*s.get()))
            return Mutator::mutate(s);
        Expr extent = simplify(s->extent());
        int64_t lanes = lanes_of(s, extent);
        if (lanes <= 0)
            return make_evaluate(make_const(Int(32), 0));
        if (contains_stmt(s->body(), is_vectorized_loop)) {
            if (Stmt sums = vectorize_sums(s); sums.defined())
                return sums;
            return Mutator::mutate(make_for_like(s, s->min(), extent, s->body(), LoopKind::Serial));
        }
        Stmt body = s->body();
        if (!is_const_int(extent)) {
            Expr end = add(s->min(), extent);
            body = make_if(make_binary(Op::LT, make_variable(end.type(), s->name), end), body);
        }
        if (lanes == 1)
            return make_let(s->name, s->min(), body);
        body = vectorize_body(s, body, static_cast<int>(lanes), target_);
        return body.defined() ? body : make_evaluate(make_const(Int(32), 0));
    }

  private:
    const Target *target_;
    LetsAround lets_;

    /// As many as the loop can have iterations; where it may have fewer, the rest is masked.
    int64_t lanes_of(const Stmt &s, const Expr &extent) const {
        std::optional<int64_t> most = lets_.most_iterations(extent);
        if (!most)
            throw CompileError(
                "Cannot vectorize loop " + describe_loop(*s.get()) + ": its extent " +
                ir::to_string(s->extent()) +
                " is not constant. Split it by a constant factor and vectorize the inner loop.");
        int64_t lanes = *most;
        if (lanes > max_lanes)
            throw CompileError("Cannot vectorize loop " + describe_loop(*s.get()) + ": " +
                               std::to_string(lanes) + " lanes are too many (at most " +
                               std::to_string(max_lanes) +
                               "). Split it by a smaller factor and vectorize the inner loop.");
        return lanes;
    }

    static constexpr int64_t max_lanes = 1024;
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, const Target *target) {
    return VectorizeLoops(target).mutate(s);
}

}  // namespace Pipe::lower
