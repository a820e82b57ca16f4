#include "lower/prefix_loops.h"

#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/operand_chain.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/vectorize_exprs.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr int least_lanes = 8;

const char *prefix_name(Op op) {
    return op == Op::Min   ? intrinsic::prefix_min
           : op == Op::Max ? intrinsic::prefix_max
                           : intrinsic::prefix_sum;
}

/// A loop that stores running sums.
struct PrefixLoop {
    Expr index;
    int64_t step = 1;  ///< of the index, from one iteration to the next
    Chain value;       ///< special: the element before
};

/// Whether evaluating it does more than read memory and compute.
bool has_effects(const Expr &e) {
    return contains(e, [](const ExprNode &n) {
        return n.op == Op::Call && n.call_kind != CallKind::Intrinsic &&
               n.call_kind != CallKind::PureExtern;
    });
}

std::optional<PrefixLoop> match(const Stmt &loop) {
    const Stmt &store = loop->body();
    if (loop->kind != LoopKind::Serial || store->op != StmtOp::Store || store->atomic ||
        store->value().type().is_vector() || store->predicate().defined())
        return std::nullopt;
    PrefixLoop result;
    result.index = store->index();
    if (!has_no_overflow(result.index.type()))
        return std::nullopt;
    const Expr next = add(make_variable(loop->min().type(), loop->name), int32(1));
    const auto step =
        constant_difference(simplify(substitute(loop->name, next, result.index)), result.index);
    if (!step || std::abs(*step) != 1)
        return std::nullopt;
    result.step = *step;
    auto reads_at = [&](const ExprNode &e, int64_t distance) {
        return e.op == Op::Load && e.name == store->name && !e.predicate().defined() &&
               constant_difference(e.element(), result.index) == distance;
    };
    auto value =
        take_operand(store->value(), [&](const Expr &e) { return reads_at(*e, -result.step); });
    if (!value || has_effects(value->rest) || contains(value->rest, [&](const ExprNode &e) {
            return e.op == Op::Load && e.name == store->name && !reads_at(e, 0);
        }))
        return std::nullopt;
    result.value = *value;
    return result;
}

class PrefixLoops : public Mutator {
  public:
    explicit PrefixLoops(const Target &target) : target_(target) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::For && is_gpu(s->kind))
            return s;
        if (s->op == StmtOp::For)
            if (auto found = match(s); found && has_worth(s, *found))
                return in_vectors(s, *found);
        return Mutator::mutate(s);
    }

  private:
    bool has_worth(const Stmt &loop, const PrefixLoop &found) const {
        const Type type = found.value.rest.type();
        int64_t extent = 0;
        const int lanes = target_.natural_vector_size(type);
        return lanes >= least_lanes && !type.is_bool() &&
               (!type.is_float() || (type.bits() >= 32 && target_.has_feature(Target::FastMath))) &&
               !(as_const_int(loop->extent(), &extent) && extent < lanes);
    }

    Stmt in_vectors(const Stmt &loop, const PrefixLoop &found) const {
        const Expr &min = loop->min(), &extent = loop->extent();
        const int lanes = target_.natural_vector_size(found.value.rest.type());
        const Expr whole = simplify(div(max(extent, int32(0)), int32(lanes)));
        const Expr done = mul(whole, int32(lanes));
        Stmt rest = make_for(loop->name, simplify(add(min, done)), simplify(sub(extent, done)),
                             LoopKind::Serial, loop->body(), Partitioning::Remainder, loop->origin);
        Stmt vectors = make_if(simplify(make_binary(Op::LT, int32(0), whole)),
                               blocks(loop, found, whole, lanes));
        return make_block({simplify(vectors), rest});
    }

    /// All whole blocks. \pre there is one
    Stmt blocks(const Stmt &loop, const PrefixLoop &found, const Expr &count, int lanes) const {
        const std::string &buffer = loop->body()->name;
        const Type type = found.value.rest.type();
        const std::string block = loop->name + ".block", carry = loop->name + ".carry",
                          prefix = loop->name + ".prefix";
        const Expr first =
            simplify(add(loop->min(), mul(make_variable(Int(32), block), int32(lanes))));
        Lanes in_lanes{loop->name, first, lanes};
        in_lanes.set_ramp(loop->name, make_ramp(first, int32(1), lanes));
        ExprVectorizer vectorizer(in_lanes);
        auto as_vector = [&](const Expr &e) {
            const Expr v = vectorizer.vec(e);
            return v.type().is_scalar() ? make_broadcast(v, lanes) : v;
        };
        const Op op = found.value.op;
        const Type vector = type.with_lanes(lanes);
        const Expr sums = make_variable(vector, prefix), zero = int32(0);
        const Expr before = make_load(type, carry, zero);
        Stmt body = make_block(
            {make_store(buffer, vectorizer.vec(found.index),
                        make_binary(op, sums, make_broadcast(before, lanes))),
             make_store(carry, zero, make_binary(op, before, make_slice(sums, lanes - 1, 1, 1)))});
        body = make_let(
            prefix,
            make_call(vector, prefix_name(op), {as_vector(found.value.rest)}, CallKind::Intrinsic),
            body);
        body = make_for(block, zero, count, LoopKind::Serial, body);
        const Expr at_first = substitute(loop->name, loop->min(), found.value.special);
        return make_allocate(carry, type, {int32(1)}, MemoryType::Auto,
                             make_block({make_store(carry, zero, at_first), body}));
    }

    const Target &target_;
};

}  // namespace

Stmt prefix_loops(const Stmt &s, const Target &target) {
    return PrefixLoops(target).mutate(s);
}

}  // namespace Pipe::lower
