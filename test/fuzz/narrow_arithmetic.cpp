// Random arithmetic on int and unsigned of bytes and 16-bit numbers, in vectors, which compute in 16 bits where that
// suffices (lower/narrow_integers.h): equal to the reference evaluator.

#include <pipe/pipe.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "fuzz/choices.h"
#include "fuzz/seeds.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

constexpr int width = 70, height = 12;

/// All bits are equally likely, the ends of the type more so.
template <typename T> Buffer<T> numbers(Choices &c) {
    Buffer<T> result(width, height);
    result.fill([&](int, int) {
        const int low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
        const int kind = c.below(8);
        return static_cast<T>(kind == 0 ? low : kind == 1 ? high : c.between(low, high));
    });
    return result;
}

/// An expression of int, and a bound of its magnitude: none overflows.
struct Number {
    Expr e;
    double most;
};

class Arithmetic {
  public:
    explicit Arithmetic(Choices &c)
        : c_(c), bytes_(numbers<uint8_t>(c)), signed_bytes_(numbers<int8_t>(c)),
          words_(numbers<uint16_t>(c)), signed_words_(numbers<int16_t>(c)) {}

    const Var x{"x"}, y{"y"};

    Number number(int depth) {
        if (depth == 0)
            return leaf();
        const Number a = number(depth - 1 - c_.below(2) * (depth > 1));
        Number n = operation(a, depth);
        if (n.most < (1 << 30))
            return n;
        return {a.e % c_.between(1, 300), 300};
    }

  private:
    Number leaf() {
        switch (c_.below(9)) {
        case 0:
        case 1:
        case 2:
            return {cast<int>(bytes_(x, y)), 255};
        case 3:
        case 4:
            return {cast<int>(signed_bytes_(x, y)), 128};
        case 5:
            return {cast<int>(words_(x, y)), 65535};
        case 6:
            return {cast<int>(signed_words_(x, y)), 32768};
        case 7:
            return {cast<int>(bytes_(0, y)), 255};
        default: {
            const int value = c_.of<int>(
                {0, 1, 2, 3, 127, 128, 255, 256, 32767, 32768, 65535, 65536, -1, -2, -128, -32768});
            return {Expr(value), double(std::abs(value))};
        }
        }
    }

    Number operation(const Number &a, int depth) {
        const int kind = c_.below(16);
        if (kind >= 10)
            return unary(a, kind);
        const Number b = number(c_.below(depth));
        const double larger = std::max(a.most, b.most);
        switch (kind) {
        case 0:
        case 1:
            return {a.e + b.e, a.most + b.most};
        case 2:
        case 3:
            return {a.e - b.e, a.most + b.most};
        case 4:
            return {a.e * b.e, a.most * b.most};
        case 5:
            return {min(a.e, b.e), larger};
        case 6:
            return {max(a.e, b.e), larger};
        case 7:
            return {select(a.e < b.e, a.e, b.e - 1), larger + 1};
        case 8:
            return {select(a.e == b.e, a.e + 1, b.e), larger + 1};
        default:
            return {cast<int>(absd(a.e, b.e)), a.most + b.most};
        }
    }

    Number unary(const Number &a, int kind) {
        const int n = c_.of<int>({1, 2, 3, 7, 8, 255, 256, 32767, 32768, 65535, 65536});
        switch (kind) {
        case 10:
            return {a.e / n, a.most};
        case 11:
            return {a.e % n, double(n)};
        case 12:
            return {a.e >> c_.below(18), a.most};
        case 13:
            return {a.e << c_.below(6), a.most * 32};
        case 14:
            return {cast<int>(abs(a.e)), a.most};
        default:
            return {cast<int>(cast<uint32_t>(a.e) / n % 1000),
                    1000};  // a negative number is a large one
        }
    }

    Choices &c_;
    Buffer<uint8_t> bytes_;
    Buffer<int8_t> signed_bytes_;
    Buffer<uint16_t> words_;
    Buffer<int16_t> signed_words_;
};

}  // namespace

TEST_CASE("random arithmetic that fits into 16 bits") {
    for (const uint64_t seed : each_seed(1)) {
        INFO("PIPE_FUZZ_SEED=" << seed);
        Choices c(seed * 77);
        Arithmetic arithmetic(c);
        std::vector<Func> outputs;
        std::vector<Buffer<>> got, expected;
        for (int i = 0; i < 6; ++i) {
            const Type type = c.of<Type>({UInt(8), Int(8), Int(16), UInt(16), Int(32), Float(32)});
            Func &f = outputs.emplace_back("out" + std::to_string(i));
            f(arithmetic.x, arithmetic.y) = cast(type, arithmetic.number(c.between(1, 5)).e);
            f.vectorize(arithmetic.x, c.of<int>({8, 16, 32, 64}));
            got.emplace_back(type, std::vector<int>{width, height});
            expected.emplace_back(type, std::vector<int>{width, height});
        }
        Pipeline pipeline(outputs);
        pipeline.realize(Realization(got));
        pipeline.realize_reference(Realization(expected));
        for (size_t i = 0; i < got.size(); ++i) {
            INFO("output " << i << ": " << outputs[i].value());
            CHECK(std::equal(static_cast<const uint8_t *>(got[i].data()),
                             static_cast<const uint8_t *>(got[i].data()) + got[i].size_in_bytes(),
                             static_cast<const uint8_t *>(expected[i].data())));
        }
    }
}
