// What a pipeline reads is the Buffer that its text names, not one that this was copied from. (The reference
// evaluator is given the same images, so results are compared with numbers.)
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// image(x, y) = x + 10 * y, and a Func that reads it and so keeps what stands for it.
struct Original {
    Buffer<int> image{8, 8};
    Func reader{"reader"};
    Original() {
        image.for_each_element([&](int i, int j) { image(i, j) = i + 10 * j; });
        reader(x, y) = image(x, y);
    }
    /// What a pipeline that reads both finds in `other` at (i, j).
    int seen(const Buffer<int> &other, int i, int j) {
        Func both("both");
        both(x, y) = reader(x, y) * 1000 + other(x + i, y + j);
        Buffer<int> result(1, 1);
        both.realize(result);
        return result(0, 0);
    }
};

}  // namespace

TEST_CASE_METHOD(Original, "a copy of a Buffer that is read is another Buffer") {
    Buffer<int> copy = image.copy();
    copy.fill(5);
    CHECK(seen(copy, 3, 4) == 5);
    Func alone("alone");
    alone(x, y) = copy(x, y);
    CHECK(Buffer<int>(alone.realize({1, 1}))(0, 0) == 5);
    CHECK(seen(image, 3, 4) == 43);
}

TEST_CASE_METHOD(Original, "other views of a Buffer that is read") {
    CHECK(seen(image.transposed(0, 1), 3, 4) == 34);
    CHECK(seen(image.translated(0, 100), 103, 4) == 43);
    CHECK(seen(image.cropped(0, 2, 4), 3, 4) == 43);
    Buffer<int> moved = image.cropped(0, 2, 4);
    moved.set_min(0, 0);
    CHECK(seen(moved, 1, 4) == 43);
    CHECK(seen(image.sliced(0, 2).embedded(0, 0), 0, 4) == 42);
}

TEST_CASE_METHOD(Original, "a second handle of a Buffer is the same Buffer") {
    Buffer<int> same = image;
    Func twice("twice");
    twice(x, y) = image(x, y) + same(x, y);
    same(3, 4) = 7;
    Buffer<int> result = twice.realize({8, 8});
    CHECK(result(3, 4) == 14);
}
