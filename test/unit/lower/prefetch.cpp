#include "lower/prefetch.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include <vector>

#include "ir/print.h"
#include "support/region_plan.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// The prefetches at all loops of the stage `func`, outermost loop first.
std::string prefetches_of(const Func &output, const std::string &func) {
    const test::Regions regions(output);
    const region::RegionPlan plan = region::plan_regions(regions.tree);
    const region::StageNest &nest = *regions.tree.find_stage(regions.id(func), 0);
    std::string text;
    for (const region::StageLoop &loop : nest.loops)
        text += ir::to_string(lower::prefetches(plan, nest, loop));
    return text;
}

struct Rows {
    ImageParam in{UInt(16), 2, "fetch_in"};
    Func out{"fetch_out"};
    Rows() { out(x, y) = in(x, y) + in(x + 1, y); }
};

}  // namespace

TEST_CASE_METHOD(Rows, "prefetch: a row ahead, one access per cache line") {
    out.prefetch(in, y, y, 2, PrefetchBoundStrategy::NonFaulting);
    // 32 elements are 64 bytes; the row has one element more than the output.
    CHECK(
        prefetches_of(out, "fetch_out") ==
        R"(for fetch_out.s0.y.prefetch.fetch_in.1 in [fetch_out.s0.y + 2, fetch_out.s0.y + 3) unpartitioned {
  for fetch_out.s0.y.prefetch.fetch_in.0 in [0, (fetch_out.extent.0 + 32) / 32) unpartitioned {
    prefetch fetch_in(fetch_out.min.0 + fetch_out.s0.y.prefetch.fetch_in.0 * 32, fetch_out.s0.y.prefetch.fetch_in.1)
  }
}
)");
}

TEST_CASE_METHOD(
    Rows, "prefetch: the region is clamped to the image, or left out where it is not in it") {
    SECTION("clamped") {
        out.prefetch(in, y, y, 2, PrefetchBoundStrategy::Clamp);
        const std::string text = prefetches_of(out, "fetch_out");
        INFO(text);
        CHECK(text.starts_with("for fetch_out.s0.y.prefetch.fetch_in.1 in "
                               "[max(fetch_out.s0.y + 2, fetch_in.min.1), "));
        CHECK(text.find("prefetch fetch_in(max(fetch_out.min.0, fetch_in.min.0) + ") !=
              std::string::npos);
    }
    SECTION("guarded") {
        out.prefetch(in, y, y, 2, PrefetchBoundStrategy::GuardWithIf);
        const std::string text = prefetches_of(out, "fetch_out");
        INFO(text);
        CHECK(text.starts_with(
            "if fetch_in.min.0 <= fetch_out.min.0 && fetch_out.extent.0 + fetch_out.min.0 < "
            "fetch_in.extent.0 + fetch_in.min.0 && fetch_in.min.1 < fetch_out.s0.y + 3 && "
            "fetch_out.s0.y < fetch_in.extent.1 + fetch_in.min.1 - 2 {\n  for "));
        CHECK(text.find("prefetch fetch_in(fetch_out.min.0 + ") != std::string::npos);
    }
}

TEST_CASE_METHOD(
    Rows,
    "prefetch: what the iteration before does not read, and whole blocks of a loop over vectors") {
    Func three("fetch_three");
    three(x, y) = in(x, y) + in(x + 1, y + 1) + in(x, y + 2);
    Var xo("xo"), xi("xi");
    three.split(x, xo, xi, 32, TailStrategy::GuardWithIf).vectorize(xi);
    SECTION("of whole rows") {
        three.prefetch(in, y, y, 2, PrefetchBoundStrategy::NonFaulting);
        CHECK(prefetches_of(three, "fetch_three")
                  .starts_with("for fetch_three.s0.y.prefetch.fetch_in.1 in [fetch_three.s0.y + 4, "
                               "fetch_three.s0.y + 5) "));
    }
    SECTION("of a vector's place, beyond the end of the row if need be") {
        three.prefetch(in, xo, y, 1, PrefetchBoundStrategy::NonFaulting);
        CHECK(
            prefetches_of(three, "fetch_three") ==
            R"(for fetch_three.s0.xo.prefetch.fetch_in.1 in [fetch_three.s0.y + 3, fetch_three.s0.y + 4) unpartitioned {
  for fetch_three.s0.xo.prefetch.fetch_in.0 in [0, 2) unpartitioned {
    prefetch fetch_in(fetch_three.s0.xo * 32 + fetch_three.min.0 + fetch_three.s0.xo.prefetch.fetch_in.0 * 32, fetch_three.s0.xo.prefetch.fetch_in.1)
  }
}
)");
    }
    SECTION(
        "all that is read, if the window moves along two dimensions or the rows do not overlap") {
        Func diagonal("fetch_diagonal");
        diagonal(x, y) = in(x + y, y) + in(x + y, y + 2);
        diagonal.prefetch(in, y, y, 1, PrefetchBoundStrategy::NonFaulting);
        CHECK(prefetches_of(diagonal, "fetch_diagonal")
                  .starts_with("for fetch_diagonal.s0.y.prefetch.fetch_in.1 in "
                               "[fetch_diagonal.s0.y + 1, fetch_diagonal.s0.y + 4) "));
        Func apart("fetch_apart");
        apart(x, y) = in(x, 4 * y) + in(x, 4 * y + 1);
        apart.prefetch(in, y, y, 1, PrefetchBoundStrategy::NonFaulting);
        CHECK(prefetches_of(apart, "fetch_apart")
                  .starts_with("for fetch_apart.s0.y.prefetch.fetch_in.1 in [fetch_apart.s0.y * 4 "
                               "+ 4, fetch_apart.s0.y * 4 + 6) "));
    }
}

TEST_CASE("prefetch: a Func's lines are along its innermost dimension in memory") {
    Func f("fetch_f"), out("fetch_g");
    f(x, y) = cast<uint8_t>(x + y);
    out(x, y) = f(x, y);
    f.compute_root();
    out.bound(x, 0, 256).prefetch(f, y, y, 1, PrefetchBoundStrategy::NonFaulting);
    SECTION("x") {
        CHECK(
            prefetches_of(out, "fetch_g") ==
            R"(for fetch_g.s0.y.prefetch.fetch_f.1 in [fetch_g.s0.y + 1, fetch_g.s0.y + 2) unpartitioned {
  for fetch_g.s0.y.prefetch.fetch_f.0 in [0, 4) unpartitioned {
    prefetch fetch_f(fetch_g.s0.y.prefetch.fetch_f.0 * 64, fetch_g.s0.y.prefetch.fetch_f.1)
  }
}
)");
    }
    SECTION("y, by reorder_storage") {
        f.reorder_storage(y, x);
        CHECK(prefetches_of(out, "fetch_g") ==
              R"(for fetch_g.s0.y.prefetch.fetch_f.1 in [0, 1) unpartitioned {
  for fetch_g.s0.y.prefetch.fetch_f.0 in [0, 256) unpartitioned {
    prefetch fetch_f(fetch_g.s0.y.prefetch.fetch_f.0, fetch_g.s0.y + 1 + fetch_g.s0.y.prefetch.fetch_f.1 * 64)
  }
}
)");
    }
}

TEST_CASE_METHOD(Rows, "prefetch: bounds that the loop does not change keep their names") {
    // Each stage reads the one before between clamps, so that the regions nest as deep as the chain.
    auto text_of_chain = [&](int stages) {
        Func first("fetch_first");
        first(x, y) = in(x, y) + in(x, y + 1);
        first.compute_root().prefetch(in, y, y, 1, PrefetchBoundStrategy::NonFaulting);
        std::vector<Func> chain{first};
        for (int i = 0; i < stages; i++) {
            Func next("fetch_next");
            next(x, y) =
                chain.back()(clamp(x - 1, 0, in.width() - 3), clamp(y + 1, 1, in.height()));
            next.compute_root();
            chain.push_back(next);
        }
        return prefetches_of(chain.back(), "fetch_first");
    };
    const std::string few = text_of_chain(2), many = text_of_chain(12);
    INFO(few << many);
    CHECK(many.find("prefetch fetch_in(") != std::string::npos);
    CHECK(many.size() < few.size() + 20);
}

TEST_CASE_METHOD(Rows, "prefetch: none where no directive asks for it, and only at its loop") {
    CHECK(prefetches_of(out, "fetch_out").empty());
    out.prefetch(in, y, y, 2);
    const test::Regions regions(out);
    const region::RegionPlan plan = region::plan_regions(regions.tree);
    const region::StageNest &nest = *regions.tree.find_stage(regions.id("fetch_out"), 0);
    REQUIRE(nest.loops.size() == 2);
    CHECK(lower::prefetches(plan, nest, nest.loops[0]).defined());
    CHECK_FALSE(lower::prefetches(plan, nest, nest.loops[1]).defined());
}
