#pragma once
// Halide::Runtime::Buffer, halide_buffer_t and their kin, for programs written for Halide.

#include <cstdint>
#include <vector>

#include <pipe/raw_buffer.h>

using halide_type_t = Pipe::TypeData;
using halide_type_code_t = Pipe::TypeCode;
inline constexpr halide_type_code_t halide_type_int = Pipe::TypeCode::Int;
inline constexpr halide_type_code_t halide_type_uint = Pipe::TypeCode::UInt;
inline constexpr halide_type_code_t halide_type_float = Pipe::TypeCode::Float;
inline constexpr halide_type_code_t halide_type_handle = Pipe::TypeCode::Handle;
inline constexpr halide_type_code_t halide_type_bfloat = Pipe::TypeCode::BFloat;

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

    operator halide_buffer_t *() const { return this->raw_buffer(); }
    /// As plain data, which is what a Runtime::Buffer has.
    halide_type_t type() const { return Base::type(); }

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
