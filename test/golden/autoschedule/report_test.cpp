// Pipelines in, the autoscheduler's report and schedule out.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "graph/schedule_source.h"
#include "support/golden.h"
#include "unit/autoschedule/pipelines.h"

using namespace test;

namespace {

/// The report without the times of the search, which are at its end, and the schedule as C++.
std::string scheduled(const Func &output, const ScheduleSizes &sizes) {
    const language::Frozen frozen = language::freeze({output});
    const Result r = autoschedule_for(frozen, sizes);
    const std::string &text = r.report.text;
    return text.substr(0, text.find(", access maps ")) + "\n\n" +
           graph::schedule_source(frozen.graph, r.schedule);
}

}  // namespace

TEST_CASE("report and schedule of unsharp masking, whose luminance is shared by three channels",
          "[golden]") {
    UnsharpShared p;
    CHECK_GOLDEN("autoschedule/unsharp.txt", scheduled(p.unsharp, p.sizes()));
}
