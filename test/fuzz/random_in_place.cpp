// Random pipelines whose outputs lie in the memory of their inputs, or close to it: either they give what
// they give in memory of their own, or they are refused and store nothing. Layouts are dense, padded,
// interleaved, transposed and mirrored; inputs may be broadcast (a stride of 0).

#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include <vector>

#include "fuzz/choices.h"
#include "fuzz/seeds.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

constexpr int memory_size = 4096;

/// One piece of memory, and views of it.
struct Memory {
    std::vector<int> elements = std::vector<int>(memory_size);

    void fill() {
        for (int i = 0; i < memory_size; i++)
            elements[size_t(i)] = i * 37 % 1013;
    }
    /// width x height elements from about `first` on.
    Buffer<int> view(Choices &c, int64_t first, int width, int height) {
        std::vector<BufferDim> dims;
        switch (c.below(4)) {
        case 0:  // dense, or padded
            dims = {{0, width, 1}, {0, height, width + (c.chance(30) ? c.below(4) : 0)}};
            break;
        case 1:  // one channel of three
            dims = {{0, width, 3}, {0, height, 3 * width + (c.chance(30) ? c.below(4) : 0)}};
            break;
        case 2:
            dims = {{0, width, height}, {0, height, 1}};
            break;
        default:
            dims = {{0, width, -1}, {0, height, width}};
            first += width - 1;
        }
        return Buffer<int>(elements.data() + first, dims);
    }
};

struct Case {
    Memory memory;
    Buffer<int> in[2], out;
    bool exact = false;  ///< in[0] and out are the same elements

    explicit Case(Choices &c) {
        const int width = c.between(1, 30), height = c.between(1, 9);
        const int first = 600 + c.below(3);
        Choices layout(static_cast<uint64_t>(c.below(1 << 20)));
        Choices same = layout;
        in[0] = memory.view(layout, first, width, height);
        exact = c.chance(60);
        out = exact
                  ? memory.view(same, first, width, height)
                  : memory.view(c.chance(50) ? same : c, first + c.between(-4, 40), width, height);
        in[1] = memory.view(c, c.chance(50) ? 2500 : first + c.below(9), width, height);
        if (c.chance(20))
            in[1] = Buffer<int>(memory.elements.data() + 2500,
                                {{0, width, c.chance(50) ? 0 : 1}, {0, height, 0}});
        if (c.chance(30))
            for (Buffer<int> *b : {&in[0], &in[1], &out})
                b->set_min(-3, 5);
    }
};

/// out = f(in[0], in[1]).
struct Algorithm {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"};
    ImageParam a{Int(32), 2, "a"}, b{Int(32), 2, "b"};
    Func f{"f"}, g{"g"};
    bool pointwise = true;

    explicit Algorithm(Choices &c) {
        Func edge = BoundaryConditions::repeat_edge(a);
        pointwise = c.chance(65);
        Expr other = pointwise ? a(x, y) : edge(x + c.between(-2, 2), y + c.between(-1, 1));
        g(x, y) = a(x, y) * 3 + other;
        f(x, y) = c.chance(50) ? g(x, y) + b(x, y) : select(b(x, y) % 2 == 0, g(x, y), b(x, y));
        if (c.chance(30))
            f(x, y) += f(x, y) * 2;
        if (c.chance(30))
            g.compute_root();
        schedule(c);
    }

    void schedule(Choices &c) {
        const TailStrategy tail = c.chance(70)   ? TailStrategy::Auto
                                  : c.chance(50) ? TailStrategy::GuardWithIf
                                                 : TailStrategy::ShiftInwards;
        switch (c.below(5)) {
        case 0:
            break;
        case 1:
            f.vectorize(x, 4 << c.below(2), tail);
            break;
        case 2:
            f.split(x, xo, xi, c.between(2, 12), tail).vectorize(xi, 4).parallel(y);
            break;
        case 3:
            f.split(y, yo, y, c.between(2, 4), tail).vectorize(x, 8, tail).parallel(yo);
            break;
        default:
            f.reorder(y, x).unroll(y, 2, tail);
        }
    }
};

}  // namespace

TEST_CASE("random pipelines in place or nearly", "[fuzz]") {
    int right = 0, refused = 0;
    const std::vector<uint64_t> all = each_seed(2);
    for (uint64_t seed : all) {
        INFO("seed " << seed);
        Choices c(seed);
        Case buffers(c);
        Algorithm algorithm(c);
        buffers.memory.fill();
        Buffer<int> expected = Buffer<int>::make_with_shape_of(buffers.out);
        algorithm.a.set(buffers.in[0]);
        algorithm.b.set(buffers.in[1]);
        Pipeline(algorithm.f).realize_reference(expected);
        const std::vector<int> before = buffers.memory.elements;
        if (c.chance(20) && algorithm.pointwise)
            algorithm.f.output_buffer().may_alias(algorithm.a);
        try {
            algorithm.f.realize(buffers.out);
        } catch (const Error &e) {
            REQUIRE(buffers.memory.elements == before);
            INFO(e.what());
            const std::string text = e.what();
            REQUIRE((text.find("shares elements") != text.npos ||
                     text.find("may_alias") != text.npos ||
                     text.find("ShiftInwards") != text.npos ||
                     text.find("points are stored") != text.npos));
            refused++;
            continue;
        }
        right++;
        int wrong = 0;
        expected.for_each_element(
            [&](int i, int j) { wrong += buffers.out(i, j) != expected(i, j); });
        REQUIRE(wrong == 0);
    }
    if (all.size() >= 20) {
        CHECK(right > 0);
        CHECK(refused > 0);
    }
}
