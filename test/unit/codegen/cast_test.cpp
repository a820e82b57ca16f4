// Every cast between every two types, in scalars and vectors.

#include <cmath>
#include <tuple>

#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

constexpr int count = 480;

template <typename From, typename To> bool in_range(From v) {
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                  !std::is_same_v<To, bool>) {
        return v > static_cast<From>(std::numeric_limits<To>::min()) - From(1) &&
               v < static_cast<From>(std::numeric_limits<To>::max());
    }
    return true;
}

/// One byte per bool, which std::vector<bool> does not give.
template <typename T> using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename From> struct Source {
    std::vector<Stored<From>> values;
    explicit Source(int n) : values(static_cast<size_t>(n)) {
        auto numbers = samples<Stored<From>>(static_cast<size_t>(n), 3);
        for (size_t i = 0; i < values.size(); i++) {
            values[i] = std::is_same_v<From, bool> ? numbers[i] & 1 : numbers[i];
        }
    }
};
template <> Source<float>::Source(int n) : values(samples<float>(static_cast<size_t>(n), 3)) {}
template <> Source<double>::Source(int n) : values(samples<double>(static_cast<size_t>(n), 3)) {}

template <typename From, typename To>
void check(const std::vector<Stored<From>> &source, const std::vector<Stored<To>> &result,
           const std::string &where) {
    for (size_t i = 0; i < count; i++) {
        From from = static_cast<From>(source[i]);
        if (!in_range<From, To>(from))
            continue;
        auto expected = static_cast<Stored<To>>(static_cast<To>(from));
        INFO(to_string(type_of<From>())
             << " " << +from << " -> " << to_string(type_of<To>()) << where);
        if (result[i] != expected)
            REQUIRE(+result[i] == +expected);
    }
}

/// One kernel with an output per type.
template <typename From, typename... To> void check_from() {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {1, 3, 16}) {
            if (target != get_host_target() && lanes != 16)
                continue;
            Elementwise kernel(lanes);
            Expr in = kernel.input(type_of<From>());
            (kernel.output(ir::make_cast(type_of<To>().with_lanes(lanes), in)), ...);
            Source<From> source(count);
            std::tuple<std::vector<Stored<To>>...> results{
                std::vector<Stored<To>>(count, Stored<To>(77))...};
            std::vector<Data> data{Data(source.values)};
            std::apply([&](auto &...result) { (data.emplace_back(result), ...); }, results);
            std::vector<void *> args;
            for (Data &d : data)
                args.push_back(&d.argument);
            REQUIRE(run(kernel.program(count), args, nullptr, target) == 0);
            std::string where = ", " + std::to_string(lanes) + " lanes, " + target.to_string();
            std::apply(
                [&](auto &...result) { (check<From, To>(source.values, result, where), ...); },
                results);
        }
    }
}

template <typename... Types> void check_between() {
    (check_from<Types, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                uint64_t, float, double>(),
     ...);
}

}  // namespace

TEST_CASE("casts from narrow types") {
    check_between<bool, int8_t, uint8_t, int16_t, uint16_t>();
}
TEST_CASE("casts from wide types") {
    check_between<int32_t, uint32_t, int64_t, uint64_t, float, double>();
}

TEST_CASE("reinterpret keeps the bits") {
    Elementwise kernel(8);
    kernel.output(ir::make_reinterpret(UInt(32, 8), kernel.input(Float(32))));
    std::vector<float> x(8, -1.5f);
    std::vector<uint32_t> y(8);
    Data in(x), out(y);
    REQUIRE(run(kernel.program(8), {&in.argument, &out.argument}) == 0);
    REQUIRE(y == std::vector<uint32_t>(8, 0xbfc00000u));
}
