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

// In iterations that only the child has, the producer was computed beyond what the parent reads.
TEST_CASE("a shared loop runs beyond the range of the stage whose producer is inside",
          "[differential]") {
    for (bool store_root : {false, true}) {
        ImageParam in(Int(32), 2, "in");
        Func producer("producer"), parent("parent"), child("child");
        producer(x, y) = in(x, y) * 3;
        parent(x, y) = producer(x, y) + 1;
        child(x, y) = x * y;
        child.compute_with(parent, y);
        producer.compute_at(parent, y);
        if (store_root)
            producer.store_root();
        testing::GuardedBuffer image = noise<int>({{0, 8}, {0, 8}});
        in.set(image.buffer);
        CHECK(wrong_elements(Pipeline({parent, child}),
                             {{{0, 8}, {0, 8}}, {{0, 8}, {-300, 4000}}}) == 0);
    }
}

// The parent's range and the conditions of its tail were applied to its children, too.
TEST_CASE("each stage of shared loops has a range of its own", "[differential]") {
    Func parent("parent"), outer("outer"), inner("inner");
    parent(x, y) = x + y;
    outer(x, y) = x - y;
    inner(x, y) = x * y + 1;
    inner.compute_with(parent, x);
    outer.compute_with(parent, y);
    CHECK(wrong_elements(Pipeline({parent, outer, inner}),
                         {{{0, 8}, {0, 8}}, {{0, 20}, {-4, 18}}, {{-3, 16}, {-2, 16}}}) == 0);
}

// The parent was computed at root, before the child's reader, instead of at its own reader.
TEST_CASE("a parent without a compute level is computed where its reader is", "[differential]") {
    Func parent("parent"), reader("reader"), reader2("reader2"), child("child"), both("both");
    RDom r(0, 6, "r");
    parent(x) = x * 3;
    parent(x) += 1;
    reader(x) = parent(x) + parent(x + 2);
    reader2(x) = parent(x + 1);
    child(x) = x * 5;
    both(x) = 0;
    both(x) += reader(r) + reader2(x) + child(x + r);
    reader.compute_at(both.update(), r);
    reader2.compute_at(both.update(), r);
    child.compute_at(both.update(), r);
    child.compute_with(parent, x);
    CHECK(wrong_elements(both, {{{-2, 9}}}) == 0);
}

// The child's variable for a shifted strip was defined inside of the producer's loops, whose bounds use it.
TEST_CASE("shared strips with all tails", "[differential]") {
    for (TailStrategy parent_tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards})
        for (TailStrategy child_tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards})
            for (bool unroll : {false, true}) {
                ImageParam in(Int(32), 2, "in");
                Func producer("producer"), parent("parent"), child("child");
                producer(x, y) = in(x, y) * 3;
                parent(x, y) = producer(x, y);
                child(x, y) = producer(x, y + 1) * 2 + producer(x, y);
                parent.split(y, yo, yi, 8, parent_tail);
                child.split(y, yo, yi, 8, child_tail);
                if (unroll)
                    parent.unroll(yi), child.unroll(yi);
                child.compute_with(parent, yi);
                producer.compute_at(parent, unroll ? yo : yi);
                for (int height : {8, 19, 30}) {
                    testing::GuardedBuffer image = noise<int>({{0, 8}, {0, std::max(28, height)}});
                    in.set(image.buffer);
                    Shape of_parent{{0, 8}, {0, height}};
                    CHECK(wrong_elements(Pipeline({parent, child}),
                                         {of_parent, {{0, 8}, {0, 27}}}) == 0);
                    CHECK(wrong_elements(Pipeline({parent, child}),
                                         {of_parent, {{0, 8}, {3, 9}}}) == 0);
                }
            }
}

// A child's other definitions ran before those that share the parent's loops.
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

// The child of a child was never computed.
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

// The child was computed with its parent, after a stage between them had read it.
TEST_CASE("a stage that reads a child of compute_with runs after it", "[differential]") {
    Func parent("parent"), child("child"), reader("reader"), out("out");
    child(x, y) = x * 3 + y;
    reader(x, y) = child(x, y - 2) + 1;
    parent(x, y) = x - y;
    out(x, y) = parent(x, y - 2) + reader(x, y) + parent(x, y);
    parent.compute_root();
    reader.compute_root();
    child.compute_root().compute_with(parent, y);
    check_against_reference<int>(out, {13, 7});
}

// In iterations of a shared loop in which one stage computes nothing, its producer was computed for the rows
// that it would need there: before the first row of the input.
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

// After the child's last outer iteration its inner loop has no iterations; the position was counted back from
// there.
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

// The end of the inner loop depends on the variable that was split again, which is no loop: what is needed at the
// root named it (found by PIPE_FUZZ_SEED=70013675, random schedules survive a file).
TEST_CASE("a guarded split of a shared loop may end where loops made of its outer variable say",
          "[differential]") {
    Var block("block"), step("step"), third("third"), outer("outer"), inner("inner");
    ImageParam in(Int(32), 1, "in");
    Func producer("producer"), parent("parent"), child("child");
    producer(x) = in(x)*3;
    parent(x) = x;
    child(x) = producer((x - 1) / 3) + x;
    for (Func *f : {&parent, &child})
        f->split(x, x, third, 3)
            .split(x, block, step, 4, TailStrategy::GuardWithIf)
            .split(block, outer, inner, 4)
            .reorder(third, step, inner, outer);
    child.compute_with(parent, step);
    producer.compute_at(parent, step).split(x, xo, xi, 8);
    testing::GuardedBuffer image = noise<int>({{-1, 40}});
    in.set(image.buffer);
    CHECK(wrong_elements(Pipeline({parent, child}), {{{0, 7}}, {{0, 61}}}) == 0);
    CHECK(wrong_elements(Pipeline({parent, child}), {{{0, 95}}, {{0, 32}}}) == 0);
}
