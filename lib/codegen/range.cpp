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
ir::ConstantInterval fit(Type type, const ir::ConstantInterval &result) {
    const ir::ConstantInterval all = range_of_type(type);
    return result.within(all) ? result : all;
}

/// The same for sums and products: an infinite end stands for an overflow of int64, too.
ir::ConstantInterval fit_finite(Type type, const ir::ConstantInterval &result) {
    return result.has_lo() && result.has_hi() ? fit(type, result) : range_of_type(type);
}

ir::ConstantInterval range_at(const Expr &e, const VariableFacts &variable, int depth);

ir::ConstantInterval binary_range(const Expr &e, const VariableFacts &variable, int depth) {
    Type type = e.type();
    ir::ConstantInterval a = range_at(e->a(), variable, depth),
                         b = range_at(e->b(), variable, depth);
    switch (e->op) {
    case Op::Add:
        return fit_finite(type, a + b);
    case Op::Sub:
        return fit_finite(type, a - b);
    case Op::Mul:
        return fit_finite(type, a * b);
    case Op::Min:
        return smaller(a, b);
    case Op::Max:
        return larger(a, b);
    case Op::Div:
        return fit(type, quotient(a, b));
    case Op::Mod:
        return fit(type, remainder(a, b));
    default:
        return range_of_type(type);
    }
}

ir::ConstantInterval integer_op(const Expr &e, const VariableFacts &variable, int depth) {
    std::vector<ir::ConstantInterval> args;
    for (const Expr &arg : e->args)
        args.push_back(range_at(arg, variable, depth));
    return intersection(ir::integer_op_range(e, args), range_of_type(e.type()));
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
    case Op::Variable:
        return intersection(variable(*e), all);
    case Op::Broadcast:
        return range_at(e->value(), variable, depth + 1);
    case Op::Ramp: {
        const ir::ConstantInterval lanes{0, type.lanes() - 1};
        return fit_finite(type, range_at(e->base(), variable, depth + 1) +
                                    range_at(e->stride(), variable, depth + 1) * lanes);
    }
    case Op::Cast:
        return e->value().type().is_int_or_uint()
                   ? fit(type, range_at(e->value(), variable, depth + 1))
                   : all;
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
