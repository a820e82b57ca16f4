// The values of expressions.

#include <algorithm>

#include "ir/intrinsics.h"
#include "predict/body.h"
#include "predict/hash.h"
#include "predict/instructions.h"

namespace Pipe::predict {

using ir::ExprNode;
using ir::Op;

namespace {

/// Index arithmetic that address computations and strength reduction make free.
bool is_index_type(Type type) {
    return type.is_int() && type.bits() >= 32;
}

}  // namespace

Value Body::value(const Expr &e) {
    if (e->args.empty())
        return compute(e);
    // Also what is not shared: an index is asked for by the access and by its address computation.
    if (auto found = shared_.find(e.get()); found != shared_.end())
        return found->second.second;
    Value v = compute(e);
    shared_.emplace(e.get(), std::pair{e, v});
    return v;
}

Value Body::compute(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
        return {Hash().add(e.type()).add(e->uint_value).get(), -1, 0};
    case Op::FloatImm:
        return {Hash().add(e.type()).add(e->float_value).get(), -1, 0};
    case Op::StringImm:
        return {Hash().add(e->name).get(), -1, 0};
    case Op::Variable:
        return variable(*e.get());
    case Op::Let:
        return let(*e.get());
    case Op::Load:
        return load(*e.get());
    case Op::Broadcast:
        return broadcast(e);
    case Op::Call:
        if (ir::is_intrinsic(*e.get(), ir::intrinsic::if_then_else))
            return conditional(e);
        break;
    case Op::VectorReduce:
        if (const auto term = narrow_sum(*e.get()))
            return sum_of(*term, e);
        break;
    default:
        break;
    }
    const bool may_be_free = is_index_type(e.type()) && e.type().is_scalar();
    return may_be_free ? number(e) : operation(e);
}

Value Body::variable(const ExprNode &e) {
    if (Definition *d = definitions_.find(e.name)) {
        if (!d->known) {
            const Expr definition = d->value;  // the table changes meanwhile
            Value v = value(definition);
            definitions_.find(e.name)->known = v;
            return v;
        }
        return *d->known;
    }
    const Form *form = numbers_.find(e.name);
    const double regs = e.type.is_float() ? 1 : 0;
    return {Hash().add(e.name).get(), form ? form->depth() : -1, regs};
}

/// An integer scalar: a sum of multiples of loop variables costs nothing.
Value Body::number(const Expr &e) {
    const Form f = numbers_.of(e);
    if (!f.linear || f.data)
        return operation(e);
    return {Hash().add(f).get(), f.depth(), 0};
}

Value Body::let(const ExprNode &e) {
    numbers_.bind(e.name, numbers_.of(e.value()));
    bind(e.name, e.value());
    Value v = value(e.body());
    unbind(e.name);
    numbers_.unbind(e.name);
    return v;
}

/// Constants are broadcast outside of all loops, and loads broadcast what they load.
Value Body::broadcast(const Expr &e) {
    Value v = value(e->value());
    if (v.regs == 0 && v.depth < 0)
        return {Hash().add(v.id).add(e.type()).get(), -1, 1};
    v.id = Hash().add(v.id).add(e.type()).get();
    v.regs = 1;
    if (find(v.id))
        return *find(v.id);
    if (e->value()->op != Op::Load)
        charge(v.depth, instructions_of(*e.get(), target_));
    return add(v);
}

Value Body::conditional(const Expr &e) {
    const Value condition = value(e->args[0]);
    const double chance = numbers_.chance(e->args[0]);
    enter_branch(chance, condition.id);
    Value v = value(e->args[1]);
    leave_branch();
    enter_branch(1 - chance, ~condition.id);
    const Value other = value(e->args[2]);
    leave_branch();
    v.id = Hash().add(condition.id).add(v.id).add(other.id).get();
    v.depth = std::max({v.depth, other.depth, condition.depth});
    v.chain = std::max(v.chain, other.chain);
    return add(v);
}

std::optional<ir::NarrowTerm> Body::narrow_sum(const ExprNode &e) const {
    if (e.reduce_op != Op::Add)
        return std::nullopt;
    const auto term = ir::narrow_term(e.value());
    const int lanes = e.value().type().lanes() / e.type.lanes();
    return term && term->has_instruction(target_, lanes) ? term : std::nullopt;
}

/// One instruction per register of the operands.
Value Body::sum_of(const ir::NarrowTerm &term, const Expr &e) {
    Value result = value(term.a);
    const Value other = value(term.b);
    use(result), use(other);
    result.depth = std::max(result.depth, other.depth);
    result.chain = -1;
    result.id = Hash().add(uint64_t(e->op)).add(e.type()).add(result.id).add(other.id).get();
    if (const Value *known = find(result.id))
        return *known;
    Work work;
    work.arithmetic = registers(term.a.type(), target_);
    charge(result.depth, work);
    result.regs = registers(e.type(), target_);
    return add(result);
}

Value Body::operation(const Expr &e) {
    Value result;
    Hash hash;
    hash.add(uint64_t(e->op)).add(e.type()).add(e->name).add(uint64_t(e->index)).add(e->uint_value);
    std::optional<uint64_t> multiplied;
    uint64_t sum_of_ids = 0;
    for (const Expr &arg : e->args) {
        if (!arg.defined())
            continue;
        const Value v = value(arg);
        use(v);
        hash.add(v.id);
        sum_of_ids += v.id;
        result.depth = std::max(result.depth, v.depth);
        if (v.chain > result.chain)
            result.chain = v.chain, result.origin = v.origin;
        if (arg->op == Op::Mul && arg.type().is_float() && v.depth == result.depth)
            multiplied = v.id;
    }
    if (ir::is_binary(e->op) && ir::is_commutative(e->op)) {
        hash = Hash();
        hash.add(uint64_t(e->op)).add(e.type());
        hash.add(sum_of_ids);
    }
    result.id = hash.get();
    if (const Value *known = find(result.id))
        return *known;
    result.regs = registers(e.type(), target_);
    if (e.type().is_scalar() && !e.type().is_float())
        result.regs = 0;
    const bool fused = multiplied && e.type().is_float() && (e->op == Op::Add || e->op == Op::Sub);
    if (result.chain >= 0)
        result.chain += latency_of(*e.get());
    if (fused)  // the product is in no register
        levels_.back().live.erase(*multiplied);
    else
        charge(result.depth, instructions_of(*e.get(), target_));
    return add(result);
}

}  // namespace Pipe::predict
