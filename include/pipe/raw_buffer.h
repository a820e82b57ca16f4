#pragma once
// RawBuffer: the shape and addresses of a Buffer as plain data, passed to C functions of extern
// stages (Func::define_extern).

#include <cstddef>
#include <cstdint>

#include <pipe/type.h>

namespace Pipe {

/// The number of dimensions of a Buffer is only known at run time.
constexpr int AnyDims = -1;

template <typename T = void, int Dims = AnyDims> class Buffer;

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
/// to it are changes of the Buffer. The device fields are stored, but Pipe does not run code on
/// devices yet.
struct RawBuffer {
    uint64_t device = 0;
    const void *device_interface = nullptr;
    uint8_t *host = nullptr;  ///< the element whose coordinates are all at their minimum
    uint64_t flags = 0;       ///< host_dirty_flag, device_dirty_flag
    TypeData type;
    int32_t dimensions = 0;
    RawDimension *dim = nullptr;
    void *padding = nullptr;

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

    /// The memory of the host (or of the device) was changed and not yet copied to the other.
    static constexpr uint64_t host_dirty_flag = 1, device_dirty_flag = 2;
    bool get_flag(uint64_t flag) const { return (flags & flag) != 0; }
    void set_flag(uint64_t flag, bool value) { flags = value ? flags | flag : flags & ~flag; }
    bool host_dirty() const { return get_flag(host_dirty_flag); }
    bool device_dirty() const { return get_flag(device_dirty_flag); }
    void set_host_dirty(bool dirty = true) { set_flag(host_dirty_flag, dirty); }
    void set_device_dirty(bool dirty = true) { set_flag(device_dirty_flag, dirty); }
    int device_sync(void * /*user_context*/ = nullptr) const { return 0; }

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
