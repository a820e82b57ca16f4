#include "reference/value.h"

#include <cmath>
#include <cstring>
#include <map>
#include <string_view>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"

namespace Pipe::reference {
namespace {

__int128 widen(Type type, Value v) {
    return type.is_int() ? static_cast<__int128>(v.i)
                         : static_cast<__int128>(static_cast<uint64_t>(v.i));
}

__int128 lowest(Type type) {
    return type.min_int();
}
__int128 highest(Type type) {
    return type.is_int() ? static_cast<__int128>(type.max_int())
                         : static_cast<__int128>(type.max_uint());
}

/// The lowest `bits` bits, interpreted as the type.
int64_t wrap(Type type, __int128 value) {
    auto bits = static_cast<uint64_t>(value);
    int unused = 64 - type.bits();
    if (unused == 0)
        return static_cast<int64_t>(bits);
    return type.is_int() ? static_cast<int64_t>(bits << unused) >> unused
                         : static_cast<int64_t>((bits << unused) >> unused);
}

Value rounded(Type type, double value) {
    return Value::of_float(ir::round_to(type, value));
}

__int128 remainder(__int128 a, __int128 b) {
    if (b == 0)
        return 0;
    __int128 r = a % b;
    return r < 0 ? r + (b > 0 ? b : -b) : r;
}

template <typename T> Value compare(ir::Op op, T a, T b) {
    switch (op) {
    case ir::Op::EQ:
        return Value::of_int(a == b);
    case ir::Op::NE:
        return Value::of_int(a != b);
    case ir::Op::LT:
        return Value::of_int(a < b);
    case ir::Op::LE:
        return Value::of_int(a <= b);
    case ir::Op::GT:
        return Value::of_int(a > b);
    default:
        return Value::of_int(a >= b);
    }
}

/// T is the type in which the operation is rounded.
template <typename T> Value float_binary(ir::Op op, T a, T b) {
    switch (op) {
    case ir::Op::Add:
        return Value::of_float(a + b);
    case ir::Op::Sub:
        return Value::of_float(a - b);
    case ir::Op::Mul:
        return Value::of_float(a * b);
    case ir::Op::Div:
        return Value::of_float(a / b);
    case ir::Op::Mod: {
        T quotient = std::floor(a / b);
        T whole = b * quotient;
        return Value::of_float(a - whole);
    }
    case ir::Op::Min:
        return Value::of_float(a < b ? a : b);
    case ir::Op::Max:
        return Value::of_float(a > b ? a : b);
    default:
        throw InternalError("reference: operation on floats");
    }
}

/// An integer as a 16-bit float. Digits beyond the precision of a double only decide on which side
/// of a tie the value lies, for which any last bit will do.
Value small_float(Type to, bool negative, uint64_t bits) {
    uint64_t size = negative ? 0 - bits : bits;
    if (size >> 53)
        size = (size & ~uint64_t{0x7ff}) | (size & 0x7ff ? 0x800 : 0);
    auto value = static_cast<double>(size);
    return rounded(to, negative ? -value : value);
}

}  // namespace

Value Arithmetic::integer(Type type, __int128 value) {
    bool overflows = value < lowest(type) || value > highest(type);
    if (overflows && type.is_int() && type.bits() >= 32)
        undefined = "signed integer overflow";
    return Value::of_int(wrap(type, value));
}

Value Arithmetic::integer_binary(ir::Op op, Type type, __int128 a, __int128 b) {
    switch (op) {
    case ir::Op::Add:
        return integer(type, a + b);
    case ir::Op::Sub:
        return integer(type, a - b);
    case ir::Op::Mul:  // the product of two uint64 may exceed 2^127: wraps, as required
        return integer(type, static_cast<__int128>(static_cast<unsigned __int128>(a) *
                                                   static_cast<unsigned __int128>(b)));
    case ir::Op::Div:
        return integer(type, b == 0 ? 0 : (a - remainder(a, b)) / b);
    case ir::Op::Mod:
        return integer(type, remainder(a, b));
    case ir::Op::Min:
        return integer(type, a < b ? a : b);
    case ir::Op::Max:
        return integer(type, a > b ? a : b);
    case ir::Op::And:
        return Value::of_int(a != 0 && b != 0);
    case ir::Op::Or:
        return Value::of_int(a != 0 || b != 0);
    default:
        throw InternalError("reference: operation on integers");
    }
}

Value Arithmetic::binary(ir::Op op, Type type, Value a, Value b) {
    if (type.is_float()) {
        if (ir::is_comparison(op))
            return compare(op, a.f, b.f);
        if (type.bits() == 64)
            return float_binary<double>(op, a.f, b.f);
        // A float16 has less than half the bits of a float, so rounding twice equals rounding once.
        Value result = float_binary<float>(op, static_cast<float>(a.f), static_cast<float>(b.f));
        return rounded(type, result.f);
    }
    if (ir::is_comparison(op))
        return compare(op, widen(type, a), widen(type, b));
    return integer_binary(op, type, widen(type, a), widen(type, b));
}

Value Arithmetic::cast(Type to, Type from, Value a) {
    if (to.is_bool())
        return Value::of_int(from.is_float() ? a.f != 0 : a.i != 0);
    if (from.is_int_or_uint() && to.is_int_or_uint())
        return Value::of_int(wrap(to, a.i));
    if (from.is_float() && to.is_float())
        return rounded(to, a.f);
    if (to.is_float()) {  // rounds once, from the integer itself
        bool negative = from.is_int() && a.i < 0;
        auto bits = static_cast<uint64_t>(a.i);
        if (to.bits() == 32)
            return Value::of_float(negative ? static_cast<float>(a.i) : static_cast<float>(bits));
        if (to.bits() == 16)
            return small_float(to, negative, bits);
        return Value::of_float(negative ? static_cast<double>(a.i) : static_cast<double>(bits));
    }
    double whole = std::trunc(a.f);
    double below = static_cast<double>(lowest(to)),
           above = std::ldexp(1.0, to.bits() - to.is_int());
    if (whole >= below && whole < above) {
        return Value::of_int(to.is_int() ? static_cast<int64_t>(whole)
                                         : static_cast<int64_t>(static_cast<uint64_t>(whole)));
    }
    undefined = "float out of the integer type's range";
    if (std::isnan(whole))
        return Value::of_int(0);
    return Value::of_int(wrap(to, whole < below ? lowest(to) : highest(to)));
}

namespace {

/// Shifts by any amount: bits shifted out are lost, bits shifted in are 0 or the sign.
Value shift(Type type, Value a, int64_t left) {
    __int128 wide = widen(type, a);
    if (left < 0)
        return Value::of_int(wrap(type, wide >> -left));
    return Value::of_int(
        wrap(type, static_cast<__int128>(static_cast<unsigned __int128>(wide) << left)));
}

}  // namespace

std::optional<Value> Arithmetic::intrinsic(const std::string &name, Type result,
                                           const std::vector<Type> &types,
                                           const std::vector<Value> &args) {
    namespace in = ir::intrinsic;
    if (name == in::likely || name == in::strict_float || name == in::promise_clamped)
        return args.at(0);
    Type type = types.at(0);
    std::vector<__int128> numbers;
    for (size_t i = 0; i < args.size(); i++)
        numbers.push_back(widen(types[i], args[i]));
    if (auto value = ir::integer_op(name, result, types, numbers))
        return integer(result, *value);
    Value a = args[0];
    if (name == in::bitwise_not)
        return Value::of_int(wrap(type, ~static_cast<__int128>(a.i)));
    if (name == in::abs && type.is_float())
        return Value::of_float(std::fabs(a.f));
    if (name == in::abs)
        return Value::of_int(
            wrap(result, a.i < 0 && type.is_int() ? -widen(type, a) : widen(type, a)));
    if (args.size() < 2)
        return std::nullopt;
    Value b = args[1];
    if (name == in::absd && type.is_float())
        return Value::of_float(std::fabs(binary(ir::Op::Sub, type, a, b).f));
    if (name == in::absd) {
        __int128 difference = widen(type, a) - widen(type, b);
        return Value::of_int(wrap(result, difference < 0 ? -difference : difference));
    }
    if (name == in::bitwise_and)
        return Value::of_int(a.i & b.i);
    if (name == in::bitwise_or)
        return Value::of_int(a.i | b.i);
    if (name == in::bitwise_xor)
        return Value::of_int(a.i ^ b.i);
    bool to_left = name == in::shift_left;
    if (to_left || name == in::shift_right) {
        __int128 amount = widen(types[1], b);
        if (amount > 64)
            amount = 64;
        if (amount < -64)
            amount = -64;
        return shift(type, a, static_cast<int64_t>(to_left ? amount : -amount));
    }
    return std::nullopt;
}

Value reinterpret(Type to, Type from, Value a) {
    unsigned char bytes[8] = {};
    store(from, bytes, a);
    return load(to, bytes);
}

namespace {

struct Unary {
    float (*single)(float);
    double (*dbl)(double);
};
struct Binary {
    float (*single)(float, float);
    double (*dbl)(double, double);
};

template <typename T> T inverse(T x) {
    return 1 / x;
}
template <typename T> T inverse_sqrt(T x) {
    return 1 / std::sqrt(x);
}

const std::map<std::string_view, Unary> unary_functions = {
    {"sqrt", {sqrtf, sqrt}},
    {"floor", {floorf, floor}},
    {"ceil", {ceilf, ceil}},
    {"round", {rintf, rint}},
    {"trunc", {truncf, trunc}},
    {"sin", {sinf, sin}},
    {"cos", {cosf, cos}},
    {"tan", {tanf, tan}},
    {"asin", {asinf, asin}},
    {"acos", {acosf, acos}},
    {"atan", {atanf, atan}},
    {"sinh", {sinhf, sinh}},
    {"cosh", {coshf, cosh}},
    {"tanh", {tanhf, tanh}},
    {"asinh", {asinhf, asinh}},
    {"acosh", {acoshf, acosh}},
    {"atanh", {atanhf, atanh}},
    {"log", {logf, log}},
    {"exp", {expf, exp}},
    {"log2", {log2f, log2}},
    {"exp2", {exp2f, exp2}},
    {"log10", {log10f, log10}},
    {"cbrt", {cbrtf, cbrt}},
    {"fabs", {fabsf, fabs}},
    {"erf", {erff, erf}},
    {"fast_inverse", {inverse<float>, inverse<double>}},
    {"fast_inverse_sqrt", {inverse_sqrt<float>, inverse_sqrt<double>}},
};
const std::map<std::string_view, Binary> binary_functions = {
    {"pow", {powf, pow}},
    {"atan2", {atan2f, atan2}},
    {"fmod", {fmodf, fmod}},
    {"hypot", {hypotf, hypot}},
};

}  // namespace

std::optional<Value> pure_extern(const std::string &name, const std::vector<Value> &args) {
    bool single = name.ends_with("_f32");
    if (!single && !name.ends_with("_f64"))
        return std::nullopt;
    std::string_view base = std::string_view(name).substr(0, name.size() - 4);
    if (args.size() == 1) {
        double x = args[0].f;
        if (base == "is_nan")
            return Value::of_int(std::isnan(x));
        if (base == "is_inf")
            return Value::of_int(std::isinf(x));
        if (base == "is_finite")
            return Value::of_int(std::isfinite(x));
        auto found = unary_functions.find(base);
        if (found == unary_functions.end())
            return std::nullopt;
        return Value::of_float(single ? found->second.single(static_cast<float>(x))
                                      : found->second.dbl(x));
    }
    if (args.size() == 3 && base == "fma") {
        double x = args[0].f, y = args[1].f, z = args[2].f;
        return Value::of_float(
            single ? std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z))
                   : std::fma(x, y, z));
    }
    auto found = binary_functions.find(base);
    if (args.size() != 2 || found == binary_functions.end())
        return std::nullopt;
    double x = args[0].f, y = args[1].f;
    return Value::of_float(single
                               ? found->second.single(static_cast<float>(x), static_cast<float>(y))
                               : found->second.dbl(x, y));
}

namespace {

template <typename T> T read(const void *address) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return value;
}

}  // namespace

void *address(const BufferView &view, const std::vector<int64_t> &at) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); d++)
        offset += (at[d] - view.dims[d].min) * view.dims[d].stride;
    return static_cast<char *>(view.host) + offset * view.type.bytes();
}

Value load(Type type, const void *address) {
    if (type.is_bfloat())
        return Value::of_float(static_cast<double>(read<bfloat16_t>(address)));
    if (type.is_float() && type.bits() == 16)
        return Value::of_float(static_cast<double>(read<float16_t>(address)));
    if (type.is_float())
        return Value::of_float(type.bits() == 32 ? read<float>(address) : read<double>(address));
    if (type.is_bool())
        return Value::of_int(read<uint8_t>(address) != 0);
    switch (type.bits()) {
    case 8:
        return Value::of_int(wrap(type, read<uint8_t>(address)));
    case 16:
        return Value::of_int(wrap(type, read<uint16_t>(address)));
    case 32:
        return Value::of_int(wrap(type, read<uint32_t>(address)));
    default:
        return Value::of_int(read<int64_t>(address));
    }
}

void store(Type type, void *address, Value value) {
    if (type.is_float() && type.bits() == 32) {
        auto single = static_cast<float>(value.f);
        std::memcpy(address, &single, sizeof(single));
    } else if (type.is_float() && type.bits() == 16) {
        uint16_t bits =
            type.is_bfloat() ? bfloat16_t(value.f).to_bits() : float16_t(value.f).to_bits();
        std::memcpy(address, &bits, sizeof(bits));
    } else {
        // Every target is little-endian: the low bytes of an integer come first.
        std::memcpy(address, &value.i, static_cast<size_t>(type.bytes()));
    }
}

}  // namespace Pipe::reference
