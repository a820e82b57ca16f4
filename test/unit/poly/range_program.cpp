// Compiled expressions against enumeration, and against range_of().

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "poly/range_program.h"
#include "support/index.h"
#include "support/random_expr.h"

using namespace Pipe;
using namespace Pipe::poly;
using namespace test;

namespace {

bool contains(const Range &range, int64_t value) {
    return range.min <= value && value <= range.max;
}

Expr less(const Expr &a, const Expr &b) {
    return ir::make_binary(ir::Op::LT, a, b);
}

/// As if each variable could be up to `more` greater than its value.
poly::Environment around(const test::Environment &values, int64_t more) {
    poly::Environment ranges;
    for (const auto &[name, lanes] : values) {
        const int64_t value = lanes[0].i;
        const bool is_small = value > -100 && value < 100, is_known = Range::point(value).bounded();
        if (lanes.size() == 1)
            ranges[name] = is_known ? Range{value, value + (is_small ? more : 0)} : Range();
    }
    return ranges;
}

}  // namespace

TEST_CASE("a compiled expression has the value of the expression at points") {
    std::mt19937 rng(11);
    RangeProgram program;
    std::vector<std::pair<Expr, RangeProgram::Slot>> all;
    for (int round = 0; round < 300; round++) {
        const Expr e = random_index(rng, 4);
        all.emplace_back(e, program.add(e));
    }
    for (int64_t i = -3; i <= 5; i++)
        for (int64_t j = 0; j <= 4; j++)
            for (int64_t r = 1; r <= 2; r++) {
                for (const auto &[name, value] : {std::pair{"i", i}, {"j", j}, {"r", r}})
                    if (const RangeProgram::Slot slot = program.find(name); slot >= 0)
                        program.set(slot, Range::point(value));
                program.evaluate();
                for (const auto &[e, slot] : all) {
                    INFO(ir::to_string(e));
                    REQUIRE(program[slot] ==
                            Range::point(value_of(e, {{"i", i}, {"j", j}, {"r", r}})));
                }
            }
}

TEST_CASE("the ranges of expressions of any type contain their values") {
    for (uint64_t seed = 0; seed < 4000; seed++) {
        RandomExpr random(seed);
        Type type = random.scalar_type();
        const Expr e = random.make(type.is_float() ? Int(32) : type, 4);
        const test::Environment values = random.values();
        const auto value = test::evaluate(e, values);
        const bool is_large = value && (!Range::point((*value)[0].i).bounded() ||
                                        (e.type() == UInt(64) && (*value)[0].i < 0));
        if (!value || is_large)
            continue;
        for (int64_t more : {0, 3}) {
            const poly::Environment ranges = around(values, more);
            RangeProgram program;
            const RangeProgram::Slot slot = program.add(e);
            for (const auto &[name, range] : ranges)
                if (program.find(name) >= 0)
                    program.set(program.find(name), range);
            program.evaluate();
            INFO("seed " << seed << ": " << ir::to_string(e) << " = " << (*value)[0].i << ", in "
                         << program[slot].min << " .. " << program[slot].max);
            CHECK(contains(program[slot], (*value)[0].i));
            CHECK(contains(range_of(e, ranges), (*value)[0].i));
        }
    }
}

TEST_CASE("what two operands have in common cancels") {
    RangeProgram program;
    const Expr i = var("i"), tile = ir::mul(i, num(8));
    program.define("tile", tile);
    const RangeProgram::Slot difference =
                                 program.add(ir::sub(ir::add(ir::mul(i, num(8)), num(7)), tile)),
                             condition = program.add(less(i, ir::add(i, num(1)))),
                             chosen = program.add(
                                 ir::make_select(less(var("tile"), num(0)), num(1), var("tile")));
    const size_t steps = program.steps();
    program.add(ir::sub(var("tile"), num(0)));
    CHECK(program.steps() == steps);
    program.set(program.find("i"), {0, 10});
    program.evaluate();
    CHECK(program[difference] == Range::point(7));
    CHECK(program[condition] == Range::point(1));
    CHECK(program[chosen] == Range{0, 80});
    program.set(program.find("i"), Range::empty());
    program.evaluate();
    CHECK(program[chosen].is_empty());
}
