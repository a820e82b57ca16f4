#pragma once
// RawBuffer: a Buffer as plain data, which C functions of pipelines get (Func::define_extern).

#include <cstdint>
#include <vector>

#include <pipe/buffer.h>

namespace Pipe {

/// One dimension of a RawBuffer: see BufferDim.
struct RawDimension {
    int64_t min = 0, extent = 0, stride = 0;
    uint32_t flags = 0;

    bool operator==(const RawDimension &) const = default;
};

/// A Buffer as plain data. `device` is always 0: memory of the host is all that there is.
struct RawBuffer {
    uint64_t device = 0;
    const void *device_interface = nullptr;
    uint8_t *host = nullptr;  ///< the element whose coordinates are all at their minimum
    uint64_t flags = 0;
    TypeData type;
    int32_t dimensions = 0;
    RawDimension *dim = nullptr;
    void *padding = nullptr;

    /// Whether it has no memory: asks which part of a buffer is needed.
    bool is_bounds_query() const { return host == nullptr && device == 0; }
    int64_t number_of_elements() const {
        int64_t n = 1;
        for (int i = 0; i < dimensions; i++)
            n *= dim[i].extent;
        return n;
    }
    /// The same memory as a Buffer, with a shape of its own: to read and write elements.
    /// RuntimeError where the elements are no T.
    template <typename T = void, int Dims = AnyDims> Buffer<T, Dims> buffer() const {
        std::vector<BufferDim> dims;
        for (int i = 0; i < dimensions; i++)
            dims.push_back({dim[i].min, dim[i].extent, dim[i].stride});
        return Buffer<T, Dims>(Buffer<void>(Type(type), static_cast<void *>(host), dims));
    }
};

}  // namespace Pipe
