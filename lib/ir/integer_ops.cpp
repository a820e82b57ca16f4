#include "ir/integer_ops.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>

#include "ir/intrinsics.h"

namespace Pipe::ir {
namespace {

using UnsignedWide = unsigned __int128;

/// The operands of an operation.
struct Operands {
    Type result;
    const std::vector<Type> &types;
    const std::vector<WideInt> &values;
    WideInt operator[](size_t i) const { return values[i]; }
};

WideInt lowest(Type type) {
    return type.min_int();
}
WideInt highest(Type type) {
    return type.is_int() ? static_cast<WideInt>(type.max_int())
                         : static_cast<WideInt>(type.max_uint());
}
WideInt saturate(Type type, WideInt value) {
    return std::clamp(value, lowest(type), highest(type));
}

WideInt saturating_add(const Operands &a) {
    return saturate(a.result, a[0] + a[1]);
}
WideInt saturating_sub(const Operands &a) {
    return saturate(a.result, a[0] - a[1]);
}
WideInt halving_add(const Operands &a) {
    return (a[0] + a[1]) >> 1;
}
WideInt rounding_halving_add(const Operands &a) {
    return (a[0] + a[1] + 1) >> 1;
}
WideInt halving_sub(const Operands &a) {
    return (a[0] - a[1]) >> 1;
}

/// value * 2^-amount, halves rounded up, saturated.
WideInt rounding_shift(Type type, WideInt value, WideInt amount) {
    if (amount <= 0) {
        bool too_far = -amount >= type.bits();
        if (too_far && value != 0)
            return value < 0 ? lowest(type) : highest(type);
        return too_far ? 0 : saturate(type, value * (WideInt{1} << static_cast<int>(-amount)));
    }
    if (amount > 70)  // more than any value has bits
        return 0;
    int n = static_cast<int>(amount);
    return (value + (WideInt{1} << (n - 1))) >> n;
}
WideInt rounding_shift_right(const Operands &a) {
    return rounding_shift(a.result, a[0], a[1]);
}
WideInt rounding_shift_left(const Operands &a) {
    return rounding_shift(a.result, a[0], -a[1]);
}

/// The product shifted right. W: signed or unsigned, so that no product overflows.
template <typename W> W shifted_product(const Operands &a, bool rounded) {
    W product = static_cast<W>(a[0]) * static_cast<W>(a[1]);
    constexpr int most = 127;  // maximum shift in C++
    auto shifted = [&](WideInt amount) -> W {
        return amount <= most ? product >> static_cast<int>(amount) : (product >> most) >> 1;
    };
    if (!rounded || a[2] == 0)
        return shifted(a[2]);
    W doubled = shifted(a[2] - 1);
    return (doubled >> 1) + (doubled & 1);
}
WideInt mul_shift(const Operands &a, bool rounded) {
    if (a.result.is_int())
        return saturate(a.result, shifted_product<WideInt>(a, rounded));
    auto value = shifted_product<UnsignedWide>(a, rounded);
    return static_cast<WideInt>(std::min(value, static_cast<UnsignedWide>(highest(a.result))));
}
WideInt mul_shift_right(const Operands &a) {
    return mul_shift(a, false);
}
WideInt rounding_mul_shift_right(const Operands &a) {
    return mul_shift(a, true);
}

UnsignedWide bits_of(const Operands &a) {
    int unused = 128 - a.types[0].bits();
    return static_cast<UnsignedWide>(a[0]) << unused >> unused;
}
int leading_zeros(UnsignedWide value, int bits) {
    return std::countl_zero(static_cast<uint64_t>(value)) - (64 - bits);
}
WideInt popcount(const Operands &a) {
    return std::popcount(static_cast<uint64_t>(bits_of(a)));
}
WideInt count_leading_zeros(const Operands &a) {
    return leading_zeros(bits_of(a), a.types[0].bits());
}
WideInt count_trailing_zeros(const Operands &a) {
    return std::min<int>(std::countr_zero(static_cast<uint64_t>(bits_of(a))), a.types[0].bits());
}

WideInt div_round_to_zero(const Operands &a) {
    return a[1] == 0 ? 0 : a[0] / a[1];
}
WideInt mod_round_to_zero(const Operands &a) {
    return a[1] == 0 ? 0 : a[0] % a[1];
}

/// zero + (one - zero) * weight / maximum weight, rounded to nearest; ties cannot occur.
WideInt lerp(const Operands &a) {
    WideInt low = lowest(a.result);
    auto whole = static_cast<UnsignedWide>(highest(a.result) - low);
    auto zero = static_cast<UnsignedWide>(a[0] - low), one = static_cast<UnsignedWide>(a[1] - low);
    auto weight = static_cast<UnsignedWide>(a[2]);
    UnsignedWide sum = zero * (whole - weight) + one * weight;
    return static_cast<WideInt>((sum + whole / 2) / whole) + low;
}

struct Operation {
    WideInt (*value)(const Operands &);
    bool monotone;  ///< in each argument, for fixed others
};

const std::map<std::string_view, Operation> &operations() {
    namespace in = intrinsic;
    static const std::map<std::string_view, Operation> table{
        {in::saturating_add, {saturating_add, true}},
        {in::saturating_sub, {saturating_sub, true}},
        {in::halving_add, {halving_add, true}},
        {in::rounding_halving_add, {rounding_halving_add, true}},
        {in::halving_sub, {halving_sub, true}},
        {in::rounding_shift_left, {rounding_shift_left, true}},
        {in::rounding_shift_right, {rounding_shift_right, true}},
        {in::mul_shift_right, {mul_shift_right, true}},
        {in::rounding_mul_shift_right, {rounding_mul_shift_right, true}},
        {in::popcount, {popcount, false}},
        {in::count_leading_zeros, {count_leading_zeros, false}},
        {in::count_trailing_zeros, {count_trailing_zeros, false}},
        {in::div_round_to_zero, {div_round_to_zero, false}},
        {in::mod_round_to_zero, {mod_round_to_zero, false}},
        {in::lerp, {lerp, true}},
    };
    return table;
}

/// The minimum and maximum value at the corners of the box of arguments.
struct Extremes {
    WideInt least, most;
};

Extremes at_corners(const Operation &op, Type result, const std::vector<Type> &types,
                    const std::vector<std::pair<WideInt, WideInt>> &ends) {
    Extremes extremes{0, 0};
    for (size_t corner = 0; corner < size_t{1} << ends.size(); corner++) {
        std::vector<WideInt> values;
        for (size_t i = 0; i < ends.size(); i++)
            values.push_back(corner >> i & 1 ? ends[i].second : ends[i].first);
        WideInt value = op.value({result, types, values});
        if (corner == 0)
            extremes = {value, value};
        extremes.least = std::min(extremes.least, value);
        extremes.most = std::max(extremes.most, value);
    }
    return extremes;
}

WideInt magnitude(const std::pair<WideInt, WideInt> &ends) {
    return std::max(ends.second, -ends.first);
}

/// The ranges of the operations that are not monotone.
Extremes by_name(const std::string &name, const Operation &op, const std::vector<Type> &types,
                 const std::vector<std::pair<WideInt, WideInt>> &ends) {
    const auto &[lo, hi] = ends[0];
    if (name == intrinsic::div_round_to_zero) {
        if (ends[1].first > 0 || ends[1].second < 0)
            return at_corners(op, types[0], types, ends);
        WideInt most = magnitude(ends[0]);
        return {-most, most};
    }
    if (name == intrinsic::mod_round_to_zero) {
        WideInt most = std::max<WideInt>(magnitude(ends[1]) - 1, 0);
        return {std::min<WideInt>(0, std::max(-most, lo)),
                std::max<WideInt>(0, std::min(most, hi))};
    }
    int bits = types[0].bits();
    if (lo < 0)  // the sign counts as a bit, too
        return {0, bits};
    int used = bits - leading_zeros(static_cast<UnsignedWide>(hi), bits);
    if (name == intrinsic::popcount)
        return {lo > 0 ? 1 : 0, used};
    if (name == intrinsic::count_leading_zeros)
        return {bits - used, leading_zeros(static_cast<UnsignedWide>(lo), bits)};
    return {0, lo > 0 ? used - 1 : bits};  // trailing zeros
}

}  // namespace

bool is_integer_op(const Expr &call) {
    return call->op == Op::Call && call->call_kind == CallKind::Intrinsic &&
           operations().count(call->name) != 0;
}

bool is_monotone(const Expr &integer_op) {
    return operations().at(integer_op->name).monotone;
}

std::optional<WideInt> integer_op(const std::string &name, Type result,
                                  const std::vector<Type> &types,
                                  const std::vector<WideInt> &args) {
    auto found = operations().find(name);
    if (found == operations().end())
        return {};
    return found->second.value({result, types, args});
}

ConstantInterval integer_op_range(const Expr &call, const std::vector<ConstantInterval> &args) {
    const Operation &op = operations().at(call->name);
    Type type = call.type().element_of();
    std::vector<Type> types;
    std::vector<std::pair<WideInt, WideInt>> ends;
    for (size_t i = 0; i < args.size(); i++) {
        types.push_back(call->args[i].type().element_of());
        WideInt lo = lowest(types[i]), hi = highest(types[i]);
        ends.emplace_back(args[i].has_lo() ? std::max(lo, WideInt{args[i].lo}) : lo,
                          args[i].has_hi() ? std::min(hi, WideInt{args[i].hi}) : hi);
        if (ends[i].first > ends[i].second)  // an empty range: never evaluated
            return ConstantInterval::of_type(type);
    }
    Extremes range =
        op.monotone ? at_corners(op, type, types, ends) : by_name(call->name, op, types, ends);
    bool fits = range.least >= lowest(type) && range.most <= highest(type);
    if (!fits)  // wraps
        return ConstantInterval::of_type(type);
    auto end = [](WideInt value) {
        return static_cast<int64_t>(std::min<WideInt>(value, ConstantInterval::plus_infinity));
    };
    return {end(range.least), end(range.most)};
}

}  // namespace Pipe::ir
