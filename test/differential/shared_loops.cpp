// Bugs of loops that stages share (compute_with).
#include <pipe/pipe.h>

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"
#include "support/guarded_memory.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

}  // namespace

// In iterations that only the guest has, the producer ran beyond what the host reads.
TEST_CASE("a shared loop runs beyond the range of the stage whose producer is inside",
          "[differential]") {
    for (bool store_root : {false, true}) {
        ImageParam in(Int(32), 2, "in");
        Func producer("producer"), host("host"), guest("guest");
        producer(x, y) = in(x, y) * 3;
        host(x, y) = producer(x, y) + 1;
        guest(x, y) = x * y;
        guest.compute_with(host, y);
        producer.compute_at(host, y);
        if (store_root)
            producer.store_root();
        testing::GuardedBuffer image = noise<int>({{0, 8}, {0, 8}});
        in.set(image.buffer);
        CHECK(wrong_elements(Pipeline({host, guest}), {{{0, 8}, {0, 8}}, {{0, 8}, {-300, 4000}}}) ==
              0);
    }
}

// The host's range and the tests of its tail stood around its guests.
TEST_CASE("each stage of shared loops ends where itself ends", "[differential]") {
    Func host("host"), outer("outer"), inner("inner");
    host(x, y) = x + y;
    outer(x, y) = x - y;
    inner(x, y) = x * y + 1;
    inner.compute_with(host, x);
    outer.compute_with(host, y);
    CHECK(wrong_elements(Pipeline({host, outer, inner}),
                         {{{0, 8}, {0, 8}}, {{0, 20}, {-4, 18}}, {{-3, 16}, {-2, 16}}}) == 0);
}

// The host was placed before its own reader, which comes later than the guest's: at the root.
TEST_CASE("a host without a level is computed where its reader is", "[differential]") {
    Func host("host"), reader("reader"), reader2("reader2"), guest("guest"), both("both");
    RDom r(0, 6, "r");
    host(x) = x * 3;
    host(x) += 1;
    reader(x) = host(x) + host(x + 2);
    reader2(x) = host(x + 1);
    guest(x) = x * 5;
    both(x) = 0;
    both(x) += reader(r) + reader2(x) + guest(x + r);
    reader.compute_at(both.update(), r);
    reader2.compute_at(both.update(), r);
    guest.compute_at(both.update(), r);
    guest.compute_with(host, x);
    CHECK(wrong_elements(both, {{{-2, 9}}}) == 0);
}

// The guest's let of a shifted strip was bound inside of what the producer needs of it.
TEST_CASE("shared strips with all tails", "[differential]") {
    for (TailStrategy host_tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards})
        for (TailStrategy guest_tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards})
            for (bool unroll : {false, true}) {
                ImageParam in(Int(32), 2, "in");
                Func producer("producer"), host("host"), guest("guest");
                producer(x, y) = in(x, y) * 3;
                host(x, y) = producer(x, y);
                guest(x, y) = producer(x, y + 1) * 2 + producer(x, y);
                host.split(y, yo, yi, 8, host_tail);
                guest.split(y, yo, yi, 8, guest_tail);
                if (unroll)
                    host.unroll(yi), guest.unroll(yi);
                guest.compute_with(host, yi);
                producer.compute_at(host, unroll ? yo : yi);
                for (int height : {8, 19, 30}) {
                    testing::GuardedBuffer image = noise<int>({{0, 8}, {0, std::max(28, height)}});
                    in.set(image.buffer);
                    Shape of_host{{0, 8}, {0, height}};
                    CHECK(wrong_elements(Pipeline({host, guest}), {of_host, {{0, 8}, {0, 27}}}) ==
                          0);
                    CHECK(wrong_elements(Pipeline({host, guest}), {of_host, {{0, 8}, {3, 9}}}) ==
                          0);
                }
            }
}

// A guest's other definitions ran before those that share the host's loops.
TEST_CASE("updates of stages that share loops", "[differential]") {
    for (int which = 0; which < 5; which++) {
        Func f("f"), g("g");
        f(x, y) = x * 3 + y;
        g(x, y) = x * 2 - y;
        f(x, y) += f(x, y) * 3;
        g(x, y) *= 3;
        if (which == 0)
            g.compute_with(f, y);
        if (which == 1)
            f.compute_with(g, y);
        if (which == 2)
            f.update(0).compute_with(g, y);
        if (which == 3)
            g.update(0).compute_with(f, y);
        if (which == 4) {
            f.update(0).compute_with(g, y);
            g.update(0).compute_with(f, y);
            CHECK_THROWS_AS(wrong_elements(Pipeline({f, g}), {{{0, 8}, {0, 9}}, {{0, 8}, {0, 9}}}),
                            CompileError);
            continue;
        }
        CHECK(wrong_elements(Pipeline({f, g}), {{{0, 8}, {0, 19}}, {{-5, 18}, {-3, 22}}}) == 0);
    }
}

// The guest of a guest was never computed.
TEST_CASE("a chain of stages that share loops", "[differential]") {
    for (const Var &deepest : {x, y}) {
        Func f("f"), g("g"), h("h");
        f(x, y) = x * 3 + y;
        g(x, y) = x - y;
        h(x, y) = y - x * 2;
        g.compute_with(f, y);
        h.compute_with(g, deepest);
        CHECK(wrong_elements(Pipeline({f, g, h}),
                             {{{0, 8}, {0, 8}}, {{0, 28}, {0, 28}}, {{-1, 18}, {-3, 18}}}) == 0);
    }
}

// The guest of compute_with was produced with its host, after a stage between them had read it.
TEST_CASE("a stage that reads a guest of compute_with runs after it", "[differential]") {
    Func host("host"), guest("guest"), reader("reader"), out("out");
    guest(x, y) = x * 3 + y;
    reader(x, y) = guest(x, y - 2) + 1;
    host(x, y) = x - y;
    out(x, y) = host(x, y - 2) + reader(x, y) + host(x, y);
    host.compute_root();
    reader.compute_root();
    guest.compute_root().compute_with(host, y);
    check_against_reference<int>(out, {13, 7});
}

// In iterations of a shared loop in which one stage does nothing, what it reads was computed from
// where it would stand: before the first row of the input.
TEST_CASE("what is computed in a shared loop keeps to its reader's range", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    for (LoopAlignStrategy align : {LoopAlignStrategy::AlignEnd, LoopAlignStrategy::AlignStart}) {
        Func f("f"), g("g"), h("h");
        f(x, y) = in(x, y) * x + 3 * y;
        g(x, y) = f(x, y) + 1;
        h(x, y) = x + y;
        g.split(y, yo, yi, 2);
        h.split(y, yo, yi, 2).compute_with(g, yo, align);
        f.compute_at(g, yo);
        Buffer<int> small(5, 3), tall(5, 4000);
        testing::GuardedBuffer image = noise<int>({{0, 5}, {0, 3}});
        in.set(image.buffer);
        Pipeline({g, h}).realize({small, tall});
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 5; i++)
                CHECK(small(i, j) == Buffer<int>(image.buffer)(i, j) * i + 3 * j + 1);
        CHECK(tall(4, 3999) == 4003);
    }
}

// Behind the guest's last outer iteration its inner loop has no iterations: the place counted back from there.
TEST_CASE("what is computed in a shared inner loop keeps to its reader's range", "[differential]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f"), g("g"), h("h");
    f(x) = in(x)*3;
    g(x) = f(x) + 1;
    h(x) = x;
    h.split(x, xo, xi, 16, TailStrategy::GuardWithIf);
    g.split(x, xo, xi, 16, TailStrategy::GuardWithIf).compute_with(h, xi);
    f.compute_at(g, xi);
    Buffer<int> small(5), wide(90000);
    for (bool at_start : {false, true}) {
        testing::GuardedBuffer image(Int(32), {{0, 5}}, 0, at_start);
        Buffer<int>(image.buffer).fill([](int i) { return i * i; });
        in.set(image.buffer);
        Pipeline({g, h}).realize({small, wide});
        for (int i = 0; i < 5; i++)
            CHECK(small(i) == 3 * i * i + 1);
        CHECK(wide(89999) == 89999);
    }
}
