#include "region/nest_variables.h"

#include <algorithm>

#include "ir/int32.h"

namespace Pipe::region {

using namespace ir;

Lets taken_apart(const LoopTree &tree, const StageNest &nest, const schedules::Transform &t,
                 const std::map<std::string, Range> &ranges, const Expr &offset) {
    using Kind = schedules::Transform::Kind;
    auto variable = [&](const std::string &v) { return tree.variable(nest, v); };
    if (t.kind == Kind::Rename)
        return {{variable(t.old_name)->name, variable(t.outer)}};
    if (t.kind == Kind::Split)
        return {{variable(t.old_name)->name,
                 add(add(offset, ranges.at(t.old_name).min), variable(t.inner))}};
    const Range &in = ranges.at(t.inner), &out = ranges.at(t.outer);
    const Expr fused = variable(t.old_name);
    return {{variable(t.inner)->name, add(mod(fused, in.extent), in.min)},
            {variable(t.outer)->name, add(div(fused, in.extent), out.min)}};
}

Lets variables_at(const RegionPlan &plan, const StageNest &nest, size_t p,
                  const std::vector<bool> &kept_inside) {
    using Kind = schedules::Transform::Kind;
    const std::map<std::string, Range> &ranges = plan.demand.of(nest).ranges;
    Lets lets;  // later transforms make what earlier ones use
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        const std::string &known = t.kind == Kind::Fuse ? t.inner : t.old_name;
        const bool kept = i < kept_inside.size() && kept_inside[i];
        const bool shifted = shifts(plan.tails.of(nest).tails[i]) || kept;
        if (nest.known_in.at(known) == p) {
            const Expr offset = t.kind != Kind::Split ? Expr()
                                : shifted             ? shifted_offset(plan.tree.graph(), nest, t)
                                          : mul(plan.tree.variable(nest, t.outer), t.factor);
            for (auto &let : taken_apart(plan.tree, nest, t, ranges, offset))
                lets.push_back(std::move(let));
        }
        if (shifted && nest.known_in.at(t.outer) == p) {
            const Expr last = sub(ranges.at(t.old_name).extent, t.factor);
            lets.emplace_back(shifted_offset(plan.tree.graph(), nest, t)->name,
                              min(mul(plan.tree.variable(nest, t.outer), t.factor),
                                  kept ? max(last, int32(0)) : last));
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
