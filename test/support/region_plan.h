#pragma once
// The region plan of a scheduled pipeline, for tests.

#include <string>
#include <vector>

#include "graph/check.h"
#include "language/freeze.h"
#include "region/plan.h"

namespace test {

/// A scheduled pipeline; the plans made of it refer to it.
struct Regions {
    Pipe::language::Frozen frozen;
    Pipe::graph::Graph graph;
    Pipe::region::LoopTree tree;

    explicit Regions(const Pipe::Func &output)
        : frozen(Pipe::language::freeze({output})),
          graph(Pipe::graph::inline_funcs(frozen.graph, frozen.schedule)),
          tree(graph, frozen.schedule) {
        Pipe::graph::check(graph, frozen.schedule);
    }
    Regions(const Regions &) = delete;

    Pipe::FuncId id(const std::string &name) const {
        for (const Pipe::graph::FuncNode &f : graph.funcs)
            if (f.name == name)
                return f.id;
        return Pipe::FuncId::None;
    }
};

}  // namespace test
