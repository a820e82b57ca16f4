#pragma once
// What the parts of Buffer share: messages, and sizes that may overflow.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error_text.h"
#include <pipe/buffer_base.h>

namespace Pipe::ir {

struct Allocation;

inline constexpr int64_t buffer_alignment = 64;  ///< one cache line, and the widest vector
/// A full vector may be loaded from the last element on.
inline constexpr int64_t buffer_slack = 64;

/// "Buffer 'photo' of float32"
std::string describe_buffer(const std::string &name, Type type);
inline std::string describe(const BufferBase &buffer) {
    return describe_buffer(buffer.name(), buffer.type());
}

template <typename... Args>
[[noreturn]] void fail_buffer(const std::string &who, fmt::format_string<Args...> text,
                              Args &&...args) {
    throw RuntimeError(who + ": " + fmt::format(text, std::forward<Args>(args)...));
}

/// "640 x 480"
std::string extents_text(std::span<const BufferDim> dims);

/// Offsets in elements, relative to host, of the lowest and the highest element.
struct ElementSpan {
    int64_t low = 0;
    int64_t high = 0;
    bool empty = false;
};
/// RuntimeError unless the number of elements, the bytes spanned and all coordinates fit into int64_t.
ElementSpan checked_span(const std::string &who, Type type, std::span<const BufferDim> dims);

/// The origin of a new Allocation is `raw.host`; its elements are those of the shape.
std::shared_ptr<Allocation> allocation_of(const RawBuffer &raw, const ElementSpan &span);

/// Whether the elements fill the memory from the lowest to the highest, each there once. A dimension has an extent
/// and a stride.
template <typename Dimension> bool is_dense(const Dimension *dims, size_t n) {
    int64_t run = 1;
    size_t joined = 0;
    for (size_t i = 0; i < n; i++)
        joined += dims[i].extent == 1;
    while (joined < n) {
        size_t i = 0;
        while (i < n && (dims[i].extent == 1 || std::abs(dims[i].stride) != run))
            i++;
        if (i == n || dims[i].extent <= 0)
            return false;
        run *= dims[i].extent;
        joined++;
    }
    return true;
}

/// Strides of a dense array; `order` lists the dimensions from innermost to outermost.
void make_dense(const std::string &who, std::vector<BufferDim> &dims,
                const std::vector<int> &order);

std::vector<int> identity_order(size_t n);
/// RuntimeError unless `order` has each of 0 .. n - 1 once.
void check_permutation(const std::string &who, const std::vector<int> &order, size_t n);

}  // namespace Pipe::ir
