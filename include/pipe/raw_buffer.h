#pragma once
// RawBuffer: the shape and addresses of a Buffer as plain data, passed to C functions of extern
// stages (Func::define_extern).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pipe/device_interface.h>
#include <pipe/type.h>

namespace Pipe {

/// What all Buffers over the same memory share: bits of RawBuffer::flags.
struct MemoryFlags {
    std::atomic<uint64_t> bits{0};

    bool get(uint64_t flag) const { return (bits.load(std::memory_order_acquire) & flag) != 0; }
    void set(uint64_t flag, bool value) {
        if (value)
            bits.fetch_or(flag, std::memory_order_acq_rel);
        else
            bits.fetch_and(~flag, std::memory_order_acq_rel);
    }
};

/// RawBuffer::flags: a number that can be read and written like any other. All Buffers over the same memory have
/// the same one.
class BufferFlags {
  public:
    BufferFlags() = default;
    BufferFlags(uint64_t bits) : own_(bits) {}
    operator uint64_t() const {
        return memory_ ? memory_->bits.load(std::memory_order_acquire) : own_;
    }
    BufferFlags &operator=(uint64_t bits) {
        if (memory_)
            memory_->bits.store(bits, std::memory_order_release);
        else
            own_ = bits;
        return *this;
    }
    BufferFlags &operator|=(uint64_t bits) { return *this = *this | bits; }
    BufferFlags &operator&=(uint64_t bits) { return *this = *this & bits; }
    BufferFlags &operator^=(uint64_t bits) { return *this = *this ^ bits; }

    /// Those of a Buffer's memory; null in a RawBuffer that the caller has filled in.
    MemoryFlags *memory() const { return memory_; }
    void set_memory(MemoryFlags *memory) { memory_ = memory; }

    /// For generated code: the bytes from the beginning to the pointer.
    static constexpr size_t memory_offset = sizeof(uint64_t);

  private:
    uint64_t own_ = 0;
    MemoryFlags *memory_ = nullptr;
};

/// The number of dimensions of a Buffer is only known at run time.
constexpr int AnyDims = -1;

template <typename T = void, int Dims = AnyDims> class Buffer;
struct JITUserContext;

/// One dimension: the coordinates min .. min + extent - 1, `stride` elements apart. A stride may be
/// negative (mirrored) or zero (broadcast).
struct BufferDim {
    int64_t min = 0;
    int64_t extent = 0;
    int64_t stride = 0;
    uint32_t flags = 0;  ///< reserved

    bool operator==(const BufferDim &) const = default;
};
using RawDimension = BufferDim;

/// A Buffer as plain data. BufferBase::raw_buffer() returns the RawBuffer inside a Buffer: changes
/// to its shape, `host` and flags are changes of the Buffer. `device` and `device_interface` are to be read: device memory
/// is given to a Buffer by device_wrap_native().
struct RawBuffer {
    /// Device address of the element that `host` points to, at the time raw_buffer() was called; 0: no
    /// device memory.
    uint64_t device = 0;
    const DeviceInterface *device_interface = nullptr;
    uint8_t *host = nullptr;  ///< the element whose coordinates are all at their minimum
    BufferFlags flags;        ///< host_dirty_flag, device_dirty_flag, has_device_flag
    TypeData type;
    int32_t dimensions = 0;
    RawDimension *dim = nullptr;

    /// Whether it has no memory: a query for the region of a buffer that is needed.
    bool is_bounds_query() const { return host == nullptr && device == 0; }
    int64_t number_of_elements() const {
        int64_t n = 1;
        for (int i = 0; i < dimensions; i++)
            n *= dim[i].extent;
        return n;
    }
    /// The address of the element with these coordinates, one per dimension.
    uint8_t *address_of(const int *coordinates) const {
        int64_t offset = 0;
        for (int i = 0; i < dimensions; i++)
            offset += (coordinates[i] - dim[i].min) * dim[i].stride;
        return host + offset * type.bytes();
    }
    /// The lowest address of an element, and one past the highest.
    uint8_t *begin() const { return host + begin_offset() * type.bytes(); }
    uint8_t *end() const { return host + end_offset() * type.bytes(); }
    /// The same as offsets from `host`, in elements.
    int64_t begin_offset() const { return extreme_offset(-1); }
    int64_t end_offset() const { return extreme_offset(1) + 1; }
    size_t size_in_bytes() const { return static_cast<size_t>(end() - begin()); }

    /// The memory of the host (or of the device) has newer elements than the other.
    static constexpr uint64_t host_dirty_flag = 1, device_dirty_flag = 2;
    /// There is memory on a device.
    static constexpr uint64_t has_device_flag = 1 << 16;
    bool get_flag(uint64_t flag) const { return (flags & flag) != 0; }
    void set_flag(uint64_t flag, bool value) {
        if (flags.memory())
            flags.memory()->set(flag, value);  // in one atomic step
        else
            flags = value ? flags | flag : flags & ~flag;
    }
    bool host_dirty() const { return get_flag(host_dirty_flag); }
    bool device_dirty() const { return get_flag(device_dirty_flag); }
    void set_host_dirty(bool dirty = true) { set_flag(host_dirty_flag, dirty); }
    void set_device_dirty(bool dirty = true) { set_flag(device_dirty_flag, dirty); }
    /// Waits for the work on the memory that the Buffer has on a device.
    int device_sync(JITUserContext *context = nullptr) const;

    /// The same memory as a Buffer with a shape of its own, for access to elements. RuntimeError if
    /// the element type is not T.
    template <typename T = void, int Dims = AnyDims> Buffer<T, Dims> buffer() const {
        return Buffer<T, Dims>(*this);
    }

  private:
    /// Offset from `host` to the element with the highest (sign 1) or lowest (sign -1) address.
    int64_t extreme_offset(int sign) const {
        int64_t offset = 0;
        for (int i = 0; i < dimensions; i++)
            if (dim[i].stride * sign > 0)
                offset += dim[i].stride * (dim[i].extent - 1);
        return offset;
    }
};

}  // namespace Pipe
