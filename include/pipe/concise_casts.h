#pragma once
// Casts by name of the type, for `using namespace Pipe::ConciseCasts`.

#include <pipe/operators.h>

namespace Pipe::ConciseCasts {

// clang-format off
inline Expr i8(const Expr &e) { return cast(Int(8), e); }
inline Expr i16(const Expr &e) { return cast(Int(16), e); }
inline Expr i32(const Expr &e) { return cast(Int(32), e); }
inline Expr i64(const Expr &e) { return cast(Int(64), e); }
inline Expr u8(const Expr &e) { return cast(UInt(8), e); }
inline Expr u16(const Expr &e) { return cast(UInt(16), e); }
inline Expr u32(const Expr &e) { return cast(UInt(32), e); }
inline Expr u64(const Expr &e) { return cast(UInt(64), e); }
inline Expr f16(const Expr &e) { return cast(Float(16), e); }
inline Expr bf16(const Expr &e) { return cast(BFloat(16), e); }
inline Expr f32(const Expr &e) { return cast(Float(32), e); }
inline Expr f64(const Expr &e) { return cast(Float(64), e); }
// Clamped to the range of the type first.
inline Expr i8_sat(const Expr &e) { return saturating_cast(Int(8), e); }
inline Expr i16_sat(const Expr &e) { return saturating_cast(Int(16), e); }
inline Expr i32_sat(const Expr &e) { return saturating_cast(Int(32), e); }
inline Expr i64_sat(const Expr &e) { return saturating_cast(Int(64), e); }
inline Expr u8_sat(const Expr &e) { return saturating_cast(UInt(8), e); }
inline Expr u16_sat(const Expr &e) { return saturating_cast(UInt(16), e); }
inline Expr u32_sat(const Expr &e) { return saturating_cast(UInt(32), e); }
inline Expr u64_sat(const Expr &e) { return saturating_cast(UInt(64), e); }
// clang-format on

}  // namespace Pipe::ConciseCasts
