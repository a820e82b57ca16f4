#pragma once
// The names of CallKind::Intrinsic, with their meaning. Types follow the arguments unless said.

namespace Pipe::ir::intrinsic {

inline constexpr const char *abs = "abs";                  ///< (x); of intN gives uintN
inline constexpr const char *absd = "absd";                ///< (a, b) |a - b|; of intN gives uintN
inline constexpr const char *shift_left = "shift_left";    ///< (x, amount)
inline constexpr const char *shift_right = "shift_right";  ///< (x, amount); arithmetic for signed x
inline constexpr const char *bitwise_and = "bitwise_and";
inline constexpr const char *bitwise_or = "bitwise_or";
inline constexpr const char *bitwise_xor = "bitwise_xor";
inline constexpr const char *bitwise_not = "bitwise_not";
inline constexpr const char *likely = "likely";            ///< (x) = x; loop partitioning favours this arm
inline constexpr const char *strict_float = "strict_float";  ///< (x) = x; nothing below may be contracted
inline constexpr const char *undef = "undef";              ///< () any value; a Provide of it is dropped
/// (e0, e1, ...): in an update definition, one of several stores at once (see scatter()); the front
/// end's only, lowering makes one store of each.
inline constexpr const char *scatter_gather = "scatter_gather";
inline constexpr const char *promise_clamped = "promise_clamped";  ///< (x, lo, hi) = x
inline constexpr const char *if_then_else = "if_then_else";  ///< (c, t, f): only one arm is evaluated

}  // namespace Pipe::ir::intrinsic

/// The names of CallKind::Extern that code generation knows (lower/trace.h makes them).
namespace Pipe::ir::extern_function {

/// (event code, func, tag, parent, value index, coordinates...): int32, what the handler answers
inline constexpr const char *trace = "trace";
/// (value, event code, func, parent, value index, coordinates...) = value
inline constexpr const char *trace_value = "trace_value";

}  // namespace Pipe::ir::extern_function
// PureExtern calls are named by C99 function and type suffix: sqrt_f32, exp_f64, pow_f32, floor_f32,
// ceil, round (half to even), trunc, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh,
// acosh, atanh, log, exp, fmod_f32 ...
