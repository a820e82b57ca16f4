#pragma once
// Iteration over the coordinates of Buffers: Buffer::fill, for_each_element, for_each_value. Include
// <pipe/buffer.h>.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/raw_buffer.h>

namespace Pipe::detail {

/// Calls `body(const int64_t *coordinates)` for each element of a box, dimension 0 innermost.
template <typename Body>
void for_each_coordinate(std::span<const BufferDim> dims, const Body &body) {
    std::vector<int64_t> at;
    for (const BufferDim &d : dims) {
        if (d.extent == 0) {
            return;
        }
        at.push_back(d.min);
    }
    while (true) {
        body(at.data());
        size_t i = 0;
        for (; i < dims.size(); i++) {
            if (++at[i] < dims[i].min + dims[i].extent) {
                break;
            }
            at[i] = dims[i].min;
        }
        if (i == dims.size()) {
            return;
        }
    }
}

/// The dimensions in order of increasing stride.
inline std::vector<size_t> order_in_memory(std::span<const BufferDim> dims) {
    std::vector<size_t> order(dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::abs(dims[a].stride) < std::abs(dims[b].stride);
    });
    return order;
}

/// The elements along one dimension.
template <typename U> struct Row {
    U *first;
    int64_t stride;
    U &operator[](int64_t i) const { return first[i * stride]; }
};

template <typename F, size_t... Is> constexpr bool takes_ints(std::index_sequence<Is...>) {
    return std::is_invocable_v<F &, decltype(static_cast<int>(Is))...>;
}

/// Calls f with the first coordinates, and with zeros beyond them.
template <typename F, size_t... Is>
decltype(auto) call_with_ints(F &f, const int64_t *at, [[maybe_unused]] size_t dimensions,
                              std::index_sequence<Is...>) {
    return f((Is < dimensions ? static_cast<int>(at[Is]) : 0)...);
}

/// If f takes N ints and the box has N dimensions (or any number, if `any`): calls use(at, call)
/// for each coordinate, where call() evaluates f(x, y, ..). Dimensions from N on are not iterated
/// over. Returns false if f or N does not match.
template <size_t N, typename F, typename Use>
bool visit_with_ints(std::span<const BufferDim> dims, F &f, const Use &use, bool any) {
    using Is = std::make_index_sequence<N>;
    if constexpr (takes_ints<F>(Is{})) {
        if (dims.size() == N || any) {
            std::vector<BufferDim> box(dims.begin(), dims.end());
            for (size_t i = N; i < box.size(); i++)
                box[i].extent = std::min<int64_t>(box[i].extent, 1);
            for_each_coordinate(box, [&](const int64_t *at) {
                use(at,
                    [&]() -> decltype(auto) { return call_with_ints(f, at, box.size(), Is{}); });
            });
            return true;
        }
    }
    return false;
}

/// The same for an f that takes a const int * to all coordinates.
template <typename F, typename Use>
bool visit_with_pointer(std::span<const BufferDim> dims, F &f, const Use &use) {
    if constexpr (std::is_invocable_v<F &, const int *>) {
        std::vector<int> narrow(dims.size());
        for_each_coordinate(dims, [&](const int64_t *at) {
            narrow.assign(at, at + dims.size());
            use(at, [&]() -> decltype(auto) { return f(static_cast<const int *>(narrow.data())); });
        });
        return true;
    }
    return false;
}

template <typename F, typename Use, size_t... Ns>
bool visit(std::span<const BufferDim> dims, F &f, const Use &use, std::index_sequence<Ns...>) {
    return (visit_with_ints<Ns>(dims, f, use, false) || ...) || visit_with_pointer(dims, f, use) ||
           (visit_with_ints<sizeof...(Ns) - 1 - Ns>(dims, f, use, true) || ...);
}

}  // namespace Pipe::detail
