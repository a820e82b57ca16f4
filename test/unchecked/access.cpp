// Compiled with HALIDE_RUNTIME_BUFFER_CHECK_INDICES=0: access to elements is not checked, although
// NDEBUG is not defined.
#undef NDEBUG  // release builds define it
#include <catch2/catch_test_macros.hpp>

#include <pipe/halide.h>

using namespace Halide;

TEST_CASE("access outside of a Buffer is not checked", "[unchecked]") {
    Buffer<int> whole(10);
    whole.fill([](int i) { return 11 * i; });
    const Buffer<int> part = whole.cropped(0, 3, 4);
    CHECK(part(4) == 44);
    CHECK(part(2) == 22);  // in the memory of `whole`
    CHECK(*part.address_of(9) == 99);
    part(8) = 5;
    CHECK(whole(8) == 5);

    Runtime::Buffer<int> values(whole);
    values.crop(0, 3, 4);
    CHECK(values(9) == 99);
}

TEST_CASE("Buffers are checked in all other respects", "[unchecked]") {
    Buffer<int> b(10);
    CHECK_THROWS_AS(b.cropped(0, 5, 6), RuntimeError);
    CHECK_THROWS_AS(b.dim(1), RuntimeError);
    Var x;
    Func f;
    f(x) = b(x + 1);
    CHECK_THROWS_AS(f.realize({10}), RuntimeError);
}
