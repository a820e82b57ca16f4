#include "region/nest_variables.h"

#include <algorithm>

namespace Pipe::region {

using namespace ir;

namespace {

/// What transform i took apart, innermost first.
void add_variables(const RegionPlan &plan, const StageNest &nest, size_t i, Lets &lets) {
    using Kind = schedules::Transform::Kind;
    const schedules::Transform &t = nest.transforms[i];
    const std::map<std::string, Range> &ranges = plan.demand.of(nest).ranges;
    auto variable = [&](const std::string &v) { return plan.tree.variable(nest, v); };
    auto let = [&](const std::string &v, const Expr &value) {
        lets.emplace_back(variable(v)->name, value);
    };
    if (t.kind == Kind::Rename) {
        let(t.old_name, variable(t.outer));
    } else if (t.kind == Kind::Fuse) {
        const Range &in = ranges.at(t.inner), &out = ranges.at(t.outer);
        const Expr fused = variable(t.old_name);
        let(t.inner, add(mod(fused, in.extent), in.min));
        let(t.outer, add(div(fused, in.extent), out.min));
    } else {
        const Range &old = ranges.at(t.old_name);
        const Expr offset = shifts(plan.tails.of(nest).tails[i])
                                ? shifted_offset(plan.tree.graph(), nest, t)
                                : mul(variable(t.outer), t.factor);
        let(t.old_name, add(add(offset, old.min), variable(t.inner)));
    }
}

}  // namespace

Lets variables_at(const RegionPlan &plan, const StageNest &nest, size_t p) {
    using Kind = schedules::Transform::Kind;
    Lets lets;  // later transforms make what earlier ones use
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        const std::string &known = t.kind == Kind::Fuse ? t.inner : t.old_name;
        if (nest.known_in.at(known) == p)
            add_variables(plan, nest, i, lets);
        if (shifts(plan.tails.of(nest).tails[i]) && nest.known_in.at(t.outer) == p) {
            const Expr extent = plan.demand.of(nest).ranges.at(t.old_name).extent;
            lets.emplace_back(
                shifted_offset(plan.tree.graph(), nest, t)->name,
                min(mul(plan.tree.variable(nest, t.outer), t.factor), sub(extent, t.factor)));
        }
    }
    if (const StageLoop &loop = nest.loops[p]; loop.shifted)
        lets.emplace_back(
            plan.tree.variable(nest, loop.dim.name)->name,
            add(make_variable(Int(32), loop.name), plan.names.shift(plan.tree, nest, loop)));
    std::reverse(lets.begin(), lets.end());
    return lets;
}

}  // namespace Pipe::region
