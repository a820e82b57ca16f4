#pragma once
// What is compiled against the reference evaluator, in memory that ends at a page that may not be
// touched.

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "support/guarded_memory.h"

namespace Pipe::testing {

using Shape = std::vector<std::pair<int, int>>;  // min, extent

template <typename T> GuardedBuffer noise(const Shape &shape, bool at_start = false) {
    GuardedBuffer image(type_of<T>(), shape, 0, at_start);
    uint32_t state = 1;
    Buffer<T>(image.buffer).for_each_value([&](T &value) {
        state = state * 1664525 + 1013904223;
        value = static_cast<T>(state >> 24);
    });
    return image;
}

template <typename T> int64_t count_wrong(Pipeline pipeline, const Shape &shape, bool at_start) {
    GuardedBuffer got(type_of<T>(), shape, 0, at_start), expected(type_of<T>(), shape, 0, false);
    pipeline.realize(got.buffer);
    pipeline.realize_reference(expected.buffer);
    int64_t wrong = 0;
    Buffer<T>(got.buffer)
        .for_each_value([&](T &a, T &b) { wrong += a != b; }, Buffer<T>(expected.buffer));
    return wrong;
}

template <typename T = int> void check_equal(const Pipeline &pipeline, const Shape &shape) {
    std::string text;
    for (auto [min, extent] : shape)
        text += " [" + std::to_string(min) + ", " + std::to_string(extent) + "]";
    INFO("size" << text);
    CHECK(count_wrong<T>(pipeline, shape, false) == 0);
    CHECK(count_wrong<T>(pipeline, shape, true) == 0);
}

/// Rows of these lengths.
template <typename T = int>
void check_sizes(const Pipeline &pipeline, std::initializer_list<int> widths) {
    for (int width : widths) {
        check_equal<T>(pipeline, {{0, width}, {0, 5}});
        check_equal<T>(pipeline, {{-7, width}, {3, 4}});
    }
}

}  // namespace Pipe::testing
