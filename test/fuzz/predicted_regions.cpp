// The regions that the scheduler's model predicts for its own plans, against the demand of the schedules that
// these plans become: never smaller, and equal where the model says that it is exact.

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/group_model.h"
#include "autoschedule/steps.h"
#include "autoschedule/strategies/strategies.h"
#include "fuzz/algorithm.h"
#include "fuzz/seeds.h"
#include "graph/check.h"
#include "graph/extern_stage.h"
#include "ir/program.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "language/freeze.h"
#include "region/numeric_demand.h"
#include "unit/autoschedule/pipelines.h"

using namespace Pipe;
using namespace Pipe::fuzz;
using autoschedule::Machine;
using autoschedule::Plan;
using region::NumericDemand;

namespace {

using Strategy = AutoscheduleOptions::Strategy;

Machine small_machine(int64_t l1) {
    Machine machine;
    machine.cores = 4;
    machine.l1_bytes = l1, machine.l2_bytes = 4 * l1, machine.l3_bytes = 16 * l1;
    return machine;
}

/// A pipeline as scheduled by one strategy.
class Scheduled {
  public:
    Scheduled(const language::Frozen &frozen, const autoschedule::Sizes &sizes, Machine machine,
              Strategy strategy)
        : frozen_(frozen), machine_(std::move(machine)),
          schedule_(autoschedule::with_loops(frozen.graph, frozen.schedule)) {
        AutoscheduleOptions options;
        options.strategy = strategy;
        autoschedule::Report report;
        found_ = autoschedule::search_by_strategy(
            autoschedule::stages_of(frozen.graph, schedule_, sizes, machine_, report), machine_,
            options);
        const graph::Graph packed =
            autoschedule::write_plans(found_, frozen.graph, machine_, schedule_);
        for (const graph::FuncNode &f : packed.funcs)
            ids_[f.name] = f.id;
        graph_ = graph::inline_funcs(packed, schedule_);
        graph::check(graph_, schedule_);
        tree_.emplace(graph_, schedule_);
        const region::RegionPlan plan = region::plan_regions(*tree_);
        demand_.emplace(plan);
        for (const region::FuncStorage &storage : plan.storage.funcs)
            slides_.push_back(storage.window.dim >= 0);
        set_sizes(sizes);
    }
    Scheduled(const Scheduled &) = delete;

    void check(Choices &choices) {
        // What is read of an inlined Func may be only one of its elements, or leave out coordinates: then nothing
        // may read other Funcs.
        for (const autoschedule::Node &node : found_.graph.nodes) {
            const graph::FuncNode &func = frozen_.graph[node.id];
            if (node.inlined ? func.types.size() > 1 || !uses_all_coordinates(func)
                             : !tree_->place(ids_.at(func.name)).computed)
                return;
        }
        for (const Plan &plan : found_.plans)
            if (plan.members.size() > 1 && !has_scans(plan))
                check(plan, choices);
    }

    int compared = 0, exact = 0;

  private:
    /// Of a node of the search, in the graph with the copies that it added.
    FuncId id_of(int node) const { return ids_.at(frozen_.graph[static_cast<FuncId>(node)].name); }

    static bool uses_all_coordinates(const graph::FuncNode &func) {
        std::set<std::string> used;
        for (const Expr &value : func.stages[0].values)
            used.merge(ir::free_vars(value));
        return std::all_of(func.args.begin(), func.args.end(),
                           [&](const std::string &arg) { return used.count(arg) > 0; });
    }

    void set_sizes(const autoschedule::Sizes &sizes) {
        auto set = [&](const std::string &buffer, const auto &dims) {
            for (size_t d = 0; d < dims.size(); d++) {
                demand_->set(ir::min_name(buffer, d), dims[d].min);
                demand_->set(ir::extent_name(buffer, d), dims[d].extent);
            }
        };
        for (size_t i = 0; i < graph_.outputs.size(); i++)
            for (size_t k = 0; k < graph_[graph_.outputs[i]].types.size(); k++)
                set(graph::buffer_name(graph_[graph_.outputs[i]], k), sizes.outputs[i]);
        for (const auto &[image, dims] : sizes.images)
            set(image, dims);
        for (const auto &[name, value] : sizes.scalars)
            demand_->set(name, value);
    }

    void check(const Plan &plan, Choices &choices) {
        const autoschedule::GroupModel model(found_.graph, machine_, plan.members);
        const auto &regions = model.alignment().region;
        for (size_t m = 1; m < plan.members.size(); m++)
            for (int sample = 0; sample < 6; sample++)
                check(plan, plan.members[m], regions[m], choices);
    }

    /// Scans and scatters read and write their own Func at places of their own, for every tile. The model leaves
    /// these out where it says what one tile needs of a member (and cuts no dimension that a scan runs along).
    bool has_scans(const Plan &plan) const {
        return std::any_of(plan.members.begin() + 1, plan.members.end(), [&](int member) {
            const autoschedule::Node &node = found_.graph.nodes[static_cast<size_t>(member)];
            return std::any_of(node.stages.begin(), node.stages.end(), [&](const auto &stage) {
                return !stage.loops_over_all() ||
                       std::any_of(stage.loads.begin(), stage.loads.end(), [&](const auto &load) {
                           return load.func == node.id && !is_own_place(load);
                       });
            });
        });
    }

    static bool is_own_place(const poly::Access &load) {
        for (size_t d = 0; d < load.coords.size(); d++)
            if (const poly::Coordinate &c = load.coords[d]; c.iterator != static_cast<int>(d) ||
                                                            c.num != c.den ||
                                                            c.distance != poly::Range::point(0))
                return false;
        return true;
    }

    /// In some iteration of the loop in which the member is computed.
    void check(const Plan &plan, int member, const std::vector<poly::Coordinate> &region,
               Choices &choices) {
        const FuncId id = id_of(member), output = id_of(plan.output());
        const region::Level &level = tree_->place(id).compute;
        choose_iteration(level, choices);
        const auto tile = demand_->computed(output, static_cast<int>(plan.stage));
        const auto needed = demand_->needed(id);
        auto is_empty = [](const poly::Range &r) { return r.is_empty(); };
        if (std::any_of(tile.begin(), tile.end(), is_empty) ||
            std::any_of(needed.begin(), needed.end(),
                        is_empty))  // conditions may exclude all of it
            return;
        for (size_t d = 0; d < needed.size(); d++) {
            const poly::Coordinate &c = region[d];
            const poly::Range predicted = touched(
                c, c.iterator < 0 ? poly::Range::point(0) : tile[static_cast<size_t>(c.iterator)]);
            compared++;
            const size_t at = static_cast<size_t>(
                std::find(plan.members.begin(), plan.members.end(), member) - plan.members.begin());
            INFO(graph_[id].name << " at " << level << ", dimension " << d << ": "
                                 << poly::to_string(c) << " in " << predicted.min << " .. "
                                 << predicted.max << ", but needed is " << needed[d].min << " .. "
                                 << needed[d].max);
            // Where a condition excludes the whole tile, the bounds are those of the nearest tile that it does not.
            if (has_conditions(plan) && intersect(predicted, needed[d]).is_empty())
                continue;
            CHECK(intersect(predicted, needed[d]) == needed[d]);
            // The plan's extents are those of one tile: of i / 3, another one may have one more.
            if (!slides_[static_cast<size_t>(id)])
                CHECK(needed[d].size() <= plan.extents[at][d] + (c.den > 1 ? 1 : 0));
            if (is_exact(c) && !read_by_window(plan, id) && !has_conditions(plan)) {
                CHECK(predicted == needed[d]);
                exact++;
            }
        }
    }

    /// The model knows how the coordinate moves with the tile; of 2 * (i / 3), it does not know that it is even.
    static bool is_exact(const poly::Coordinate &c) {
        return c.distance.bounded() && (c.iterator >= 0 || c.may_use == 0) &&
               (c.num == 1 || c.den == 1);
    }

    /// Readers whose windows slide need less of a member than the whole tile would: only what their new part
    /// reads. The model leaves that out.
    bool read_by_window(const Plan &plan, FuncId member) const {
        return std::any_of(plan.members.begin(), plan.members.end(), [&](int reader) {
            return id_of(reader) != member && slides_[static_cast<size_t>(id_of(reader))];
        });
    }

    /// Conditions on coordinates, of where() and select(), narrow what is read, and so do clamped indices, by a
    /// distance that differs from tile to tile. The model leaves that out, too.
    bool has_conditions(const Plan &plan) const {
        bool found = false;
        auto visit_index = [&](const Expr &index) {
            ir::walk(index, [&](const Expr &e) {
                found |= e->op == ir::Op::Min || e->op == ir::Op::Max;
                return e->op != ir::Op::Call;
            });
        };
        auto visit = [&](const Expr &condition) {
            ir::walk(condition, [&](const Expr &e) {
                found |= e->op == ir::Op::Variable;
                return e->op != ir::Op::Call;
            });
        };
        for (int member : plan.members)
            for (const graph::Stage &stage : graph_[id_of(member)].stages) {
                visit(stage.predicate);
                graph::for_each_expr(stage, [&](const Expr &root) {
                    ir::walk(root, [&](const Expr &e) {
                        if (e->op == ir::Op::Select)
                            visit(e->condition());
                        if (e->op == ir::Op::Call && e->call_kind == ir::CallKind::Func)
                            std::for_each(e->args.begin(), e->args.end(), visit_index);
                        return true;
                    });
                });
            }
        return found;
    }

    /// The first, the last, or another one of each loop.
    void choose_iteration(const region::Level &level, Choices &choices) {
        demand_->evaluate("");
        if (level.empty())
            return;
        for (const region::Level &loop : tree_->path_to(level)) {
            const poly::Range &range = demand_->loop(demand_->level(loop));
            demand_->set(loop,
                         choices.chance(30) ? range.min
                         : choices.chance(40)
                             ? range.max
                             : range.min + choices.below(int(std::max<int64_t>(1, range.size()))));
            demand_->evaluate(loop);
        }
    }

    const language::Frozen &frozen_;
    std::map<std::string, FuncId> ids_;  // by name
    Machine machine_;
    schedules::Schedule schedule_;
    autoschedule::SearchResult found_;
    graph::Graph graph_;
    std::optional<region::LoopTree> tree_;
    std::optional<NumericDemand> demand_;
    std::vector<bool> slides_;  ///< by Func
};

/// Of an index that has a variable twice, as x / 2 + x % 2, the demand adds up the bounds of parts, which are not
/// reached at once, and x % 8 has 8 values for it, however few x has: the model's bounds are closer. And what C
/// functions read is not known before they run.
bool has_exact_demand(const graph::Graph &graph) {
    auto is_loose = [](const Expr &index) {
        std::set<std::string> names;
        bool found = false;
        std::function<void(const Expr &)> visit = [&](const Expr &e) {
            found |= e->op == ir::Op::Mod ||
                     (e->op == ir::Op::Variable && !names.insert(e->name).second);
            std::for_each(e->args.begin(), e->args.end(), visit);
        };
        visit(index);
        return found;
    };
    bool exact = true;
    for (const graph::FuncNode &func : graph.funcs) {
        exact &= !graph::is_extern(func);
        for (const graph::Stage &stage : func.stages)
            graph::for_each_expr(stage, [&](const Expr &root) {
                ir::walk(root, [&](const Expr &e) {
                    if (e->op == ir::Op::Call && e->call_kind == ir::CallKind::Func)
                        exact &= std::none_of(e->args.begin(), e->args.end(), is_loose);
                    return true;
                });
            });
    }
    return exact;
}

void check_all(const std::vector<Func> &outputs, const autoschedule::Sizes &sizes, Choices &choices,
               int &compared, int &exact) {
    const language::Frozen frozen = language::freeze(outputs);
    if (!has_exact_demand(frozen.graph))
        return;
    for (const Strategy strategy : AutoscheduleOptions::strategies)
        for (const int64_t cache : {1 << 11, 1 << 15}) {
            INFO("strategy " << to_string(strategy) << ", cache of " << cache << " bytes");
            Scheduled scheduled(frozen, sizes, small_machine(cache), strategy);
            scheduled.check(choices);
            compared += scheduled.compared, exact += scheduled.exact;
        }
}

}  // namespace

TEST_CASE("predicted regions of known pipelines are those that tiles compute", "[fuzz]") {
    Choices choices(1);
    int compared = 0, exact = 0;
    test::Blur blur;
    check_all({blur.by}, blur.sizes(), choices, compared, exact);
    test::Unsharp unsharp;
    check_all({unsharp.masked}, unsharp.sizes(), choices, compared, exact);
    test::UnsharpShared shared;
    check_all({shared.unsharp}, shared.sizes(), choices, compared, exact);
    test::Harris harris;
    check_all({harris.harris}, harris.sizes(), choices, compared, exact);
    CHECK(compared > 500);
    CHECK(exact * 10 > compared * 8);
}

TEST_CASE("predicted regions of random pipelines are never too small", "[fuzz]") {
    const Seeds all = seeds();
    int compared = 0, exact = 0;
    for (uint64_t seed = all.first; seed < all.first + uint64_t(all.count); seed++) {
        Choices c(seed);
        Algorithm algorithm = generate(c);
        std::vector<Func> outputs;
        std::vector<Box> boxes;
        autoschedule::Sizes sizes;
        const Interval of_line[] = {{-3, 700}}, of_plane[] = {{-3, 290}, {2, 74}},
                       of_volume[] = {{-3, 66}, {2, 74}, {0, 2}};
        for (int output : algorithm.outputs) {
            const Source &source = algorithm.sources[static_cast<size_t>(output)];
            outputs.push_back(source.func);
            const int dims = source.dimensions;
            const Interval *box = dims == 3 ? of_volume : dims == 2 ? of_plane : of_line;
            boxes.emplace_back(box, box + dims);
        }
        std::vector<std::vector<Slack>> none;
        for (const Source &s : algorithm.sources)
            none.emplace_back(static_cast<size_t>(s.dimensions));
        const std::vector<Box> needed = required_boxes(algorithm, boxes, none);
        auto dims_of = [](const Box &box) {
            std::vector<autoschedule::Sizes::Dim> dims;
            for (const Interval &v : box)
                dims.push_back({v.empty() ? 0 : v.low, v.empty() ? 1 : v.extent()});
            return dims;
        };
        for (const Box &box : boxes)
            sizes.outputs.push_back(dims_of(box));
        for (size_t i = 0; i < needed.size(); i++)
            if (algorithm.sources[i].is_image)
                sizes.images[algorithm.sources[i].name] = dims_of(needed[i]);
        sizes.scalars["p"] = 3, sizes.scalars["version"] = 0;
        std::string shown;
        for (const std::string &line : algorithm.text)
            shown += line + "\n";
        INFO("seed " << seed << "\n" << shown);
        check_all(outputs, sizes, c, compared, exact);
    }
    if (all.count < usual_pipelines)
        return;
    CHECK(compared > all.count);
    CHECK(exact * 3 > compared);
}
