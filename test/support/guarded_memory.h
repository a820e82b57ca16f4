#pragma once
// Memory for test images: between two pages that may not be touched, filled with poison.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include <pipe/buffer.h>
#include <pipe/jit.h>

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
    size_t inside_;  ///< bytes between the two pages
    unsigned char *first_;
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

/// A call of a pipeline whose own memory is guarded: each block is filled with poison, and ends where a
/// page begins that may not be touched, or less than 64 bytes before, where what is written is found
/// when the block is freed.
class GuardedContext : public JITUserContext {
  public:
    GuardedContext();

    int blocks() const { return count_; }
    /// Blocks with something written behind their end.
    int overrun() const { return overrun_; }
    /// Blocks that were not freed.
    size_t left() const { return given_.size(); }

  private:
    void *give(size_t bytes);
    void take(void *memory);

    struct Block {
        std::unique_ptr<GuardedMemory> memory;
        const unsigned char *end;
    };
    std::mutex mutex_;
    std::map<void *, Block> given_;
    int count_ = 0, overrun_ = 0;
};

}  // namespace Pipe::testing
