#include "region/numeric_demand.h"

#include <algorithm>

#include "ir/int32.h"
#include "ir/substitute.h"
#include "region/nest_variables.h"

namespace Pipe::region {

using namespace ir;
using poly::RangeProgram;

namespace {

/// The name of the values that a variable takes where the stage is computed: not those in iterations that a
/// tail leaves out, or in which only other stages of a shared loop are computed.
std::string executed(const std::string &variable, const RegionPlan &plan, const StageNest &nest) {
    return variable + " of " + stage_name(plan.tree.graph()[nest.func], nest.stage);
}

bool shares_loops(const RegionPlan &plan, const StageNest &nest) {
    return plan.tree.shared_loops(nest) > 0 || !plan.tree.children(nest).empty();
}

template <typename F> void for_each_nest(const RegionPlan &plan, const F &f) {
    for (const graph::FuncNode &func : plan.tree.graph().funcs)
        for (const StageNest &nest : plan.tree.place(func.id).stages)
            f(nest);
}

}  // namespace

NumericDemand::NumericDemand(const RegionPlan &plan) {
    for (const auto &[level, lets] : plan.names.lets)
        for (const auto &[name, value] : lets)
            program_.define(name, value);
    for_each_nest(plan, [&](const StageNest &nest) { define_variables(plan, nest); });
    levels_[""] = 0;
    paths_.emplace_back();
    for_each_nest(plan, [&](const StageNest &nest) { add_loops(plan, nest); });
    for (const graph::FuncNode &func : plan.tree.graph().funcs)
        add_boxes(plan, func);
    for (const graph::Image &image : plan.tree.graph().images)
        images_.push_back(add(plan.demand.images.at(image.name)));
    boxes_.resize(ends_.size());
}

/// What the loops bind beside the lets of the plan.
void NumericDemand::define_variables(const RegionPlan &plan, const StageNest &nest) {
    for (size_t p = 0; p < nest.loops.size(); p++)
        for (const auto &[name, value] : variables_at(plan, nest, p))
            program_.define(name, value);
}

/// The loops around the stage, outermost first: ranges of inner loops depend on outer ones.
void NumericDemand::add_loops(const RegionPlan &plan, const StageNest &nest) {
    std::vector<int> path;
    for (const Level &name : nest.path) {
        auto [known, is_new] = levels_.try_emplace(name, static_cast<int>(paths_.size()));
        path.push_back(known->second - 1);
        if (!is_new)
            continue;
        const Range &range = plan.demand.loop(name);
        const Slot given = program_.new_variable();
        loops_.push_back(
            {given, program_.clip(given, program_.add(range.min), program_.add(range.max())), {}});
        program_.define(name, loops_.back().values);
        paths_.push_back(path);
        define_executed(plan, plan.tree.owner(name), name);
    }
    for (const StageLoop &loop : nest.loops)
        if (&plan.tree.owner(loop.name) != &nest)
            define_executed(plan, nest, loop.name);
}

/// The values of the nest's variables that become known inside the loop, within their ranges.
void NumericDemand::define_executed(const RegionPlan &plan, const StageNest &nest,
                                    const Level &level) {
    size_t p = 0;
    while (nest.loops[p].name != level)
        p++;
    auto range_of = [&](const std::string &name) -> const Range * {
        for (const auto &[var, range] : plan.demand.of(nest).ranges)
            if (plan.tree.variable(nest, var)->name == name)
                return &range;
        return nullptr;
    };
    auto define = [&](const std::string &name, const Expr &value, bool ends) {
        std::map<std::string, Expr> names;
        for (const std::string &used : free_vars(value))
            if (program_.find(executed(used, plan, nest)) >= 0)
                names[used] = make_variable(Int(32), executed(used, plan, nest));
        const Slot slot = program_.add(substitute(names, value));
        const Range *range = ends ? nullptr : range_of(name);
        program_.define(executed(name, plan, nest), range ? within(slot, *range) : slot);
    };
    const bool shares = shares_loops(plan, nest);
    if (!nest.loops[p].shifted)
        define(level, make_variable(Int(32), level), !shares);
    for (const auto &[name, value] : variables_at(plan, nest, p)) {
        const bool ends = !shares && end_split(plan, nest, name);
        define(name, value, ends);
    }
}

NumericDemand::Slot NumericDemand::within(Slot slot, const Range &range) {
    return program_.clip(slot, program_.add(range.min), program_.add(range.max()));
}

/// Where a guarded split leaves out iterations, outer * factor + inner ends as what was split does, also in the
/// regions of producers. Returns false for other variables.
bool NumericDemand::end_split(const RegionPlan &plan, const StageNest &nest,
                              const std::string &name) {
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        const Tail tail = plan.tails.of(nest).tails[i];
        int64_t factor = 0;
        if (t.kind != schedules::Transform::Kind::Split ||
            plan.tree.variable(nest, t.old_name)->name != name ||
            (tail != Tail::None && tail != Tail::Guard) || !as_const_int(t.factor, &factor))
            continue;
        auto slot = [&](const std::string &var) {
            return program_.find(executed(plan.tree.variable(nest, var)->name, plan, nest));
        };
        const Expr extent = plan.demand.of(nest).ranges.at(t.old_name).extent;
        program_.limit_sum({slot(t.outer), factor}, {slot(t.inner), 1}, program_.add(extent));
        return true;
    }
    return false;
}

NumericDemand::Part NumericDemand::add(const Box &box) {
    const size_t begin = ends_.size();
    for (const Interval &i : box)
        ends_.push_back({i.min.defined() ? program_.add(i.min) : program_.new_variable(),
                         i.max.defined() ? program_.add(i.max) : program_.new_variable()});
    return {begin, ends_.size()};
}

void NumericDemand::add_boxes(const RegionPlan &plan, const graph::FuncNode &func) {
    const std::vector<StageNest> &nests = plan.tree.place(func.id).stages;
    const FuncStorage &storage = plan.storage.of(func.id);
    std::vector<Part> &stages = stages_.emplace_back();
    for (const StageNest &nest : nests) {
        stages.push_back(add(plan.demand.of(nest).domain));
        if (storage.computing_iterations.defined() && !shares_loops(plan, nest))
            conditional_.emplace_back(stages.back(), program_.add(storage.computing_iterations));
        for (size_t d = 0; d < func.args.size(); d++)
            if (nest.known_in.count(func.args[d]))
                ends_[stages.back().begin + d].own = program_.find(
                    executed(plan.tree.variable(nest, func.args[d])->name, plan, nest));
    }
    Box needed = nests.empty() ? Box() : plan.demand.of(nests.back()).domain;
    if (storage.window.dim >= 0)
        needed[static_cast<size_t>(storage.window.dim)] = storage.window.needed;
    needed_.push_back(add(needed));
    stored_.push_back(add(storage.region));
}

int NumericDemand::variable(const std::string &name) const {
    if (auto level = levels_.find(name); level != levels_.end() && level->second > 0)
        return level->second - 1;
    const Slot slot = program_.find(name);
    return slot < 0 ? -1 : static_cast<int>(loops_.size()) + slot;
}

void NumericDemand::set(int variable, int64_t value) {
    const int loops = static_cast<int>(loops_.size());
    if (variable < loops)
        loops_[static_cast<size_t>(variable)].value = poly::Range::point(value);
    else
        program_.set(variable - loops, poly::Range::point(value));
}

void NumericDemand::set(const std::string &name, int64_t value) {
    if (const int number = variable(name); number >= 0)
        set(number, value);
}

void NumericDemand::evaluate(int level) {
    for (const Loop &loop : loops_)
        program_.set(loop.given, {});
    for (int i : paths_[static_cast<size_t>(level)]) {
        const Loop &loop = loops_[static_cast<size_t>(i)];
        program_.set(loop.given, loop.value);
    }
    program_.evaluate();
    for (size_t i = 0; i < ends_.size(); i++) {
        const Ends &ends = ends_[i];
        const poly::Range &min = program_[ends.min], &max = program_[ends.max];
        boxes_[i] =
            min.is_empty() || max.is_empty() ? poly::Range::empty() : poly::Range{min.min, max.max};
        if (ends.own >= 0)
            boxes_[i] = intersect(boxes_[i], program_[ends.own]);
    }
    for (const auto &[part, condition] : conditional_)
        if (program_[condition] == poly::Range::point(0))
            std::fill(boxes_.begin() + long(part.begin), boxes_.begin() + long(part.end),
                      poly::Range::empty());
}

const poly::Range &NumericDemand::loop(int level) const {
    return program_[loops_[static_cast<size_t>(level) - 1].values];
}

}  // namespace Pipe::region
