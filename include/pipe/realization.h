#pragma once
// Realization: the Buffers that a pipeline fills.

#include <concepts>
#include <initializer_list>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/error.h>

namespace Pipe {

/// Extents of the Buffers to allocate, dimension 0 first: `f.realize({640, 480})`.
struct Sizes {
    std::vector<int64_t> extents;

    Sizes() = default;
    Sizes(std::initializer_list<int64_t> sizes) : extents(sizes) {}
    template <std::integral I>
    Sizes(const std::vector<I> &sizes) : extents(sizes.begin(), sizes.end()) {}
};

/// One Buffer per output value. A Realization of one Buffer converts to it:
/// `Buffer<float> out = f.realize({640, 480});`
class Realization {
  public:
    /// A template, so that Realization({a, b}) does not match it.
    template <std::same_as<std::vector<Buffer<void>>> Buffers>
    explicit Realization(Buffers buffers) : buffers_(std::move(buffers)) {}
    /// Not an initializer_list: `{}` means the sizes of a zero-dimensional value.
    template <typename T, int D, typename... Rest>
    Realization(const Buffer<T, D> &first, const Rest &...rest)
        : buffers_{Buffer<void>(first), Buffer<void>(rest)...} {}

    size_t size() const { return buffers_.size(); }
    /// Buffer::device_sync of all.
    int device_sync() const {
        for (const Buffer<void> &buffer : buffers_)
            buffer.device_sync();
        return 0;
    }
    /// RuntimeError if `i` is out of range.
    const Buffer<void> &operator[](size_t i) const {
        if (i >= buffers_.size())
            throw RuntimeError("Index " + std::to_string(i) +
                               " is out of range: the Realization has " +
                               std::to_string(buffers_.size()) + " Buffers.");
        return buffers_[i];
    }
    /// RuntimeError if there are several Buffers, or the type differs.
    template <typename T, int D> operator Buffer<T, D>() const {
        if (buffers_.size() != 1)
            throw RuntimeError("A Realization of " + std::to_string(buffers_.size()) +
                               " Buffers was used as one Buffer: select one with [i].");
        return Buffer<T, D>(buffers_[0]);
    }

  private:
    std::vector<Buffer<void>> buffers_;
};

}  // namespace Pipe
