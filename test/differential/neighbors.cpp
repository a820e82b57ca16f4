// Elements at places of data, and those beside them, as linear interpolation reads them: one access for both.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "differential/against_reference.h"
#include "support/targets.h"

using namespace Pipe;

namespace {

const Var x("x"), y("y");

/// What is read of a row of 200 values, at places up to both ends of it.
template <typename T> struct Interpolated {
    ImageParam in{type_of<T>(), 2, "in"}, at{UInt(8), 2, "at"};
    testing::GuardedBuffer values = noise<T>({{0, 200}, {0, 3}}),
                           places = noise<uint8_t>({{0, 133}, {0, 3}});

    Interpolated() {
        Buffer<uint8_t>(places.buffer).for_each_value([](uint8_t &p) { p = p % 197; });
        Buffer<uint8_t> ends(places.buffer);
        ends(0, 0) = ends(5, 0) = ends(132, 2) = 196;
        ends(1, 0) = ends(131, 2) = 0;
        in.set(values.buffer);
        at.set(places.buffer);
    }
    Expr value(int k) { return in(min(cast<int>(at(x, y)), 196) + k, y); }

    void check(Expr result, int lanes, TailStrategy tail, const Target &target) {
        Func out("out");
        out(x, y) = cast<T>(result);
        out.vectorize(x, lanes, tail);
        check_against_reference<T>(Pipeline(out), {133, 3}, target);
    }
};

template <typename T> void check_all(const Target &target) {
    for (int lanes : {2, 3, 8, 16, 24, 64}) {
        for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards}) {
            INFO(type_of<T>() << ", " << lanes << " lanes, " << target.to_string());
            Interpolated<T> row;
            row.check(row.value(0) * 3 + row.value(1) * 2, lanes, tail, target);
            row.check(row.value(3) - row.value(0) + row.value(2) * row.value(1), lanes, tail,
                      target);
            row.check(row.value(1) + row.value(1) * row.value(2) - row.value(2), lanes, tail,
                      target);
            row.check(row.value(0) + row.value(2), lanes, tail, target);
        }
    }
}

}  // namespace

TEST_CASE("neighbors at places of data", "[codegen]") {
    for (const Target &target : testing::runnable_targets()) {
        check_all<uint8_t>(target);
        check_all<int16_t>(target);
        check_all<float>(target);
        check_all<int32_t>(target);
        check_all<double>(target);
    }
}

TEST_CASE("neighbors of which one is read under a condition", "[codegen]") {
    for (const Target &target : testing::runnable_targets()) {
        Interpolated<float> row;
        const Expr place = min(cast<int>(row.at(x, y)), 198);
        row.check(select(place < 100, row.value(0), row.value(1)), 8, TailStrategy::GuardWithIf,
                  target);
        // The last one has no neighbor.
        Buffer<uint8_t>(row.places.buffer)(3, 1) = 199;
        const Expr any = min(cast<int>(row.at(x, y)), 199);
        row.check(row.in(any, y) + select(any < 199, row.in(min(any + 1, 199), y), 0.0f), 8,
                  TailStrategy::GuardWithIf, target);
    }
}
