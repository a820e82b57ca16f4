#pragma once
// Halide::Runtime::Buffer, halide_buffer_t and their kin, for programs written for Halide.

#include <cstdint>
#include <vector>

#include <pipe/buffer.h>

using halide_type_t = Pipe::Type;
using halide_type_code_t = Pipe::Type::Code;
inline constexpr halide_type_code_t halide_type_int = Pipe::Type::Code::Int;
inline constexpr halide_type_code_t halide_type_uint = Pipe::Type::Code::UInt;
inline constexpr halide_type_code_t halide_type_float = Pipe::Type::Code::Float;
inline constexpr halide_type_code_t halide_type_handle = Pipe::Type::Code::Handle;

template <typename T> constexpr halide_type_t halide_type_of() {
    return Pipe::type_of<T>();
}

/// One dimension of a halide_buffer_t. Unlike there, with 64 bits.
struct halide_dimension_t {
    int64_t min = 0, extent = 0, stride = 0;
    uint32_t flags = 0;

    bool operator==(const halide_dimension_t &) const = default;
};

/// A Buffer as plain data. `device` is always 0: memory of the host is all that there is.
struct halide_buffer_t {
    uint64_t device = 0;
    const void *device_interface = nullptr;
    uint8_t *host = nullptr;
    uint64_t flags = 0;
    halide_type_t type;
    int32_t dimensions = 0;
    halide_dimension_t *dim = nullptr;
    void *padding = nullptr;

    bool is_bounds_query() const { return host == nullptr && device == 0; }
    int64_t number_of_elements() const {
        int64_t n = 1;
        for (int i = 0; i < dimensions; i++)
            n *= dim[i].extent;
        return n;
    }
};

namespace Pipe::Runtime {

/// A Buffer that is a value: each copy has a shape of its own, and shares the memory. (Copies of
/// Pipe::Buffer share the shape too.) Converts to and from Pipe::Buffer.
template <typename T = void, int Dims = AnyDims, int InClassDimStorage = 4>
class Buffer : public Pipe::Buffer<T, Dims> {
    using Base = Pipe::Buffer<T, Dims>;

  public:
    using Base::Base;
    Buffer() = default;
    Buffer(const Buffer &other) : Base(own_shape(other)) {}
    Buffer(Buffer &&) noexcept = default;
    template <typename U, int D>
    requires Pipe::detail::Viewable<U, T> Buffer(const Pipe::Buffer<U, D> &other)
        : Base(own_shape(Base(other))) {}
    /// Wraps the memory of a halide_buffer_t.
    explicit Buffer(const halide_buffer_t &raw) : Base(wrapped(raw)) {}
    Buffer &operator=(const Buffer &other) {
        Base::operator=(own_shape(other));
        return *this;
    }
    Buffer &operator=(Buffer &&) noexcept = default;

    /// The Buffer as plain data, valid until the Buffer changes or goes.
    halide_buffer_t *raw_buffer() const {
        const BufferView &view = this->view();
        raw_dims_.clear();
        for (const BufferDim &d : view.dims)
            raw_dims_.push_back({d.min, d.extent, d.stride, 0});
        raw_.host = static_cast<uint8_t *>(view.host);
        raw_.type = view.type;
        raw_.dimensions = static_cast<int32_t>(view.dims.size());
        raw_.dim = raw_dims_.data();
        return &raw_;
    }
    operator halide_buffer_t *() const { return raw_buffer(); }

    /// Copies with another order in memory, of images (x, y, channel).
    Buffer copy_to_interleaved() const {
        Buffer result =
            Base::make_interleaved(this->type(), this->width(), this->height(), this->channels());
        return filled(result);
    }
    Buffer copy_to_planar() const {
        Buffer result(this->type(),
                      std::vector<int64_t>{this->width(), this->height(), this->channels()});
        return filled(result);
    }

  private:
    mutable halide_buffer_t raw_;
    mutable std::vector<halide_dimension_t> raw_dims_;

    static Base own_shape(const Base &other) {
        if (!other.defined())
            return other;
        return other.translated(std::vector<int64_t>(static_cast<size_t>(other.dimensions())));
    }
    static Base wrapped(const halide_buffer_t &raw) {
        std::vector<BufferDim> dims;
        for (int i = 0; i < raw.dimensions; i++)
            dims.push_back({raw.dim[i].min, raw.dim[i].extent, raw.dim[i].stride});
        return Pipe::Buffer<void>(raw.type, static_cast<void *>(raw.host), dims);
    }
    Buffer filled(Buffer &result) const {
        for (int d = 0; d < 3; d++)
            result.translate(d, this->min(d));
        result.copy_from(*this);
        return result;
    }
};

}  // namespace Pipe::Runtime
