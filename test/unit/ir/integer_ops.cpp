// Ranges of the integer operations: they hold every value, and no more where that is possible.
#include "ir/integer_ops.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace {

struct Operation {
    const char *name;
    int operands;
    bool unsigned_last;  ///< as amounts of mul_shift_right are
    bool tight;          ///< the ends of the range are values
};

const Operation operations[] = {
    {intrinsic::saturating_add, 2, false, true},
    {intrinsic::saturating_sub, 2, false, true},
    {intrinsic::halving_add, 2, false, true},
    {intrinsic::rounding_halving_add, 2, false, true},
    {intrinsic::rounding_shift_left, 2, false, true},
    {intrinsic::rounding_shift_right, 2, false, true},
    {intrinsic::mul_shift_right, 3, true, true},
    {intrinsic::rounding_mul_shift_right, 3, true, true},
    {intrinsic::popcount, 1, false, false},
    {intrinsic::count_leading_zeros, 1, false, false},
    {intrinsic::count_trailing_zeros, 1, false, false},
    {intrinsic::div_round_to_zero, 2, false, false},
    {intrinsic::mod_round_to_zero, 2, false, false},
    {intrinsic::halving_sub, 2, false, false},  // of unsigned numbers it wraps
};

class Ranges {
  public:
    Ranges(const Operation &op, Type type) : op_(op) {
        for (int i = 0; i < op.operands; i++) {
            bool amount = op.unsigned_last && i == op.operands - 1;
            types_.push_back(amount ? UInt(8) : type);
            args_.push_back(make_variable(types_.back(), "v" + std::to_string(i)));
        }
        call_ = make_call(type, op.name, args_, CallKind::Intrinsic);
    }

    void check(std::mt19937 &random) {
        std::vector<ConstantInterval> intervals;
        for (Type type : types_) {
            // Short ones, so that all values can be tried; at all places.
            int low = static_cast<int>(type.min_int()), high = static_cast<int>(type.max_uint());
            if (type.is_int())
                high = static_cast<int>(type.max_int());
            int lo = low + static_cast<int>(random() % 256u);
            int hi =
                std::min(high, lo + static_cast<int>(random() % (types_.size() == 3 ? 9u : 40u)));
            intervals.push_back({lo, hi});
        }
        ConstantInterval range = integer_op_range(call_, intervals);
        least_ = INT64_MAX, most_ = INT64_MIN;
        std::vector<WideInt> values;
        visit(intervals, values);
        INFO(op_.name << " of " << to_string(types_[0]) << ": [" << range.lo << ", " << range.hi
                      << "], values from " << least_ << " to " << most_);
        REQUIRE(range.lo <= least_);
        REQUIRE(range.hi >= most_);
        if (op_.tight) {
            REQUIRE(range.lo == least_);
            REQUIRE(range.hi == most_);
        }
    }

  private:
    const Operation &op_;
    std::vector<Type> types_;
    std::vector<Expr> args_;
    Expr call_;
    int64_t least_ = 0, most_ = 0;

    void visit(const std::vector<ConstantInterval> &intervals, std::vector<WideInt> &values) {
        size_t i = values.size();
        if (i == intervals.size()) {
            // As the operation stores it: wrapped to 8 bits.
            auto value = static_cast<int64_t>(*integer_op(op_.name, call_.type(), types_, values));
            int64_t wrapped = make_int(call_.type(), value)->int_value;
            least_ = std::min(least_, wrapped), most_ = std::max(most_, wrapped);
            return;
        }
        for (int64_t v = intervals[i].lo; v <= intervals[i].hi; v++) {
            values.push_back(v);
            visit(intervals, values);
            values.pop_back();
        }
    }
};

}  // namespace

TEST_CASE("ranges of integer operations hold all their values", "[ir]") {
    std::mt19937 random(7);
    for (const Operation &op : operations)
        for (Type type : {Int(8), UInt(8)})
            for (int i = 0; i < 60; i++)
                Ranges(op, type).check(random);
}

TEST_CASE("ranges of arguments that nothing bounds", "[ir]") {
    Expr x = make_variable(UInt(8), "x");
    auto everything = ConstantInterval::everything();
    auto of = [&](const char *name, std::vector<Expr> args) {
        Expr call = make_call(UInt(8), name, args, CallKind::Intrinsic);
        return integer_op_range(call, std::vector<ConstantInterval>(args.size(), everything));
    };
    CHECK(of(intrinsic::saturating_add, {x, x}) == ConstantInterval{0, 255});
    CHECK(of(intrinsic::halving_add, {x, x}) == ConstantInterval{0, 255});
    CHECK(of(intrinsic::popcount, {x}) == ConstantInterval{0, 8});
    CHECK(of(intrinsic::count_leading_zeros, {x}) == ConstantInterval{0, 8});
    CHECK(of(intrinsic::mod_round_to_zero, {x, x}) == ConstantInterval{0, 254});
    // Nothing is ever evaluated where an interval is empty.
    Expr call = make_call(UInt(8), intrinsic::saturating_add, {x, x}, CallKind::Intrinsic);
    CHECK(integer_op_range(call, {{5, 4}, {0, 1}}) == ConstantInterval::of_type(UInt(8)));
}

TEST_CASE("the ends of int64 are values too") {
    auto shifted = [](int64_t value) {
        Expr n = make_int(Int(64), 70);
        return make_call(Int(64), intrinsic::rounding_shift_left, {make_int(Int(64), value), n},
                         CallKind::Intrinsic);
    };
    for (Expr largest : {shifted(5), make_int(Int(64), INT64_MAX)})
        for (int64_t from : {0, 10, -1}) {
            Expr e = make_binary(Op::Sub, make_int(Int(64), from), largest);
            CHECK(constant_bounds(e, Facts()).contains(from - INT64_MAX));
        }
    for (Expr smallest : {shifted(-5), make_int(Int(64), INT64_MIN)}) {
        Expr e = make_binary(Op::Add, make_int(Int(64), 7), smallest);
        CHECK(constant_bounds(e, Facts()).contains(INT64_MIN + 7));
    }
}
