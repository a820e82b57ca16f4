#pragma once
// Halide::Runtime::Buffer, halide_buffer_t and their kin, for programs written for Halide.

#include <cstdint>
#include <vector>

#include <pipe/raw_buffer.h>

using halide_type_t = Pipe::Type;
using halide_type_code_t = Pipe::Type::Code;
inline constexpr halide_type_code_t halide_type_int = Pipe::Type::Code::Int;
inline constexpr halide_type_code_t halide_type_uint = Pipe::Type::Code::UInt;
inline constexpr halide_type_code_t halide_type_float = Pipe::Type::Code::Float;
inline constexpr halide_type_code_t halide_type_handle = Pipe::Type::Code::Handle;

template <typename T> constexpr halide_type_t halide_type_of() {
    return Pipe::type_of<T>();
}

/// Unlike there, sizes have 64 bits.
using halide_dimension_t = Pipe::RawDimension;
using halide_buffer_t = Pipe::RawBuffer;

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
    explicit Buffer(const halide_buffer_t &raw) : Base(raw.buffer()) {}
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
    Buffer filled(Buffer &result) const {
        for (int d = 0; d < 3; d++)
            result.translate(d, this->min(d));
        result.copy_from(*this);
        return result;
    }
};

}  // namespace Pipe::Runtime
