#pragma once
// Element types of expressions and buffers.

#include <cstdint>
#include <string>
#include <type_traits>

#include <pipe/float16.h>

namespace Pipe {

/// The type of a value: a kind of number, its width in bits, and how many lanes a vector of it has.
/// Scalars have one lane. `bool` is an unsigned integer of one bit.
struct Type {
    enum class Code : uint8_t { Int, UInt, Float, Handle, BFloat };

    Code code = Code::Int;
    uint8_t bits = 0;    ///< 1, 8, 16, 32 or 64; 0 means "undefined type"
    uint16_t lanes = 1;  ///< 1 for a scalar

    constexpr Type() = default;
    constexpr Type(Code c, int b, int l = 1)
        : code(c), bits(static_cast<uint8_t>(b)), lanes(static_cast<uint16_t>(l)) {}

    constexpr bool defined() const { return bits != 0; }
    constexpr bool is_bool() const { return code == Code::UInt && bits == 1; }
    constexpr bool is_int() const { return code == Code::Int; }
    constexpr bool is_uint() const { return code == Code::UInt; }
    constexpr bool is_int_or_uint() const { return is_int() || is_uint(); }
    /// BFloat included.
    constexpr bool is_float() const { return code == Code::Float || code == Code::BFloat; }
    constexpr bool is_bfloat() const { return code == Code::BFloat; }
    constexpr bool is_handle() const { return code == Code::Handle; }
    constexpr bool is_scalar() const { return lanes == 1; }
    constexpr bool is_vector() const { return lanes != 1; }
    /// Bytes that one lane takes in memory (a bool takes one byte).
    constexpr int bytes() const { return (bits + 7) / 8; }
    constexpr Type element_of() const { return {code, bits, 1}; }
    constexpr Type with_lanes(int l) const { return {code, bits, l}; }
    constexpr Type with_bits(int b) const { return {code, b, lanes}; }
    constexpr Type with_code(Code c) const { return {c, bits, lanes}; }
    constexpr bool operator==(const Type &) const = default;

    /// Largest value as int64/uint64 for integers (bool: 1).
    int64_t max_int() const;
    uint64_t max_uint() const;
    int64_t min_int() const;
    /// True if every value in [lo, hi] is representable (integers only).
    bool can_represent(int64_t value) const;
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
/// bfloat16_t; there is only the one of 16 bits.
constexpr Type BFloat(int bits = 16, int lanes = 1) {
    return {Type::Code::BFloat, bits, lanes};
}
constexpr Type Bool(int lanes = 1) {
    return {Type::Code::UInt, 1, lanes};
}
constexpr Type Handle() {
    return {Type::Code::Handle, 64, 1};
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
