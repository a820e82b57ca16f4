#include <pipe/buffer.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error_text.h"

namespace Pipe {

namespace {

using support::Field;
using support::marked;

constexpr int64_t alignment = 64;  // one cache line, and the widest vector
constexpr int64_t slack = 64;      // a full vector may be loaded from the last element on
constexpr int64_t largest = INT64_MAX - alignment - slack;

std::string range(Field field, int64_t min, int64_t extent) {
    return marked(field, fmt::format("{} to {}", min, min + extent - 1));
}

std::string describe(const std::string &name, Type type) {
    const std::string of = to_string(type);
    return name.empty() ? fmt::format("Unnamed Buffer of {}", of)
                        : fmt::format("Buffer '{}' of {}", marked(Field::Func, name), of);
}

template <typename... Args>
[[noreturn]] void fail(const std::string &who, fmt::format_string<Args...> text, Args &&...args) {
    throw RuntimeError(who + ": " + fmt::format(text, std::forward<Args>(args)...));
}

std::string extents_text(std::span<const BufferDim> dims) {
    std::vector<int64_t> extents;
    for (const BufferDim &d : dims) {
        extents.push_back(d.extent);
    }
    return fmt::format("{}", fmt::join(extents, " x "));
}

/// Offsets in elements, relative to host, of the lowest and the highest element.
struct Span {
    int64_t low = 0;
    int64_t high = 0;
    bool empty = false;
};

// Throws unless the number of elements, the bytes spanned and all coordinates fit into int64_t.
Span checked_span(const std::string &who, Type type, std::span<const BufferDim> dims) {
    Span span;
    int64_t elements = 1;
    bool overflow = false;
    for (size_t i = 0; i < dims.size(); i++) {
        const BufferDim &d = dims[i];
        if (d.extent < 0) {
            fail(who, "the extent of dimension {} is {}; it must not be negative",
                 marked(Field::Dimension, i), marked(Field::Given, d.extent));
        }
        int64_t end = 0;
        if (__builtin_add_overflow(d.min, d.extent, &end)) {
            fail(who, "the coordinates of dimension {} (min {}, extent {}) do not fit into 64 bits",
                 i, d.min, d.extent);
        }
        span.empty |= d.extent == 0;
    }
    for (const BufferDim &d : dims) {
        int64_t reach = 0;
        overflow |= __builtin_mul_overflow(elements, d.extent, &elements);
        overflow |= __builtin_mul_overflow(std::max<int64_t>(d.extent - 1, 0), d.stride, &reach);
        int64_t &bound = reach < 0 ? span.low : span.high;
        overflow |= __builtin_add_overflow(bound, reach, &bound);
    }
    int64_t bytes = 0;
    overflow |= __builtin_sub_overflow(span.high, span.low, &bytes);
    overflow |= __builtin_mul_overflow(bytes, int64_t{type.bytes()}, &bytes) || bytes > largest;
    overflow |= __builtin_mul_overflow(elements, int64_t{type.bytes()}, &bytes);
    if (overflow && !span.empty) {
        fail(who, "its size of {} elements of {} bytes overflows 64 bits", extents_text(dims),
             type.bytes());
    }
    return span;
}

void check_type(const std::string &who, Type type) {
    if (!type.defined() || !type.is_scalar() || type.is_handle()) {
        fail(who, "a Buffer holds scalar numbers, not values of type '{}'", to_string(type));
    }
}

// Strides of a dense array; `order` lists the dimensions from innermost to outermost.
void make_dense(const std::string &who, std::vector<BufferDim> &dims,
                const std::vector<int> &order) {
    int64_t stride = 1;
    for (int i : order) {
        BufferDim &d = dims[static_cast<size_t>(i)];
        d.stride = stride;
        if (__builtin_mul_overflow(stride, std::max<int64_t>(d.extent, 1), &stride)) {
            fail(who, "its size of {} elements overflows 64 bits", extents_text(dims));
        }
    }
}

std::atomic<void *(*)(size_t)> users_allocate{nullptr};
std::atomic<void (*)(void *)> users_deallocate{nullptr};

/// Memory from the user's functions, with space to align the address.
std::shared_ptr<void> allocate_by_user(const std::string &who, void *(*allocate)(size_t),
                                       int64_t bytes) {
    auto deallocate = users_deallocate.load();
    if (deallocate == nullptr)
        fail(who, "set_default_allocate_fn() was called, but not set_default_deallocate_fn(), so "
                  "that its "
                  "memory could not be freed. Set both");
    void *memory = allocate(static_cast<size_t>(bytes + alignment));
    if (memory == nullptr)
        return nullptr;
    auto address = reinterpret_cast<uintptr_t>(memory);
    address += alignment - address % alignment;
    return {reinterpret_cast<void *>(address), [=](void *) { deallocate(memory); }};
}

std::shared_ptr<void> allocate_bytes(const std::string &who, const std::vector<BufferDim> &dims,
                                     int64_t bytes) {
    const int64_t rounded = (bytes + alignment - 1) / alignment * alignment + slack;
    auto allocate = users_allocate.load();
    std::shared_ptr<void> memory =
        allocate ? allocate_by_user(who, allocate, rounded)
                 : std::shared_ptr<void>(
                       std::aligned_alloc(alignment, static_cast<size_t>(rounded)), std::free);
    if (memory == nullptr) {
        fail(who, "out of memory: {} elements ({} bytes) are needed", extents_text(dims),
             marked(Field::Needed, bytes));
    }
    return memory;
}

std::vector<int> identity_order(size_t n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void check_permutation(const std::string &who, const std::vector<int> &order, size_t n) {
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != identity_order(n)) {
        fail(who, "[{}] is not an order of its {} dimensions", fmt::join(order, ", "), n);
    }
}

// Copies a box between two arrays with the same extents, innermost dimension in one go if dense.
void copy_box(const char *from, char *to, const BufferDim *source, const BufferDim *target,
              size_t dims, int64_t size) {
    if (dims == 0) {
        std::memcpy(to, from, static_cast<size_t>(size));
        return;
    }
    const BufferDim &s = source[dims - 1];
    const BufferDim &t = target[dims - 1];
    if (dims == 1 && s.stride == 1 && t.stride == 1) {
        std::memcpy(to, from, static_cast<size_t>(s.extent * size));
        return;
    }
    for (int64_t i = 0; i < s.extent; i++) {
        copy_box(from + i * s.stride * size, to + i * t.stride * size, source, target, dims - 1,
                 size);
    }
}

}  // namespace

BufferBase BufferBase::make(Type type, const std::vector<int64_t> &sizes,
                            const std::vector<int> &storage_order, std::string name) {
    const std::string who = describe(name, type);
    std::vector<BufferDim> dims;
    for (int64_t size : sizes) {
        dims.push_back({0, size, 1});
    }
    check_type(who, type);
    for (size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] < 0) {
            fail(who, "the extent of dimension {} is {}; it must not be negative",
                 marked(Field::Dimension, i), marked(Field::Given, sizes[i]));
        }
    }
    if (storage_order.empty()) {
        make_dense(who, dims, identity_order(dims.size()));
    } else {
        check_permutation(who, storage_order, dims.size());
        make_dense(who, dims, storage_order);
    }
    BufferBase result = wrap(type, nullptr, dims, std::move(name));
    result.allocate();
    return result;
}

BufferBase BufferBase::wrap(Type type, void *host, std::span<const BufferDim> dims,
                            std::string name) {
    const std::string who = describe(name, type);
    check_type(who, type);
    checked_span(who, type, dims);
    BufferBase result;
    result.contents_ = std::make_shared<Contents>();
    result.contents_->raw.host = static_cast<uint8_t *>(host);
    result.contents_->raw.type = type;
    result.contents_->set_shape({dims.begin(), dims.end()});
    result.contents_->name = std::move(name);
    return result;
}

BufferBase BufferBase::wrap(const RawBuffer &raw, const std::string &name) {
    BufferBase result =
        wrap(raw.type, raw.host, {raw.dim, static_cast<size_t>(raw.dimensions)}, name);
    RawBuffer &own = result.contents_->raw;
    own.flags = raw.flags;
    own.device = raw.device;
    own.device_interface = raw.device_interface;
    return result;
}

BufferBase::Contents::Contents(const Contents &other)
    : raw(other.raw), memory(other.memory), name(other.name) {
    set_shape(other.shape());
}

void BufferBase::Contents::set_shape(std::vector<BufferDim> shape) {
    dims = std::move(shape);
    raw.dim = dims.data();
    raw.dimensions = static_cast<int32_t>(dims.size());
}

// Saturates on overflow; wrap() then reports it with the name of the Buffer.
std::vector<BufferDim> BufferBase::dense(const std::vector<int64_t> &sizes) {
    std::vector<BufferDim> dims;
    int64_t stride = 1;
    for (int64_t size : sizes) {
        dims.push_back({0, size, stride});
        if (__builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &stride)) {
            stride = INT64_MAX;
        }
    }
    return dims;
}

std::vector<BufferDim> BufferBase::interleaved(int64_t width, int64_t height, int64_t channels) {
    const std::vector<BufferDim> dims = dense({channels, width, height});
    return {dims[1], dims[2], dims[0]};
}

int64_t BufferBase::number_of_elements() const {
    int64_t product = 1;
    for (const BufferDim &d : view().dims) {
        product *= d.extent;
    }
    return product;
}

size_t BufferBase::size_in_bytes() const {
    const Span span = checked_span(describe(name(), type()), type(), view().dims);
    return span.empty ? 0 : static_cast<size_t>((span.high - span.low + 1) * type().bytes());
}

void *BufferBase::lowest_address() const {
    const Span span = checked_span(describe(name(), type()), type(), view().dims);
    char *host = static_cast<char *>(view().host);
    return host == nullptr ? nullptr : host + (span.empty ? 0 : span.low * type().bytes());
}

void BufferBase::set_shape(const std::vector<BufferDim> &dims) const {
    if (!is_bounds_query())
        throw RuntimeError("Buffer '" + name() + "': set_shape needs a Buffer without memory.");
    contents().set_shape(dims);
}

void BufferBase::allocate() {
    Contents &c = contents();
    const std::string who = describe(c.name, type());
    std::vector<BufferDim> dims = c.shape();
    std::vector<int> order = identity_order(dims.size());
    // If interleaved pixels have only one channel, its stride equals that of a pixel; it is the
    // inner dimension.
    auto place = [&](int d) {
        const BufferDim &dim = dims[static_cast<size_t>(d)];
        return std::pair(std::abs(dim.stride), dim.extent != 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
    make_dense(who, dims, order);
    const Span span = checked_span(who, type(), dims);
    const int64_t bytes = span.empty ? 0 : (span.high + 1) * type().bytes();
    c.memory = allocate_bytes(who, dims, bytes);
    c.raw.host = static_cast<uint8_t *>(c.memory.get());
    c.raw.flags = c.raw.device = 0;
    c.raw.device_interface = nullptr;
    c.set_shape(std::move(dims));
}

void BufferBase::set_default_allocate_fn(void *(*allocate)(size_t bytes)) {
    users_allocate = allocate;
}

void BufferBase::set_default_deallocate_fn(void (*deallocate)(void *memory)) {
    users_deallocate = deallocate;
}

void BufferBase::deallocate() {
    contents().memory.reset();
    contents().raw.host = nullptr;
}

void BufferBase::set_min(const std::vector<int64_t> &mins) {
    std::vector<BufferDim> dims = contents().shape();
    for (size_t i = 0; i < mins.size(); i++) {
        checked_dim(static_cast<int>(i));
        dims[i].min = mins[i];
    }
    checked_span(describe(name(), type()), type(), dims);
    contents().set_shape(std::move(dims));
}

void BufferBase::translate(int d, int64_t delta) {
    checked_dim(d);
    std::vector<BufferDim> dims = contents().shape();
    BufferDim &dim = dims[static_cast<size_t>(d)];
    const std::string who = describe(name(), type());
    if (__builtin_add_overflow(dim.min, delta, &dim.min)) {
        fail(who, "moving dimension {} by {} overflows 64 bits", d, delta);
    }
    checked_span(who, type(), dims);
    contents().set_shape(std::move(dims));
}

void BufferBase::translate(const std::vector<int64_t> &deltas) {
    for (size_t i = 0; i < deltas.size(); i++) {
        translate(static_cast<int>(i), deltas[i]);
    }
}

void BufferBase::crop(int d, int64_t min, int64_t extent) {
    const BufferDim &dim = checked_dim(d);
    const int64_t max = dim.min + dim.extent - 1;
    const bool inside = extent >= 0 && min >= dim.min && min <= max + 1 && extent <= max + 1 - min;
    if (!inside) {
        fail(describe(name(), type()),
             "dimension {} cannot be cropped to min {}, extent {} ({}): it has "
             "min {}, extent {} ({})",
             marked(Field::Dimension, d), min, extent, range(Field::Needed, min, extent), dim.min,
             dim.extent, range(Field::Given, dim.min, dim.extent));
    }
    RawBuffer &raw = contents().raw;
    if (raw.host != nullptr && extent > 0) {
        raw.host += (min - dim.min) * dim.stride * raw.type.bytes();
    }
    raw.dim[d] = {min, extent, dim.stride, dim.flags};
}

void BufferBase::crop(const std::vector<std::pair<int64_t, int64_t>> &mins_and_extents) {
    for (size_t i = 0; i < mins_and_extents.size(); i++) {
        crop(static_cast<int>(i), mins_and_extents[i].first, mins_and_extents[i].second);
    }
}

void BufferBase::transpose(int d1, int d2) {
    checked_dim(d1);
    checked_dim(d2);
    std::swap(contents().raw.dim[d1], contents().raw.dim[d2]);
}

void BufferBase::transpose(const std::vector<int> &order) {
    const std::vector<BufferDim> old = contents().shape();
    check_permutation(describe(name(), type()), order, old.size());
    for (size_t i = 0; i < order.size(); i++) {
        contents().raw.dim[i] = old[static_cast<size_t>(order[i])];
    }
}

void BufferBase::slice_dim(int d, int64_t position) {
    if (!(position >= min(d) && position <= max(d))) {
        fail(describe(name(), type()), "dimension {} cannot be sliced at {}: it runs from {}",
             marked(Field::Dimension, d), marked(Field::Needed, position),
             range(Field::Given, min(d), extent(d)));
    }
    crop(d, position, 1);
    std::vector<BufferDim> dims = contents().shape();
    dims.erase(dims.begin() + d);
    contents().set_shape(std::move(dims));
}

void BufferBase::embed_dim(int d, int64_t position) {
    if (d < 0 || d > dimensions()) {
        fail(describe(name(), type()), "a new dimension cannot be inserted at index {} of {}", d,
             dimensions() + 1);
    }
    std::vector<BufferDim> dims = contents().shape();
    dims.insert(dims.begin() + d, BufferDim{position, 1, 1});
    // Larger than any other stride, so that copies put the new dimension outermost.
    for (const BufferDim &other : dims) {
        int64_t &stride = dims[static_cast<size_t>(d)].stride;
        stride = std::max(stride, std::abs(other.stride) * std::max<int64_t>(other.extent, 1));
    }
    contents().set_shape(std::move(dims));
}

bool BufferBase::contains(const std::vector<int64_t> &coordinates) const {
    const std::span<const BufferDim> dims = view().dims;
    if (coordinates.size() > dims.size()) {
        return false;
    }
    for (size_t i = 0; i < coordinates.size(); i++) {
        if (coordinates[i] < dims[i].min || coordinates[i] >= dims[i].min + dims[i].extent) {
            return false;
        }
    }
    return true;
}

BufferBase BufferBase::alias() const {
    BufferBase result;
    result.contents_ = std::make_shared<Contents>(contents());
    return result;
}

BufferBase BufferBase::deep_copy() const {
    BufferBase result = alias();
    result.allocate();
    if (view().host != nullptr) {
        result.copy_elements_from(*this);
    } else {
        result.deallocate();
    }
    return result;
}

/// Whether the memory ranges of the two overlap.
bool BufferBase::overlap(const BufferBase &a, const BufferBase &b) {
    const auto begin_a = reinterpret_cast<uintptr_t>(a.lowest_address());
    const auto begin_b = reinterpret_cast<uintptr_t>(b.lowest_address());
    return begin_a < begin_b + b.size_in_bytes() && begin_b < begin_a + a.size_in_bytes();
}

void BufferBase::copy_elements_from(const BufferBase &source) const {
    source.require(type(), dimensions());
    std::vector<std::pair<int64_t, int64_t>> common;
    for (int i = 0; i < dimensions(); i++) {
        const int64_t low = std::max(min(i), source.min(i));
        const int64_t high = std::min(max(i), source.max(i));
        if (high < low) {
            return;
        }
        common.emplace_back(low, high - low + 1);
    }
    for (const BufferBase *b : {&source, this}) {
        if (b->view().host == nullptr) {
            fail(describe(b->name(), type()), "it has no memory to copy from or to");
        }
    }
    BufferBase from = source.alias();
    BufferBase to = alias();
    from.crop(common);
    to.crop(common);
    if (overlap(from, to))
        from = from.deep_copy();  // else elements might be written before they are read
    std::vector<int> order = identity_order(common.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(to.stride(a)) < std::abs(to.stride(b)); });
    from.transpose(order);
    to.transpose(order);
    copy_box(static_cast<const char *>(from.view().host), static_cast<char *>(to.view().host),
             from.view().dims.data(), to.view().dims.data(), common.size(), type().bytes());
}

void BufferBase::require(Type type, int dimensions) const {
    if (this->type() != type) {
        fail(describe(name(), this->type()), "it cannot be converted to a Buffer of {}",
             marked(Field::Needed, to_string(type)));
    }
    if (dimensions != AnyDims && this->dimensions() != dimensions) {
        fail(describe(name(), type), "it has {} dimensions and cannot be converted to one with {}",
             marked(Field::Given, this->dimensions()), marked(Field::Needed, dimensions));
    }
}

void BufferBase::require_same_extents(const BufferBase &other) const {
    const auto same = [](const BufferDim &a, const BufferDim &b) { return a.extent == b.extent; };
    const std::span<const BufferDim> a = view().dims, b = other.view().dims;
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) {
        fail(describe(other.name(), other.type()), "its extents are {}, but {} are needed",
             marked(Field::Given, extents_text(b)), marked(Field::Needed, extents_text(a)));
    }
}

const BufferDim &BufferBase::checked_dim(int i) const {
    const std::span<const BufferDim> dims = view().dims;
    if (i < 0 || static_cast<size_t>(i) >= dims.size()) {
        fail(describe(name(), type()), "there is no dimension {}; it has {} dimensions",
             marked(Field::Dimension, i), dims.size());
    }
    return dims[static_cast<size_t>(i)];
}

BufferDim BufferBase::dim_or_one(int i) const {
    const std::span<const BufferDim> dims = view().dims;
    return static_cast<size_t>(i) < dims.size() ? dims[static_cast<size_t>(i)] : BufferDim{0, 1, 0};
}

void BufferBase::require_element(const int64_t *at, size_t n) const {
    const std::vector<int64_t> coordinates(at, at + n);
    if (view().host == nullptr) {
        fail(describe(name(), type()), "it has no memory");
    }
    if (n < view().dims.size()) {
        throw_wrong_arity("the access to an element");
    }
    for (size_t i = 0; i < n; i++) {
        const BufferDim d = dim_or_one(static_cast<int>(i));
        if (at[i] < d.min || at[i] >= d.min + d.extent) {
            fail(describe(name(), type()),
                 "there is no element ({}): coordinate {} of dimension {} is outside {}",
                 fmt::join(coordinates, ", "), marked(Field::Needed, at[i]),
                 marked(Field::Dimension, i),
                 marked(Field::Given, fmt::format("{}..{}", d.min, d.min + d.extent - 1)));
        }
    }
}

int64_t BufferBase::offset_of_existing(const int64_t *at) const {
    int64_t offset = 0;
    for (const BufferDim &d : view().dims) {
        offset += (*at++ - d.min) * d.stride;
    }
    return offset;
}

void BufferBase::throw_no_device(const char *what) const {
    fail(describe(name(), type()),
         "{}: Pipe does not support devices, all memory is on the host. Leave the call "
         "out if Target::has_gpu_feature() is false",
         what);
}

void BufferBase::set_device_dirty(bool dirty) const {
    if (dirty)
        throw_no_device("set_device_dirty");
}

void BufferBase::throw_undefined() {
    throw RuntimeError("A Buffer without a shape was used: it was default-constructed and nothing "
                       "has been assigned to it. Give it sizes, or assign a Buffer to it.");
}

void BufferBase::throw_wrong_arity(const char *what) const {
    fail(describe(name(), type()), "{} does not take its number of dimensions, {}", what,
         dimensions());
}

}  // namespace Pipe
