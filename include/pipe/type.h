#pragma once
// Element types of expressions and buffers.

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <pipe/float16.h>

namespace Pipe {

class Expr;

namespace detail {
struct TypeCodes {
    enum Code : uint8_t { Int, UInt, Float, Handle, BFloat };
};
}  // namespace detail

/// The kind of a number; also usable as an int. Type::Int is TypeCode::Int, and so on.
using TypeCode = detail::TypeCodes::Code;

/// A Type as plain data, in traces and in halide_buffer_t. Converts to and from Type.
struct TypeData {
    TypeCode code = TypeCode::Int;
    uint8_t bits = 0;
    uint16_t lanes = 1;

    constexpr TypeData() = default;
    constexpr TypeData(TypeCode c, int b, int l = 1)
        : code(c), bits(static_cast<uint8_t>(b)), lanes(static_cast<uint16_t>(l)) {}
    constexpr int bytes() const { return (bits + 7) / 8; }
    constexpr TypeData with_lanes(int l) const { return {code, bits, l}; }
    constexpr TypeData element_of() const { return with_lanes(1); }
    /// The four bytes as one integer; the lowest byte is the code.
    constexpr uint32_t as_u32() const {
        return static_cast<uint32_t>(code) | static_cast<uint32_t>(bits) << 8 |
               static_cast<uint32_t>(lanes) << 16;
    }
    constexpr auto operator<=>(const TypeData &) const = default;
};

/// The type of a value: the kind of number, its width in bits, and the number of vector lanes.
/// Scalars have one lane. `bool` is a one-bit unsigned integer.
class Type {
  public:
    using Code = TypeCode;
    // Not `using enum`: GCC 12 crashes on Type::UInt in templates.
    static constexpr Code Int = Code::Int, UInt = Code::UInt, Float = Code::Float,
                          Handle = Code::Handle, BFloat = Code::BFloat;

    constexpr Type() = default;
    constexpr Type(Code code, int bits, int lanes = 1) : data_(code, bits, lanes) {}
    constexpr Type(const TypeData &data) : data_(data) {}
    constexpr operator TypeData() const { return data_; }

    constexpr Code code() const { return data_.code; }
    /// 1, 8, 16, 32 or 64; 0 means "undefined type"
    constexpr int bits() const { return data_.bits; }
    /// 1 for a scalar
    constexpr int lanes() const { return data_.lanes; }
    /// Bytes of one lane in memory (a bool takes one byte).
    constexpr int bytes() const { return data_.bytes(); }

    constexpr bool defined() const { return bits() != 0; }
    constexpr bool is_bool() const { return is_uint() && bits() == 1; }
    constexpr bool is_int() const { return code() == Code::Int; }
    constexpr bool is_uint() const { return code() == Code::UInt; }
    constexpr bool is_int_or_uint() const { return is_int() || is_uint(); }
    /// Includes BFloat.
    constexpr bool is_float() const { return code() == Code::Float || is_bfloat(); }
    constexpr bool is_bfloat() const { return code() == Code::BFloat; }
    constexpr bool is_handle() const { return code() == Code::Handle; }
    constexpr bool is_scalar() const { return lanes() == 1; }
    constexpr bool is_vector() const { return lanes() != 1; }

    /// Whether overflow in sums and products of this type is defined to wrap around, as in Halide:
    /// for unsigned integers, int8 and int16.
    constexpr bool can_overflow() const { return is_uint() || can_overflow_int(); }
    constexpr bool can_overflow_int() const { return is_int() && bits() <= 16; }
    /// Handles have no further type.
    constexpr bool same_handle_type(const Type &) const { return true; }

    constexpr Type element_of() const { return with_lanes(1); }
    constexpr Type with_lanes(int lanes) const { return {code(), bits(), lanes}; }
    constexpr Type with_bits(int bits) const { return {code(), bits, lanes()}; }
    constexpr Type with_code(Code code) const { return {code, bits(), lanes()}; }
    /// Twice and half the bits.
    constexpr Type widen() const { return with_bits(bits() * 2); }
    constexpr Type narrow() const { return with_bits(bits() / 2); }

    constexpr auto operator<=>(const Type &) const = default;
    friend constexpr bool operator==(const TypeData &a, const Type &b) { return a == b.data_; }

    /// Largest value as int64/uint64 for integers (bool: 1).
    int64_t max_int() const;
    uint64_t max_uint() const;
    int64_t min_int() const;
    /// Largest and smallest value as a constant of this type; infinite for floats.
    Expr max() const;
    Expr min() const;
    /// Whether `value` is the largest or smallest value of an integer type; false for other types.
    template <std::integral I> bool is_max(I value) const {
        return is_int_or_uint() && std::cmp_equal(+value, max_uint());
    }
    template <std::integral I> bool is_min(I value) const {
        return is_int_or_uint() && std::cmp_equal(+value, min_int());
    }
    /// Whether this type represents the number exactly. Every float type represents NaN.
    template <typename Number>
    requires(std::is_arithmetic_v<Number>) bool can_represent(Number value) const {
        if constexpr (std::is_floating_point_v<Number>)
            return holds(static_cast<double>(value));
        else if constexpr (std::is_signed_v<Number>)
            return holds(static_cast<int64_t>(value));
        else
            return holds(static_cast<uint64_t>(value));
    }
    /// Whether this type represents all values of the other type.
    bool can_represent(Type other) const;

  private:
    bool holds(int64_t value) const;
    bool holds(uint64_t value) const;
    bool holds(double value) const;

    TypeData data_;
};

constexpr Type Int(int bits, int lanes = 1) {
    return {Type::Code::Int, bits, lanes};
}
constexpr Type UInt(int bits, int lanes = 1) {
    return {Type::Code::UInt, bits, lanes};
}
constexpr Type Float(int bits, int lanes = 1) {
    return {Type::Code::Float, bits, lanes};
}
/// bfloat16_t; only 16 bits exist.
constexpr Type BFloat(int bits = 16, int lanes = 1) {
    return {Type::Code::BFloat, bits, lanes};
}
constexpr Type Bool(int lanes = 1) {
    return {Type::Code::UInt, 1, lanes};
}
constexpr Type Handle(int lanes = 1) {
    return {Type::Code::Handle, 64, lanes};
}

/// The Pipe type of a C++ scalar type.
template <typename T> constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, bool>) {
        return Bool();
    } else if constexpr (std::is_same_v<U, float16_t>) {
        return Float(16);
    } else if constexpr (std::is_same_v<U, bfloat16_t>) {
        return BFloat(16);
    } else if constexpr (std::is_floating_point_v<U>) {
        static_assert(sizeof(U) <= 8, "long double has no Pipe type");
        return Float(8 * sizeof(U));
    } else if constexpr (std::is_pointer_v<U>) {
        return Handle();
    } else {
        static_assert(std::is_integral_v<U>, "only numbers have a Pipe type");
        return std::is_signed_v<U> ? Int(8 * sizeof(U)) : UInt(8 * sizeof(U));
    }
}

/// "int32", "uint8x16", "float32", "bfloat16", "bool".
std::string to_string(Type type);

}  // namespace Pipe
