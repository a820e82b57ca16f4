#pragma once
// A schedule must not change the values.

#include <initializer_list>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

namespace Pipe {

/// The same as the reference evaluator's from a min of less than 0 on, and from one that is greater.
template <typename T> void require_same(Func f, std::initializer_list<int> sizes) {
    for (int size : sizes)
        for (int min : {-7, 3}) {
            Buffer<T> fast(size), slow(size);
            fast.set_min(min), slow.set_min(min);
            f.realize(fast);
            f.realize_reference(Realization(slow));
            fast.for_each_element([&](int x) { REQUIRE(fast(x) == slow(x)); });
        }
}

/// Realizes for several sizes; the schedule's values are the definitions', which are `right`.
template <typename T, typename F>
void require_right(Func f, std::initializer_list<int> sizes, F &&right) {
    for (int size : sizes) {
        Buffer<T> fast = f.realize({size}), slow = f.realize_reference({size});
        for (int x = 0; x < size; x++) {
            REQUIRE(fast(x) == slow(x));
            REQUIRE(fast(x) == right(x));
        }
    }
}

}  // namespace Pipe
