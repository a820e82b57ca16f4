#include "ir/shared_elements.h"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <random>
#include <set>
#include <vector>

using namespace Pipe;

namespace {

struct Shape {
    std::vector<BufferDim> dims;
    int64_t first;  ///< byte of the element with all coordinates at their minimum
    Type type;

    BufferView view() { return {reinterpret_cast<void *>(first), type, dims}; }

    /// How often each byte belongs to an element.
    std::map<int64_t, int> bytes() {
        std::map<int64_t, int> result;
        detail::for_each_coordinate(dims, [&](const int64_t *at) {
            int64_t address = first;
            for (size_t d = 0; d < dims.size(); d++)
                address += (at[d] - dims[d].min) * dims[d].stride * type.bytes();
            for (int i = 0; i < type.bytes(); i++)
                result[address + i]++;
        });
        return result;
    }
};

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    int64_t between(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(engine_);
    }
    Shape shape() {
        const Type types[] = {UInt(8), Int(16), Float(32), Float(64)};
        Shape s{{}, between(100000, 100200), types[between(0, 3)]};
        for (int64_t d = between(0, 4); d > 0; d--)
            s.dims.push_back(
                {between(-5, 5), between(0, 9) == 0 ? 0 : between(1, 6), between(-40, 40)});
        return s;
    }

  private:
    std::mt19937 engine_;
};

}  // namespace

TEST_CASE("whether Buffers share elements, against all their bytes", "[ir]") {
    int shared = 0, apart_within = 0;
    for (unsigned seed = 0; seed < 4000; seed++) {
        INFO("seed " << seed);
        Random random(seed);
        Shape a = random.shape(), b = random.shape();
        const auto in_a = a.bytes(), in_b = b.bytes();
        bool expected = false;
        for (const auto &[byte, count] : in_a)
            expected |= in_b.count(byte) > 0;
        REQUIRE(ir::share_elements(a.view(), b.view()) == expected);
        REQUIRE(ir::share_elements(b.view(), a.view()) == expected);
        shared += expected;
        apart_within += !expected && !in_a.empty() && !in_b.empty() &&
                        in_a.begin()->first < in_b.rbegin()->first &&
                        in_b.begin()->first < in_a.rbegin()->first;
    }
    CHECK(shared > 200);        // both answers are asked for
    CHECK(apart_within > 200);  // also where the ranges of addresses overlap
}

TEST_CASE("whether coordinates share an element, against all their bytes", "[ir]") {
    int distinct = 0;
    for (unsigned seed = 0; seed < 4000; seed++) {
        INFO("seed " << seed);
        Shape s = Random(seed).shape();
        bool expected = true;
        for (const auto &[byte, count] : s.bytes())
            expected &= count == 1;
        REQUIRE(ir::has_distinct_elements(s.dims) == expected);
        distinct += expected;
    }
    CHECK(distinct > 1000);
    CHECK(distinct < 3500);
}

TEST_CASE("whether equal coordinates are equal elements, against each element", "[ir]") {
    int same = 0;
    for (unsigned seed = 0; seed < 4000; seed++) {
        INFO("seed " << seed);
        Random random(seed);
        Shape b = random.shape();
        Shape a = b;
        std::vector<int64_t> low;
        int64_t moved = 0;
        for (BufferDim &d : a.dims) {  // a crop, and then perhaps something else
            if (d.extent == 0)
                d.extent = 1;
            const int64_t skipped = random.between(0, d.extent - 1);
            d.min += skipped, d.extent -= skipped;
            moved += skipped * d.stride;
        }
        a.first += moved * a.type.bytes();
        if (!a.dims.empty() && random.between(0, 1)) {
            BufferDim &d = a.dims[static_cast<size_t>(
                random.between(0, static_cast<int64_t>(a.dims.size()) - 1))];
            (random.between(0, 1) ? d.stride : d.min) += random.between(-1, 1);
        }
        bool expected = true;
        detail::for_each_coordinate(a.dims, [&](const int64_t *at) {
            int64_t in_a = a.first, in_b = b.first;
            for (size_t d = 0; d < a.dims.size(); d++) {
                in_a += (at[d] - a.dims[d].min) * a.dims[d].stride * a.type.bytes();
                in_b += (at[d] - b.dims[d].min) * b.dims[d].stride * b.type.bytes();
            }
            expected &= in_a == in_b;
        });
        REQUIRE(ir::same_places(a.view(), b.view()) == expected);
        same += expected;
    }
    CHECK(same > 1000);
    CHECK(same < 3900);
}

TEST_CASE("sharing is found out quickly for large images", "[ir]") {
    // Three channels of an interleaved image whose rows are padded; many dimensions.
    Shape red{{{0, 4000, 3}, {0, 3000, 12016}}, 1 << 20, UInt(8)}, green = red;
    green.first++;
    CHECK_FALSE(ir::share_elements(red.view(), green.view()));
    green.first += 2;
    CHECK(ir::share_elements(red.view(), green.view()));
    Shape many{{}, 1 << 20, UInt(8)};
    for (int d = 0; d < 12; d++)
        many.dims.push_back({0, 4, int64_t{2} << (2 * d)});
    Shape odd = many;
    odd.first++;
    CHECK(ir::has_distinct_elements(many.dims));
    CHECK_FALSE(ir::share_elements(many.view(), odd.view()));
}
