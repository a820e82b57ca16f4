#include "region/demand_walk.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "ir/visit.h"
#include "region/production.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// The root's regions first, then level by level what stands inside, consumers first.
class Walk {
  public:
    Walk(const LoopTree &tree, RegionSolver &regions)
        : tree_(tree), graph_(tree.graph()), regions_(regions) {
        demand_.stages.resize(graph_.funcs.size());
        for (const graph::FuncNode &func : graph_.funcs)
            demand_.stages[static_cast<size_t>(func.id)].resize(tree_.place(func.id).stages.size());
    }

    /// The regions of inputs and outputs alone.
    void arguments() {
        images();
        for (FuncId id : graph_.outputs) {
            written(id);
            for (const StageNest &nest : tree_.place(id).stages)
                ranges(nest);
        }
    }

    void root() {
        images();
        for (const graph::FuncNode &func : graph_.funcs) {
            if (!tree_.place(func.id).computed)
                continue;
            bounds(func, false);
            if (tree_.place(func.id).compute.empty())
                for (const StageNest &nest : tree_.place(func.id).stages)
                    ranges(nest);
        }
        for (FuncId id : graph_.outputs)
            output(id);
    }

    /// What stands just inside a level: Funcs computed there, consumers first, and the memory of others.
    void level(const Level &level) {
        const std::vector<FuncId> computed = tree_.computed_at(level);
        const std::vector<Group> groups = production_groups(tree_, level);
        for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
            check_async(*group);
            for (FuncId id : *group)
                production(id);
            for (FuncId id : *group)
                if (tree_.place(id).hoist == level)
                    memory(id);
        }
        for (FuncId id : tree_.allocated_at(level))
            if (std::find(computed.begin(), computed.end(), id) == computed.end())
                memory(id);
    }

    Demand result() { return std::move(demand_); }

  private:
    StageDemand &demand(const StageNest &nest) {
        return demand_.stages[static_cast<size_t>(nest.func)][static_cast<size_t>(nest.stage)];
    }

    void images() {
        for (const graph::Image &image : graph_.images) {
            demand_.images[image.name] = regions_.image(image.name);
            for (const graph::FuncNode &func : graph_.funcs)
                for (const StageNest &nest : tree_.place(func.id).stages)
                    if (const Box *box = regions_.image_read_by(nest, image.name))
                        demand(nest).images[image.name] = *box;
        }
    }

    /// The regions that are checked against the Func's bounds.
    void bounds(const graph::FuncNode &func, bool one_computation) {
        const bool inside = !tree_.place(func.id).compute.empty();
        if (func.is_output)
            return;
        const auto &bounds = tree_.schedule()[func.id].bounds;
        const bool checked = std::any_of(bounds.begin(), bounds.end(), [&](const auto &bound) {
            return one_computation ? inside && !bound.min.defined()
                                   : !inside || bound.min.defined();
        });
        if (!checked)
            return;
        for (size_t s = func.stages.size(); s-- > 0;) {
            StageDemand &of = demand(tree_.place(func.id).stages[s]);
            (one_computation ? of.needed_once : of.needed) =
                regions_.needed(func.id, static_cast<int>(s), one_computation);
        }
    }

    void ranges(const StageNest &nest) {
        StageDemand &of = demand(nest);
        if (!of.ranges.empty())
            return;
        of.ranges = regions_.ranges(nest);
        of.domain = regions_.domain(nest.func, nest.stage);
    }

    void output(FuncId id) {
        const std::vector<StageNest> &stages = tree_.place(id).stages;
        for (const StageNest &nest : stages)
            ranges(nest);
        for (size_t s = stages.size() - 1; s-- > 0;)
            demand(stages[s]).needed = regions_.needed(id, static_cast<int>(s), false);
        written(id);
    }

    void written(FuncId id) {
        for (const StageNest &nest : tree_.place(id).stages)
            demand(nest).computed = regions_.computed(id, nest.stage);
        demand_.outputs_read[id] = regions_.demand(id);
    }

    /// A stage and what stands in its loops, from the innermost out to the one at `from`, with the
    /// stages that share them.
    void stage(const StageNest &nest, size_t from) {
        prepare(nest);
        demand(nest).choices = regions_.choices(nest);
        accesses(nest);
        for (size_t p = nest.loops.size(); p-- > from;) {
            for (const StageNest *child : tree_.children(nest))
                if (tree_.shared_loops(*child) == p + 1)
                    stage(*child, p + 1);
            const StageLoop &loop = nest.loops[p];
            prefetches(nest, loop);
            level(loop.name);
            demand_.loops[loop.name] = regions_.loop_range(loop.name);
        }
    }

    void prepare(const StageNest &nest) {
        ranges(nest);
        for (const StageNest *child : tree_.children(nest))
            prepare(*child);
    }

    /// The storage of all that the definition reads and writes.
    void accesses(const StageNest &nest) {
        graph::for_each_expr(
            graph_[nest.func].stages[static_cast<size_t>(nest.stage)], [&](const Expr &root) {
                each_node(root, [&](const ExprNode &e) {
                    if (e.op == Op::Call && e.call_kind == CallKind::Func)
                        access(static_cast<FuncId>(e.int_value), graph::is_whole(e));
                    return true;
                });
            });
        access(nest.func, false);
    }

    void access(FuncId id, bool whole) {
        regions_.place(id);
        if (whole)
            regions_.storage(id);
    }

    void prefetches(const StageNest &nest, const StageLoop &loop) {
        const auto &directives =
            tree_.schedule()[nest.func].stages[static_cast<size_t>(nest.stage)].prefetches;
        std::vector<std::optional<Box>> &boxes = demand(nest).prefetched;
        boxes.resize(directives.size());
        for (size_t i = 0; i < directives.size(); i++) {
            if (directives[i].at != loop.var)
                continue;
            boxes[i] = regions_.prefetched(nest, directives[i], loop.name);
            for (const graph::FuncNode &func : graph_.funcs)
                if (func.name == directives[i].source && !func.is_output)
                    access(func.id, true);
        }
    }

    void check_async(const Group &group) const {
        auto async = [&](FuncId id) { return tree_.schedule()[id].async; };
        if (group.size() > 1 && std::any_of(group.begin(), group.end(), async))
            throw CompileError("async: " + graph::located_name(graph_[group[0]]) +
                               " shares loops with other Funcs (compute_with), so it cannot be a "
                               "separate task. Leave compute_with() or async() out.");
    }

    void production(FuncId id) {
        bounds(graph_[id], true);
        for (const StageNest &nest : tree_.place(id).stages)
            if (tree_.shared_loops(nest) == 0)
                stage(nest, 0);
        if (tree_.schedule()[id].memoize)
            regions_.provide(id);
    }

    void memory(FuncId id) {
        if (!graph_[id].is_output)
            regions_.storage(id);
    }

    const LoopTree &tree_;
    const graph::Graph &graph_;
    RegionSolver &regions_;
    Demand demand_;
};

}  // namespace

Demand demand_of_all(const LoopTree &tree, RegionSolver &regions) {
    Walk walk(tree, regions);
    walk.root();
    walk.level("");
    return walk.result();
}

Demand demand_of_arguments(const LoopTree &tree, RegionSolver &regions) {
    Walk walk(tree, regions);
    walk.arguments();
    return walk.result();
}

}  // namespace Pipe::region
