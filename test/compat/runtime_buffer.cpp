// Halide::Runtime::Buffer as users of Halide use it.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include <vector>

#include "support/require_message.h"

using Halide::Runtime::Buffer;

namespace {

template <typename B> int count_wrong(const B &b, int scale) {
    int wrong = 0;
    b.for_each_element([&](int x, int y) { wrong += b(x, y) != scale * (x + 100 * y); });
    return wrong;
}

}  // namespace

TEST_CASE("Runtime::Buffer: shape and access", "[compat]") {
    Buffer<int, 2> b(10, 6);
    CHECK(b.dimensions() == 2);
    CHECK(b.width() == 10);
    CHECK(b.height() == 6);
    CHECK(b.channels() == 1);
    CHECK(b.dim(0).stride() == 1);
    CHECK(b.dim(1).stride() == 10);
    CHECK(b.number_of_elements() == 60);
    CHECK(b.size_in_bytes() == 240);
    CHECK(b.end() - b.begin() == 60);
    CHECK(b.type() == halide_type_of<int>());
    CHECK(b.type().code == halide_type_int);
    CHECK(b.data() != nullptr);
    CHECK_FALSE(b.is_bounds_query());
    b.set_min(2, -1);
    CHECK(b.dim(0).min() == 2);
    CHECK(b.dim(0).max() == 11);
    CHECK(b.left() == 2);
    CHECK(b.right() == 11);
    CHECK(b.top() == -1);
    CHECK(b.bottom() == 4);
    CHECK(b.contains(2, -1));
    CHECK_FALSE(b.contains(1, 0));
    b.for_each_element([&](int x, int y) { b(x, y) = x + 100 * y; });
    CHECK(count_wrong(b, 1) == 0);
    b.for_each_value([](int &v) { v *= 2; });
    CHECK(count_wrong(b, 2) == 0);
    b.fill(7);
    CHECK(b.all_equal(7));
    b.fill([](int x, int y) { return x + 100 * y; });
    CHECK(count_wrong(b, 1) == 0);
    int sum = 0;
    for (auto x : b.dim(0))
        sum += int(x);
    CHECK(sum == 65);
}

TEST_CASE("Runtime::Buffer: copies are values that share memory", "[compat]") {
    Buffer<int> a(8, 8);
    a.fill([](int x, int y) { return x + 100 * y; });
    Buffer<int> b = a;
    b.crop(0, 2, 3);
    b.translate(1, 10);
    CHECK(a.width() == 8);
    CHECK(a.top() == 0);
    CHECK(b.width() == 3);
    CHECK(b(2, 10) == 2);
    b(3, 11) = -5;
    CHECK(a(3, 1) == -5);
    Buffer<int> c;
    CHECK_FALSE(c.defined());
    c = b;
    c.set_min(0, 0);
    CHECK(b.left() == 2);
    CHECK(c(1, 1) == -5);
    Buffer<int> deep = a.copy();
    deep(0, 0) = 99;
    CHECK(a(0, 0) == 0);
}

TEST_CASE("Runtime::Buffer: other views", "[compat]") {
    Buffer<int> b(6, 5, 3);
    b.fill([](int x, int y, int c) { return x + 10 * y + 100 * c; });
    Buffer<int> row = b.sliced(2, 1);
    CHECK(row.dimensions() == 2);
    CHECK(row(4, 3) == 134);
    row.slice(1, 2);
    CHECK(row.dimensions() == 1);
    CHECK(row(5) == 125);
    row.embed(1, 7);
    CHECK(row(5, 7) == 125);
    row.add_dimension();
    CHECK(row.dimensions() == 3);
    CHECK(row.dim(2).extent() == 1);
    Buffer<int> t = b.transposed(0, 1);
    CHECK(t(3, 5, 2) == b(5, 3, 2));
    t.transpose(0, 2);
    CHECK(t(2, 5, 3) == b(5, 3, 2));
    Buffer<int> window = b.cropped(0, 1, 2).cropped(1, 2, 2);
    CHECK(window.number_of_elements() == 12);
    Buffer<int> to(4, 4, 3);
    to.fill(-1);
    to.copy_from(window);
    CHECK(to(1, 2, 0) == 21);
    CHECK(to(0, 0, 0) == -1);
    CHECK(Buffer<int>(b.embedded(0, 3))(3, 1, 2, 0) == 21);
}

TEST_CASE("Runtime::Buffer: interleaved, scalar, wrapped, raw", "[compat]") {
    Buffer<uint8_t> rgb = Buffer<uint8_t>::make_interleaved(5, 4, 3);
    CHECK(rgb.dim(0).stride() == 3);
    CHECK(rgb.dim(2).stride() == 1);
    rgb.fill([](int x, int y, int c) { return uint8_t(x + 10 * y + 100 * c); });
    Buffer<uint8_t> planar = rgb.copy_to_planar();
    CHECK(planar.dim(0).stride() == 1);
    CHECK(planar(4, 3, 2) == uint8_t(234));
    CHECK(Buffer<uint8_t>(planar.copy_to_interleaved()).dim(0).stride() == 3);
    Buffer<float> scalar = Buffer<float>::make_scalar();
    scalar() = 2.5f;
    CHECK(scalar.dimensions() == 0);
    CHECK(*scalar.data() == 2.5f);

    std::vector<int16_t> memory(12);
    Buffer<int16_t, 2> wrapped(memory.data(), 4, 3);
    wrapped(3, 2) = 8;
    CHECK(memory[11] == 8);
    halide_buffer_t *raw = wrapped.raw_buffer();
    CHECK(raw->dimensions == 2);
    CHECK(raw->dim[1].stride == 4);
    CHECK(raw->dim[1].extent == 3);
    CHECK(raw->host == reinterpret_cast<uint8_t *>(memory.data()));
    CHECK(raw->type == halide_type_t(halide_type_int, 16));
    Buffer<int16_t> again(*raw);
    CHECK(again(3, 2) == 8);

    Buffer<void> any = wrapped;
    CHECK(any.type().bits == 16);
    CHECK(any.as<int16_t>()(3, 2) == 8);
    Buffer<int> query(nullptr, 10, 10);
    CHECK(query.is_bounds_query());
    query.allocate();
    CHECK_FALSE(query.is_bounds_query());
    query.fill(1);
    CHECK(query.all_equal(1));
}

TEST_CASE("Runtime::Buffer: with pipelines", "[compat]") {
    Halide::Var x("x"), y("y");
    Halide::ImageParam in(Halide::Float(32), 2);
    Halide::Func f("f");
    f(x, y) = in(x, y) * 2.0f;
    Buffer<float> input(9, 7), output(9, 7);
    input.fill([](int x, int y) { return float(x * y); });
    in.set(input);
    f.realize(output);
    int wrong = 0;
    output.for_each_element([&](int x, int y) { wrong += output(x, y) != float(2 * x * y); });
    CHECK(wrong == 0);
    Halide::Buffer<float> handle = f.realize({9, 7});
    CHECK(handle(8, 6) == 96);
    Buffer<float> made = handle;
    made.crop(0, 8, 1);
    CHECK(made(8, 6) == 96);
    CHECK(handle.width() == 9);
    Halide::Callable call = f.compile_to_callable({in});
    output.fill(0.0f);
    CHECK(call(input, output) == 0);
    CHECK(output(3, 5) == 30);
}

namespace {

int sum_of_two(Buffer<const int> &a, Buffer<const int> &b) {
    return a(1, 1) + b(1, 1);
}
int width_of(Buffer<void> &any) {
    return static_cast<int>(any.width());
}
template <typename T, int D> int rank(const Buffer<T, D> &) {
    return Buffer<T, D>::static_dimensions();
}

}  // namespace

TEST_CASE("Runtime::Buffer: as a Buffer that promises less", "[compat]") {
    Buffer<int, 2> a(3, 2);
    a.fill([](int x, int y) { return x + 10 * y; });
    Buffer<int> b = a;
    CHECK(sum_of_two(b, b) == 22);
    CHECK(width_of(b) == 3);
    Buffer<const int> &seen = b;
    CHECK(seen.data() == b.data());
    static_assert(Buffer<int, 2>::has_static_dimensions && !Buffer<int>::has_static_dimensions);
    // Results are such Buffers too.
    CHECK(rank(a.copy()) == 2);
    CHECK(rank(a.cropped(0, 1, 2)) == 2);
    CHECK(rank(a.cropped({{1, 2}, {0, 1}}).translated({-1, 0}).transposed(0, 1)) == 2);
    CHECK(rank(a.sliced(0)) == 1);
    CHECK(rank(a.sliced(1, 1).sliced(0, 2)) == 0);
    CHECK(rank(a.embedded(2)) == 3);
    CHECK(rank(Buffer<int, 0>::make_scalar()) == 0);
    CHECK(rank(Buffer<int, 3>::make_interleaved(4, 4, 3)) == 3);
    CHECK(rank(b.as<const int>()) == Halide::Runtime::AnyDims);
    const Buffer<const int> ones = Buffer<int>(4, 3).fill(1);
    CHECK(ones.all_equal(1));
}

namespace {

int allocations = 0, deallocations = 0;
void *allocated = nullptr, *deallocated = nullptr;

void *counting_allocate(size_t bytes) {
    allocations++;
    return allocated = malloc(bytes);
}
void counting_deallocate(void *memory) {
    deallocations++;
    free(deallocated = memory);
}

}  // namespace

TEST_CASE("Runtime::Buffer: memory from the user's functions", "[compat]") {
    Buffer<int> before(3);
    Buffer<>::set_default_allocate_fn(counting_allocate);
    Buffer<>::set_default_deallocate_fn(counting_deallocate);
    {
        Buffer<uint8_t, 2> b = Buffer<uint8_t, 2>(5, 4).fill(1);
        CHECK(allocations == 1);
        CHECK(allocated < static_cast<void *>(b.data()));
        CHECK(reinterpret_cast<uintptr_t>(b.data()) % 64 == 0);
        b.deallocate();
        CHECK(deallocations == 1);
        CHECK(deallocated == allocated);
        before = Buffer<int>(4);
        CHECK(allocations == 2);
    }
    Buffer<>::set_default_deallocate_fn(nullptr);
    require_message<Pipe::RuntimeError>([] { Buffer<int> lost(3); },
                                        {"set_default_deallocate_fn", "Set both"});
    CHECK(allocations == 2);
    Buffer<>::set_default_allocate_fn(nullptr);
    Buffer<int> after(3);
    CHECK(allocations == 2);
    before = after;
    CHECK(deallocations == 2);
}

TEST_CASE("what is written through raw_buffer() is the Buffer's", "[compat]") {
    Halide::Buffer<int> b(10, 4);
    Halide::Buffer<int> same = b;
    halide_buffer_t *raw = b.raw_buffer();
    CHECK(raw == same.raw_buffer());
    raw->dim[0].min = 5;
    CHECK(b.dim(0).min() == 5);
    CHECK(same.dim(0).min() == 5);
    raw->dim[1].extent = 3;
    CHECK(b.height() == 3);
    raw->dim[1].stride = 20;
    CHECK(b.dim(1).stride() == 20);
    int other[60] = {7};
    raw->host = reinterpret_cast<uint8_t *>(other);
    CHECK(b.data() == other);
    CHECK(b(5, 0) == 7);
    raw->set_host_dirty();
    CHECK(b.host_dirty());
    b.set_host_dirty(false);
    CHECK_FALSE(raw->host_dirty());
    raw->dimensions = 1;
    CHECK(b.dimensions() == 1);
    CHECK(b.raw_buffer() == raw);  // it stays, whatever is done to the Buffer
    b.set_min(1);
    CHECK(raw->dim[0].min == 1);
    b.slice(0, 2);
    CHECK(raw->dimensions == 0);
    CHECK(reinterpret_cast<int *>(raw->host) == other + 1);

    Buffer<int> value(10), copy = value;
    value.raw_buffer()->dim[0].min = 5;
    value.raw_buffer()->set_device_dirty();
    CHECK(value.dim(0).min() == 5);
    CHECK(copy.dim(0).min() == 0);  // a value: its shape is its own
    CHECK(copy.device_dirty());     // the memory is the same
    CHECK(Buffer<int>(value).device_dirty());
    static_cast<halide_buffer_t *>(value)->dim[0].min = 6;
    CHECK(value.dim(0).min() == 6);
}

TEST_CASE("a pipeline refuses elements that are said to be on a device", "[compat]") {
    Halide::ImageParam in(Halide::Int(32), 1, "in");
    Halide::Func f("f");
    Halide::Var x("x");
    f(x) = in(x) + 1;
    Halide::Buffer<int> b(10);
    in.set(b);
    b.raw_buffer()->set_device_dirty();
    require_message<Halide::RuntimeError>([&] { f.realize({10}); }, {"'in'", "device_dirty"});
    b.raw_buffer()->set_device_dirty(false);
    b.fill(3);
    Halide::Buffer<int> out = f.realize({10});
    CHECK(out(9) == 4);
}

TEST_CASE("Runtime::Buffer: undefined, and pointers with a list of dimensions", "[compat]") {
    Buffer<int> any(10, 4);
    any.reset();
    CHECK(any.dimensions() == 0);
    CHECK(any.data() == nullptr);
    CHECK(any.is_bounds_query());
    CHECK(any.type() == halide_type_of<int>());
    CHECK(Buffer<float, 3>().dimensions() == 3);
    Buffer<int> query(nullptr, {halide_dimension_t{2, 10, 1}, halide_dimension_t{0, 4, 16}});
    CHECK(query.is_bounds_query());
    CHECK(query.dim(0).min() == 2);
    CHECK(query.dim(1).stride() == 16);
    Buffer<> typed(halide_type_of<uint8_t>(), nullptr, {halide_dimension_t{0, 10, 1}});
    CHECK(typed.dim(0).extent() == 10);
    int memory[10] = {1, 2};
    Buffer<int> wrapped(memory, {halide_dimension_t{0, 10, 1}});
    CHECK(wrapped(1) == 2);
}
