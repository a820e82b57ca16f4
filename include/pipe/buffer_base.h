#pragma once
// The part of all Buffers that does not depend on the element type. Include <pipe/buffer.h>.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/error.h>
#include <pipe/expr.h>
#include <pipe/raw_buffer.h>
#include <pipe/target.h>
#include <pipe/type.h>

namespace Pipe {

struct JITUserContext;
namespace language {
struct BufferImages;
}
namespace ir {
struct Allocation;
struct AllocationPart;
}  // namespace ir

/// The fields of a Buffer that compiled code uses, valid until the number of dimensions changes.
/// `host` is the address of the element whose coordinates are all at their minimum; null without
/// memory.
struct BufferView {
    void *host = nullptr;
    Type type;
    std::span<BufferDim> dims;
};

/// An element of `image` as a value in a pipeline: the meaning of image(x, y) if x or y is a Var or
/// an Expr. Implemented by the front end.
Expr image_access(const Buffer<void, AnyDims> &image, const std::vector<Expr> &coordinates,
                  SourceLocation where);

/// The coordinates of one dimension: `for (int64_t x : buffer.dim(0))`.
class BufferRange {
  public:
    explicit BufferRange(const BufferDim &dim) : dim_(dim) {}

    int64_t min() const { return dim_.min; }
    int64_t max() const { return dim_.min + dim_.extent - 1; }
    int64_t extent() const { return dim_.extent; }
    int64_t stride() const { return dim_.stride; }

    struct iterator {
        int64_t at;
        int64_t operator*() const { return at; }
        iterator &operator++() {
            ++at;
            return *this;
        }
        bool operator!=(const iterator &other) const { return at != other.at; }
    };
    iterator begin() const { return {dim_.min}; }
    iterator end() const { return {dim_.min + dim_.extent}; }

  private:
    BufferDim dim_;
};

/// The part of Buffer that does not depend on the element type. A Buffer is a handle: copies share
/// shape, name and memory. An undefined (default-constructed) Buffer can be copied and compared; it
/// has no elements, no memory and no flags, and freeing that does nothing. Any other use of it throws RuntimeError.
class BufferBase {
  public:
    /// Sets the functions that allocate and free the memory of all Buffers created from now on;
    /// null restores the default. No particular alignment is required. A Buffer is freed by the
    /// function that was set when it was created. Set both or neither.
    static void set_default_allocate_fn(void *(*allocate)(size_t bytes));
    static void set_default_deallocate_fn(void (*deallocate)(void *memory));

    /// False for a default-constructed Buffer.
    bool defined() const { return contents_ != nullptr; }
    /// Same Buffer (not: same elements).
    bool same_as(const BufferBase &other) const { return contents_ == other.contents_; }
    friend bool operator==(const BufferBase &a, const BufferBase &b) { return a.same_as(b); }

    BufferView view() const {
        const RawBuffer &raw = contents().raw;
        return {raw.host, raw.type, {raw.dim, static_cast<size_t>(raw.dimensions)}};
    }
    Type type() const { return contents().raw.type; }
    int dimensions() const { return contents().raw.dimensions; }
    const std::string &name() const { return contents().name; }
    void set_name(std::string name) { contents().name = std::move(name); }

    /// The shape. RuntimeError if `i` is not in 0 .. dimensions()-1.
    BufferRange dim(int i) const { return BufferRange(checked_dim(i)); }
    int64_t min(int i) const { return dim(i).min(); }
    int64_t max(int i) const { return dim(i).max(); }
    int64_t extent(int i) const { return dim(i).extent(); }
    int64_t stride(int i) const { return dim(i).stride(); }

    /// The shape of an image with dimensions x, y, channel. A missing dimension has extent 1 and
    /// min 0.
    int64_t width() const { return dim_or_one(0).extent; }
    int64_t height() const { return dim_or_one(1).extent; }
    int64_t channels() const { return dim_or_one(2).extent; }
    int64_t left() const { return dim_or_one(0).min; }
    int64_t right() const { return left() + width() - 1; }
    int64_t top() const { return dim_or_one(1).min; }
    int64_t bottom() const { return top() + height() - 1; }

    /// Product of the extents; 0 if undefined.
    int64_t number_of_elements() const;
    /// Bytes from the lowest address of an element to one past the highest; 0 if empty.
    size_t size_in_bytes() const;

    /// False if the Buffer wraps memory owned by the caller, or has none.
    bool owns_host_memory() const;
    /// True if the Buffer has a shape but no memory, on the host or on a device.
    bool is_bounds_query() const {
        return contents().raw.host == nullptr && !has_device_allocation();
    }

    // Memory on a device, for pipelines whose target has Target::CUDA or CUDAEmulator.
    //
    // None of these calls is required: a pipeline allocates device memory for each Buffer, copies inputs
    // to the device, and copies outputs back at the end. A Buffer that was given device memory by one of
    // these functions keeps it: an output then stays on the device (device_dirty()) until copy_to_host(),
    // and an input is copied only if host_dirty() is set: call set_host_dirty() after you change elements.
    // Pipelines for the CPU, copy(), copy_from(), fill(), for_each_value() and save_image() first copy
    // newer elements to the host, and set host_dirty() if they write. C++ code that accesses elements by
    // buffer(x, y) does neither.
    //
    // The device memory and the two flags belong to the whole allocation: crops, slices and copies of the
    // handle share them. A Buffer has memory on at most one device.
    //
    // All functions throw RuntimeError if the device is missing or fails; otherwise they return 0. `context`
    // selects the device and the stream (JITUserContext::gpu_device, cuda_stream); may be null.

    /// Whether the host (the device) has elements that are newer than those of the other. RuntimeError
    /// for set_device_dirty() without device memory.
    bool host_dirty() const { return defined() && contents().raw.host_dirty(); }
    bool device_dirty() const { return defined() && contents().raw.device_dirty(); }
    void set_host_dirty(bool dirty = true) const { contents().raw.set_host_dirty(dirty); }
    void set_device_dirty(bool dirty = true) const;
    bool has_device_allocation() const {
        return defined() && contents().raw.get_flag(RawBuffer::has_device_flag);
    }
    /// Allocates device memory, uninitialized; sets host_dirty() if there is host memory. Memory on
    /// another device is freed, after newer elements have been copied to the host.
    int device_malloc(const DeviceInterface *interface, JITUserContext *context = nullptr) const;
    int device_malloc(DeviceAPI api, const Target &target = Target(),
                      JITUserContext *context = nullptr) const {
        return device_malloc(&device_interface_of(api, target, "device_malloc"), context);
    }
    int device_malloc(const Target &target = Target(), JITUserContext *context = nullptr) const {
        return device_malloc(DeviceAPI::Default_GPU, target, context);
    }
    /// The same, and copies the elements there if the host has newer ones.
    int copy_to_device(const DeviceInterface *interface, JITUserContext *context = nullptr) const;
    int copy_to_device(DeviceAPI api, const Target &target = Target(),
                       JITUserContext *context = nullptr) const {
        return copy_to_device(&device_interface_of(api, target, "copy_to_device"), context);
    }
    int copy_to_device(const Target &target = Target(), JITUserContext *context = nullptr) const {
        return copy_to_device(DeviceAPI::Default_GPU, target, context);
    }
    /// Copies the elements to the host if the device has newer ones. Waits for pipelines that write them.
    int copy_to_host(JITUserContext *context = nullptr) const;
    /// Waits for pipelines that work on the device memory.
    int device_sync(JITUserContext *context = nullptr) const;
    /// Frees the device memory. Elements that were newer there are lost: call copy_to_host() first.
    int device_free(JITUserContext *context = nullptr) const;
    int device_deallocate(JITUserContext *context = nullptr) const { return device_free(context); }
    /// Wraps device memory owned by the caller, which must outlive all uses. `handle`: the CUdeviceptr of
    /// the element whose coordinates are all at their minimum; the strides are the Buffer's. Sets neither
    /// flag: call set_host_dirty() or set_device_dirty(). The Buffer may have no host memory (a null
    /// pointer). RuntimeError if it already has device memory, or is a crop or slice of another Buffer.
    int device_wrap_native(const DeviceInterface *interface, uint64_t handle,
                           JITUserContext *context = nullptr) const;
    int device_wrap_native(DeviceAPI api, uint64_t handle, const Target &target = Target(),
                           JITUserContext *context = nullptr) const {
        return device_wrap_native(&device_interface_of(api, target, "device_wrap_native"), handle,
                                  context);
    }
    /// Detaches memory wrapped by device_wrap_native(), without freeing or copying it.
    int device_detach_native(JITUserContext *context = nullptr) const;

    /// The shape and addresses of the Buffer as plain data (pipe/raw_buffer.h); null if undefined. This
    /// is the Buffer's own data: a change to mins, extents, strides, `host` or flags changes the Buffer and
    /// all handles that share it. The device fields are a snapshot.
    /// Valid while one of the handles exists.
    RawBuffer *raw_buffer() const;
    /// Its part of the memory that it shares with other Buffers: for pipelines.
    ir::AllocationPart allocation() const;
    /// Allocates new memory, dense in the order of the strides and aligned to 64 bytes, not
    /// initialized. RuntimeError if there is not enough.
    void allocate();
    /// Sets the shape of a Buffer without memory: the answer to a bounds query. RuntimeError if it
    /// has memory.
    void set_shape(const std::vector<BufferDim> &dims) const;
    /// Frees the memory and keeps the shape.
    void deallocate();

    /// Moves the origin: sets all mins (`mins[i]` of dimension i), or adds to them. Elements are
    /// not moved.
    void set_min(const std::vector<int64_t> &mins);
    template <std::integral I> void set_min(const std::vector<I> &mins) {
        set_min(std::vector<int64_t>(mins.begin(), mins.end()));
    }
    template <std::integral... Ints> void set_min(int64_t first, Ints... rest) {
        set_min(std::vector<int64_t>{first, static_cast<int64_t>(rest)...});
    }
    void translate(int d, int64_t delta);
    void translate(const std::vector<int64_t> &deltas);
    template <std::integral I> void translate(const std::vector<I> &deltas) {
        translate(std::vector<int64_t>(deltas.begin(), deltas.end()));
    }

    /// Restricts dimension `d`, or the first dimensions in order, to a subrange; the memory is shared.
    /// RuntimeError if the range is not inside the present one.
    void crop(int d, int64_t min, int64_t extent);
    void crop(const std::vector<std::pair<int64_t, int64_t>> &mins_and_extents);
    template <std::integral I> void crop(const std::vector<std::pair<I, I>> &mins_and_extents) {
        crop(std::vector<std::pair<int64_t, int64_t>>(mins_and_extents.begin(),
                                                      mins_and_extents.end()));
    }

    /// Exchanges two dimensions, or permutes all: dimension i becomes the old dimension order[i].
    /// RuntimeError if `order` is not a permutation.
    void transpose(int d1, int d2);
    void transpose(const std::vector<int> &order);

    /// True if an element with these coordinates exists.
    bool contains(const std::vector<int64_t> &coordinates) const;
    template <std::integral... Ints> bool contains(Ints... coordinates) const {
        return contains(std::vector<int64_t>{static_cast<int64_t>(coordinates)...});
    }

  protected:
    struct Contents {
        RawBuffer raw;  ///< raw.dim points to `dims`, unless the user replaced it
        std::vector<BufferDim> dims;
        std::shared_ptr<ir::Allocation> allocation;  ///< never null
        int64_t offset = 0;  ///< bytes from the allocation's origin to raw.host
        std::string name;
        std::weak_ptr<void> image;  ///< the image node for this Buffer in pipelines that read it

        Contents();
        ~Contents();
        /// Copies memory and shape; the copy has no image node yet.
        Contents(const Contents &other);
        Contents &operator=(const Contents &) = delete;
        std::vector<BufferDim> shape() const { return {raw.dim, raw.dim + raw.dimensions}; }
        void set_shape(std::vector<BufferDim> shape);
        void set_allocation(std::shared_ptr<ir::Allocation> allocation, int64_t offset);
    };
    friend struct language::BufferImages;  // reads and writes `image`

    BufferBase() = default;

    static BufferBase make(Type type, const std::vector<int64_t> &sizes,
                           const std::vector<int> &storage_order, std::string name);
    static BufferBase wrap(Type type, void *host, std::span<const BufferDim> dims,
                           std::string name);
    static BufferBase wrap(const RawBuffer &raw, const std::string &name);
    static std::vector<BufferDim> dense(const std::vector<int64_t> &sizes);
    static std::vector<BufferDim> interleaved(int64_t width, int64_t height, int64_t channels);

    Contents &contents() const {
        if (!contents_) [[unlikely]] {
            throw_undefined();
        }
        return *contents_;
    }
    /// A second Buffer on the same memory, with its own shape.
    BufferBase alias() const;
    BufferBase deep_copy() const;
    static bool overlap(const BufferBase &a, const BufferBase &b);
    void copy_elements_from(const BufferBase &source) const;
    void slice_dim(int d, int64_t position);
    void embed_dim(int d, int64_t position);
    void require(Type type, int dimensions) const;
    void require_same_extents(const BufferBase &other) const;
    void *lowest_address() const;
    const BufferDim &checked_dim(int i) const;
    BufferDim dim_or_one(int i) const;

    /// Address of an element. Checks the coordinates if HALIDE_RUNTIME_BUFFER_CHECK_INDICES is
    /// defined as nonzero, or not defined and NDEBUG is not defined either.
    template <size_t N> char *address(const std::array<int64_t, N> &at) const {
        const BufferView v = view();
        check_access(at.data(), N);
        int64_t offset = 0;
        if (v.dims.size() < N) [[unlikely]]
            return static_cast<char *>(v.host) + offset_of_existing(at.data()) * v.type.bytes();
        for (size_t i = 0; i < N; i++) {
            offset += (at[i] - v.dims[i].min) * v.dims[i].stride;
        }
        return static_cast<char *>(v.host) + offset * v.type.bytes();
    }
    void check_access([[maybe_unused]] const int64_t *at, [[maybe_unused]] size_t n) const {
#ifdef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
        if constexpr (HALIDE_RUNTIME_BUFFER_CHECK_INDICES)
            require_element(at, n);
#elif !defined(NDEBUG)
        require_element(at, n);
#endif
    }
    void require_element(const int64_t *at, size_t n) const;
    /// The offset given by the coordinates of the existing dimensions.
    int64_t offset_of_existing(const int64_t *at) const;
    [[noreturn]] static void throw_undefined();
    [[noreturn]] void throw_wrong_arity(const char *what) const;

    std::shared_ptr<Contents> contents_;
};

namespace detail {

template <typename T>
concept StringLike = std::convertible_to<T, std::string>;

/// Sizes with an optional name after them: `Buffer<float>(640, 480, "depth")`.
struct SizesAndName {
    std::vector<int64_t> sizes;
    std::string name;

    template <typename... Args> explicit SizesAndName(const Args &...args) { (add(args), ...); }
    void add(int64_t size) { sizes.push_back(size); }
    void add(const std::string &text) { name = text; }
};

/// BufferDim, and other types that describe a dimension.
template <typename Dim>
concept DimLike = requires(const Dim &d) {
    int64_t(d.min);
    int64_t(d.extent);
    int64_t(d.stride);
};

template <DimLike Dim> std::vector<BufferDim> shape_of(const Dim *dims, int n) {
    std::vector<BufferDim> shape;
    for (int i = 0; i < n; i++)
        shape.push_back({dims[i].min, dims[i].extent, dims[i].stride});
    return shape;
}

/// Sizes as a list. The second form is the default of a template parameter, which braces match.
template <typename T>
concept SizeList = std::same_as<T, std::initializer_list<int64_t>> ||
    (std::integral<typename T::value_type> &&std::same_as<T, std::vector<typename T::value_type>>);
template <typename T>
concept OrderList =
    std::same_as<T, std::initializer_list<int>> || std::same_as<T, std::vector<int>>;

template <typename T>
concept Size = std::integral<T> || StringLike<T>;

template <std::integral I>
std::vector<std::pair<int64_t, int64_t>> widen(const std::vector<std::pair<I, I>> &ranges) {
    return {ranges.begin(), ranges.end()};
}

/// Whether a Buffer of `From` may be viewed as one of `To`: constness is preserved, types are
/// compared at run time.
template <typename From, typename To>
concept Viewable = std::is_const_v<To> || !std::is_const_v<From>;

template <typename Array, typename T>
concept ArrayOf = std::is_array_v<Array> && std::is_same_v<std::remove_all_extents_t<Array>, T>;

/// Whether these coordinates of a Buffer<T> form an expression of a pipeline: if all are C++
/// numbers, they access the element itself.
template <typename T, typename... Args>
concept Symbolic = (std::is_void_v<T> || !(std::integral<std::decay_t<Args>> && ...)) &&
                   !(std::is_pointer_v<std::decay_t<Args>> || ...) &&
                   (std::convertible_to<Args, Expr> && ...);

template <typename Sizes> std::vector<int64_t> widen(const Sizes &sizes) {
    return {sizes.begin(), sizes.end()};
}

/// Extents of a C array, the last index first: int[H][W] is W wide and H high.
template <typename Array> std::vector<int64_t> array_extents() {
    if constexpr (std::is_array_v<Array>) {
        std::vector<int64_t> sizes = array_extents<std::remove_extent_t<Array>>();
        sizes.push_back(std::extent_v<Array>);
        return sizes;
    } else {
        return {};
    }
}

}  // namespace detail

}  // namespace Pipe
