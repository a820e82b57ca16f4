// Index arithmetic. It is done with 64 bits from the start (the overflow of int32 being undefined,
// the result is the same), and constants are kept apart: so the loads of a stencil share one
// address and differ by displacements, and no loop extends a sign.

#include "codegen/expr_emitter.h"

#include "ir/intrinsics.h"

namespace Pipe::codegen {

using ir::Op;
using llvm::Value;

Value *ExprEmitter::materialise(Offset o) {
    if (!o.rest) return b_.getInt64(static_cast<uint64_t>(o.constant));
    if (o.constant == 0) return o.rest;
    return b_.CreateNSWAdd(o.rest, b_.getInt64(static_cast<uint64_t>(o.constant)));
}

Offset ExprEmitter::sum(Offset a, Offset b) {
    Value *rest = !a.rest ? b.rest : !b.rest ? a.rest : b_.CreateNSWAdd(a.rest, b.rest);
    return {rest, a.constant + b.constant};
}

Offset ExprEmitter::difference(Offset a, Offset b) {
    Value *rest = a.rest;
    if (b.rest) rest = a.rest ? b_.CreateNSWSub(a.rest, b.rest) : b_.CreateNSWNeg(b.rest);
    return {rest, a.constant - b.constant};
}

Offset ExprEmitter::product(Offset a, Offset b) {
    if (a.is_constant()) std::swap(a, b);
    if (!b.is_constant()) return {b_.CreateNSWMul(materialise(a), materialise(b)), 0};
    if (a.is_constant()) return {nullptr, a.constant * b.constant};
    if (b.constant == 0) return {};
    Value *rest = b.constant == 1
                      ? a.rest
                      : b_.CreateNSWMul(a.rest, b_.getInt64(static_cast<uint64_t>(b.constant)));
    return {rest, a.constant * b.constant};
}

Offset ExprEmitter::offset(const Expr &e) {
    if (auto *known = memo_.offsets.find(e)) return *known;
    Offset result = compute_offset(e);
    memo_.offsets.add(e, result);
    return result;
}

Offset ExprEmitter::compute_offset(const Expr &e) {
    Type type = e.type();
    bool exact = type.is_int() && type.bits >= 32;  // does not wrap
    int64_t value = 0;
    if (ir::as_const_int(e, &value)) return {nullptr, value};
    switch (e->op) {
    case Op::Variable:
        if (auto &bound = variable(*e); bound.offset) return *bound.offset;
        break;
    case Op::Add:
        if (exact) return sum(offset(e->args[0]), offset(e->args[1]));
        break;
    case Op::Sub:
        if (exact) return difference(offset(e->args[0]), offset(e->args[1]));
        break;
    case Op::Mul:
        if (exact) return product(offset(e->args[0]), offset(e->args[1]));
        break;
    case Op::Cast:
        if (type == Int(64) && e->args[0].type().is_int_or_uint() && !e->args[0].type().is_bool()) {
            return offset(e->args[0]);
        }
        break;
    case Op::Call:
        if (e->call_kind == ir::CallKind::Intrinsic &&
            (e->name == ir::intrinsic::likely || e->name == ir::intrinsic::promise_clamped)) {
            return offset(e->args[0]);
        }
        break;
    default: break;
    }
    return {b_.CreateIntCast(emit(e), b_.getInt64Ty(), type.is_int()), 0};
}

std::optional<Affine> ExprEmitter::affine(const Expr &e) {
    Type type = e.type();
    if (!type.is_int() || type.bits < 32) return std::nullopt;
    switch (e->op) {
    case Op::Ramp: return Affine{offset(e->args[0]), offset(e->args[1])};
    case Op::Broadcast: return Affine{offset(e->args[0]), Offset{}};
    case Op::Variable: return variable(*e).affine;
    case Op::Cast: return affine(e->args[0]);
    case Op::Add:
    case Op::Sub:
    case Op::Mul: break;
    default: return std::nullopt;
    }
    auto x = affine(e->args[0]);
    auto y = x ? affine(e->args[1]) : std::nullopt;
    if (!y) return std::nullopt;
    if (e->op == Op::Add) return Affine{sum(x->start, y->start), sum(x->stride, y->stride)};
    if (e->op == Op::Sub) {
        return Affine{difference(x->start, y->start), difference(x->stride, y->stride)};
    }
    auto is_zero = [](Offset o) { return o.is_constant() && o.constant == 0; };
    if (!is_zero(y->stride)) std::swap(x, y);
    if (!is_zero(y->stride)) return std::nullopt;
    return Affine{product(x->start, y->start), product(x->stride, y->start)};
}

}  // namespace Pipe::codegen
