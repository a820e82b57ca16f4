#pragma once
// The nodes of a pipeline as the cost model sees them.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "autoschedule/group_model.h"
#include "language/freeze.h"
#include "pipelines.h"

namespace test {

struct Priced {
    autoschedule::StageGraph graph;
    const autoschedule::Node &node(const std::string &name) const {
        const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const auto &n) { return n.name == name; });
        if (found == graph.nodes.end())
            throw std::out_of_range("no Func is called " + name);
        return *found;
    }
    autoschedule::GroupModel group(const std::vector<std::string> &names,
                                   const Machine &machine) const {
        std::vector<int> members;
        for (const std::string &name : names)
            members.push_back(static_cast<int>(node(name).id));
        return {graph, machine, members};
    }
    /// Of the last definition.
    double iterations(const std::string &name) const {
        return node(name).iterations(node(name).stages.back());
    }
    autoschedule::Cost cost(const std::string &name) const {
        const Machine machine = two_cores();
        return autoschedule::plan_group(graph, machine, {static_cast<int>(node(name).id)}, false)
            ->cost;
    }
};

inline Priced price(const Func &output, const std::vector<poly::Range> &box,
                    const poly::Environment &names = {}) {
    const language::Frozen frozen = language::freeze({output});
    poly::ModelInput input;
    input.outputs = {box};
    input.names = names;
    return {autoschedule::build_stage_graph(frozen.graph, poly::model(frozen.graph, input),
                                            input.names, frozen.schedule)};
}

}  // namespace test
