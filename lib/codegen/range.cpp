#include "codegen/range.h"

#include <algorithm>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "support/integers.h"

namespace Pipe::codegen {

using ir::Op;

namespace {

constexpr int max_depth = 8;

using VariableFacts = std::function<ir::ConstantInterval(const ir::ExprNode &)>;

/// A bound on the result in exact arithmetic. If it does not fit the type, the result may have
/// wrapped (or overflow is undefined): then only the range of the type is known.
ir::ConstantInterval fit(Type type, __int128 lo, __int128 hi) {
    ir::ConstantInterval all = range_of_type(type);
    if (lo < all.lo || hi > all.hi)
        return all;
    return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

ir::ConstantInterval product(Type type, ir::ConstantInterval a, ir::ConstantInterval b) {
    __int128 corners[] = {static_cast<__int128>(a.lo) * b.lo, static_cast<__int128>(a.lo) * b.hi,
                          static_cast<__int128>(a.hi) * b.lo, static_cast<__int128>(a.hi) * b.hi};
    auto [lo, hi] = std::minmax_element(std::begin(corners), std::end(corners));
    return fit(type, *lo, *hi);
}

ir::ConstantInterval range_at(const Expr &e, const VariableFacts &variable, int depth);

ir::ConstantInterval binary_range(const Expr &e, const VariableFacts &variable, int depth) {
    Type type = e.type();
    ir::ConstantInterval a = range_at(e->a(), variable, depth),
                         b = range_at(e->b(), variable, depth);
    switch (e->op) {
    case Op::Add:
        return fit(type, static_cast<__int128>(a.lo) + b.lo, static_cast<__int128>(a.hi) + b.hi);
    case Op::Sub:
        return fit(type, static_cast<__int128>(a.lo) - b.hi, static_cast<__int128>(a.hi) - b.lo);
    case Op::Mul:
        return product(type, a, b);
    case Op::Min:
        return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::Max:
        return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::Div:
        if (b.lo > 0) {
            return {floor_div(a.lo, a.lo < 0 ? b.lo : b.hi),
                    floor_div(a.hi, a.hi < 0 ? b.hi : b.lo)};
        }
        return range_of_type(type);
    case Op::Mod:
        return b.lo > 0 ? ir::ConstantInterval{0, b.hi - 1}
                        : ir::ConstantInterval{0, range_of_type(type).hi};
    default:
        return range_of_type(type);
    }
}

ir::ConstantInterval integer_op(const Expr &e, const VariableFacts &variable, int depth) {
    std::vector<ir::ConstantInterval> args;
    for (const Expr &arg : e->args)
        args.push_back(range_at(arg, variable, depth));
    ir::ConstantInterval result = ir::integer_op_range(e, args);
    ir::ConstantInterval all = range_of_type(e.type());
    return {std::max(result.lo, all.lo), std::min(result.hi, all.hi)};
}

ir::ConstantInterval range_at(const Expr &e, const VariableFacts &variable, int depth) {
    Type type = e.type();
    if (!type.is_int_or_uint())
        return {};
    ir::ConstantInterval all = range_of_type(type);
    if (type.bits() == 64 && type.is_uint())
        return all;  // does not fit into int64
    int64_t value = 0;
    if (ir::as_const_int(e, &value))
        return {value, value};
    if (depth == max_depth)
        return all;
    if (ir::is_binary(e->op) && !ir::is_comparison(e->op))
        return binary_range(e, variable, depth + 1);
    switch (e->op) {
    case Op::Variable: {
        ir::ConstantInterval known = variable(*e);
        return {std::max(known.lo, all.lo), std::min(known.hi, all.hi)};
    }
    case Op::Broadcast:
        return range_at(e->value(), variable, depth + 1);
    case Op::Ramp: {
        ir::ConstantInterval base = range_at(e->base(), variable, depth + 1);
        ir::ConstantInterval steps =
            product(Int(64), range_at(e->stride(), variable, depth + 1), {0, type.lanes() - 1});
        return fit(type, static_cast<__int128>(base.lo) + steps.lo,
                   static_cast<__int128>(base.hi) + steps.hi);
    }
    case Op::Cast: {
        if (!e->value().type().is_int_or_uint())
            return all;
        ir::ConstantInterval from = range_at(e->value(), variable, depth + 1);
        return fit(type, from.lo, from.hi);
    }
    case Op::Select:
        return ir::hull(range_at(e->if_true(), variable, depth + 1),
                        range_at(e->if_false(), variable, depth + 1));
    case Op::Call:
        if (ir::is_marker(*e.get()))
            return range_at(e->args[0], variable, depth + 1);
        return ir::is_integer_op(e) ? integer_op(e, variable, depth + 1) : all;
    default:
        return all;
    }
}

int64_t factor_at(const Expr &e, int64_t most, int depth) {
    int64_t value = 0;
    if (ir::as_const_int(e, &value))
        return value == 0 ? most : std::min(value & -value, most);
    if (depth == max_depth)
        return 1;
    switch (e->op) {
    case Op::Add:
    case Op::Sub:
        return std::min(factor_at(e->a(), most, depth + 1), factor_at(e->b(), most, depth + 1));
    case Op::Mul:
        return std::min(most,
                        factor_at(e->a(), most, depth + 1) * factor_at(e->b(), most, depth + 1));
    case Op::Cast:
        return factor_at(e->value(), most, depth + 1);
    default:
        return 1;
    }
}

}  // namespace

ir::ConstantInterval range_of_type(Type type) {
    if (!type.is_int_or_uint() || (type.is_uint() && type.bits() == 64))
        return {};
    return {type.min_int(), type.is_int() ? type.max_int() : static_cast<int64_t>(type.max_uint())};
}

ir::ConstantInterval range_of(const Expr &e, const VariableFacts &variable) {
    return range_at(e, variable, 0);
}

int64_t known_factor(const Expr &e, int64_t most) {
    return factor_at(e, most, 0);
}

}  // namespace Pipe::codegen
