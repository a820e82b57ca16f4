#include <pipe/buffer.h>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

using namespace Pipe;

TEST_CASE("a Buffer made by sizes is dense, planar and aligned", "[buffer]") {
    Buffer<uint16_t> b(5, 4, 3);
    REQUIRE(b.defined());
    REQUIRE(b.dimensions() == 3);
    REQUIRE(b.type() == UInt(16));
    REQUIRE(b.owns_host_memory());
    REQUIRE(b.width() == 5);
    REQUIRE(b.height() == 4);
    REQUIRE(b.channels() == 3);
    REQUIRE(b.stride(0) == 1);
    REQUIRE(b.stride(1) == 5);
    REQUIRE(b.stride(2) == 20);
    REQUIRE(b.left() == 0);
    REQUIRE(b.right() == 4);
    REQUIRE(b.bottom() == 3);
    REQUIRE(b.number_of_elements() == 60);
    REQUIRE(b.size_in_bytes() == 120);
    REQUIRE(b.end() - b.begin() == 60);
    REQUIRE(reinterpret_cast<uintptr_t>(b.data()) % 64 == 0);
}

TEST_CASE("64 bytes after the elements may be read and written", "[buffer]") {
    Buffer<uint8_t> b(64);  // a multiple of the alignment, so that nothing is left over by chance
    b.data()[64 + 63] = 1;  // the address sanitizer watches
    REQUIRE(b.data()[64 + 63] == 1);
}

TEST_CASE("sizes come as numbers, lists or vectors, with a name", "[buffer]") {
    const std::vector<int> ints{6, 7};
    const std::vector<int64_t> longs{6, 7};
    for (const Buffer<float> &b :
         {Buffer<float>(6, 7, "a"), Buffer<float>({6, 7}, "a"), Buffer<float>(ints, "a"),
          Buffer<float>(longs, "a"), Buffer<float>(Float(32), 6, 7, "a"),
          Buffer<float>(Buffer<>(Float(32), ints, "a")), Buffer<float>(size_t{6}, 7u, "a")}) {
        REQUIRE(b.extent(0) == 6);
        REQUIRE(b.extent(1) == 7);
        REQUIRE(b.name() == "a");
    }
    Buffer<float> b(0);
    REQUIRE(b.dimensions() == 1);
    REQUIRE(b.number_of_elements() == 0);
}

TEST_CASE("elements are written and read through any number of coordinates", "[buffer]") {
    Buffer<int> scalar = Buffer<int>::make_scalar();
    scalar() = 42;
    REQUIRE(*scalar.data() == 42);
    REQUIRE(scalar.number_of_elements() == 1);

    Buffer<int> b(3, 4);
    b.fill([](int x, int y) { return 10 * y + x; });
    REQUIRE(b(2, 3) == 32);
    REQUIRE(b.data()[3 * 3 + 2] == 32);
    const int at[] = {1, 2};
    REQUIRE(b(at) == 21);
    REQUIRE(b.address_of(1, 2) == &b(1, 2));
    b.fill(7);
    REQUIRE(b.all_equal(7));
    b(0, 3) = 6;
    REQUIRE_FALSE(b.all_equal(7));
}

TEST_CASE("coordinates in an array", "[buffer]") {
    Buffer<int> b(4, 5);
    b.fill([](int x, int y) { return x + 10 * y; });
    int pos[2] = {1, 2};
    const int *at = pos;
    b(pos) += 100;
    REQUIRE(b(at) == 121);
    REQUIRE(b(1, 2) == 121);
}

TEST_CASE("storage order sets the strides, not the order of coordinates", "[buffer]") {
    Buffer<uint8_t> b({4, 5, 3}, {2, 0, 1});
    auto interleaved = Buffer<uint8_t>::make_interleaved(4, 5, 3);
    for (const auto &i : {b, interleaved}) {
        REQUIRE(i.stride(0) == 3);
        REQUIRE(i.stride(1) == 12);
        REQUIRE(i.stride(2) == 1);
    }
    auto gray = Buffer<uint8_t>::make_interleaved(4, 5, 1);
    REQUIRE(gray.stride(0) == 1);
    REQUIRE(gray.stride(1) == 4);
    REQUIRE(gray.stride(2) == 1);
    uint8_t rgb[4 * 5 * 3];
    std::iota(std::begin(rgb), std::end(rgb), uint8_t{0});
    auto wrapped = Buffer<uint8_t>::make_interleaved(rgb, 4, 5, 3);
    REQUIRE(wrapped(2, 3, 1) == (3 * 4 + 2) * 3 + 1);
    REQUIRE_FALSE(wrapped.owns_host_memory());
}

TEST_CASE("memory of the caller is wrapped with any shape", "[buffer]") {
    std::vector<int> data(100);
    std::iota(data.begin(), data.end(), 0);

    Buffer<int> dense(data.data(), 10, 10);
    REQUIRE(dense(3, 4) == 43);
    dense(3, 4) = -1;
    REQUIRE(data[43] == -1);

    // Mirrored in x, every second row, with an origin of its own.
    Buffer<int> odd(data.data() + 9, {{-4, 10, -1}, {100, 5, 20}});
    REQUIRE(odd(-4, 100) == 9);
    REQUIRE(odd(5, 102) == 40);
    REQUIRE(odd.begin() == data.data());
    REQUIRE(odd.end() == data.data() + 90);
    REQUIRE(odd.size_in_bytes() == 90 * sizeof(int));

    Buffer<const int> broadcast(data.data(), {{0, 8, 0}, {0, 3, 1}});
    REQUIRE(broadcast(7, 2) == 2);
    REQUIRE(broadcast.size_in_bytes() == 3 * sizeof(int));

    int array[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Buffer<int> c(array);
    REQUIRE(c.width() == 3);
    REQUIRE(c.height() == 2);
    REQUIRE(c(2, 1) == 6);
}

TEST_CASE("copies of a handle share everything, views share the memory", "[buffer]") {
    Buffer<int> a(8, 8, "a");
    a.fill(0);
    Buffer<int> same = a;
    REQUIRE(same == a);
    same.translate(0, 5);
    REQUIRE(a.left() == 5);

    Buffer<int> view = a.cropped(0, 6, 2);
    REQUIRE_FALSE(view == a);
    REQUIRE(a.width() == 8);
    REQUIRE(view.width() == 2);
    view(7, 3) = 9;
    REQUIRE(a(7, 3) == 9);

    int *kept = nullptr;
    Buffer<int> survivor;
    {
        Buffer<int> owner(4);
        owner.fill(3);
        survivor = owner.cropped(0, 1, 2);
        kept = owner.data();
    }
    REQUIRE(survivor.data() == kept + 1);
    REQUIRE(survivor.all_equal(3));
}

TEST_CASE("shapes change without moving elements", "[buffer]") {
    Buffer<int> b(4, 5, 6);
    b.fill([](int x, int y, int z) { return 100 * z + 10 * y + x; });

    SECTION("translate and set_min") {
        Buffer<int> t = b.translated({10, -20});
        REQUIRE(t(13, -18, 5) == 523);
        t.set_min(1, 2, 3);
        REQUIRE(t(1, 2, 3) == 0);
        REQUIRE(t.min(2) == 3);
        REQUIRE(t.max(2) == 8);
        REQUIRE(b.min(0) == 0);
    }
    SECTION("crop") {
        Buffer<int> c = b.cropped({{1, 2}, {2, 3}});
        REQUIRE(c.extent(0) == 2);
        REQUIRE(c(1, 2, 0) == 21);
        REQUIRE(c.data() == &b(1, 2, 0));
        REQUIRE(c.number_of_elements() == 2 * 3 * 6);
        REQUIRE(c.contains(2, 4));
        REQUIRE_FALSE(c.contains(3, 4));
        REQUIRE_FALSE(c.contains(2, 4, 0, 0));
        b.cropped(0, 4, 0);  // empty, at the end
    }
    SECTION("slice and embed") {
        Buffer<int> s = b.sliced(1, 3);
        REQUIRE(s.dimensions() == 2);
        REQUIRE(s(2, 5) == 532);
        s.embed(0, 7);
        REQUIRE(s.dimensions() == 3);
        REQUIRE(s(7, 2, 5) == 532);
        s.slice(0);
        REQUIRE(s(2, 5) == 532);
        s.add_dimension();
        REQUIRE(s(2, 5, 0) == 532);
    }
    SECTION("transpose") {
        Buffer<int> t = b.transposed(0, 2);
        REQUIRE(t(5, 3, 1) == 531);
        Buffer<int> rotated = b.transposed({2, 0, 1});
        REQUIRE(rotated(5, 1, 3) == 531);
    }
    SECTION("fixed numbers of dimensions follow in the type") {
        Buffer<int, 3> f = b;
        Buffer<int, 2> s = f.sliced(2, 5);
        REQUIRE(s(3, 4) == 543);
        Buffer<int, 4> e = f.embedded(3);
        REQUIRE(e(3, 4, 5, 0) == 543);
    }
}

TEST_CASE("copies are deep, dense and keep order and origin", "[buffer]") {
    auto b = Buffer<uint8_t>::make_interleaved(6, 5, 3);
    b.fill([](int x, int y, int c) { return 40 * c + 6 * y + x; });
    b.set_min(10, 20, 0);
    Buffer<uint8_t> part = b.cropped(0, 12, 3).copy();
    REQUIRE(part.min(0) == 12);
    REQUIRE(part.min(1) == 20);
    REQUIRE(part.stride(2) == 1);
    REQUIRE(part.stride(1) == 9);
    REQUIRE(part(13, 24, 2) == b(13, 24, 2));
    part(13, 24, 2) = 255;
    REQUIRE(b(13, 24, 2) != 255);

    std::vector<int> mirrored{1, 2, 3};
    Buffer<int> m = Buffer<int>(mirrored.data() + 2, {{0, 3, -1}}).copy();
    REQUIRE(m.stride(0) == 1);
    REQUIRE(m(0) == 3);
    REQUIRE(m(2) == 1);
}

TEST_CASE("copy_from copies what both have", "[buffer]") {
    Buffer<int> from(6, 6), to(6, 6);
    from.fill(1);
    to.fill(0);
    from.set_min(4, -2);
    to.copy_from(from);
    int copied = 0;
    to.for_each_element([&](int x, int y) {
        REQUIRE(to(x, y) == (x >= 4 && y <= 3 ? 1 : 0));
        copied += to(x, y);
    });
    REQUIRE(copied == 2 * 4);
    from.set_min(100, 100);
    to.copy_from(from);  // nothing in common: nothing happens

    Buffer<int> planar(5, 4, 3), interleaved = Buffer<int>::make_interleaved(5, 4, 3);
    planar.fill([](int x, int y, int c) { return x + 10 * y + 100 * c; });
    interleaved.copy_from(planar);
    REQUIRE(interleaved(4, 3, 2) == 234);
    REQUIRE(interleaved.data()[2] == 200);
}

TEST_CASE("every element is visited once", "[buffer]") {
    Buffer<int> b(3, 4, 2);
    b.set_min(-1, 5, 0);
    b.fill(0);
    std::set<std::vector<int>> seen;
    b.for_each_element([&](const int *at) { seen.insert({at[0], at[1], at[2]}); });
    REQUIRE(seen.size() == 24);
    REQUIRE(*seen.begin() == std::vector<int>{-1, 5, 0});
    REQUIRE(*seen.rbegin() == std::vector<int>{1, 8, 1});
    b.for_each_element([&](int x, int y, int z) { b(x, y, z)++; });
    REQUIRE(b.all_equal(1));

    auto other = Buffer<uint8_t>::make_interleaved(3, 4, 2);
    other.fill([](int x, int y, int c) { return 8 * x + 2 * y + c; });
    b.for_each_value([](int &to, uint8_t from) { to = from; }, other);
    REQUIRE(b(1, 8, 1) == 8 * 2 + 2 * 3 + 1);

    int visits = 0;
    Buffer<int>(3, 0, 2).for_each_value([&](int) { visits++; });
    REQUIRE(visits == 0);
    Buffer<int>::make_scalar().for_each_value([&](int) { visits++; });
    REQUIRE(visits == 1);

    int64_t sum = 0;
    for (int64_t x : b.dim(0)) {
        sum += x;
    }
    REQUIRE(sum == -1 + 0 + 1);
}

TEST_CASE("the static type can be forgotten and found again", "[buffer]") {
    Buffer<uint8_t> typed(4, 3);
    typed(2, 1) = 5;
    Buffer<> untyped = typed;
    REQUIRE(untyped == typed);
    REQUIRE(untyped.type() == UInt(8));
    REQUIRE(untyped.as<uint8_t>()(2, 1) == 5);
    Buffer<const uint8_t> read_only = typed;
    REQUIRE(read_only(2, 1) == 5);
    Buffer<uint8_t, 2> exact = untyped;
    REQUIRE(exact(2, 1) == 5);
    Buffer<float> none = Buffer<>();
    REQUIRE_FALSE(none.defined());
    Buffer<bool> mask(3);
    REQUIRE(mask.type().is_bool());
    REQUIRE(mask.size_in_bytes() == 3);
}

TEST_CASE("the view is what kernels get", "[buffer]") {
    Buffer<float> b(4, 3);
    b.set_min(2, -1);
    const BufferView v = b.view();
    REQUIRE(v.host == b.data());
    REQUIRE(v.type == Float(32));
    REQUIRE(std::vector<BufferDim>(v.dims.begin(), v.dims.end()) ==
            std::vector<BufferDim>{{2, 4, 1}, {-1, 3, 4}});
}

TEST_CASE("memory can be given later and taken away", "[buffer]") {
    Buffer<int> b(static_cast<int *>(nullptr), {{3, 4, 1}, {0, 2, 100}});
    REQUIRE(b.data() == nullptr);
    b.allocate();
    REQUIRE(b.owns_host_memory());
    REQUIRE(b.stride(1) == 4);
    b.fill(1);
    REQUIRE(b(6, 1) == 1);
    b.deallocate();
    REQUIRE(b.data() == nullptr);
    REQUIRE(b.width() == 4);
    REQUIRE(Buffer<float>::make_with_shape_of(b).left() == 3);
}

TEST_CASE("extents beyond 32 bits are kept", "[buffer]") {
    uint8_t one = 7;
    const int64_t big = int64_t{1} << 40;
    Buffer<uint8_t> b(&one, {{-big, 2 * big, 0}, {0, 1000, 0}});
    REQUIRE(b.left() == -big);
    REQUIRE(b.extent(0) == 2 * big);
    REQUIRE(b(big - 1, 999) == 7);
    REQUIRE(b.number_of_elements() == 2000 * big);
    REQUIRE(b.contains(big - 1, 0));
    REQUIRE_FALSE(b.contains(big, 0));
}

TEST_CASE("values are visited in the order of memory", "[buffer]") {
    auto b = Buffer<int>::make_interleaved(3, 2, 2);
    int n = 0;
    b.for_each_value([&](int &value) { value = n++; });
    CHECK(b(0, 0, 1) == 1);
    CHECK(b(1, 0, 0) == 2);
    CHECK(b(0, 1, 0) == 6);
    Buffer<int> planar(3, 2, 2);
    b.for_each_value([](int from, int &to) { to = from; }, planar);
    CHECK(planar(1, 0, 0) == 2);
    CHECK(planar(2, 1, 1) == 11);
}
