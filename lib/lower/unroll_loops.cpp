#include "lower/unroll_loops.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/constant_bounds.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/iterations.h"
#include "support/env.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// More copies of a statement than this are surely a mistake, and would take forever to compile.
constexpr int64_t max_copies = 4096;

bool permits_failed_unroll() {
    return support::env("HL_PERMIT_FAILED_UNROLL") == "1";
}

class UnrollLoops : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::Let)
            return lets_.inside(s, [&] { return Mutator::mutate(s); });
        if (s->op != StmtOp::For || s->kind != LoopKind::Unrolled)
            return Mutator::mutate(s);
        const Expr extent = simplify(s->extent());
        const std::optional<int64_t> most = lets_.most_iterations(extent);
        if (!most)
            return without_bound(s);
        const int64_t around = copies_;
        if (*most > max_copies / around)
            refuse_copies(s, *most);
        copies_ = around * std::max<int64_t>(1, *most);
        Stmt now = Mutator::mutate(s);
        copies_ = around;
        return copies(now, extent, *most);
    }

  private:
    LetsAround lets_;
    int64_t copies_ = 1;  // that the unrolled loops around make

    static Stmt copies(const Stmt &loop, const Expr &extent, int64_t most) {
        Type type = loop->min().type();
        ConstantInterval range = constant_bounds(extent);
        Expr count =
            range.is_single() ? extent : make_variable(extent.type(), loop->name + ".extent");
        std::vector<Stmt> copies;
        for (int64_t k = 0; k < most; k++) {
            Expr at = add(loop->min(), make_const(type, k));
            Stmt copy = substitute(loop->name, at, loop->body());
            if (k >= range.lo)
                copy = make_if(make_binary(Op::LT, make_const(type, k), count), copy);
            copies.push_back(copy);
        }
        if (copies.empty())
            return make_evaluate(make_const(Int(32), 0));
        Stmt block = make_block(std::move(copies));
        return range.is_single() ? block : make_let(count->name, extent, block);
    }

    Stmt without_bound(const Stmt &s) {
        if (permits_failed_unroll()) {
            Stmt now = Mutator::mutate(s);
            return make_for_like(now, now->min(), now->extent(), now->body(), LoopKind::Serial);
        }
        throw CompileError("Cannot unroll loop " + describe_loop(*s.get()) + ": its extent " +
                           ir::to_string(s->extent()) +
                           " is not constant. Split it by a small constant factor and unroll the "
                           "inner loop, or set the environment variable "
                           "HL_PERMIT_FAILED_UNROLL=1 to keep it as a serial loop.");
    }

    [[noreturn]] void refuse_copies(const Stmt &s, int64_t most) const {
        std::string nest =
            copies_ == 1 ? ""
                         : fmt::format(" in each of {} copies of the enclosing loops", copies_);
        throw CompileError(
            fmt::format("Cannot unroll loop {}: this would make {} copies of its body{}, and the "
                        "limit is {} per "
                        "statement. Split it by a small constant factor and unroll the inner loop.",
                        describe_loop(*s.get()), most, nest, max_copies));
    }
};

}  // namespace

Stmt unroll_loops(const Stmt &s) {
    return UnrollLoops().mutate(s);
}

}  // namespace Pipe::lower
