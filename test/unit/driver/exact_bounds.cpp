// What a bounds query answers is what a run needs: enough, and no element more.
#include <tuple>

#include <pipe/pipe.h>

#include "test/support/everywhere.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), xo("xo"), xi("xi");

constexpr TailStrategy all_tails[] = {
    TailStrategy::Auto,
    TailStrategy::GuardWithIf,
    TailStrategy::Predicate,
    TailStrategy::ShiftInwards,
    TailStrategy::RoundUp,
    TailStrategy::PredicateLoads,
    TailStrategy::PredicateStores,
    TailStrategy::ShiftInwardsAndBlend,
    TailStrategy::RoundUpAndBlend,
};

/// Whether a realization of that size finds all it needs in an input of 0 .. extent - 1, and is right.
bool is_enough(Pipeline p, ImageParam in, int size, int64_t extent) {
    Buffer<int> input(static_cast<int>(extent));
    input.fill([](int i) { return 7 * i; });
    in.set(input);
    Buffer<int> out;
    try {
        out = p.realize({size});
    } catch (const RuntimeError &) {
        return false;
    }
    for (int i = 0; i < size; i++)
        REQUIRE(out(i) == 14 * i + 1);
    return true;
}

/// How many elements of the input the query asks for; checks that the run needs them all.
int64_t asked(const Pipeline &p, ImageParam in, int size) {
    in.reset();
    Pipeline(p).infer_input_bounds({size});
    const int64_t extent = in.get().dim(0).extent();
    CHECK(in.get().dim(0).min() == 0);
    CHECK(is_enough(p, in, size, extent));
    CHECK_FALSE(is_enough(p, in, size, extent - 1));
    return extent;
}

int rounded(int size) {
    return (size + 7) / 8 * 8;
}

/// In a tile at the end that is less than a factor long.
bool shifts_inside(TailStrategy tail, bool inside) {
    return inside &&
           (tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend);
}

bool loads_beyond(TailStrategy tail) {
    return tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend ||
           tail == TailStrategy::PredicateStores;
}

}  // namespace

TEST_CASE("queries are exact for every pair of tail strategies", "[driver][bounds][tails]") {
    for (TailStrategy producer : all_tails)
        for (TailStrategy consumer : all_tails)
            for (bool inside : {false, true}) {
                INFO("producer " << static_cast<int>(producer) << ", consumer "
                                 << static_cast<int>(consumer) << ", inside " << inside);
                ImageParam in(Int(32), 1, "in");
                Func f("f"), g("g"), out("out");
                f(x) = in(x)*2;
                g(x) = f(x) + 1;
                out(x) = g(x);
                g.compute_root().split(x, xo, xi, 8, consumer);
                f.vectorize(x, 8, producer);
                if (inside)
                    f.compute_at(g, xo);
                else
                    f.compute_root();
                Pipeline p(out);
                for (int size : {100, 104, 19}) {
                    const int64_t extent = asked(p, in, size);
                    const bool beyond = loads_beyond(producer) || shifts_inside(producer, inside) ||
                                        consumer == TailStrategy::RoundUp ||
                                        consumer == TailStrategy::RoundUpAndBlend;
                    CHECK(extent >= size);
                    CHECK(extent <= (beyond ? rounded(size) : size));
                }
                asked(p, in, 3);
            }
}

TEST_CASE("a mask on the stores keeps what is read of an input by a Func in between",
          "[driver][bounds][tails]") {
    for (TailStrategy producer : {TailStrategy::PredicateLoads, TailStrategy::GuardWithIf,
                                  TailStrategy::ShiftInwards, TailStrategy::Auto})
        for (bool root : {false, true}) {
            INFO("producer " << static_cast<int>(producer) << ", root " << root);
            ImageParam in(Int(32), 1, "in");
            Func f("f"), g("g");
            f(x) = in(x)*2;
            g(x) = f(x) + 1;
            f.compute_root().vectorize(x, 8, producer);
            g.vectorize(x, 8, TailStrategy::PredicateStores);
            for (int size : {100, 104, 19})
                CHECK(asked(g, in, size) == size);
        }
}

TEST_CASE("a shape that is promised by what it is itself", "[driver][bounds]") {
    Func f("f");
    f(x) = 0;
    f(x) += x;
    f.update().split(x, xo, xi, 8, TailStrategy::RoundUp);
    Expr e = f.output_buffer().dim(0).extent();
    f.output_buffer().dim(0).set_bounds(0, select(e < 22, e + 1, e));
    Callable call = f.compile_to_callable({});
    for (int size = 1; size < 30; size++) {
        INFO("size " << size);
        Buffer<int> asked(nullptr, {size});
        REQUIRE(call(asked) == 0);
        CHECK(asked.width() >= size);
        CHECK(asked.width() % 8 == 0);
        Buffer<int> out(asked.width());
        REQUIRE(call(out) == 0);
        for (int i = 0; i < out.width(); i++)
            CHECK(out(i) == i);
    }
}

TEST_CASE("a promise that holds less than is needed", "[driver][bounds][error]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + in(x + 2);
    in.dim(0).set_bounds(0, 10);
    require_message<RuntimeError>(
        [&] { f.infer_input_bounds({9}); },
        {"in", "was promised to cover dimension 0 from 0 to 9", "needed from 0 to 10"});
    f.infer_input_bounds({8});
    CHECK(in.get().dim(0).extent() == 10);
}
