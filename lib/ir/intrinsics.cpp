#include "ir/intrinsics.h"

#include <unordered_map>

namespace Pipe::ir {

namespace intrinsic {

const Properties *properties(std::string_view name) {
    using enum Role;
    constexpr int any = -1;
    static const std::unordered_map<std::string_view, Properties> table = {
        {abs, {Operation, 1, 1}},
        {absd, {Operation, 2, 2}},
        {saturating_add, {Operation, 2, 2}},
        {saturating_sub, {Operation, 2, 2}},
        {halving_add, {Operation, 2, 2}},
        {halving_sub, {Operation, 2, 2}},
        {rounding_halving_add, {Operation, 2, 2}},
        {rounding_shift_left, {Operation, 2, 2}},
        {rounding_shift_right, {Operation, 2, 2}},
        {mul_shift_right, {Operation, 3, 3}},
        {rounding_mul_shift_right, {Operation, 3, 3}},
        {popcount, {Operation, 1, 1}},
        {count_leading_zeros, {Operation, 1, 1}},
        {count_trailing_zeros, {Operation, 1, 1}},
        {div_round_to_zero, {Operation, 2, 2}},
        {mod_round_to_zero, {Operation, 2, 2}},
        {lerp, {Operation, 3, 3}},
        {shift_left, {Operation, 2, 2}},
        {shift_right, {Operation, 2, 2}},
        {bitwise_and, {Operation, 2, 2}},
        {bitwise_or, {Operation, 2, 2}},
        {bitwise_xor, {Operation, 2, 2}},
        {bitwise_not, {Operation, 1, 1}},
        {likely, {Marker, 1, 1}},
        {promise_clamped, {Marker, 3, 3}},
        {strict_float, {Barrier, 1, 1}},
        {if_then_else, {Choice, 3, 3}},
        {prefix_sum, {Prefix, 1, 1}},
        {prefix_min, {Prefix, 1, 1}},
        {prefix_max, {Prefix, 1, 1}},
        {undef, {Special, 0, 0}},
        {user_context, {Special, 0, 0}},
        {address_of, {Special, 1, 1}},
        {scatter_gather, {FrontEnd, 1, any}},
        {random, {FrontEnd, 2, 2}},
        {memoize_tag, {FrontEnd, 1, any}},
        {target_query, {FrontEnd, 1, 3}},
    };
    const auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
}

}  // namespace intrinsic

bool has_role(const ExprNode &e, intrinsic::Role role) {
    if (e.op != Op::Call || e.call_kind != CallKind::Intrinsic)
        return false;
    const intrinsic::Properties *known = intrinsic::properties(e.name);
    return known && known->role == role;
}

}  // namespace Pipe::ir
