#pragma once
// What is compiled must equal the reference evaluator, in memory that ends at pages that may not be
// touched.

#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "support/guarded_memory.h"

namespace Pipe {

/// Mins and extents.
using Shape = std::vector<std::pair<int, int>>;

/// Of all outputs, each over its shape.
template <typename T = int>
int64_t wrong_elements(Pipeline pipeline, const std::vector<Shape> &shapes,
                       const Target &target = Target()) {
    std::vector<testing::GuardedBuffer> got, expected;
    std::vector<Buffer<void>> got_buffers, expected_buffers;
    for (const Shape &shape : shapes) {
        got_buffers.push_back(got.emplace_back(type_of<T>(), shape, 0, false).buffer);
        expected_buffers.push_back(expected.emplace_back(type_of<T>(), shape, 0, false).buffer);
    }
    testing::GuardedContext context;
    pipeline.realize(&context, Realization(got_buffers), target);
    CHECK(context.overrun() == 0);
    pipeline.realize_reference(Realization(expected_buffers));
    int64_t wrong = 0;
    for (size_t i = 0; i < shapes.size(); i++)
        Buffer<T>(got_buffers[i])
            .for_each_value([&](T &a, T &b) { wrong += a != b; }, Buffer<T>(expected_buffers[i]));
    return wrong;
}

/// Of one output, from 0.
template <typename T>
void check_against_reference(Pipeline pipeline, const std::vector<int> &extents,
                             const Target &target = Target()) {
    Shape shape;
    for (int extent : extents)
        shape.emplace_back(0, extent);
    CHECK(wrong_elements<T>(std::move(pipeline), {shape}, target) == 0);
}

/// Values from 0 to 255.
template <typename T> testing::GuardedBuffer noise(const Shape &shape) {
    testing::GuardedBuffer image(type_of<T>(), shape, 0, false);
    uint32_t state = 1;
    Buffer<T>(image.buffer).for_each_value([&](T &value) {
        state = state * 1664525 + 1013904223;
        value = static_cast<T>(state >> 24);
    });
    return image;
}

}  // namespace Pipe
