#include "lower/in_place.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "schedule/print.h"
#include "support/region_plan.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

/// Why place_out cannot be in the memory of place_in; "" where it can.
std::string obstacle(const Func &out, bool same_places = true) {
    const test::Regions regions(out);
    return lower::in_place_obstacle(regions.graph, regions.frozen.schedule,
                                    {"place_out", "place_in", same_places});
}

bool says(const std::string &message, const std::string &part) {
    return message.find(part) != std::string::npos;
}

struct Pair {
    ImageParam in{Int(32), 2, "place_in"};
    Func before{"place_before"}, out{"place_out"};
};

}  // namespace

TEST_CASE_METHOD(Pair, "in place: a point that reads the element that it stores may") {
    out(x, y) = in(x, y) * 2 + in(x, y);
    CHECK(obstacle(out).empty());
    out.split(x, xo, xi, 8, TailStrategy::GuardWithIf).vectorize(xi);
    CHECK(obstacle(out).empty());
}

TEST_CASE_METHOD(Pair, "in place: what is computed at root has read the input before") {
    before(x, y) = in(x + 1, y) + in(x - 1, y);
    out(x, y) = before(x, y);
    before.compute_root();
    CHECK(obstacle(out).empty());
}

TEST_CASE_METHOD(Pair, "in place: a point must not read elements of others") {
    out(x, y) = in(x + 1, y);
    const std::string why = obstacle(out);
    INFO(why);
    CHECK(says(why, "reads place_in(x + 1, y) for the point (x, y): another element"));
}

TEST_CASE_METHOD(Pair, "in place: a point must be in the same place of both") {
    out(x, y) = in(x, y) * 2;
    CHECK(says(obstacle(out, false), "both must have the same mins and strides"));
}

TEST_CASE_METHOD(Pair, "in place: an update must not read what the pure definition stored over") {
    out(x, y) = 1;
    out(x, y) += in(x, y);
    const std::string why = obstacle(out);
    INFO(why);
    CHECK(says(why, "place_out.update(0)"));
    CHECK(says(why, "after the pure definition has been stored"));
}

TEST_CASE_METHOD(Pair, "in place: nothing in the output's loops may read the input") {
    before(x, y) = in(x + 1, y);
    out(x, y) = before(x, y);
    before.compute_at(out, y);
    CHECK(says(obstacle(out), "computed inside of the loops of 'place_out'"));
}

TEST_CASE_METHOD(Pair, "in place: no other task may read the input while the output is stored") {
    before(x, y) = in(x, y);
    out(x, y) = before(x, y);
    before.compute_root().async();
    CHECK(says(obstacle(out), "'place_before' has async() or compute_with()"));
}

TEST_CASE_METHOD(Pair, "in place: a tail must not compute points again") {
    out(x, y) = in(x, y) * 2;
    out.split(x, xo, xi, 8, TailStrategy::ShiftInwards);
    CHECK(says(obstacle(out), "may recompute points"));
}

TEST_CASE_METHOD(Pair, "in place: Auto tails of the output are guarded, and no others") {
    before(x, y) = in(x, y);
    out(x, y) = before(x, y);
    before.compute_root().split(x, xo, xi, 8);
    out.split(x, xo, xi, 8).split(y, y, Var("yi"), 4, TailStrategy::RoundUp);
    const test::Regions regions(out);
    const FuncId id = regions.id("place_out");
    auto tails = [](const schedules::Schedule &schedule, FuncId func) {
        std::string text;
        for (const schedules::Transform &t : schedule[func].stages[0].transforms)
            text += std::string(schedules::to_string(t.tail)) + " ";
        return text;
    };
    const schedules::Schedule &user = regions.frozen.schedule;
    REQUIRE(tails(user, id) == "Auto RoundUp ");
    const schedules::Schedule once =
        lower::each_point_once(regions.graph, user, {{"place_out", "place_in", true}});
    CHECK(tails(once, id) == "GuardWithIf RoundUp ");
    CHECK(tails(once, regions.id("place_before")) == "Auto ");
    CHECK(tails(lower::each_point_once(regions.graph, user, {}), id) == "Auto RoundUp ");
}
