// The report, the machine, and the terms of the cost.

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/group_model.h"
#include "pipelines.h"
#include "support/processors.h"

using namespace test;

namespace {

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("The report names groups, tiles, levels, terms and what was inlined") {
    UnsharpShared p;
    const Result r = autoschedule_for(language::freeze({p.unsharp}), p.sizes());
    const std::string &text = r.report.text;
    INFO(text);
    for (const char *part :
         {"group 0: unsharp", "tile: x ", "c 3 of 3", "parallel over y", "gray: ", "arithmetic",
          "far memory", "redundancy", "inlined: ", "sharpen", "groups evaluated"}) {
        CHECK(contains(text, part));
    }
}

TEST_CASE("Notes say what could not be modeled") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func table("table"), out("out");
    table(x) = sin(cast<float>(x));
    out(x) = table(in(x));
    const Result r = autoschedule_for(language::freeze({out}), {{{{0, 1000}}}, {}, {}});
    CHECK(contains(r.report.text, "not affine"));
    CHECK(contains(r.report.text, "table: needed region unknown"));
}

TEST_CASE("The machine at hand, and what the options say instead") {
    const Machine host = autoschedule::host_machine(get_host_target());
    CHECK(host.cores >= 1);
    CHECK(host.l1_bytes >= 4 << 10);
    CHECK(host.l1_bytes <= host.l2_bytes);
    CHECK(host.l2_bytes <= host.l3_bytes);
    CHECK(host.l3_bytes <=
          std::max<int64_t>(host.l2_bytes, support::usable_processors() * int64_t(8 << 20)));
    CHECK(host.vector_bytes == get_host_target().natural_vector_size(UInt(8)));
    AutoscheduleOptions options;
    options.cores = 7;
    options.l2_bytes = 123456;
    options.l3_bytes = int64_t(1) << 40;
    options.memory_rate = 5;
    const Machine told = autoschedule::host_machine(get_host_target(), options);
    CHECK(told.cores == 7);
    CHECK(told.l2_bytes == 123456);
    CHECK(told.l3_bytes == int64_t(1) << 40);
    CHECK(told.dram_rate_all_cores == 5);
}

TEST_CASE("Terms of the cost move as they must") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    poly::ModelInput input;
    input.outputs = {{{0, 2559}, {0, 1919}}};
    const auto graph = autoschedule::build_stage_graph(
        frozen.graph, poly::model(frozen.graph, input), input.names, frozen.schedule);
    const Machine machine = two_cores();
    const autoschedule::GroupModel group(graph, machine, {0, 1});
    const auto low = group.evaluate({{2560, 8}, -1}), high = group.evaluate({{2560, 120}, -1});
    CHECK(low.redundancy > high.redundancy);  // two rows of overlap per tile
    CHECK(low.arithmetic > high.arithmetic);
    CHECK(low.scratch_bytes == 10 * 2560 * 2);  // ten rows of bx
    const auto rows = group.evaluate({{2560, 120}, 1});
    CHECK(rows.scratch_bytes == 4 * 2560 * 2);  // three rows, folded to a power of two
    CHECK(rows.redundancy == high.redundancy);
    CHECK(rows.near_memory == 0);                             // in L1
    CHECK(group.evaluate({{2560, 40}, -1}).near_memory > 0);  // in L2
    // With the input and the output that pass before it is read, more than L2 holds.
    CHECK(high.near_memory == 0);
    CHECK(high.far_memory > 1.2 * rows.far_memory);
    const auto whole = group.evaluate({{2560, 1920}, 1});
    CHECK(whole.total > 1.5 * rows.total);  // one core idles
}

TEST_CASE("What the caches cannot hold is stored past them") {
    Blur p;
    auto streams = [&](int64_t width, int64_t height, int64_t l3_bytes) {
        Machine machine = two_cores();
        machine.l3_bytes = l3_bytes;
        const language::Frozen frozen = language::freeze({p.by});
        const Result r = autoschedule_for(frozen, p.sizes(width, height), machine);
        const bool told = contains(r.report.text, "non-temporal stores");
        const bool done = r.schedule[frozen.graph.outputs[0]].nontemporal_stores;
        CHECK(told == done);
        return done;
    };
    CHECK(streams(6400, 4800, 32 << 20));
    CHECK_FALSE(streams(6400, 4800, 256 << 20));
    CHECK_FALSE(streams(2560, 1920, 32 << 20));
    CHECK(streams(2560, 1920, 8 << 20));
    CHECK_FALSE(streams(6401, 4800, 32 << 20));  // rows begin anywhere
    p.by(p.x, p.y) += cast<uint16_t>(1);         // and what is read again does not bypass them
    CHECK_FALSE(streams(6400, 4800, 32 << 20));
}

TEST_CASE("Algorithm 2 fills the cache and gives more to dimensions with more reuse") {
    Harris p;
    const language::Frozen frozen = language::freeze({p.harris});
    poly::ModelInput input;
    input.outputs = {{{0, 3999}, {0, 3999}}};
    const auto graph = autoschedule::build_stage_graph(
        frozen.graph, poly::model(frozen.graph, input), input.names, frozen.schedule);
    std::vector<int> all;
    for (size_t n = 0; n < graph.nodes.size(); n++)
        all.push_back(static_cast<int>(n));
    const Machine machine = two_cores();
    const autoschedule::GroupModel group(graph, machine, all);
    const auto tile = group.fill_cache(1 << 20, 256);
    CHECK(tile[0] == 256);
    const double bytes =
        static_cast<double>(tile[0] * tile[1]) * 4 * static_cast<double>(all.size());
    CHECK(bytes <= 1 << 20);
    CHECK(bytes > 0.8 * (1 << 20));
}
