#pragma once
// Halide::Runtime::Buffer, halide_buffer_t and related names, for programs written for Halide.

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/buffer.h>

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

/// Return values of C functions in pipelines: any nonzero number is a failure.
enum halide_error_code_t {
    halide_error_code_success = 0,
    halide_error_code_generic_error = -1,
    halide_error_code_explicit_bounds_too_small = -2,
    halide_error_code_bad_type = -3,
    halide_error_code_access_out_of_bounds = -4,
    halide_error_code_buffer_allocation_too_large = -5,
    halide_error_code_buffer_extents_too_large = -6,
    halide_error_code_constraints_make_required_region_smaller = -7,
    halide_error_code_constraint_violated = -8,
    halide_error_code_param_too_small = -9,
    halide_error_code_param_too_large = -10,
    halide_error_code_out_of_memory = -11,
    halide_error_code_buffer_argument_is_null = -12,
    halide_error_code_debug_to_file_failed = -13,
    halide_error_code_copy_to_host_failed = -14,
    halide_error_code_copy_to_device_failed = -15,
    halide_error_code_device_malloc_failed = -16,
    halide_error_code_device_sync_failed = -17,
    halide_error_code_device_free_failed = -18,
    halide_error_code_no_device_interface = -19,
    halide_error_code_unimplemented = -20,
    halide_error_code_symbol_not_found = -21,
    halide_error_code_internal_error = -22,
    halide_error_code_device_run_failed = -23,
    halide_error_code_unaligned_host_ptr = -24,
    halide_error_code_bad_fold = -25,
    halide_error_code_fold_factor_too_small = -26,
    halide_error_code_requirement_failed = -27,
    halide_error_code_buffer_extents_negative = -28,
    halide_error_code_gpu_device_error = -29,
    halide_error_code_trace_failed = -30,
    halide_error_code_specialize_fail = -31,
    halide_error_code_device_wrap_native_failed = -32,
    halide_error_code_device_detach_native_failed = -33,
    halide_error_code_host_is_null = -34,
    halide_error_code_bad_extern_fold = -35,
    halide_error_code_device_interface_no_device = -36,
    halide_error_code_host_and_device_dirty = -37,
    halide_error_code_buffer_is_null = -38,
    halide_error_code_device_buffer_copy_failed = -39,
    halide_error_code_device_crop_unsupported = -40,
    halide_error_code_device_crop_failed = -41,
    halide_error_code_incompatible_device_interface = -42,
    halide_error_code_bad_dimensions = -43,
    halide_error_code_device_dirty_with_no_device_support = -44,
    halide_error_code_storage_bound_too_small = -45,
    halide_error_code_split_factor_not_positive = -46,
    halide_error_code_vscale_invalid = -47,
    halide_error_code_cannot_profile_pipeline = -48,
};

/// Bits of halide_buffer_t::flags.
enum halide_buffer_flags : uint64_t {
    halide_buffer_flag_host_dirty = Pipe::RawBuffer::host_dirty_flag,
    halide_buffer_flag_device_dirty = Pipe::RawBuffer::device_dirty_flag,
};

/// Unlike in Halide, sizes are 64-bit.
using halide_dimension_t = Pipe::RawDimension;
using halide_buffer_t = Pipe::RawBuffer;

using halide_device_interface_t = Pipe::DeviceInterface;
inline const halide_device_interface_t *halide_cuda_device_interface() {
    return &Pipe::cuda_device_interface;
}

namespace Pipe::Runtime {

using Pipe::AnyDims;

/// A Buffer with value semantics: each copy has its own shape and shares the memory. (Copies of
/// Pipe::Buffer also share the shape.) Converts to and from Pipe::Buffer.
template <typename T = void, int Dims = AnyDims, int InClassDimStorage = 4>
class Buffer : public Pipe::Buffer<T, Dims> {
    using Base = Pipe::Buffer<T, Dims>;
    template <typename U, int D>
    static constexpr bool promises_less =
        !(std::is_same_v<T, U> && D == Dims) && (D == Dims || D == AnyDims) &&
        (std::is_void_v<U> || std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>)&&(
            std::is_const_v<U> || !std::is_const_v<T>);

  public:
    using Base::Base;
    using Dimension = BufferRange;

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

    /// The same Buffer with a less specific static type: const elements, or an element type or
    /// number of dimensions known only at run time.
    template <typename U, int D>
    requires(promises_less<U, D>) operator Buffer<U, D, InClassDimStorage> &() {
        return reinterpret_cast<Buffer<U, D, InClassDimStorage> &>(*this);
    }
    template <typename U, int D>
    requires(promises_less<U, D>) operator const Buffer<U, D, InClassDimStorage> &() const {
        return reinterpret_cast<const Buffer<U, D, InClassDimStorage> &>(*this);
    }

    // As in Pipe::Buffer, returning Runtime::Buffers.
    Buffer<std::remove_const_t<T>, Dims> copy() const { return Base::copy(); }
    Buffer<const T, Dims> as_const() const { return Base::as_const(); }
    template <typename U, int D = Dims> Buffer<U, D> as() const {
        return Base::template as<U, D>();
    }
    Buffer cropped(int d, int64_t min, int64_t extent) const {
        return Base::cropped(d, min, extent);
    }
    Buffer cropped(const std::vector<std::pair<int64_t, int64_t>> &mins_and_extents) const {
        return Base::cropped(mins_and_extents);
    }
    template <std::integral I>
    Buffer cropped(const std::vector<std::pair<I, I>> &mins_and_extents) const {
        return Base::cropped(mins_and_extents);
    }
    Buffer translated(int d, int64_t delta) const { return Base::translated(d, delta); }
    Buffer translated(const std::vector<int64_t> &deltas) const { return Base::translated(deltas); }
    template <std::integral I> Buffer translated(const std::vector<I> &deltas) const {
        return Base::translated(deltas);
    }
    Buffer transposed(int d1, int d2) const { return Base::transposed(d1, d2); }
    Buffer transposed(const std::vector<int> &order) const { return Base::transposed(order); }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims - 1> sliced(int d) const { return Base::sliced(d); }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims - 1> sliced(int d, int64_t position) const {
        return Base::sliced(d, position);
    }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims + 1> embedded(int d, int64_t position = 0) const {
        return Base::embedded(d, position);
    }
    template <typename... Args> static Buffer make_scalar(const Args &...args) {
        return Base::make_scalar(args...);
    }
    template <typename... Args> static Buffer make_interleaved(const Args &...args) {
        return Base::make_interleaved(args...);
    }
    template <typename... Args> static Buffer make_with_shape_of(const Args &...args) {
        return Base::make_with_shape_of(args...);
    }
    // These work on an undefined Runtime::Buffer (default-constructed, or after reset()), too: it
    // has the element type and number of dimensions of its static type (else 0), and no memory.
    halide_type_t type() const {
        if (this->defined())
            return Base::type();
        if constexpr (Base::has_static_type)
            return Base::static_halide_type();
        else
            return {};
    }
    int dimensions() const {
        return this->defined() ? Base::dimensions() : Dims == AnyDims ? 0 : Dims;
    }
    T *data() const { return this->defined() ? Base::data() : nullptr; }
    bool is_bounds_query() const { return !this->defined() || Base::is_bounds_query(); }

    /// Copies of an image (x, y, channel) with another storage order.
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
