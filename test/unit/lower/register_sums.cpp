#include "lower/register_sums.h"

#include <optional>
#include <vector>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "support/parse_ir.h"
#include "support/region_plan.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

/// The update of sums_f in blocks of 4 by 2, inside the loop over r.
struct Block {
    ImageParam in{Int(32), 2, "sums_in"};
    Func f{"sums_f"};
    RDom r{0, 16, "sums_r"};
    Block() {
        f(x, y) = 0;
        f(x, y) += in(x, r) * in(r, y);
    }
    void blocked() {
        f.update()
            .tile(x, y, xo, yo, xi, yi, 4, 2, TailStrategy::GuardWithIf)
            .reorder(xi, yi, r, xo, yo)
            .vectorize(xi)
            .unroll(yi);
    }

    /// For the innermost statement of the update, where `out` is the output.
    std::optional<lower::RegisterSums> found(const std::string &innermost, const Func &out) const {
        const test::Regions regions(out);
        const region::RegionPlan plan = region::plan_regions(regions.tree);
        const region::StageNest &stage = *regions.tree.find_stage(regions.id("sums_f"), 1);
        const lower::Nest nest{
            &stage, plan.demand.of(stage).ranges, plan.tails.of(stage).tails, 0, {}};
        return lower::register_sums(
            plan, nest, parse_stmt(innermost, {{"sums_f", Int(32)}, {"sums_in", Int(32)}}));
    }

    /// The innermost statement of the update, in three nests; "" where it is no block of sums.
    std::string sums(const std::string &innermost) const {
        const auto found = this->found(innermost, f);
        if (!found)
            return "";
        std::string text = std::to_string(found->elements) + " elements" +
                           (found->starts ? ", from the pure definition" : "") + "\n";
        for (const ir::Stmt &s : {found->load, found->update, found->store})
            text += ir::to_string(ir::simplify(s));
        return text;
    }
};

}  // namespace

TEST_CASE_METHOD(Block,
                 "register sums: a block of elements is an array during the loops over RVars") {
    blocked();
    CHECK(sums("sums_f(x, y) = sums_f(x, y) + sums_in(x, y)\n") ==
          R"(8 elements, from the pure definition
sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi] = 0
sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi] = sums_in(x, y) + sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi]
sums_f(x, y) = sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi]
)");
}

TEST_CASE_METHOD(Block, "register sums: a guard of the update stays around it") {
    blocked();
    CHECK(sums("if x < w {\n  sums_f(x, y) = sums_f(x, y) + 1\n}\n") ==
          R"(8 elements, from the pure definition
sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi] = 0
if x < w {
  sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi] = sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi] + 1
}
sums_f(x, y) = sums_f.s1.sums[sums_f.s1.yi * 4 + sums_f.s1.xi]
)");
}

TEST_CASE_METHOD(Block,
                 "register sums: the last block shifts inwards where there is one before it") {
    blocked();
    const std::string update = "sums_f(x, y) = sums_f(x, y) + 1\n";
    CHECK(found(update, f)->kept_inside == std::vector<bool>{true, true});
    // One block is computed for each of its reader.
    Func reader("sums_reader");
    reader(x, y) = f(x, y) + 1;
    reader.tile(x, y, xo, yo, xi, yi, 4, 2, TailStrategy::GuardWithIf);
    f.compute_at(reader, xo);
    CHECK(found(update, reader)->kept_inside == std::vector<bool>{false, false});
    f.compute_at(reader, yo);
    CHECK(found(update, reader)->kept_inside == std::vector<bool>{true, false});
}

TEST_CASE_METHOD(Block, "register sums: none where the update reads another element of its Func") {
    blocked();
    CHECK(sums("sums_f(x, y) = sums_f(x + 1, y) + 1\n").empty());
}

TEST_CASE_METHOD(Block, "register sums: none where the element is not known before the update") {
    blocked();
    CHECK(sums("sums_f(sums_in(x, y), y) = sums_f(sums_in(x, y), y) + 1\n").empty());
}

TEST_CASE_METHOD(Block, "register sums: none where some of the elements stay as they are") {
    blocked();
    CHECK(sums("sums_f(x, y) = sums_f(x, y) + 1 if x < w\n").empty());
    CHECK(sums("sums_f(x, y) = select(x < w, sums_f(x, y), undef())\n").empty());
}

TEST_CASE_METHOD(Block, "register sums: none without a block inside of the loops over RVars") {
    const std::string update = "sums_f(x, y) = sums_f(x, y) + 1\n";
    CHECK(sums(update).empty());
    f.update().split(x, xo, xi, 4, TailStrategy::GuardWithIf).reorder(r, xi, xo, y).vectorize(xi);
    CHECK(sums(update).empty());
}

TEST_CASE_METHOD(Block, "register sums: none of more elements than registers hold") {
    f.update()
        .tile(x, y, xo, yo, xi, yi, 64, 64, TailStrategy::GuardWithIf)
        .reorder(xi, yi, r, xo, yo)
        .vectorize(xi)
        .unroll(yi);
    CHECK(sums("sums_f(x, y) = sums_f(x, y) + 1\n").empty());
}

TEST_CASE_METHOD(Block, "register sums: none where single accesses are traced") {
    blocked();
    f.trace_stores();
    CHECK(sums("sums_f(x, y) = sums_f(x, y) + 1\n").empty());
}
