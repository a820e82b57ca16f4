#include "lower/in_place.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "region/loop_tree.h"
#include "schedule/print.h"
#include "support/text.h"

namespace Pipe::lower {

using graph::FuncNode;
using ir::ExprNode;
using ir::InPlace;
using region::FuncPlace;
using region::StageNest;
using schedules::StageSchedule;
using schedules::Transform;

namespace {

const FuncNode &output_of(const graph::Graph &graph, const InPlace &in_place) {
    for (FuncId id : graph.outputs)
        for (size_t i = 0; i < graph[id].types.size(); i++)
            if (graph::buffer_name(graph[id], i) == in_place.output)
                return graph[id];
    throw InternalError("there is no output " + in_place.output);
}

/// The schedule of a stage, and those of its specializations.
template <typename Stage, typename F> void for_each_branch(Stage &stage, const F &f) {
    f(stage);
    for (auto &special : stage.specializations)
        for_each_branch(special.schedule, f);
}

class Obstacles {
  public:
    Obstacles(const graph::Graph &graph, const schedules::Schedule &schedule,
              const InPlace &in_place)
        : graph_(graph), schedule_(schedule), tree_(graph, schedule), pair_(in_place),
          output_(output_of(graph, in_place)) {}

    /// The first one.
    std::string find() {
        bool pointwise = false;
        for (const FuncNode &f : graph_.funcs) {
            if (!tree_.place(f.id).computed)
                continue;
            for (size_t stage = 0; stage < f.stages.size(); stage++) {
                const Reads reads = reads_of(f.stages[stage]);
                if (reads.empty())
                    continue;
                const bool own = f.id == output_.id;
                pointwise |= own;
                if (std::string why = own ? own_stage(stage, reads) : other_stage(f, stage);
                    !why.empty())
                    return why;
            }
        }
        return pointwise ? again() : "";
    }

  private:
    using Reads = std::vector<const ExprNode *>;

    Reads reads_of(const graph::Stage &stage) const {
        Reads found;
        std::set<const ExprNode *> seen;
        graph::for_each_expr(stage, [&](const Expr &e) {
            ir::walk(e, [&](const Expr &n) {
                if (n->op == ir::Op::Call && n->call_kind == ir::CallKind::Image &&
                    n->name == pair_.input)
                    found.push_back(n.get());
                return seen.insert(n.get()).second;
            });
        });
        return found;
    }

    std::string own_stage(size_t stage, const Reads &reads) const {
        const std::string name = graph::located_name(output_, stage);
        if (graph::is_extern(output_))
            return fmt::format("The C function of {} reads '{}' while it stores. Give the output "
                               "separate memory.",
                               name, pair_.input);
        if (stage > 0)
            return fmt::format(
                "{} reads '{}' after the pure definition has been stored. Read it in the "
                "pure definition, or give the output separate memory.",
                name, pair_.input);
        for (const ExprNode *read : reads)
            if (!is_own_point(*read))
                return fmt::format(
                    "{} reads {} for the point ({}): another element, which may have "
                    "been overwritten. Give the output separate memory, or "
                    "read '{}' in a Func that is computed at root before.",
                    name, ir::shortened(Expr(read)), support::join(output_.args), pair_.input);
        if (!pair_.same_places)
            return fmt::format(
                "{} reads '{}' at the point that it stores, but that is another "
                "element of the memory: both must have the same mins and strides, and elements of "
                "the same size.",
                name, pair_.input);
        return "";
    }

    bool is_own_point(const ExprNode &read) const {
        return std::equal(read.args.begin(), read.args.end(), output_.args.begin(),
                          output_.args.end(), [](const Expr &at, const std::string &var) {
                              return at->op == ir::Op::Variable && at->name == var;
                          });
    }

    std::string other_stage(const FuncNode &f, size_t stage) const {
        const region::Level &level = tree_.place(f.id).compute;
        const FuncNode &root =
            level.empty() ? f : graph_[tree_.owner(tree_.path_to(level).front()).func];
        const std::string name = graph::located_name(f, stage);
        if (root.id == output_.id)
            return fmt::format("{} reads '{}' and is computed inside of the loops of '{}', after "
                               "points of it have been stored. Compute it at root, or inline it.",
                               name, pair_.input, output_.name);
        if (!is_made_of(output_, root.id))
            return fmt::format("{} reads '{}' and may be computed after '{}' has been stored. Give "
                               "the output separate memory.",
                               name, pair_.input, output_.name);
        for (const FuncNode *at_once : {&f, &root, &output_})
            if (schedule_[at_once->id].async || shares_loops(*at_once))
                return fmt::format("{} reads '{}' and may be computed while '{}' is stored, as "
                                   "'{}' has async() or compute_with(). Leave these out.",
                                   name, pair_.input, output_.name, at_once->name);
        return "";
    }

    bool is_made_of(const FuncNode &f, FuncId wanted) const {
        std::set<FuncId> seen;
        std::function<bool(const FuncNode &)> search = [&](const FuncNode &node) {
            return std::any_of(node.producers.begin(), node.producers.end(), [&](FuncId id) {
                return id == wanted || (seen.insert(id).second && search(graph_[id]));
            });
        };
        return search(f);
    }

    bool shares_loops(const FuncNode &f) const {
        const std::vector<StageNest> &stages = tree_.place(f.id).stages;
        return std::any_of(stages.begin(), stages.end(), [&](const StageNest &nest) {
            return tree_.shared_loops(nest) > 0 || !tree_.children(nest).empty();
        });
    }

    /// What makes the pure definition compute a point again after it was stored.
    std::string again() const {
        std::string why;
        for_each_branch(schedule_[output_.id].stages[0], [&](const StageSchedule &stage) {
            std::set<std::string> whole(output_.args.begin(), output_.args.end());
            for (const Transform &t : stage.transforms) {
                if (t.kind == Transform::Kind::Split &&
                    computes_again(t.tail, whole.count(t.old_name)))
                    why = fmt::format(
                        "{}.split({}, {}, {}, TailStrategy::{}) may recompute points "
                        "that have already been stored. Use TailStrategy::Auto or GuardWithIf.",
                        graph::located_name(output_, 0), t.old_name, t.outer, t.inner,
                        schedules::to_string(t.tail));
                if (t.kind == Transform::Kind::Rename && whole.count(t.old_name))
                    whole.insert(t.outer);
                whole.erase(t.kind == Transform::Kind::Fuse ? t.inner : t.old_name);
            }
        });
        return why;
    }

    /// `whole`: the loop is over the whole extent of a dimension; beyond the end of another one there are
    /// points of the next iteration outside.
    static bool computes_again(TailStrategy tail, bool whole) {
        switch (tail) {
        case TailStrategy::Auto:
        case TailStrategy::GuardWithIf:
        case TailStrategy::Predicate:
        case TailStrategy::PredicateStores:
            return false;
        case TailStrategy::ShiftInwards:
            return true;
        default:
            return !whole;
        }
    }

    const graph::Graph &graph_;
    const schedules::Schedule &schedule_;
    region::LoopTree tree_;
    const InPlace &pair_;
    const FuncNode &output_;
};

}  // namespace

std::string in_place_obstacle(const graph::Graph &graph, const schedules::Schedule &schedule,
                              const InPlace &in_place) {
    return Obstacles(graph, schedule, in_place).find();
}

schedules::Schedule each_point_once(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const std::vector<InPlace> &in_place) {
    schedules::Schedule result = schedule;
    for (const InPlace &pair : in_place)
        for_each_branch(result[output_of(graph, pair).id].stages[0], [](StageSchedule &stage) {
            for (Transform &t : stage.transforms)
                if (t.tail == TailStrategy::Auto)
                    t.tail = TailStrategy::GuardWithIf;
        });
    return result;
}

}  // namespace Pipe::lower
