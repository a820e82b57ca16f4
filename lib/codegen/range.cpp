#include "codegen/range.h"

#include <algorithm>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "support/integers.h"

namespace Pipe::codegen {

using ir::Op;

namespace {

constexpr int max_depth = 8;

using VariableFacts = std::function<Range(const ir::ExprNode &)>;

/// A bound on the result in exact arithmetic. If it does not fit the type, the result may have
/// wrapped (or overflow is undefined): then only the range of the type is known.
Range fit(Type type, __int128 lo, __int128 hi) {
    Range all = range_of_type(type);
    if (lo < all.lo || hi > all.hi)
        return all;
    return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

Range product(Type type, Range a, Range b) {
    __int128 corners[] = {static_cast<__int128>(a.lo) * b.lo, static_cast<__int128>(a.lo) * b.hi,
                          static_cast<__int128>(a.hi) * b.lo, static_cast<__int128>(a.hi) * b.hi};
    auto [lo, hi] = std::minmax_element(std::begin(corners), std::end(corners));
    return fit(type, *lo, *hi);
}

Range unite(Range a, Range b) {
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Range range_at(const Expr &e, const VariableFacts &variable, int depth);

Range binary_range(const Expr &e, const VariableFacts &variable, int depth) {
    Type type = e.type();
    Range a = range_at(e->args[0], variable, depth), b = range_at(e->args[1], variable, depth);
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
        return b.lo > 0 ? Range{0, b.hi - 1} : Range{0, range_of_type(type).hi};
    default:
        return range_of_type(type);
    }
}

Range integer_op(const Expr &e, const VariableFacts &variable, int depth) {
    std::vector<ir::ConstantInterval> args;
    for (const Expr &arg : e->args) {
        Range range = range_at(arg, variable, depth);
        args.push_back({range.lo, range.hi});
    }
    ir::ConstantInterval result = ir::integer_op_range(e, args);
    Range all = range_of_type(e.type());
    return {std::max(result.lo, all.lo), std::min(result.hi, all.hi)};
}

Range range_at(const Expr &e, const VariableFacts &variable, int depth) {
    Type type = e.type();
    if (!type.is_int_or_uint())
        return {};
    Range all = range_of_type(type);
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
        Range known = variable(*e);
        return {std::max(known.lo, all.lo), std::min(known.hi, all.hi)};
    }
    case Op::Broadcast:
        return range_at(e->args[0], variable, depth + 1);
    case Op::Ramp: {
        Range base = range_at(e->args[0], variable, depth + 1);
        Range steps =
            product(Int(64), range_at(e->args[1], variable, depth + 1), {0, type.lanes() - 1});
        return fit(type, static_cast<__int128>(base.lo) + steps.lo,
                   static_cast<__int128>(base.hi) + steps.hi);
    }
    case Op::Cast: {
        if (!e->args[0].type().is_int_or_uint())
            return all;
        Range from = range_at(e->args[0], variable, depth + 1);
        return fit(type, from.lo, from.hi);
    }
    case Op::Select:
        return unite(range_at(e->args[1], variable, depth + 1),
                     range_at(e->args[2], variable, depth + 1));
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
        return std::min(factor_at(e->args[0], most, depth + 1),
                        factor_at(e->args[1], most, depth + 1));
    case Op::Mul:
        return std::min(most, factor_at(e->args[0], most, depth + 1) *
                                  factor_at(e->args[1], most, depth + 1));
    case Op::Cast:
        return factor_at(e->args[0], most, depth + 1);
    default:
        return 1;
    }
}

}  // namespace

Range range_of_type(Type type) {
    if (!type.is_int_or_uint() || (type.is_uint() && type.bits() == 64))
        return {};
    return {type.min_int(), type.is_int() ? type.max_int() : static_cast<int64_t>(type.max_uint())};
}

Range range_of(const Expr &e, const VariableFacts &variable) {
    return range_at(e, variable, 0);
}

int64_t known_factor(const Expr &e, int64_t most) {
    return factor_at(e, most, 0);
}

}  // namespace Pipe::codegen
