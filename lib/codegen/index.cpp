// Index arithmetic. On a CPU it is done in 64 bits from the start (because overflow of int32 is undefined,
// the result is the same), so that loops contain no sign extensions; on a GPU in 32 bits, which the address extends.
// It is done as sums of terms (see Offset). These sums wrap: int64 data is also added here, in a different order than
// the user's.

#include <algorithm>
#include <cstdlib>

#include "codegen/expr_emitter.h"
#include "ir/intrinsics.h"
#include "jit/runtime/gpu_abi.h"

namespace Pipe::codegen {

using ir::Op;
using llvm::Value;

namespace {

int64_t wrapping_sum(int64_t a, int64_t factor, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(factor) * static_cast<uint64_t>(b));
}

/// a + factor * b. Equal terms are merged; those of one depth stay in the order in which they came.
Offset sum(const Offset &a, const Offset &b, int64_t factor = 1) {
    Offset result = a;
    result.constant = wrapping_sum(a.constant, factor, b.constant);
    for (const Term &t : b.terms) {
        auto same = std::find_if(result.terms.begin(), result.terms.end(),
                                 [&](const Term &u) { return u.value == t.value; });
        if (same != result.terms.end()) {
            same->factor = wrapping_sum(same->factor, factor, t.factor);
            if (same->factor == 0)
                result.terms.erase(same);
            continue;
        }
        auto place = std::find_if(result.terms.begin(), result.terms.end(),
                                  [&](const Term &u) { return u.depth > t.depth; });
        result.terms.insert(place, {t.value, wrapping_sum(0, factor, t.factor), t.depth});
    }
    return result;
}

/// Terms [begin, end) of the depth of the first; moves `begin` behind them.
std::vector<Term> next_depth(const std::vector<Term> &terms, size_t *begin) {
    size_t first = *begin;
    while (*begin < terms.size() && terms[*begin].depth == terms[first].depth)
        ++*begin;
    return {terms.begin() + static_cast<std::ptrdiff_t>(first),
            terms.begin() + static_cast<std::ptrdiff_t>(*begin)};
}

}  // namespace

Value *ExprEmitter::sum_of(const std::vector<Term> &terms) {
    Value *total = nullptr;
    for (const Term &t : terms) {
        bool minus = t.factor == -1;
        Value *v = t.factor == 1 || minus ? t.value : b_.CreateMul(t.value, index(t.factor));
        if (!total) {
            total = minus ? b_.CreateNeg(v) : v;
        } else {
            total = minus ? b_.CreateSub(total, v) : b_.CreateAdd(total, v);
        }
    }
    return total;
}

Value *ExprEmitter::index(int64_t value) {
    return b_.getIntN(frame_.index_type()->getBitWidth(), static_cast<uint64_t>(value));
}

Value *ExprEmitter::wide(const Expr &e) {
    if (!frame_.narrow_indices)
        return materialize(offset(e));
    return e.type() == Int(32) ? b_.CreateSExt(materialize(offset(e)), b_.getInt64Ty())
                               : b_.CreateIntCast(emit(e), b_.getInt64Ty(), e.type().is_int());
}

Value *ExprEmitter::counter(const Expr &e) {
    return e.type() == Int(32) ? materialize(offset(e)) : wide(e);
}

Value *ExprEmitter::materialize(const Offset &o) {
    Value *constant = index(o.constant);
    if (o.is_constant())
        return constant;
    Value *total = sum_of(o.terms);
    return o.constant == 0 ? total : b_.CreateAdd(total, constant);
}

Offset ExprEmitter::settled(const Offset &o) {
    Offset result{{}, o.constant};
    for (size_t i = 0; i < o.terms.size();) {
        int depth = o.terms[i].depth;
        result.terms.push_back({sum_of(next_depth(o.terms, &i)), 1, depth});
    }
    return result;
}

Value *ExprEmitter::address(const std::string &buffer, Type element, const Offset &index) {
    const BufferBinding *bound = frame_.buffers.find(buffer);
    if (!bound)
        throw InternalError("code generation: the buffer " + buffer + " is not bound");
    llvm::Type *t = memory_type(unit_.context, element.element_of());
    Value *p = bound->address;
    if (frame_.narrow_indices)
        return narrow_address(t, p, index);
    for (size_t i = 0; i < index.terms.size();) {
        p = b_.CreateGEP(t, p, sum_of(next_depth(index.terms, &i)));
    }
    if (index.constant == 0)
        return p;
    return b_.CreateGEP(t, p, b_.getInt64(static_cast<uint64_t>(index.constant)));
}

/// One extension of the whole sum: parts of it, such as the first element of a row, may not fit in 32 bits.
Value *ExprEmitter::narrow_address(llvm::Type *element, Value *base, const Offset &index) {
    const bool is_displacement = std::abs(index.constant) < runtime::most_displacement;
    Offset sum = index;
    if (is_displacement)
        sum.constant = 0;
    Value *p = base;
    if (!sum.is_constant() || sum.constant != 0)
        p = b_.CreateGEP(element, p, b_.CreateSExt(materialize(sum), b_.getInt64Ty()));
    if (!is_displacement || index.constant == 0)
        return p;
    return b_.CreateGEP(element, p, b_.getInt64(static_cast<uint64_t>(index.constant)));
}

Offset ExprEmitter::product(const Offset &a, const Offset &b) {
    if (a.is_constant())
        return sum({}, b, a.constant);
    if (b.is_constant())
        return sum({}, a, b.constant);
    if (b.terms.size() > 1 || b.constant != 0) {
        if (a.terms.size() == 1 && a.constant == 0)
            return product(b, a);
        int depth = std::max(a.terms.back().depth, b.terms.back().depth);
        return Offset::of(b_.CreateMul(materialize(a), materialize(b)), depth);
    }
    // Each term separately (a row times its stride): loop-invariant terms remain invariant.
    const Term &by = b.terms[0];
    Offset result = sum({}, b, a.constant);
    for (const Term &t : a.terms) {
        Offset term = Offset::of(b_.CreateMul(t.value, by.value), std::max(t.depth, by.depth));
        result = sum(result, term, wrapping_sum(0, t.factor, by.factor));
    }
    return result;
}

int ExprEmitter::depth_of(const Expr &e, int levels) const {
    bool unknown = e->op == Op::Load || e->op == Op::Let || e->op == Op::Call || levels == 0;
    if (unknown)
        return frame_.loop_depth;
    if (e->op == Op::Variable)
        return variable(*e).depth;
    int depth = 0;
    for (const Expr &arg : e->args)
        depth = std::max(depth, depth_of(arg, levels - 1));
    return depth;
}

Offset ExprEmitter::offset(const Expr &e) {
    if (auto *known = memo_.offsets.find(e))
        return *known;
    Offset result = compute_offset(e);
    memo_.offsets.add(e, result);
    return result;
}

Offset ExprEmitter::compute_offset(const Expr &e) {
    Type type = e.type();
    bool exact = type.is_int() && type.bits() >= 32;  // does not wrap
    int64_t value = 0;
    if (ir::as_const_int(e, &value))
        return {{}, value};
    switch (e->op) {
    case Op::Variable:
        if (auto &bound = variable(*e); bound.offset)
            return *bound.offset;
        break;
    case Op::Add:
        if (exact)
            return sum(offset(e->a()), offset(e->b()));
        break;
    case Op::Sub:
        if (exact)
            return sum(offset(e->a()), offset(e->b()), -1);
        break;
    case Op::Mul:
        if (exact)
            return product(offset(e->a()), offset(e->b()));
        break;
    case Op::Cast:
        if (type == Int(64) && e->value().type().is_int_or_uint() && !e->value().type().is_bool()) {
            return offset(e->value());
        }
        break;
    case Op::Call:
        if (ir::is_marker(*e.get()))
            return offset(e->args[0]);
        break;
    default:
        break;
    }
    return Offset::of(b_.CreateIntCast(emit(e), frame_.index_type(), type.is_int()), depth_of(e));
}

std::optional<Affine> ExprEmitter::affine(const Expr &e) {
    Type type = e.type();
    if (!type.is_int() || type.bits() < 32)
        return std::nullopt;
    switch (e->op) {
    case Op::Ramp:
        return Affine{offset(e->base()), offset(e->stride())};
    case Op::Broadcast:
        return Affine{offset(e->value()), Offset{}};
    case Op::Variable:
        return variable(*e).affine;
    case Op::Cast:
        return affine(e->value());
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
        break;
    default:
        return std::nullopt;
    }
    std::optional<Affine> first = affine(e->a());
    std::optional<Affine> second = first ? affine(e->b()) : std::nullopt;
    if (!second)
        return std::nullopt;
    const Affine &x = *first, &y = *second;
    if (e->op == Op::Add)
        return Affine{sum(x.start, y.start), sum(x.stride, y.stride)};
    if (e->op == Op::Sub)
        return Affine{sum(x.start, y.start, -1), sum(x.stride, y.stride, -1)};
    auto is_zero = [](const Offset &o) { return o.is_constant() && o.constant == 0; };
    auto times = [&](const Affine &a, const Offset &scalar) {
        return Affine{product(a.start, scalar), product(a.stride, scalar)};
    };
    if (is_zero(y.stride))
        return times(x, y.start);
    if (is_zero(x.stride))
        return times(y, x.start);
    return std::nullopt;
}

}  // namespace Pipe::codegen
