// The layout of the Buffers at hand is part of what the autoscheduler knows.

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/stage_graph.h"
#include "graph/check.h"
#include "pipelines.h"

using namespace test;

namespace {

/// Of one stage from a picture with channels, for Buffers with this distance between columns, and between channels.
schedules::StageSchedule schedule_for(int64_t channels, int64_t column, int64_t channel) {
    const Var x("x"), y("y"), c("c");
    ImageParam in(UInt(8), 3, "in");
    Func out("out");
    out(x, y, c) = in(x, y, c) / 2 + cast<uint8_t>(10);
    const std::vector<ScheduleSizes::Dim> dims = {
        {0, 2048, column}, {0, 2048, 2048 * channels}, {0, channels, channel}};
    const language::Frozen frozen = language::freeze({out});
    const Result r = autoschedule_for(frozen, {{dims}, {{"in", dims}, {"out", dims}}, {}});
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
    return r.schedule[frozen.graph.outputs[0]].stages[0];
}

}  // namespace

TEST_CASE("Channels of interleaved Buffers are unrolled next to the vector") {
    for (int64_t channels = 2; channels <= 4; channels++) {
        const schedules::StageSchedule stage = schedule_for(channels, channels, 1);
        REQUIRE(stage.specializations.size() == 1);
        const std::vector<schedules::Dim> &dims = stage.specializations[0].schedule.dims;
        CHECK(dims[0].kind == LoopKind::Vectorized);
        CHECK(dims[1].name == "c");
        CHECK(dims[1].kind == LoopKind::Unrolled);
        CHECK(dims.size() == stage.dims.size());
    }
}

TEST_CASE("Planar Buffers, and those with many channels, need no version of their own") {
    CHECK(schedule_for(3, 1, 2048 * 2048).specializations.empty());
    CHECK(schedule_for(16, 16, 1).specializations.empty());
}
