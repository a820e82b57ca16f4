// in() as a transformation of the graph.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "graph/pack.h"
#include "graph/schedule_source.h"
#include "ir/print.h"
#include "language/freeze.h"

using namespace Pipe;

namespace {

struct Product {
    ImageParam a{Int(32), 2, "a"}, b{Int(32), 2, "b"};
    Var x{"x"}, y{"y"};
    RDom k{0, 50, "k"};
    Func twice{"twice"}, sums{"sums"}, out{"out"};
    language::Frozen frozen;

    Product() {
        twice(x, y) = b(x, y) * 2;
        sums(x, y) = 0;
        sums(x, y) += a(k, y) * twice(x, k);
        out(x, y) = sums(x, y) + a(x, y);
        twice.compute_root();
        sums.compute_at(out, y);
        frozen = language::freeze({out});
    }
    FuncId id(const std::string &name) const {
        for (const graph::FuncNode &f : frozen.graph.funcs)
            if (f.name == name)
                return f.id;
        return FuncId::None;
    }
    int image(const std::string &name) const {
        for (size_t i = 0; i < frozen.graph.images.size(); i++)
            if (frozen.graph.images[i].name == name)
                return static_cast<int>(i);
        return -1;
    }
    void pack(const std::vector<graph::Packing> &packings) {
        graph::pack(frozen.graph, frozen.schedule, packings);
        graph::verify(frozen.graph);
    }
    schedules::LoopLevel at_x() const {
        return {schedules::LoopLevel::Kind::At, id("sums"), 1, "x"};
    }
};

}  // namespace

TEST_CASE("a copy stands between what is read and its reader", "[graph][pack]") {
    Product p;
    p.pack({{p.id("sums"), p.id("twice"), -1, p.at_x(), {1, 0}, 24, 4}});
    const graph::FuncNode &copy = p.frozen.graph[p.id("twice_in_sums")];
    CHECK(copy.args == std::vector<std::string>{"x", "y"});
    CHECK(ir::to_string(copy.stages[0].values[0]) == "twice(x, y)");
    CHECK(copy.producers == std::vector<FuncId>{p.id("twice")});
    CHECK(copy.consumers == std::vector<FuncId>{p.id("sums")});
    CHECK(ir::to_string(p.frozen.graph[p.id("sums")].stages[1].values[0]) ==
          "sums(x, y) + a(k$x, y) * twice_in_sums(x, k$x)");
    // Producers before consumers, and what refers to Funcs follows.
    CHECK(copy.id < p.id("sums"));
    CHECK(p.frozen.graph.outputs == std::vector<FuncId>{p.id("out")});
    CHECK(p.frozen.schedule[p.id("sums")].compute.func == p.id("out"));
    const schedules::FuncSchedule &schedule = p.frozen.schedule[copy.id];
    CHECK(schedule.compute.func == p.id("sums"));
    CHECK(schedule.storage_order == std::vector<std::string>{"y", "x"});
    REQUIRE(schedule.storage_dims.size() == 1);
    CHECK(schedule.storage_dims[0].var == "y");
    CHECK(ir::to_string(schedule.storage_dims[0].alignment) == "24");
    CHECK(schedule.stages[0].dims[0].kind == LoopKind::Vectorized);
}

TEST_CASE("an image is copied for one of its readers", "[graph][pack]") {
    Product p;
    p.pack({{p.id("sums"), FuncId::None, p.image("a"), p.at_x(), {0, 1}, 0, 1},
            {p.id("sums"), p.id("twice"), -1, p.at_x(), {0, 1}, 0, 1}});
    CHECK(ir::to_string(p.frozen.graph[p.id("sums")].stages[1].values[0]) ==
          "sums(x, y) + a_in_sums(k$x, y) * twice_in_sums(x, k$x)");
    CHECK(ir::to_string(p.frozen.graph[p.id("out")].stages[0].values[0]) == "sums(x, y) + a(x, y)");
    CHECK(ir::to_string(p.frozen.graph[p.id("a_in_sums")].stages[0].values[0]) == "a(_0, _1)");
    const std::string source = graph::schedule_source(p.frozen.graph, p.frozen.schedule);
    CHECK(source.find("Func a_in_sums = a.in(sums);") != std::string::npos);
    CHECK(source.find("Func twice_in_sums = twice.in(sums);") != std::string::npos);
    CHECK(source.find("compute_at(sums.update(0), sums_x)") != std::string::npos);
}

TEST_CASE("the name of a copy is not one that there is", "[graph][pack]") {
    ImageParam a(Int(32), 1, "a"), taken(Int(32), 1, "a_in_f");  // in this order
    Var x("x");
    Func f("f");
    f(x) = a(x) + taken(x);
    language::Frozen frozen = language::freeze({f});
    graph::pack(frozen.graph, frozen.schedule,
                {{FuncId(0),
                  FuncId::None,
                  0,
                  {schedules::LoopLevel::Kind::At, FuncId(0), 0, "x"},
                  {0},
                  1}});
    graph::verify(frozen.graph);
    CHECK(ir::to_string(frozen.graph.funcs[1].stages[0].values[0]) == "a_in_f_(x) + a_in_f(x)");
}

TEST_CASE("a copy has the name that in() gives it", "[graph][pack]") {
    // Another Func of this name exists: PIPE_FUZZ_SEED=98004829 lowered with other names once in() had made the copy.
    const Func another("twice");
    Product p;
    const std::string twice = p.twice.name();
    REQUIRE(twice != "twice");
    p.pack({{p.id("sums"), p.id(twice), -1, p.at_x(), {1, 0}, 24, 4}});
    const Func copy = p.twice.in(p.sums);
    CHECK(p.id(copy.name()) != FuncId::None);
    CHECK(p.frozen.graph[p.id(copy.name())].variable == "twice_in_sums");
}
