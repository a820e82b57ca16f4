#pragma once
// Scalar arithmetic exactly as defined in ir/expr_node.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include <pipe/buffer.h>

namespace Pipe::reference {

/// One scalar. Its type is that of its expression: integers are stored in `i` (sign- or
/// zero-extended, uint64 as its bit pattern), floats in `f` (a float32 exactly).
struct Value {
    enum class State : uint8_t {
        Fresh,    ///< storage only: never requested
        Unknown,  ///< requested; it depends on a value that has not been computed yet
        Undef,    ///< undef(): a store of it is dropped
        Known,
    };
    State state = State::Unknown;
    union {
        int64_t i = 0;
        double f;
    };

    bool known() const { return state == State::Known; }
    static Value of_int(int64_t value) {
        Value v;
        v.state = State::Known;
        v.i = value;
        return v;
    }
    static Value of_float(double value) {
        Value v;
        v.state = State::Known;
        v.f = value;
        return v;
    }
};

/// Operations on known scalars with the given operand type(s). If the language leaves the result
/// undefined (overflow of int32 and int64, a float out of an integer's range), `undefined`
/// describes the reason and the result is the wrapped or saturated value.
class Arithmetic {
  public:
    const char *undefined = nullptr;

    /// Add ... Or; `type` is the type of the operands.
    Value binary(ir::Op op, Type type, Value a, Value b);
    Value cast(Type to, Type from, Value a);
    /// The intrinsics of intrinsics.h whose arguments are all evaluated; nullopt = unknown
    /// intrinsic.
    std::optional<Value> intrinsic(const std::string &name, Type result,
                                   const std::vector<Type> &types, const std::vector<Value> &args);

  private:
    Value integer(Type type, __int128 value);
    Value integer_binary(ir::Op op, Type type, __int128 a, __int128 b);
};

Value reinterpret(Type to, Type from, Value a);
/// A C function by its name with type suffix ("sqrt_f32"), computed in that type; nullopt = unknown
/// function.
std::optional<Value> pure_extern(const std::string &name, const std::vector<Value> &args);

/// The address of an element.
void *address(const BufferView &view, const std::vector<int64_t> &at);
Value load(Type type, const void *address);
void store(Type type, void *address, Value value);

}  // namespace Pipe::reference
