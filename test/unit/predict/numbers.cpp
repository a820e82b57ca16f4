// The values of indices and bounds in loops, compared with running the loops.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <vector>

#include "ir/expr_node.h"
#include "predict/numbers.h"
#include <pipe/pipe.h>

using namespace Pipe;
using Catch::Approx;
using predict::Form;
using predict::Numbers;

namespace {

Expr variable(const std::string &name) {
    return ir::make_variable(Int(32), name);
}

/// Loops a, b, c of these extents, outermost first.
class Loops {
  public:
    explicit Loops(const std::vector<int> &extents) : extents_(extents) {
        for (size_t d = 0; d < extents.size(); d++) {
            numbers_.bind(std::string(1, char('a' + d)),
                          Form::counter(static_cast<int>(d), extents[d]));
        }
    }

    Form of(const Expr &e) { return numbers_.of(e); }

    /// The mean of what a function gives in all iterations.
    double mean(const std::function<double(int, int, int)> &f) const {
        auto extent = [&](size_t d) { return d < extents_.size() ? extents_[d] : 1; };
        double sum = 0;
        for (int a = 0; a < extent(0); a++)
            for (int b = 0; b < extent(1); b++)
                for (int c = 0; c < extent(2); c++)
                    sum += f(a, b, c);
        return sum / (extent(0) * extent(1) * extent(2));
    }

  private:
    std::vector<int> extents_;
    Numbers numbers_;
};

const Expr a = variable("a"), b = variable("b"), c = variable("c");

}  // namespace

TEST_CASE("sums and products are linear in the loops") {
    Loops loops({5, 8});
    const Form f = loops.of(a * 100 + b * 3 - 7);
    CHECK(f.linear);
    CHECK(f.mean == Approx(loops.mean([](int i, int j, int) { return i * 100 + j * 3 - 7; })));
    REQUIRE(f.terms.size() == 2);
    CHECK(f.terms[0].step == 100);
    CHECK(f.terms[1].step == 3);
}

TEST_CASE("numbers of tiles are whole") {
    Loops loops({4});
    for (int extent : {1, 63, 64, 65, 300})
        CHECK(loops.of((Expr(extent) + 63) / 64).mean == (extent + 63) / 64);
    CHECK(loops.of((a * 8 + 7) / 8).mean ==
          Approx(loops.mean([](int i, int, int) { return (i * 8 + 7) / 8; })));
    CHECK(loops.of((a * 8 + 13) / 4).mean ==
          Approx(loops.mean([](int i, int, int) { return (i * 8 + 13) / 4; })));
}

TEST_CASE("a slow and a periodic number take fewer values") {
    Loops loops({100});
    const Form half = loops.of(a / 2), turn = loops.of(a % 8);
    CHECK(half.mean == Approx(loops.mean([](int i, int, int) { return i / 2; })).epsilon(0.01));
    CHECK(half.terms.at(0).distinct == Approx(50));
    CHECK(half.terms.at(0).step == 1);
    CHECK(turn.terms.at(0).distinct == 8);
    CHECK(turn.mean == Approx(3.5));
}

TEST_CASE("the size of a last tile, on average") {
    SECTION("in one loop") {
        Loops loops({4});
        CHECK(loops.of(min(200 - a * 64, 64)).mean ==
              Approx(loops.mean([](int i, int, int) { return std::min(200 - i * 64, 64); })));
    }
    SECTION("in two loops, of a triangle") {
        Loops loops({30, 30});
        CHECK(loops.of(max(a - b, 0)).mean == Approx(loops.mean([](int i, int j, int) {
                                                  return std::max(i - j, 0);
                                              })).epsilon(0.1));
    }
    SECTION("the last tile of tasks") {
        Loops loops({4, 16});
        CHECK(loops.of(max(min(200 - a * 64 - b * 4, 4), 0)).mean ==
              Approx(loops.mean([](int i, int j, int) {
                  return std::max(0, std::min(200 - i * 64 - j * 4, 4));
              })).epsilon(0.1));
    }
}

TEST_CASE("conditions hold in a share of the iterations") {
    Loops loops({10, 20, 7});
    CHECK(loops.of(a < 1).mean == Approx(0.1));
    CHECK(loops.of(a >= 3).mean == Approx(0.7));
    CHECK(loops.of(b % 4 == 0).mean == Approx(0.25));
    CHECK(loops.of(b != 3).mean == Approx(0.95));
    CHECK(loops.of(a < 5 && b < 5).mean == Approx(0.125));
    CHECK(loops.of(a < 5 || b < 5).mean == Approx(0.625));
    CHECK(loops.of(a * 20 + b < 33).mean ==
          Approx(loops.mean([](int i, int j, int) { return i * 20 + j < 33; })).margin(0.03));
    CHECK(loops.of(select(a < 1, 3, 1)).mean == Approx(1.2));
}

TEST_CASE("what depends on data lies in a range") {
    Loops loops({10, 20});
    const Expr loaded = ir::make_load(UInt(8), "table", a);
    const Form f = loops.of(cast<int>(loaded) * 4 + b);
    CHECK(f.data);
    CHECK(f.hi - f.lo == Approx(255 * 4));
    CHECK(f.depends_on() == 3);
    const Form clamped = loops.of(clamp(cast<int>(ir::make_load(Int(32), "table", a)), 0, 15));
    CHECK(clamped.lo == 0);
    CHECK(clamped.hi == 15);
}

TEST_CASE("lanes of vectors") {
    Loops loops({10});
    const Expr ramp = ir::make_ramp(a * 16, Expr(2), 8);
    const Form f = loops.of(ramp);
    CHECK(f.even);
    CHECK(f.lane_step == 2);
    CHECK_FALSE(
        loops.of(ir::make_binary(ir::Op::Min, ramp, ir::make_broadcast(Expr(100), 8))).even);
    CHECK(loops.of(ir::make_binary(ir::Op::Div, ramp, ir::make_broadcast(Expr(2), 8))).lane_step ==
          1);
    // the same element in all lanes
    const Expr uniform = ir::make_broadcast(cast<int>(ir::make_load(UInt(8), "table", a)), 8);
    CHECK(loops.of(ir::make_binary(ir::Op::Add, ramp, uniform)).even);
}

TEST_CASE("whether any lane, or all lanes, are inside") {
    Loops loops({10});
    const Expr mask = ir::make_binary(ir::Op::LT, ir::make_ramp(a * 8, Expr(1), 8),
                                      ir::make_broadcast(Expr(70), 8));
    CHECK(loops.of(ir::make_vector_reduce(ir::Op::Or, mask, 1)).mean ==
          Approx(0.9));  // 0 .. 64 < 70
    CHECK(loops.of(ir::make_vector_reduce(ir::Op::And, mask, 1)).mean ==
          Approx(0.8));  // 7 .. 63 < 70
}
