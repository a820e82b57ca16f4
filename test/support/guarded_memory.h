#pragma once
// Memory for test images: between two pages that may not be touched, filled with poison.

#include <cstddef>
#include <memory>

#include <pipe/buffer.h>

namespace Pipe::testing {

/// `bytes` of memory. The page behind it may not be touched, nor the one before; the data ends
/// exactly where the page behind begins, or (at_start) begins exactly where the page before ends.
class GuardedMemory {
  public:
    GuardedMemory(size_t bytes, bool at_start);
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;

    unsigned char *data() const { return data_; }
    size_t size() const { return bytes_; }

  private:
    void *pages_;
    size_t mapped_;
    unsigned char *data_;
    size_t bytes_;
};

constexpr unsigned char poison = 0xA5;

/// A Buffer in guarded memory; `padding` elements of poison after each row.
struct GuardedBuffer {
    std::shared_ptr<GuardedMemory> memory;
    Buffer<void> buffer;

    GuardedBuffer(Type type, const std::vector<std::pair<int, int>> &mins_and_extents, int padding,
                  bool at_start);
    /// False if poison between the elements was overwritten.
    bool padding_intact() const;
};

}  // namespace Pipe::testing
