// What a kernel computes with single elements equals what the reference evaluator says.

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

namespace {

Var x("x"), xi("xi");

/// f on each target, with two threads more than elements.
void on_each_target(Func f, int size, const std::function<void(const Buffer<> &)> &check) {
    f.gpu_tile(x, xi, 32, TailStrategy::GuardWithIf);
    for (const Target &target : test::gpu_targets("-quick_compile")) {
        INFO(target.to_string());
        Buffer<> out(f.type(), size);
        f.realize(out, target);
        check(out);
    }
}

/// The elements as doubles, exactly where they are floating point numbers.
Buffer<double> as_doubles(const Buffer<> &values) {
    Func convert("convert");
    convert(x) = cast<double>(values(x));
    return convert.realize({values.width()});
}

bool same_bytes(const Buffer<> &a, const Buffer<> &b, int i) {
    const auto bytes = static_cast<size_t>(a.type().bytes());
    const auto at = [&](const Buffer<> &buffer) {
        return static_cast<const char *>(buffer.data()) + bytes * static_cast<size_t>(i);
    };
    return std::memcmp(at(a), at(b), bytes) == 0;
}

/// Integers equal in every bit; floating point numbers in their values, NaNs among themselves.
void require_equal(Expr value, int size) {
    Func f("f");
    f(x) = value;
    const Buffer<> expected(f.type(), size);
    Pipeline(f).realize_reference(expected);
    const Buffer<double> numbers = as_doubles(expected);
    on_each_target(f, size, [&](const Buffer<> &out) {
        const Buffer<double> got = as_doubles(out);
        int wrong = 0;
        for (int i = 0; i < size; i++) {
            const bool same =
                got(i) == numbers(i) || (std::isnan(got(i)) && std::isnan(numbers(i)));
            wrong += !same_bytes(out, expected, i) && !(f.type().is_float() && same);
        }
        CHECK(wrong == 0);
    });
}

template <typename T> Buffer<T> samples(int size) {
    Buffer<T> in(size);
    uint64_t state = 88172645463325252;
    for (int i = 0; i < size; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        in(i) = static_cast<T>(state >> (64 - 8 * sizeof(T)));
    }
    const T ends[] = {
        0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 2};
    for (int i = 0; i < 36; i++)
        in(i) = ends[i % 6];
    return in;
}

template <typename T> void check_integers() {
    constexpr int size = 190;
    INFO(to_string(type_of<T>()));
    Buffer<T> in = samples<T>(size + 40), other(size);
    for (int i = 0; i < size; i++)
        other(i) = i < 36 ? in(i / 6) : in(i + 40);
    Expr a = in(x), b = other(x), amount = cast<T>(b & cast<T>(sizeof(T) * 8 - 1));
    const std::function<Expr()> operations[] = {
        [&] { return a + b; },
        [&] { return a - b; },
        [&] { return a * b; },
        [&] { return a / b; },
        [&] { return a % b; },
        [&] { return a / cast<T>(7) + a % cast<T>(7); },
        [&] { return min(a, b) ^ max(a, b); },
        [&] { return select(a < b, a, b) + cast<T>(a == b); },
        [&] { return (a & b) | ~a; },
        [&] { return a << amount; },
        [&] { return a >> amount; },
        [&] { return absd(a, b); },
        [&] { return count_leading_zeros(a) + popcount(b); },
        [&] { return count_trailing_zeros(a); },
        [&] { return saturating_add(a, b); },
        [&] { return saturating_sub(a, b); },
        [&] { return rounding_halving_add(a, b); },
        [&] { return halving_sub(a, b); },
        [&] { return mul_shift_right(a, b, int(sizeof(T) * 4)); },
        [&] { return cast<int8_t>(a); },
        [&] { return cast<uint16_t>(a); },
        [&] { return cast<int64_t>(a); },
        [&] { return cast<float>(a); },
        [&] { return cast<double>(a); },
        [&] { return saturating_cast<uint8_t>(a); },
        [&] { return lerp(cast<uint8_t>(a), cast<uint8_t>(b), cast<uint8_t>(a + b)); },
    };
    int number = 0;
    for (const auto &operation : operations) {
        INFO("operation " << number++);
        require_equal(operation(), size);
    }
}

template <typename T> void check_floats() {
    constexpr int size = 175;
    Buffer<T> in(size), other(size);
    for (int i = 0; i < size; i++) {
        in(i) = static_cast<T>((i - 60) * 1.37);
        other(i) = static_cast<T>((i * 37 % 41 - 20) * 0.61);
    }
    Expr a = in(x), b = other(x);
    const std::function<Expr()> operations[] = {
        [&] { return a + b; },
        [&] { return a * b; },
        [&] { return strict_float(a * b + a); },  // rounded twice
        [&] { return a / b; },
        [&] { return sqrt(abs(a)); },
        [&] { return floor(a) + ceil(b); },
        [&] { return round(a) + trunc(b); },
        [&] { return min(a, b); },
        [&] { return max(a, b); },
        [&] { return select(a < b, a, b); },
        [&] { return cast<int>(a); },
        [&] { return cast<uint8_t>(abs(a)); },
        [&] { return cast<float16_t>(a); },
        [&] { return cast<bfloat16_t>(a); },
        [&] { return cast<float>(cast<float16_t>(a) * cast<float16_t>(b)); },
        [&] { return cast<float>(a) + cast<float>(b); },
        [&] { return cast<double>(a) * cast<double>(b); },
        [&] { return select(is_nan(a / (b - b)), cast<T>(1), cast<T>(2)); },
        [&] { return strict_float(a - b * floor(a / b)); },
    };
    int number = 0;
    for (const auto &operation : operations) {
        INFO("operation " << number++);
        require_equal(operation(), size);
    }
}

struct Function {
    const char *name;
    Expr (*pipe)(Expr);
    long double (*exact)(long double);
    double low, high;  ///< of the arguments
};

#define PIPE_FUNCTION(name, low, high)                                                             \
    {                                                                                              \
#name, [](Expr e) { return name(e); }, [](long double v) { return std::name(v); }, low,    \
                                                                                        high       \
    }
const Function functions[] = {
    PIPE_FUNCTION(sin, -10, 10),   PIPE_FUNCTION(cos, -10, 10),   PIPE_FUNCTION(tan, -1.5, 1.5),
    PIPE_FUNCTION(asin, -1, 1),    PIPE_FUNCTION(acos, -1, 1),    PIPE_FUNCTION(atan, -50, 50),
    PIPE_FUNCTION(sinh, -8, 8),    PIPE_FUNCTION(cosh, -8, 8),    PIPE_FUNCTION(tanh, -5, 5),
    PIPE_FUNCTION(asinh, -50, 50), PIPE_FUNCTION(acosh, 1, 50),   PIPE_FUNCTION(atanh, -0.9, 0.9),
    PIPE_FUNCTION(exp, -80, 80),   PIPE_FUNCTION(log, 1e-6, 1e6), PIPE_FUNCTION(sqrt, 0, 1e6),
};
#undef PIPE_FUNCTION

/// OpenCL's bound on the error of each is at most this many units of the last place.
constexpr double ulps = 6;

template <typename T> void check_functions() {
    constexpr int size = 300;
    for (const Function &function : functions) {
        INFO(function.name << " of " << to_string(type_of<T>()));
        Buffer<T> in(size);
        for (int i = 0; i < size; i++)
            in(i) =
                static_cast<T>(function.low + (function.high - function.low) * (i + 0.5) / size);
        Func f("f");
        f(x) = function.pipe(in(x));
        on_each_target(f, size, [&](const Buffer<> &out) {
            double worst = 0;
            for (int i = 0; i < size; i++) {
                const long double exact = function.exact(in(i));
                const T rounded = static_cast<T>(std::abs(exact));
                const T next = std::nextafter(rounded, std::numeric_limits<T>::infinity());
                const auto got = Buffer<T>(out)(i);
                worst = std::max(worst, double(std::abs(got - exact) / (next - rounded)));
            }
            CHECK(worst <= ulps);
        });
    }
}

}  // namespace

TEST_CASE("integers in kernels", "[arithmetic]") {
    check_integers<int8_t>();
    check_integers<uint8_t>();
    check_integers<int16_t>();
    check_integers<uint16_t>();
    check_integers<int32_t>();
    check_integers<uint32_t>();
    check_integers<int64_t>();
    check_integers<uint64_t>();
}

TEST_CASE("floating point in kernels", "[arithmetic]") {
    check_floats<float>();
    check_floats<double>();
}

TEST_CASE("mathematical functions in kernels", "[arithmetic]") {
    check_functions<float>();
    check_functions<double>();
}

TEST_CASE("powers and angles in kernels", "[arithmetic]") {
    constexpr int size = 200;
    Buffer<float> in(size);
    for (int i = 0; i < size; i++)
        in(i) = 0.05f * float(i + 1);
    for (bool power : {true, false}) {
        Func f("f");
        f(x) = power ? pow(in(x), in(size - 1 - x) / 3) : atan2(in(x)-5, in(size - 1 - x) - 5);
        on_each_target(f, size, [&](const Buffer<> &out) {
            for (int i = 0; i < size; i++) {
                const double a = in(i), b = in(size - 1 - i);
                const double exact =
                    power ? std::pow(a, double(float(b) / 3)) : std::atan2(a - 5, b - 5);
                CHECK(std::abs(Buffer<float>(out)(i) - exact) <= 2e-6 * std::abs(exact));
            }
        });
    }
}
