// Every operator on every type and many vector lengths, against the C++ of the same meaning.

#include <cmath>
#include <functional>
#include <limits>

#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;
using ir::Op;

namespace {

constexpr int count = 1008;  // a multiple of all lanes below

template <typename T>
using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

/// Two's complement, also where C++ calls it overflow.
template <typename T> T wrap(Wide<T> v) {
    return static_cast<T>(v);
}

template <typename T> T euclid_div(T a, T b) {
    if (b == 0)
        return 0;
    Wide<T> x = a, y = b, q = x / y;
    if (x - q * y < 0)
        q += y < 0 ? 1 : -1;
    return wrap<T>(q);
}

template <typename T> T euclid_mod(T a, T b) {
    if (b == 0)
        return 0;
    Wide<T> x = a, y = b, r = x % y;
    if (r < 0)
        r += y < 0 ? -y : y;
    return wrap<T>(r);
}

template <typename T> T shift(T a, T b, bool left) {
    __int128 by = left ? static_cast<__int128>(b) : -static_cast<__int128>(b);
    constexpr int bits = 8 * sizeof(T);
    if (by >= bits)
        return 0;
    if (by >= 0)
        return wrap<T>(static_cast<Wide<T>>(a) * (static_cast<Wide<T>>(1) << static_cast<int>(by)));
    return wrap<T>(static_cast<Wide<T>>(a) >> static_cast<int>(std::min<__int128>(-by, 100)));
}

/// One operation: how it is built and what it should give.
template <typename T> struct Case {
    std::string name;
    std::function<Expr(Expr, Expr)> build;
    std::function<T(T, T)> expect;
    std::function<bool(T, T)> defined;  ///< for which operands; null: for all

    Case(std::string n, std::function<Expr(Expr, Expr)> b, std::function<T(T, T)> e,
         std::function<bool(T, T)> d = nullptr)
        : name(std::move(n)), build(std::move(b)), expect(std::move(e)), defined(std::move(d)) {}
};

template <typename T> Expr constant(Type t, T value) {
    if constexpr (std::is_floating_point_v<T>)
        return ir::make_float(t, value);
    else
        return ir::make_int(t, static_cast<int64_t>(value));
}

Expr intrinsic(const char *name, Type type, std::vector<Expr> args) {
    return ir::make_call(type, name, std::move(args), ir::CallKind::Intrinsic);
}

/// int32 and int64 must not overflow: there the result is not defined.
template <typename T> bool fits(Wide<T> v) {
    if (!std::is_signed_v<T> || sizeof(T) < 4)
        return true;
    return v >= std::numeric_limits<T>::min() && v <= std::numeric_limits<T>::max();
}

template <typename T> std::vector<Case<T>> integer_cases(Type type) {
    auto binary = [](Op op) { return [op](Expr a, Expr b) { return ir::make_binary(op, a, b); }; };
    using U = std::make_unsigned_t<T>;
    Type unsigned_type = type.with_code(Type::Code::UInt);
    auto back = [=](Expr e) { return ir::make_cast(type, e); };
    std::vector<Case<T>> cases = {
        {"+", binary(Op::Add), [](T a, T b) { return wrap<T>(Wide<T>(a) + b); },
         [](T a, T b) { return fits<T>(Wide<T>(a) + b); }},
        {"-", binary(Op::Sub), [](T a, T b) { return wrap<T>(Wide<T>(a) - b); },
         [](T a, T b) { return fits<T>(Wide<T>(a) - b); }},
        {"*", binary(Op::Mul), [](T a, T b) { return wrap<T>(Wide<T>(a) * b); },
         [](T a, T b) { return fits<T>(Wide<T>(a) * b); }},
        {"/", binary(Op::Div), euclid_div<T>,
         [](T a, T b) { return b == 0 || fits<T>(Wide<T>(a) / Wide<T>(b)); }},
        {"%", binary(Op::Mod), euclid_mod<T>},
        {"min", binary(Op::Min), [](T a, T b) { return std::min(a, b); }},
        {"max", binary(Op::Max), [](T a, T b) { return std::max(a, b); }},
        {"and",
         [=](Expr a, Expr b) {
             return intrinsic("bitwise_and", type, {a, b});
         },
         [](T a, T b) { return static_cast<T>(a & b); }},
        {"or",
         [=](Expr a, Expr b) {
             return intrinsic("bitwise_or", type, {a, b});
         },
         [](T a, T b) { return static_cast<T>(a | b); }},
        {"xor",
         [=](Expr a, Expr b) {
             return intrinsic("bitwise_xor", type, {a, b});
         },
         [](T a, T b) { return static_cast<T>(a ^ b); }},
        {"not", [=](Expr a, Expr) { return intrinsic("bitwise_not", type, {a}); },
         [](T a, T) { return static_cast<T>(~a); }},
        {"<<",
         [=](Expr a, Expr b) {
             return intrinsic("shift_left", type, {a, b});
         },
         [](T a, T b) { return shift(a, b, true); }},
        {">>",
         [=](Expr a, Expr b) {
             return intrinsic("shift_right", type, {a, b});
         },
         [](T a, T b) {
             if (std::is_signed_v<T>)
                 return shift<T>(a, wrap<T>(-Wide<T>(b)), true);
             return static_cast<uint64_t>(b) >= 8 * sizeof(T) ? T(0) : static_cast<T>(a >> b);
         },
         [](T, T b) { return b != std::numeric_limits<T>::min() || !std::is_signed_v<T>; }},
        {"abs", [=](Expr a, Expr) { return back(intrinsic("abs", unsigned_type, {a})); },
         [](T a, T) { return static_cast<T>(a < T(0) ? U(0) - U(a) : U(a)); }},
        {"absd",
         [=](Expr a, Expr b) {
             return back(intrinsic("absd", unsigned_type, {a, b}));
         },
         [](T a, T b) { return static_cast<T>(a > b ? U(U(a) - U(b)) : U(U(b) - U(a))); },
         [](T a, T b) { return fits<T>(Wide<T>(a) - b) && fits<T>(Wide<T>(b) - a); }},
        {"select",
         [](Expr a, Expr b) { return ir::make_select(ir::make_binary(Op::LT, a, b), b, a); },
         [](T a, T b) { return std::max(a, b); }},
    };
    for (int64_t d : {1, 2, 3, 5, 7, 10, 16, 100, -1, -3, -8}) {
        if (d < 0 && !std::is_signed_v<T>)
            continue;
        T divisor = static_cast<T>(d);
        auto by = [=](Op op) {
            return [=](Expr a, Expr) { return ir::make_binary(op, a, constant(type, divisor)); };
        };
        std::string name = std::to_string(d);
        cases.push_back({"/ " + name, by(Op::Div), [=](T a, T) { return euclid_div(a, divisor); },
                         [=](T a, T) { return fits<T>(Wide<T>(a) / Wide<T>(divisor)); }});
        cases.push_back({"% " + name, by(Op::Mod), [=](T a, T) { return euclid_mod(a, divisor); }});
    }
    return cases;
}

template <typename T> std::vector<Case<T>> float_cases(Type type) {
    auto binary = [](Op op) { return [op](Expr a, Expr b) { return ir::make_binary(op, a, b); }; };
    auto call = [=](std::string name, std::vector<Expr> args) {
        name += type.bits() == 32 ? "_f32" : "_f64";
        return ir::make_call(type, name, std::move(args), ir::CallKind::PureExtern);
    };
    return {
        {"+", binary(Op::Add), [](T a, T b) { return a + b; }},
        {"-", binary(Op::Sub), [](T a, T b) { return a - b; }},
        {"*", binary(Op::Mul), [](T a, T b) { return a * b; }},
        {"/", binary(Op::Div), [](T a, T b) { return a / b; }},
        {"%", binary(Op::Mod), [](T a, T b) { return a - b * std::floor(a / b); },
         [](T, T) { return false; }},  // by tolerance, below
        {"min", binary(Op::Min), [](T a, T b) { return a < b ? a : b; }},
        {"max", binary(Op::Max), [](T a, T b) { return a > b ? a : b; }},
        {"abs", [=](Expr a, Expr) { return intrinsic("abs", type, {a}); },
         [](T a, T) { return std::abs(a); }},
        {"absd",
         [=](Expr a, Expr b) {
             return intrinsic("absd", type, {a, b});
         },
         [](T a, T b) { return std::abs(a - b); }},
        {"sqrt", [=](Expr a, Expr) { return call("sqrt", {intrinsic("abs", type, {a})}); },
         [](T a, T) { return std::sqrt(std::abs(a)); }},
        {"floor", [=](Expr a, Expr) { return call("floor", {a}); },
         [](T a, T) { return std::floor(a); }},
        {"ceil", [=](Expr a, Expr) { return call("ceil", {a}); },
         [](T a, T) { return std::ceil(a); }},
        {"trunc", [=](Expr a, Expr) { return call("trunc", {a}); },
         [](T a, T) { return std::trunc(a); }},
        {"round",
         [=](Expr a, Expr) {
             return call("round", {ir::make_binary(Op::Mul, a, ir::make_float(type, 0.5))});
         },
         [](T a, T) { return std::nearbyint(a * T(0.5)); }},
    };
}

template <typename T> bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return a == b || (std::isnan(a) && std::isnan(b));
    else
        return a == b;
}

template <typename T>
void check(const std::vector<Case<T>> &cases, int lanes, const Target &target) {
    Type type = type_of<T>().with_lanes(lanes);
    Elementwise kernel(lanes);
    Expr a = kernel.input(type.element_of()), b = kernel.input(type.element_of());
    for (const auto &c : cases)
        kernel.output(c.build(a, b));

    auto x = samples<T>(count, 1), y = samples<T>(count, 2);
    for (size_t i = 0; i < count;
         i++) {  // a harmless pair where the first operation is not defined
        if (std::is_signed_v<T> && !std::is_floating_point_v<T> && sizeof(T) >= 4 && i % 2 == 1) {
            x[i] = static_cast<T>(static_cast<int>(x[i]) % 30000),
            y[i] = static_cast<T>(static_cast<int>(y[i]) % 30000);
        }
    }
    if constexpr (std::is_floating_point_v<T>) {
        T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
        x[1] = nan, y[2] = nan, x[3] = inf, y[4] = -inf, x[5] = T(-0.0), y[5] = T(0.0);
    }
    std::vector<Data> data{Data(x), Data(y)};
    std::vector<std::vector<T>> results(cases.size(), std::vector<T>(count));
    for (auto &r : results)
        data.emplace_back(r);
    std::vector<void *> args;
    for (Data &d : data)
        args.push_back(&d.argument);
    REQUIRE(run(kernel.program(count), args, nullptr, target) == 0);
    for (size_t c = 0; c < cases.size(); c++) {
        for (size_t i = 0; i < count; i++) {
            if (cases[c].defined && !cases[c].defined(x[i], y[i]))
                continue;
            T expected = cases[c].expect(x[i], y[i]);
            if (same(results[c][i], expected))
                continue;
            FAIL(to_string(type) << " " << +x[i] << " " << cases[c].name << " " << +y[i] << " = "
                                 << +expected << ", not " << +results[c][i] << ", for "
                                 << target.to_string());
        }
    }
}

template <typename T> void check_all_lanes() {
    for (int lanes : {1, 3, 4, 8, 16, 24, 48}) {
        Type type = type_of<T>().with_lanes(lanes);
        for (const Target &target : runnable_targets()) {
            if (target != get_host_target() && lanes != 8 && lanes != 3)
                continue;
            if constexpr (std::is_floating_point_v<T>)
                check(float_cases<T>(type), lanes, target);
            else
                check(integer_cases<T>(type), lanes, target);
        }
    }
}

}  // namespace

TEST_CASE("arithmetic of 8-bit integers") {
    check_all_lanes<int8_t>();
    check_all_lanes<uint8_t>();
}
TEST_CASE("arithmetic of 16-bit integers") {
    check_all_lanes<int16_t>();
    check_all_lanes<uint16_t>();
}
TEST_CASE("arithmetic of 32-bit integers") {
    check_all_lanes<int32_t>();
    check_all_lanes<uint32_t>();
}
TEST_CASE("arithmetic of 64-bit integers") {
    check_all_lanes<int64_t>();
    check_all_lanes<uint64_t>();
}
TEST_CASE("arithmetic of floats") {
    check_all_lanes<float>();
    check_all_lanes<double>();
}
