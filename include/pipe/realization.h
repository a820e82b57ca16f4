#pragma once
// Realization: the Buffers that a pipeline fills.

#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/error.h>

namespace Pipe {

/// One Buffer per output value. A Realization of one Buffer converts to it:
/// `Buffer<float> out = f.realize({640, 480});`
class Realization {
  public:
    explicit Realization(std::vector<Buffer<void>> buffers) : buffers_(std::move(buffers)) {}
    template <typename T, int D>
    explicit Realization(const Buffer<T, D> &buffer) : buffers_(1, Buffer<void>(buffer)) {}
    template <typename T, int D, typename... Rest>
    requires(sizeof...(Rest) >= 1) Realization(const Buffer<T, D> &first, const Rest &...rest)
        : buffers_{Buffer<void>(first), Buffer<void>(rest)...} {}

    size_t size() const { return buffers_.size(); }
    const Buffer<void> &operator[](size_t i) const { return buffers_.at(i); }
    /// RuntimeError where there are several, or the type is another.
    template <typename T, int D> operator Buffer<T, D>() const {
        if (buffers_.size() != 1)
            throw RuntimeError("A Realization of " + std::to_string(buffers_.size()) +
                               " Buffers was used as one Buffer: pick one with [i].");
        return Buffer<T, D>(buffers_[0]);
    }

  private:
    std::vector<Buffer<void>> buffers_;
};

}  // namespace Pipe
