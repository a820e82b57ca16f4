#pragma once
// The names of CallKind::Intrinsic and their meaning. Result types follow the arguments unless
// stated otherwise. What passes may assume of each is in one table (intrinsics.cpp), which is read with the
// functions at the end. A new intrinsic needs an entry there, its value in lib/reference or, if it is an
// operation on integers, in integer_ops.cpp, and its code in lib/codegen.

#include <string_view>

#include "ir/expr_node.h"

namespace Pipe::ir::intrinsic {

inline constexpr const char *abs = "abs";    ///< (x); of intN gives uintN
inline constexpr const char *absd = "absd";  ///< (a, b) |a - b|; of intN gives uintN
// Integer operations: see ir/integer_ops.h for their values.
inline constexpr const char *saturating_add = "saturating_add";  ///< (a, b)
inline constexpr const char *saturating_sub = "saturating_sub";  ///< (a, b)
inline constexpr const char *halving_add = "halving_add";        ///< (a, b) (a + b) >> 1
inline constexpr const char *halving_sub = "halving_sub";        ///< (a, b) (a - b) >> 1
inline constexpr const char *rounding_halving_add = "rounding_halving_add";  ///< (a, b)
inline constexpr const char *rounding_shift_left = "rounding_shift_left";    ///< (a, amount)
inline constexpr const char *rounding_shift_right = "rounding_shift_right";  ///< (a, amount)
inline constexpr const char *mul_shift_right = "mul_shift_right";  ///< (a, b, unsigned amount)
inline constexpr const char *rounding_mul_shift_right = "rounding_mul_shift_right";
inline constexpr const char *popcount = "popcount";                          ///< (x)
inline constexpr const char *count_leading_zeros = "count_leading_zeros";    ///< (x)
inline constexpr const char *count_trailing_zeros = "count_trailing_zeros";  ///< (x)
inline constexpr const char *div_round_to_zero = "div_round_to_zero";        ///< (x, y)
inline constexpr const char *mod_round_to_zero = "mod_round_to_zero";        ///< (x, y)
/// (zero, one, weight): integers; the weight is unsigned with as many bits, and its largest value
/// means 1.
inline constexpr const char *lerp = "lerp";
inline constexpr const char *shift_left = "shift_left";    ///< (x, amount)
inline constexpr const char *shift_right = "shift_right";  ///< (x, amount); arithmetic for signed x
inline constexpr const char *bitwise_and = "bitwise_and";
inline constexpr const char *bitwise_or = "bitwise_or";
inline constexpr const char *bitwise_xor = "bitwise_xor";
inline constexpr const char *bitwise_not = "bitwise_not";
inline constexpr const char *likely = "likely";  ///< (x) = x; loop partitioning favors this arm
inline constexpr const char *strict_float =
    "strict_float";                            ///< (x) = x; nothing inside may be contracted
inline constexpr const char *undef = "undef";  ///< () any value; a Provide of it is dropped
/// (e0, e1, ...): in an update definition, one of several stores at once (see scatter()). Front end
/// only: lowering emits one store for each.
inline constexpr const char *scatter_gather = "scatter_gather";
/// (seed, whether the user gave it): uint32. Front end only: definitions replace it by arithmetic.
inline constexpr const char *random = "random";
/// (x, key...) = x; the memoization key that stands for x. Front end only: freeze removes it.
inline constexpr const char *memoize_tag = "memoize_tag";
/// (which, subject, subject): a property of the target. Front end only: freeze replaces it by a
/// constant.
inline constexpr const char *target_query = "target_query";
inline constexpr const char *promise_clamped = "promise_clamped";  ///< (x, lo, hi) = x
inline constexpr const char *if_then_else =
    "if_then_else";  ///< (c, t, f): only one arm is evaluated
inline constexpr const char *user_context =
    "user_context";  ///< (): handle, the call's JITUserContext
inline constexpr const char *address_of =
    "address_of";  ///< (a load): handle, where it would load from
/// (vector): each lane combined with all lanes before it. Lowering makes them (lower/prefix_loops.h).
inline constexpr const char *prefix_sum = "prefix_sum";
inline constexpr const char *prefix_min = "prefix_min";
inline constexpr const char *prefix_max = "prefix_max";

/// What a pass that does not handle an intrinsic by name may assume of its calls.
enum class Role : uint8_t {
    Operation,  ///< of each lane of its arguments, all of which are evaluated
    Marker,  ///< its first argument, about which it states something: bounds and simplification look through it
    Barrier,   ///< its first argument, but what is inside may not be combined with what is outside
    Choice,    ///< (c, t, f): only one of t and f is evaluated
    Prefix,    ///< each lane depends on other lanes of the argument
    Special,   ///< none of these: does not compute a value from its arguments' values
    FrontEnd,  ///< replaced before lowering
};
struct Properties {
    Role role;
    int min_args, max_args;  ///< the number of arguments; max_args < 0: any number
};
/// Null if there is no intrinsic of this name.
const Properties *properties(std::string_view name);

}  // namespace Pipe::ir::intrinsic

namespace Pipe::ir {

/// Whether the node is a call of an intrinsic with this role.
bool has_role(const ExprNode &e, intrinsic::Role role);
/// likely(x), promise_clamped(x, ..)
inline bool is_marker(const ExprNode &e) {
    return has_role(e, intrinsic::Role::Marker);
}
/// A call of an intrinsic whose value is its first argument.
inline bool keeps_value(const ExprNode &e) {
    return is_marker(e) || has_role(e, intrinsic::Role::Barrier);
}
/// select or if_then_else: args are the condition and the two values.
inline bool is_choice(const ExprNode &e) {
    return e.op == Op::Select || has_role(e, intrinsic::Role::Choice);
}

}  // namespace Pipe::ir

/// The names of CallKind::Extern that code generation implements.
namespace Pipe::ir::extern_function {

/// (condition, value, ...) = value; prints all values, which may be strings, if the condition is
/// true
inline constexpr const char *print = "print";
/// (condition, value, ...) = value; fails with all values if the condition is false
inline constexpr const char *require = "require";

/// ("function", args...): the values of a Func that a C function computes. Args: scalars, and whole
/// Funcs and images (graph/extern_stage.h). Lowering replaces it by the following.
/// ("function", "the Func and its line", args...): calls the function; returns 0, or the kernel
/// ends with an error.
inline constexpr const char *extern_definition = "extern_definition";
inline constexpr const char *extern_stage = "extern_stage";
/// (any value of the element type, host address, then min, extent and stride of each dimension):
/// handle, a RawBuffer on the stack
inline constexpr const char *raw_buffer = "raw_buffer";
/// (raw buffer, dimension): int32, its present value
inline constexpr const char *raw_min = "raw_min", *raw_extent = "raw_extent";

// Generated by lower/trace.h.
/// (event code, func, tag, parent, value index, coordinates...): int32, the handler's result
inline constexpr const char *trace = "trace";
/// (value, event code, func, parent, value index, coordinates...) = value
inline constexpr const char *trace_value = "trace_value";

}  // namespace Pipe::ir::extern_function
// PureExtern calls are named by C99 function and type suffix: sqrt_f32, exp_f64, pow_f32,
// floor_f32, ceil, round (half to even), trunc, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh,
// tanh, asinh, acosh, atanh, log, exp, erf, fmod_f32 ...; fast_inverse_f32, fast_inverse_sqrt_f32.
// With index = users_function (extern_functions.h) the name is that of a user's C function.
