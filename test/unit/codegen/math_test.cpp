// The functions of <math.h>: vectors by libmvec within 4 ulp, the rest as the C library has them.

#include <cmath>

#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

struct Function {
    const char *name;
    double lo, hi;  ///< the range of arguments
    long double (*exact)(long double);
};

const Function functions[] = {
    {"exp", -80, 80, std::exp},       {"log", 1e-6, 1e6, std::log},
    {"sin", -10, 10, std::sin},       {"cos", -10, 10, std::cos},
    {"tan", -1.5, 1.5, std::tan},     {"asin", -1, 1, std::asin},
    {"acos", -1, 1, std::acos},       {"atan", -50, 50, std::atan},
    {"sinh", -8, 8, std::sinh},       {"cosh", -8, 8, std::cosh},
    {"tanh", -5, 5, std::tanh},       {"asinh", -50, 50, std::asinh},
    {"acosh", 1, 50, std::acosh},     {"atanh", -0.9, 0.9, std::atanh},
    {"exp2", -30, 30, std::exp2},     {"log2", 1e-6, 1e6, std::log2},
    {"log10", 1e-6, 1e6, std::log10}, {"sqrt", 0, 1e6, std::sqrt},
    {"cbrt", -50, 50, std::cbrt},     {"expm1", -3, 3, std::expm1},
    {"log1p", -0.5, 10, std::log1p},  {"erf", -3, 3, std::erf},
};

/// The distance in units of the last place of the exact value.
template <typename T> double ulps(T value, long double exact) {
    T rounded = static_cast<T>(exact);
    T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
    return static_cast<double>(
        std::abs(static_cast<long double>(value) - exact) /
        (static_cast<long double>(next) - std::abs(static_cast<long double>(rounded))));
}

template <typename T> void check_functions(int lanes, const Target &target) {
    constexpr int count = 336;
    std::string suffix = sizeof(T) == 4 ? "_f32" : "_f64";
    Elementwise kernel(lanes);
    std::vector<std::vector<T>> in, out;
    for (const Function &f : functions) {
        kernel.output(ir::make_call(type_of<T>().with_lanes(lanes), f.name + suffix,
                                    {kernel.input(type_of<T>())}, ir::CallKind::PureExtern));
        auto &x = in.emplace_back(count);
        for (int i = 0; i < count; i++) {
            x[static_cast<size_t>(i)] = static_cast<T>(f.lo + (f.hi - f.lo) * (i + 0.5) / count);
        }
        out.emplace_back(count);
    }
    std::vector<Data> data;
    for (size_t f = 0; f < in.size(); f++)
        data.emplace_back(in[f]), data.emplace_back(out[f]);
    std::vector<void *> args;
    for (Data &d : data)
        args.push_back(&d.argument);
    REQUIRE(run(kernel.program(count), args, nullptr, target) == 0);
    for (size_t f = 0; f < in.size(); f++) {
        for (size_t i = 0; i < count; i++) {
            long double exact = functions[f].exact(in[f][i]);
            INFO(functions[f].name << suffix << "(" << in[f][i] << ") with " << lanes << " lanes, "
                                   << target.to_string());
            if (!(ulps(out[f][i], exact) <= 4))
                REQUIRE(out[f][i] == static_cast<T>(exact));
        }
    }
}

template <typename T>
std::vector<T> apply(const std::string &name, std::vector<T> x, std::vector<T> y) {
    int lanes = static_cast<int>(x.size());
    Elementwise kernel(lanes);
    Expr a = kernel.input(type_of<T>()), b = kernel.input(type_of<T>());
    kernel.output(ir::make_call(a.type(), name, {a, b}, ir::CallKind::PureExtern));
    std::vector<T> out(x.size());
    Data dx(x), dy(y), dout(out);
    REQUIRE(run(kernel.program(lanes), {&dx.argument, &dy.argument, &dout.argument}) == 0);
    return out;
}

}  // namespace

TEST_CASE("functions of one argument are right to 4 ulp") {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {1, 3, 4, 8, 16, 24}) {
            check_functions<float>(lanes, target);
            check_functions<double>(lanes, target);
        }
    }
}

TEST_CASE("functions of two arguments") {
    std::vector<float> x{1, 2, 3, 4, 0.5f, 6, 7, 8}, y{2, 0.5f, -1, 3, 7, 1, 0, 2};
    auto power = apply<float>("pow_f32", x, y), angle = apply<float>("atan2_f32", x, y);
    auto rest = apply<float>("fmod_f32", x, {2, 0.5f, 2, 3, 7, 4, 1, 3});
    for (size_t i = 0; i < x.size(); i++) {
        REQUIRE(ulps(power[i], std::pow(static_cast<long double>(x[i]), y[i])) <= 4);
        REQUIRE(ulps(angle[i], std::atan2(static_cast<long double>(x[i]), y[i])) <= 4);
    }
    REQUIRE(rest == std::vector<float>{1, 0, 1, 1, 0.5f, 2, 0, 2});
}

TEST_CASE("vector functions come from libmvec, 16 floats at a time with AVX-512") {
    Target target = get_host_target();
    if (!target.has_feature(Target::AVX512_Skylake))
        return;
    Elementwise kernel(32);
    Expr x = kernel.input(Float(32));
    kernel.output(ir::make_call(x.type(), "exp_f32", {x}, ir::CallKind::PureExtern));
    std::string code = jit::compile(kernel.program(32), target).assembly();
    REQUIRE(code.find("_ZGVeN16v_expf") != std::string::npos);
    REQUIRE(code.find("\texpf") == std::string::npos);
}

TEST_CASE("round is half to even, and the tests for NaN and infinity see them") {
    std::vector<float> x{0.5f, 1.5f, 2.5f, -0.5f, -1.5f, INFINITY, NAN, 3};
    Elementwise kernel(8);
    Expr a = kernel.input(Float(32));
    kernel.output(ir::make_call(a.type(), "round_f32", {a}, ir::CallKind::PureExtern));
    kernel.output(ir::make_call(Bool(8), "is_nan_f32", {a}, ir::CallKind::PureExtern));
    kernel.output(ir::make_call(Bool(8), "is_inf_f32", {a}, ir::CallKind::PureExtern));
    kernel.output(ir::make_call(Bool(8), "is_finite_f32", {a}, ir::CallKind::PureExtern));
    std::vector<float> rounded(8);
    std::vector<uint8_t> nan(8), infinite(8), finite(8);
    Data in(x), d0(rounded), d1(nan), d2(infinite), d3(finite);
    REQUIRE(run(kernel.program(8),
                {&in.argument, &d0.argument, &d1.argument, &d2.argument, &d3.argument}) == 0);
    rounded[6] = 0;
    REQUIRE(rounded == std::vector<float>{0, 2, 2, 0, -2, INFINITY, 0, 3});
    REQUIRE(nan == std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 1, 0});
    REQUIRE(infinite == std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 0, 0});
    REQUIRE(finite == std::vector<uint8_t>{1, 1, 1, 1, 1, 0, 0, 1});
}

TEST_CASE("an unknown name is a C function of that name") {
    Elementwise kernel(4);
    Expr a = kernel.input(Int(32));
    kernel.output(ir::make_call(a.type(), "abs", {a}, ir::CallKind::PureExtern));
    std::vector<int32_t> x{-3, 4, -5, 0}, y(4);
    Data in(x), out(y);
    REQUIRE(run(kernel.program(4), {&in.argument, &out.argument}) == 0);
    REQUIRE(y == std::vector<int32_t>{3, 4, 5, 0});
}
