// The sets of a cache in which runs of memory lie.
#include <catch2/catch_test_macros.hpp>

#include "support/cache_lines.h"

using namespace Pipe::support::cache;

namespace {

Steps steps(std::initializer_list<Steps::Step> list) {
    Steps result;
    for (const auto &[distance, count] : list)
        result.add(distance, count);
    return result;
}

}  // namespace

TEST_CASE("columns of a matrix crowd into few sets", "[cache_lines]") {
    CHECK(share_of_sets(64, {}) == 1.0 / 64);
    CHECK(share_of_sets(4096, {}) == 1);
    CHECK(share_of_sets(64, steps({{4096, 100}})) == 1.0 / 64);  // pages apart
    CHECK(share_of_sets(64, steps({{512, 100}})) == 1.0 / 8);
    CHECK(share_of_sets(64, steps({{4096 + 64, 100}})) == 1);  // each one line further
    CHECK(share_of_sets(64, steps({{4096 + 64, 16}})) == 16.0 / 64);
    CHECK(share_of_sets(8, steps({{1000, 500}})) == 1);
    // Half of the output channels, 3 taps of one row of 9, 64 input channels: in every other pair of lines.
    CHECK(share_of_sets(128, steps({{256, 3}, {2304, 64}})) == 1.0 / 2);
    CHECK(share_of_sets(64, steps({{512, 4}, {4096 + 1024, 3}})) == 1.0 / 8);
}

TEST_CASE("multiples of a distance are more of the same", "[cache_lines]") {
    // The filter of a convolution: 3 taps 512 bytes apart, 3 times, 128 channels.
    const Steps filter = steps({{512, 3}, {1536, 3}, {4608, 128}});
    REQUIRE(filter.end() - filter.begin() == 1);
    CHECK(filter.begin()->first == 512);
    CHECK(filter.begin()->second == 3 + 3 * 2 + 9 * 127);
    CHECK(share_of_sets(64, filter) == 1.0 / 8);
    // Beyond the end of the shorter one: separate.
    const Steps apart = steps({{512, 3}, {8192, 4}});
    CHECK(apart.end() - apart.begin() == 2);
}

TEST_CASE("runs are whole lines where all begin at the same place of one", "[cache_lines]") {
    CHECK(in_lines(0, 96, 4, steps({{640, 5}})) == 128);
    CHECK(in_lines(60, 8, 4, steps({{640, 5}})) == 128);
    CHECK(in_lines(0, 96, 4, steps({{600, 5}})) == 96 + 60);
}

TEST_CASE("rows of an odd number of lines begin in all sets in turn") {
    CHECK(row_in_all_sets(256, 8) == 264);
    CHECK(row_in_all_sets(264, 8) == 264);
    CHECK(row_in_all_sets(257, 4) == 272);
    CHECK(row_in_all_sets(16, 8) == 16);
}
