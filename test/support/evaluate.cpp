#include "support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/intrinsics.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace test {
namespace {

struct Overflow {};

thread_local bool sums_wrap = false;  ///< instead of Overflow

using Big = __int128;

Big read(Type type, const Value &v) {
    return type.is_int() ? Big(v.i) : Big(static_cast<uint64_t>(v.i));
}

/// The value modulo 2^bits, or Overflow where the type has none.
Value number(Type type, Big value) {
    Big modulus = Big(1) << type.bits();
    Big least = type.is_int() ? -(modulus / 2) : Big(0);
    Big wrapped = ((value - least) % modulus + modulus) % modulus + least;
    if (type.is_int() && type.bits() >= 32 && wrapped != value && !sums_wrap)
        throw Overflow{};
    return {static_cast<int64_t>(wrapped), 0};
}

Value truth(bool b) {
    return {b ? 1 : 0, 0};
}

Value integer_op(Op op, Type type, Big a, Big b) {
    switch (op) {
    case Op::Add:
        return number(type, a + b);
    case Op::Sub:
        return number(type, a - b);
    case Op::Mul:  // uint64: only the low bits matter
        if (type == UInt(64))
            return {static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)), 0};
        return number(type, a * b);
    case Op::Div:
    case Op::Mod: {
        if (b == 0)
            return {};
        Big r = a % b;  // make it lie in [0, |b|)
        if (r < 0)
            r += b < 0 ? -b : b;
        return number(type, op == Op::Mod ? r : (a - r) / b);
    }
    case Op::Min:
        return number(type, a < b ? a : b);
    case Op::Max:
        return number(type, a < b ? b : a);
    case Op::EQ:
        return truth(a == b);
    case Op::NE:
        return truth(a != b);
    case Op::LT:
        return truth(a < b);
    case Op::LE:
        return truth(a <= b);
    case Op::GT:
        return truth(a > b);
    case Op::GE:
        return truth(a >= b);
    case Op::And:
        return truth(a != 0 && b != 0);
    case Op::Or:
        return truth(a != 0 || b != 0);
    default:
        throw InternalError("test evaluator: operation");
    }
}

template <typename T> Value float_op(Op op, T a, T b) {
    switch (op) {
    case Op::Add:
        return {0, static_cast<T>(a + b)};
    case Op::Sub:
        return {0, static_cast<T>(a - b)};
    case Op::Mul:
        return {0, static_cast<T>(a * b)};
    case Op::Div:
        return {0, static_cast<T>(a / b)};
    case Op::Min:
        return {0, a < b ? a : b};
    case Op::Max:
        return {0, a > b ? a : b};
    case Op::EQ:
        return truth(a == b);
    case Op::NE:
        return truth(a != b);
    case Op::LT:
        return truth(a < b);
    case Op::LE:
        return truth(a <= b);
    case Op::GT:
        return truth(a > b);
    case Op::GE:
        return truth(a >= b);
    default:
        throw InternalError("test evaluator: float operation");
    }
}

Value binary(Op op, Type type, const Value &a, const Value &b) {
    if (type.is_float()) {
        if (type.bits() == 32)
            return float_op(op, static_cast<float>(a.f), static_cast<float>(b.f));
        return float_op(op, a.f, b.f);
    }
    return integer_op(op, type, read(type, a), read(type, b));
}

Value cast(Type to, Type from, const Value &v) {
    if (from.is_float()) {
        if (to.is_bool())
            return truth(v.f != 0);
        if (to.is_float())
            return {0, to.bits() == 32 ? double(static_cast<float>(v.f)) : v.f};
        double t = std::trunc(v.f);
        if (!(std::abs(t) < 1e18))
            throw Overflow{};
        Big value = static_cast<Big>(t);
        Value result = number(to.with_code(Type::Code::UInt), value);
        if (to.is_int())
            result = number(to, value);
        if (read(to, result) != value)
            throw Overflow{};
        return result;
    }
    Big value = read(from, v);
    if (to.is_bool())
        return truth(value != 0);
    if (to.is_float())
        return {0,
                to.bits() == 32 ? double(static_cast<float>(value)) : static_cast<double>(value)};
    // Casts wrap even where arithmetic may not.
    Value u = number(to.with_code(Type::Code::UInt), value);
    Big bits = static_cast<uint64_t>(u.i);
    if (to.is_int() && bits >= (Big(1) << (to.bits() - 1)))
        bits -= Big(1) << to.bits();
    return {static_cast<int64_t>(bits), 0};
}

class Evaluator {
  public:
    explicit Evaluator(Environment variables) : variables_(std::move(variables)) {}

    Lanes of(const Expr &e) {
        Type scalar = e.type().element_of();
        switch (e->op) {
        case Op::IntImm:
        case Op::UIntImm:
            return {{e->int_value, 0}};
        case Op::FloatImm:
            return {{0, e->float_value}};
        case Op::Variable:
            return variables_.at(e->name);
        case Op::Broadcast:
            return Lanes(e.type().lanes(), of(e->value())[0]);
        case Op::Ramp: {
            Value base = of(e->base())[0], stride = of(e->stride())[0];
            Lanes result{base};
            for (int i = 1; i < e.type().lanes(); i++)
                result.push_back(binary(Op::Add, scalar, result.back(), stride));
            return result;
        }
        case Op::Let: {
            Environment outer = variables_;
            variables_[e->name] = of(e->value());
            Lanes result = of(e->body());
            variables_ = outer;
            return result;
        }
        case Op::Select: {
            Lanes c = of(e->condition()), t = of(e->if_true()), f = of(e->if_false());
            for (size_t i = 0; i < t.size(); i++)
                if (!c[c.size() == 1 ? 0 : i].i)
                    t[i] = f[i];
            return t;
        }
        case Op::Cast:
            return map1(
                e, [&](const Value &v) { return cast(scalar, e->value().type().element_of(), v); });
        case Op::Not:
            return map1(e, [](const Value &v) { return truth(!v.i); });
        case Op::Call:
            return call(e);
        default: {
            Type operand = e->a().type().element_of();
            return map2(
                e, [&](const Value &a, const Value &b) { return binary(e->op, operand, a, b); });
        }
        }
    }

  private:
    template <typename F> Lanes map1(const Expr &e, F &&f) {
        Lanes a = of(e->args[0]);
        for (Value &v : a)
            v = f(v);
        return a;
    }
    template <typename F> Lanes map2(const Expr &e, F &&f) {
        Lanes a = of(e->args[0]), b = of(e->args[1]);
        for (size_t i = 0; i < a.size(); i++)
            a[i] = f(a[i], b[i]);
        return a;
    }

    Lanes call(const Expr &e) {
        if (e->name == intrinsic::likely)
            return of(e->args[0]);
        if (e->name == intrinsic::if_then_else)
            return of(e->args[0])[0].i ? of(e->args[1]) : of(e->args[2]);
        Type operand = e->args[0].type().element_of(), scalar = e.type().element_of();
        if (e->name == intrinsic::abs)
            return map1(e, [&](const Value &v) {
                Big x = read(operand, v);
                return number(scalar, x < 0 ? -x : x);
            });
        if (e->name == intrinsic::bitwise_and)
            return map2(e, [](const Value &a, const Value &b) { return Value{a.i & b.i, 0}; });
        return integer_operation(e);
    }

    /// By their definitions in <pipe/fixed_point.h>.
    Lanes integer_operation(const Expr &e) {
        std::vector<Lanes> args;
        for (const Expr &arg : e->args)
            args.push_back(of(arg));
        Lanes result;
        for (size_t lane = 0; lane < args[0].size(); lane++) {
            std::vector<Big> values;
            for (size_t i = 0; i < args.size(); i++)
                values.push_back(read(e->args[i].type().element_of(), args[i][lane]));
            result.push_back(
                number(e.type().element_of(),
                       integer_operation(e->name, e->args[0].type().element_of(), values)));
        }
        return result;
    }

    static Big clamped(Type type, Big value) {
        Big low = type.min_int(), high = type.is_int() ? Big{type.max_int()} : Big{type.max_uint()};
        return std::clamp(value, low, high);
    }

    /// value / 2^n, n > 0, rounded to nearest with halves up, or down.
    static Big shifted(Big value, Big n, bool to_nearest) {
        if (n > 100)
            return to_nearest || value >= 0 ? 0 : -1;
        Big half = to_nearest && n > 0 ? Big{1} << static_cast<int>(n - 1) : 0;
        return (value + half) >> static_cast<int>(n);
    }

    static Big rounding_shift_right(Type type, Big value, Big n) {
        if (n >= 0)
            return clamped(type, shifted(value, n, true));
        for (Big i = 0; i < -n && i < 70 && clamped(type, value) == value; i++)
            value *= 2;
        return clamped(type, value);
    }

    static Big integer_operation(const std::string &name, Type type, const std::vector<Big> &v) {
        auto bit = [&](int i) { return v[0] >> i & 1; };
        Big count = 0;
        if (name == intrinsic::saturating_add)
            return clamped(type, v[0] + v[1]);
        if (name == intrinsic::saturating_sub)
            return clamped(type, v[0] - v[1]);
        if (name == intrinsic::halving_add)
            return shifted(v[0] + v[1], 1, false);
        if (name == intrinsic::halving_sub)
            return shifted(v[0] - v[1], 1, false);
        if (name == intrinsic::rounding_halving_add)
            return shifted(v[0] + v[1], 1, true);
        if (name == intrinsic::rounding_shift_right)
            return rounding_shift_right(type, v[0], v[1]);
        if (name == intrinsic::rounding_shift_left)
            return rounding_shift_right(type, v[0], -v[1]);
        if (name == intrinsic::mul_shift_right)
            return clamped(type, shifted(v[0] * v[1], v[2], false));
        if (name == intrinsic::rounding_mul_shift_right)
            return clamped(type, shifted(v[0] * v[1], v[2], true));
        if (name == intrinsic::div_round_to_zero)
            return v[1] == 0 ? 0 : v[0] / v[1];
        if (name == intrinsic::mod_round_to_zero)
            return v[1] == 0 ? 0 : v[0] % v[1];
        if (name == intrinsic::lerp) {
            Big whole = (Big{1} << type.bits()) - 1;  // odd: nothing is halfway between two
            Big twice = 2 * v[0] * (whole - v[2]) + 2 * v[1] * v[2] + whole;
            return twice / (2 * whole) - (twice % (2 * whole) < 0 ? 1 : 0);
        }
        if (name == intrinsic::popcount) {
            for (int i = 0; i < type.bits(); i++)
                count += bit(i);
            return count;
        }
        if (name == intrinsic::count_leading_zeros) {
            while (count < type.bits() && !bit(type.bits() - 1 - static_cast<int>(count)))
                count++;
            return count;
        }
        if (name == intrinsic::count_trailing_zeros) {
            while (count < type.bits() && !bit(static_cast<int>(count)))
                count++;
            return count;
        }
        throw InternalError("test evaluator: call " + name);
    }

    Environment variables_;
};

}  // namespace

std::optional<Lanes> evaluate(const Expr &e, const Environment &variables) {
    try {
        return Evaluator(variables).of(e);
    } catch (const Overflow &) {
        return std::nullopt;
    }
}

std::optional<Lanes> evaluate_wrapping(const Expr &e, const Environment &variables) {
    sums_wrap = true;
    std::optional<Lanes> result = evaluate(e, variables);
    sums_wrap = false;
    return result;
}

bool same(Type type, const Lanes &a, const Lanes &b) {
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); i++) {
        if (!type.is_float()) {
            if (a[i].i != b[i].i)
                return false;
        } else if (std::memcmp(&a[i].f, &b[i].f, sizeof(double)) != 0 &&
                   !(std::isnan(a[i].f) && std::isnan(b[i].f))) {
            return false;
        }
    }
    return true;
}

}  // namespace test
