#pragma once
// Buffer: a dense array with any number of dimensions, in memory that it owns or wraps.

#include <pipe/buffer_base.h>
#include <pipe/buffer_visit.h>

namespace Pipe {

/// An array with elements of type T (`void`: the element type is known only at run time) and `Dims`
/// dimensions (AnyDims: known only at run time). Coordinates, extents and strides are 64-bit;
/// strides count elements. Dimension 0 is innermost unless stated otherwise.
///
/// Errors are RuntimeErrors that name the Buffer, the dimension and the value: negative extents, a
/// size that overflows, lack of memory, a conversion to another element type.
template <typename T, int Dims> class Buffer : public BufferBase {
    template <typename, int> friend class Buffer;
    static constexpr bool typed = !std::is_void_v<T>;
    using Value = std::conditional_t<typed, T, std::byte>;  // makes T & well-formed for void
    static constexpr int one_less = Dims == Pipe::AnyDims ? Pipe::AnyDims : Dims - 1;
    static constexpr int one_more = Dims == Pipe::AnyDims ? Pipe::AnyDims : Dims + 1;

  public:
    using ElemType = T;
    static constexpr int AnyDims = Pipe::AnyDims;

    Buffer() = default;

    /// The same Buffer with another static type; the run-time type must agree.
    template <typename U, int D>
    requires detail::Viewable<U, T> Buffer(const Buffer<U, D> &other)
        : Buffer(static_cast<const BufferBase &>(other)) {}
    /// Another Buffer on the same memory, with its own shape and name.
    template <typename U, int D>
    requires detail::Viewable<U, T> Buffer(const Buffer<U, D> &other, const std::string &name)
        : Buffer(other.renamed(name)) {}
    /// A Buffer on the same memory, with its own shape. A template, so that sizes in braces do not
    /// match it.
    template <std::same_as<RawBuffer> Raw>
    explicit Buffer(const Raw &raw, const std::string &name = "") : Buffer(wrap(raw, name)) {}

    /// Allocates memory, which is not initialized: `Buffer<uint8_t>(1920, 1080, 3)`, with an
    /// optional name after the sizes. If a size is zero, the Buffer is empty. Buffer<void> takes
    /// the element type as its first argument.
    template <std::integral I, detail::Size... Args>
    explicit Buffer(I first, const Args &...rest)
        : Buffer(own_type(), detail::SizesAndName(first, rest...)) {}
    template <std::integral I, detail::Size... Args>
    explicit Buffer(Type type, I first, const Args &...rest)
        : Buffer(type, detail::SizesAndName(first, rest...)) {}
    explicit Buffer(std::initializer_list<int64_t> sizes, const std::string &name = "")
        : Buffer(make(own_type(), sizes, {}, name)) {}
    Buffer(Type type, std::initializer_list<int64_t> sizes, const std::string &name = "")
        : Buffer(make(type, sizes, {}, name)) {}
    template <std::integral I>
    explicit Buffer(const std::vector<I> &sizes, const std::string &name = "")
        : Buffer(make(own_type(), detail::widen(sizes), {}, name)) {}
    template <std::integral I>
    Buffer(Type type, const std::vector<I> &sizes, const std::string &name = "")
        : Buffer(make(type, detail::widen(sizes), {}, name)) {}
    /// `order` lists the dimensions from innermost to outermost in memory.
    template <detail::SizeList Sizes = std::initializer_list<int64_t>,
              detail::OrderList Order = std::initializer_list<int>>
    Buffer(const Sizes &sizes, const Order &order, const std::string &name = "")
        : Buffer(own_type(), sizes, order, name) {}
    template <detail::SizeList Sizes = std::initializer_list<int64_t>,
              detail::OrderList Order = std::initializer_list<int>>
    Buffer(Type type, const Sizes &sizes, const Order &order, const std::string &name = "")
        : Buffer(make(type, detail::widen(sizes), order, name)) {}

    /// Wraps memory owned by the caller, which must outlive all uses: dense with these sizes, or of
    /// any shape. `data` is the address of the element whose coordinates are all at their minimum.
    template <detail::Size... Args>
    explicit Buffer(Value *data, int64_t first, const Args &...rest)
        : Buffer(own_type(), data, detail::SizesAndName(first, rest...)) {}
    template <detail::Size... Args>
    explicit Buffer(Type type, T *data, int64_t first, const Args &...rest)
        : Buffer(type, data, detail::SizesAndName(first, rest...)) {}
    Buffer(Value *data, std::initializer_list<int64_t> sizes, const std::string &name = "")
        : Buffer(wrap(own_type(), erase(data), dense(sizes), name)) {}
    template <std::integral I>
    Buffer(Value *data, const std::vector<I> &sizes, const std::string &name = "")
        : Buffer(wrap(own_type(), erase(data), dense(detail::widen(sizes)), name)) {}
    Buffer(Value *data, const std::vector<BufferDim> &shape, const std::string &name = "")
        : Buffer(wrap(own_type(), erase(data), shape, name)) {}
    template <detail::DimLike Dim>
    Buffer(Value *data, int dimensions, const Dim *shape, const std::string &name = "")
        : Buffer(wrap(own_type(), erase(data), detail::shape_of(shape, dimensions), name)) {}
    Buffer(Type type, T *data, const std::vector<BufferDim> &shape, const std::string &name = "")
        : Buffer(wrap(type, erase(data), shape, name)) {}
    template <detail::SizeList Sizes = std::initializer_list<int64_t>>
    Buffer(Type type, T *data, const Sizes &sizes, const std::string &name = "")
        : Buffer(wrap(type, erase(data), dense(detail::widen(sizes)), name)) {}
    template <detail::DimLike Dim>
    Buffer(Type type, T *data, int dimensions, const Dim *shape, const std::string &name = "")
        : Buffer(wrap(type, erase(data), detail::shape_of(shape, dimensions), name)) {}
    template <detail::DimLike Dim>
    Buffer(Type type, T *data, const std::vector<Dim> &shape, const std::string &name = "")
        : Buffer(type, data, static_cast<int>(shape.size()), shape.data(), name) {}
    template <detail::DimLike Dim>
    Buffer(Value *data, const std::vector<Dim> &shape, const std::string &name = "")
        : Buffer(data, static_cast<int>(shape.size()), shape.data(), name) {}
    /// Wraps a C array; the last index is dimension 0.
    template <detail::ArrayOf<T> Array>
    explicit Buffer(Array &array, const std::string &name = "")
        : Buffer(wrap(own_type(), erase(&array), dense(detail::array_extents<Array>()), name)) {}

    /// A Buffer with zero dimensions: one element.
    static Buffer make_scalar(const std::string &name = "") {
        return Buffer(make(own_type(), {}, {}, name));
    }
    static Buffer make_scalar(Value *data, const std::string &name = "") {
        return Buffer(wrap(own_type(), erase(data), {}, name));
    }
    static Buffer make_scalar(Type type, const std::string &name = "") {
        return Buffer(make(type, {}, {}, name));
    }

    /// An image with interleaved channels (RGBRGB...), still indexed by (x, y, channel).
    static Buffer make_interleaved(int64_t width, int64_t height, int64_t channels,
                                   const std::string &name = "") {
        return make_interleaved(own_type(), width, height, channels, name);
    }
    static Buffer make_interleaved(Type type, int64_t width, int64_t height, int64_t channels,
                                   const std::string &name = "") {
        return Buffer(make(type, {width, height, channels}, {2, 0, 1}, name));
    }
    static Buffer make_interleaved(Value *data, int64_t width, int64_t height, int64_t channels,
                                   const std::string &name = "") {
        return Buffer(wrap(own_type(), erase(data), interleaved(width, height, channels), name));
    }

    /// Allocates memory with the mins, extents and storage order of `source`.
    template <typename U, int D>
    static Buffer make_with_shape_of(const Buffer<U, D> &source, const std::string &name = "") {
        Type type = source.type();
        if constexpr (typed) {
            type = own_type();
        }
        BufferBase result = wrap(type, nullptr, source.view().dims, name);
        result.allocate();
        return Buffer(result);
    }

    /// Whether `other` can be converted to Buffer<T, Dims>: whether its constness, element type and
    /// number of dimensions allow it. An undefined Buffer can always be converted, to an undefined
    /// one.
    template <typename U, int D> static bool can_convert_from(const Buffer<U, D> &other) {
        if (!detail::Viewable<U, T>)
            return false;
        if (!other.defined())
            return true;
        if constexpr (typed)
            if (other.view().type != own_type())
                return false;
        return Dims == AnyDims || other.dimensions() == Dims;
    }

    /// RuntimeError if `other` cannot be converted.
    template <typename U, int D> static void assert_can_convert_from(const Buffer<U, D> &other) {
        if (!detail::Viewable<U, T>)
            throw RuntimeError(
                "a Buffer of const elements cannot be converted to one of writable elements");
        if (!other.defined())
            return;
        if constexpr (typed)
            other.require(own_type(), Dims);
        else
            other.require(other.type(), Dims);
    }

    static constexpr bool has_static_type = typed;
    static constexpr bool has_static_halide_type = typed;
    static constexpr Type static_halide_type() { return own_type(); }
    static constexpr bool has_static_dimensions = Dims != AnyDims;
    static constexpr int static_dimensions() { return Dims; }

    /// The element with all coordinates at their minimum; null without memory.
    T *data() const { return static_cast<T *>(view().host); }
    /// The element with the lowest address, and one past that with the highest.
    T *begin() const requires typed { return static_cast<T *>(lowest_address()); }
    T *end() const requires typed {
        return reinterpret_cast<T *>(static_cast<char *>(lowest_address()) + size_in_bytes());
    }

    /// The same Buffer with another static type. RuntimeError unless the run-time type agrees.
    template <typename U, int D = Dims> Buffer<U, D> as() const {
        return Buffer<U, D>(static_cast<const BufferBase &>(*this));
    }

    /// The same Buffer with read-only elements.
    Buffer<const T, Dims> as_const() const { return *this; }
    /// Makes this handle undefined; other handles of the Buffer are not affected.
    void reset() { *this = Buffer(); }
    /// This object, or null if undefined: for programs written for a Buffer that is a smart
    /// pointer.
    const Buffer *get() const { return defined() ? this : nullptr; }

    /// A reference to an element. Coordinates beyond the number of dimensions must be 0. Too few
    /// coordinates, or coordinates out of bounds, are undefined behavior; builds without NDEBUG
    /// throw RuntimeError.
    template <std::integral... Ints>
    requires typed Value &operator()(Ints... coordinates) const {
        return *reinterpret_cast<Value *>(
            address(std::array<int64_t, sizeof...(Ints)>{static_cast<int64_t>(coordinates)...}));
    }
    /// The same with an array of coordinates, one per dimension.
    template <std::integral I>
    requires typed Value &operator()(const I *coordinates) const {
        const BufferView v = view();
        int64_t offset = 0;
        for (size_t i = 0; i < v.dims.size(); i++) {
            offset += (coordinates[i] - v.dims[i].min) * v.dims[i].stride;
        }
        return static_cast<Value *>(v.host)[offset];
    }
    template <std::integral... Ints>
    requires typed Value *address_of(Ints... coordinates) const { return &(*this)(coordinates...); }

    /// In a pipeline: the value of an element whose coordinates are Vars or Exprs.
    Expr operator()(const std::vector<Expr> &coordinates,
                    SourceLocation where = std::source_location::current()) const {
        return image_access(Buffer<void, AnyDims>(*this), coordinates, where);
    }
    template <typename A>
    requires detail::Symbolic<T, A>
        Expr operator()(const A &x, SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{Expr(x)}, where);
    }
    template <typename A, typename B>
    requires detail::Symbolic<T, A, B>
        Expr operator()(const A &x, const B &y,
                        SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{Expr(x), Expr(y)}, where);
    }
    template <typename A, typename B, typename C>
    requires detail::Symbolic<T, A, B, C>
        Expr operator()(const A &x, const B &y, const C &z,
                        SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{Expr(x), Expr(y), Expr(z)}, where);
    }
    template <typename A, typename B, typename C, typename D>
    requires detail::Symbolic<T, A, B, C, D>
        Expr operator()(const A &x, const B &y, const C &z, const D &w,
                        SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{Expr(x), Expr(y), Expr(z), Expr(w)}, where);
    }
    template <typename... Args>
    requires((sizeof...(Args) == 0 || sizeof...(Args) > 4) && detail::Symbolic<T, Args...>) Expr
    operator()(const Args &...coordinates) const {
        return (*this)(std::vector<Expr>{Expr(coordinates)...}, SourceLocation());
    }

    /// Sets every element to `value`, to f(x, y, ..) (see for_each_element), or to the result of
    /// successive calls f(). Returns *this.
    const Buffer &fill(std::type_identity_t<Value> value) const
        requires(typed && !std::is_const_v<T>) {
        for_each_value([&](Value &element) { element = value; });
        changed_on_host();
        return *this;
    }
    template <typename F>
    requires(typed &&
             !std::is_arithmetic_v<std::remove_cvref_t<F>>) const Buffer &fill(F &&f) const {
        if constexpr (std::is_invocable_v<F &> && !std::is_invocable_v<F &, int>) {
            for_each_value([&](Value &element) { element = static_cast<Value>(f()); });
        } else {
            copy_to_host();
            visit_coordinates(f, [this](const int64_t *at, const auto &value) {
                (*this)(at) = static_cast<Value>(value());
            });
        }
        changed_on_host();
        return *this;
    }
    /// True if every element equals `value`.
    bool all_equal(std::type_identity_t<Value> value) const requires typed {
        bool equal = true;
        for_each_value([&](const Value &element) { equal &= element == value; });
        return equal;
    }

    /// Calls f(a, b, ..) with references to the elements at the same position of this Buffer and of
    /// `others`, which must have the same extents, in the order of this Buffer's memory.
    template <typename F, typename... Others>
    const Buffer &for_each_value(F &&f, Others &&...others) const requires typed {
        (require_same_extents(others), ...);
        copy_to_host();
        (others.copy_to_host(), ...);
        const BufferView v = view();
        const std::vector<size_t> order = detail::order_in_memory(v.dims);
        std::vector<BufferDim> rows;
        for (size_t d : order) {
            rows.push_back({0, v.dims[d].extent, 0});
        }
        int64_t length = 1;
        if (!rows.empty()) {
            length = std::exchange(rows[0].extent, rows[0].extent > 0 ? 1 : 0);
        }
        auto along = [&](const auto &...row) {
            for (int64_t i = 0; i < length; i++) {
                f(row[i]...);
            }
        };
        detail::for_each_coordinate(rows, [&](const int64_t *at) {
            along(row(*this, order, at), row(others, order, at)...);
        });
        return *this;
    }
    /// Calls f(x, y, ..) with ints, or f(const int *), for the coordinates of every element,
    /// dimension 0 innermost. If f takes fewer arguments than there are dimensions, the remaining
    /// dimensions stay at their minimum; excess arguments are 0.
    template <typename F> const Buffer &for_each_element(F &&f) const {
        visit_coordinates(f, [](const int64_t *, const auto &call) { call(); });
        return *this;
    }

    /// A dense copy of the elements, with the same shape.
    Buffer<std::remove_const_t<T>, Dims> copy() const {
        return Buffer<std::remove_const_t<T>, Dims>(deep_copy());
    }
    /// Copies the elements at the coordinates that both Buffers contain. Types and numbers of
    /// dimensions must agree. If the two share memory, all elements are read before the first is
    /// written.
    template <typename U, int D> void copy_from(const Buffer<U, D> &source) const {
        static_assert(!std::is_const_v<T>, "cannot write into a Buffer of const elements");
        copy_elements_from(source);
    }

    /// Views of the same memory with another shape. The memory is freed with the last of them.
    Buffer cropped(int d, int64_t min, int64_t extent) const {
        return changed([&](BufferBase &b) { b.crop(d, min, extent); });
    }
    Buffer cropped(const std::vector<std::pair<int64_t, int64_t>> &mins_and_extents) const {
        return changed([&](BufferBase &b) { b.crop(mins_and_extents); });
    }
    template <std::integral I>
    Buffer cropped(const std::vector<std::pair<I, I>> &mins_and_extents) const {
        return cropped(detail::widen(mins_and_extents));
    }
    Buffer translated(int d, int64_t delta) const {
        return changed([&](BufferBase &b) { b.translate(d, delta); });
    }
    Buffer translated(const std::vector<int64_t> &deltas) const {
        return changed([&](BufferBase &b) { b.translate(deltas); });
    }
    template <std::integral I> Buffer translated(const std::vector<I> &deltas) const {
        return translated(detail::widen(deltas));
    }
    Buffer transposed(int d1, int d2) const {
        return changed([&](BufferBase &b) { b.transpose(d1, d2); });
    }
    Buffer transposed(const std::vector<int> &order) const {
        return changed([&](BufferBase &b) { b.transpose(order); });
    }
    /// Fixes dimension `d` at `position` (default: its minimum) and removes it.
    Buffer<T, one_less> sliced(int d, int64_t position) const {
        Buffer<T, AnyDims> result(alias());
        result.slice_dim(d, position);
        return result;
    }
    Buffer<T, one_less> sliced(int d) const { return sliced(d, min(d)); }
    void slice(int d, int64_t position) {
        static_assert(Dims == AnyDims, "use sliced() if the number of dimensions is fixed");
        slice_dim(d, position);
    }
    void slice(int d) { slice(d, min(d)); }
    /// Inserts a dimension of extent 1 with this min at index `d`.
    Buffer<T, one_more> embedded(int d, int64_t position = 0) const {
        Buffer<T, AnyDims> result(alias());
        result.embed_dim(d, position);
        return result;
    }
    void embed(int d, int64_t position = 0) {
        static_assert(Dims == AnyDims, "use embedded() if the number of dimensions is fixed");
        embed_dim(d, position);
    }
    void add_dimension() { embed(dimensions()); }
    void add_dimension_with_stride(int64_t stride) {
        add_dimension();
        contents().raw.dim[dimensions() - 1].stride = stride;
    }

  protected:
    // All conversions and constructors end here.
    explicit Buffer(const BufferBase &base) : BufferBase(base) {
        if (defined()) {
            if constexpr (typed) {
                require(own_type(), Dims);
            } else {
                require(type(), Dims);
            }
        }
    }

  private:
    Buffer(Type type, const detail::SizesAndName &s) : Buffer(make(type, s.sizes, {}, s.name)) {}
    Buffer(Type type, T *data, const detail::SizesAndName &s)
        : Buffer(wrap(type, erase(data), dense(s.sizes), s.name)) {}

    static constexpr Type own_type() { return type_of<Value>(); }
    static void *erase(const void *data) { return const_cast<void *>(data); }

    void changed_on_host() const {
        if (has_device_allocation())
            set_host_dirty();
    }
    Buffer renamed(const std::string &name) const {
        return changed([&](BufferBase &b) { b.set_name(name); });
    }
    template <typename Change> Buffer changed(const Change &change) const {
        BufferBase result = alias();
        change(result);
        return Buffer(result);
    }

    template <typename U, int D>
    static detail::Row<U> row(const Buffer<U, D> &buffer, const std::vector<size_t> &order,
                              const int64_t *offset_from_min) {
        const BufferView v = buffer.view();
        U *first = static_cast<U *>(v.host);
        for (size_t i = 0; i < order.size(); i++) {
            first += offset_from_min[i] * v.dims[order[i]].stride;
        }
        return {first, order.empty() ? 0 : v.dims[order[0]].stride};
    }

    template <typename F, typename Use> void visit_coordinates(F &f, const Use &use) const {
        constexpr auto up_to_eight_dimensions = std::make_index_sequence<9>{};
        if (!detail::visit(view().dims, f, use, up_to_eight_dimensions)) {
            throw_wrong_arity("the function passed to fill or for_each_element");
        }
    }
};

}  // namespace Pipe
