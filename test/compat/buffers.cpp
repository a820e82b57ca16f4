// Buffers made and moved in the ways that Halide has, and halide_buffer_t where pipelines take one.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "support/require_message.h"

using namespace Halide;

TEST_CASE("Buffers with a storage order", "[compat]") {
    const std::vector<int> sizes{5, 4, 3}, order{2, 0, 1};
    for (const Buffer<> &b :
         {Buffer<>(UInt(8), sizes, order, "rgb"), Buffer<>(UInt(8), {5, 4, 3}, {2, 0, 1}, "rgb"),
          Buffer<>(Buffer<uint8_t>(sizes, order, "rgb")),
          Buffer<>(Buffer<uint8_t>({5, 4, 3}, {2, 0, 1}, "rgb")),
          Buffer<>(Buffer<uint8_t>(sizes, {2, 0, 1}, "rgb")),
          Buffer<>(Runtime::Buffer<uint8_t>(sizes, order), "rgb")}) {
        CHECK(b.type() == UInt(8));
        CHECK(b.name() == "rgb");
        CHECK(b.width() == 5);
        CHECK(b.height() == 4);
        CHECK(b.stride(2) == 1);
        CHECK(b.stride(0) == 3);
        CHECK(b.stride(1) == 15);
    }
    CHECK(Buffer<>(Float(32), sizes, order).name().empty());
    require_message<RuntimeError>(
        [&] {
            Buffer<>(UInt(8), sizes, {0, 1}, "rgb");
        },
        {"'rgb'", "not an order of its 3 dimensions"});
}

TEST_CASE("Buffers around memory whose type is known at run time", "[compat]") {
    std::vector<int16_t> memory(20);
    for (int i = 0; i < 20; i++)
        memory[static_cast<size_t>(i)] = static_cast<int16_t>(i);
    const std::vector<int> sizes{5, 4};
    void *data = memory.data();
    halide_dimension_t planar[] = {{0, 5, 1, 0}, {0, 4, 5, 0}};
    std::vector<halide_dimension_t> shape(planar, planar + 2);
    for (const Buffer<> &b : {Buffer<>(Int(16), data, sizes), Buffer<>(Int(16), data, {5, 4}),
                              Buffer<>(Int(16), data, 2, planar), Buffer<>(Int(16), data, shape),
                              Buffer<>(Buffer<int16_t>(memory.data(), shape)),
                              Buffer<>(Runtime::Buffer<>(Int(16), data, sizes))}) {
        CHECK_FALSE(b.owns_host_memory());
        CHECK(b.dimensions() == 2);
        CHECK(b.as<int16_t>()(4, 3) == 19);
    }
    planar[0].min = -7;
    CHECK(Buffer<>(Int(16), data, 2, planar, "moved").as<int16_t>()(-6, 1) == 6);
    CHECK(Buffer<>(Int(16), data, 2, planar, "moved").name() == "moved");
    CHECK(Buffer<>(Int(16), data, std::vector<int>{1}).as<int16_t>()(0) == 0);
}

TEST_CASE("Buffers are moved and cropped by vectors of ints", "[compat]") {
    const std::vector<int> by{2, -1};
    const std::vector<std::pair<int, int>> window{{3, 2}, {-1, 1}};
    Buffer<int> b(4, 3);
    b.fill([](int x, int y) { return x + 10 * y; });
    b.translate(by);
    CHECK(b(2, -1) == 0);
    CHECK(b.translated(by).left() == 4);
    CHECK(b.cropped(window).number_of_elements() == 2);
    b.crop(window);
    CHECK(b.left() == 3);
    CHECK(b.right() == 4);
    CHECK(b(4, -1) == 2);
    b.set_min(by);
    CHECK(b(3, -1) == 2);
    Runtime::Buffer<int, 2> r(4, 3);
    r.fill([](int x, int y) { return x + 10 * y; });
    r.translate(by);
    Runtime::Buffer<int, 2> part = r.cropped(window).translated(std::vector<int>{-3, 1});
    CHECK(part(1, 0) == 2);
    CHECK(r(5, 1) == 23);
}

TEST_CASE("which Buffers convert to which", "[compat]") {
    Buffer<int> b(4, 3);
    Buffer<> any = b;
    Buffer<const int> seen = b;
    CHECK(Buffer<int, 2>::can_convert_from(b));
    CHECK(Buffer<int, 2>::can_convert_from(any));
    CHECK(Buffer<const int>::can_convert_from(any));
    CHECK(Buffer<>::can_convert_from(b));
    CHECK(Buffer<void, 2>::can_convert_from(b));
    CHECK_FALSE(Buffer<int, 3>::can_convert_from(b));
    CHECK_FALSE(Buffer<float>::can_convert_from(any));
    CHECK_FALSE(Buffer<int>::can_convert_from(seen));
    CHECK(Buffer<float>::can_convert_from(Buffer<>()));
    CHECK(Runtime::Buffer<int, 2>::can_convert_from(Runtime::Buffer<int>(b)));
    CHECK(b.device_deallocate() == 0);
    CHECK(b.device_free() == 0);
}

TEST_CASE("Buffers of a halide_buffer_t, and under another name", "[compat]") {
    Buffer<uint16_t> b(5, 1);
    b.set_min(-2, 8);
    b.fill([](int x, int y) { return x + 10 * y; });
    Buffer<uint16_t> wrapped(*b.raw_buffer()), named(*b.raw_buffer(), "named"),
        renamed(b, "renamed");
    for (const Buffer<uint16_t> &same : {wrapped, named, renamed}) {
        CHECK(same.data() == b.data());
        CHECK(same.left() == -2);
        CHECK(same(2, 8) == 82);
    }
    CHECK(named.name() == "named");
    CHECK(renamed.name() == "renamed");
    CHECK(b.name() != "renamed");
    renamed.set_min(0, 0);
    CHECK(b.left() == -2);
    CHECK_THROWS_AS(Buffer<float>(*b.raw_buffer()), RuntimeError);
}

TEST_CASE("pipelines fill a halide_buffer_t", "[compat]") {
    Var x("x"), y("y");
    ImageParam in(Int(32), 2, "in");
    Func f("f");
    f(x, y) = in(x + 1, y - 2) + x;
    for (int size : {1, 7}) {
        Buffer<int> out(size, size + 1);
        out.set_min(-4, 3);
        in.reset();
        f.infer_input_bounds(out.raw_buffer());
        Buffer<int> read = in.get();
        CHECK(read.left() == -3);
        CHECK(read.top() == 1);
        CHECK(read.width() == size);
        CHECK(read.height() == size + 1);
        read.fill([](int i, int j) { return i * j; });
        JITUserContext context;
        Pipeline p(f);
        auto runs = {
            +[](Func &g, Pipeline &, JITUserContext *, halide_buffer_t *b) { g.realize(b); },
            +[](Func &g, Pipeline &, JITUserContext *c, halide_buffer_t *b) { g.realize(c, b); },
            +[](Func &, Pipeline &q, JITUserContext *, halide_buffer_t *b) { q.realize(b); },
            +[](Func &, Pipeline &q, JITUserContext *c, halide_buffer_t *b) { q.realize(c, b); }};
        for (auto run : runs) {
            out.fill(-1);
            run(f, p, &context, out.raw_buffer());
            int wrong = 0;
            out.for_each_element(
                [&](int i, int j) { wrong += out(i, j) != (i + 1) * (j - 2) + i; });
            CHECK(wrong == 0);
        }
        in.reset();
        p.infer_input_bounds(&context, out.raw_buffer());
        CHECK(in.get().width() == size);
    }
    halide_buffer_t *none = nullptr;
    require_message<RuntimeError>([&] { f.realize(none); }, {"'f'", "undefined"});
}
