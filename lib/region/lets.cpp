// RegionMap: lets for the ends of regions.
#include <functional>
#include <unordered_set>

#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "region/region_map.h"
#include "region/upper_bound.h"
#include "support/error_text.h"

namespace Pipe::region {

using namespace ir;

void RegionMap::take_names(Names &names) {
    names.lets = std::move(lets_);
    names.shifts = std::move(shifts_);
}

/// Sums of few variables are repeated; other expressions (min, max, quotients) are bound to a name,
/// once per level, so that the differences between ends of regions that contain them remain visibly
/// constant.
Expr RegionMap::bind(const Level &level, const std::string &name, const Expr &value) {
    constexpr size_t few = 6;
    Linear sum = Linear::from_expr(simplify(value));
    Linear named = Linear::from_constant(sum.type, sum.constant);
    for (const Linear::Term &term : sum.terms) {
        bool variable = term.atom->op == Op::Variable;
        Expr atom = variable ? term.atom : let_of(level, name, term.atom);
        named.add(Linear::from_expr(atom), term.coefficient);
    }
    Expr result = named.to_expr();
    return named.terms.size() <= few ? result : let_of(level, name, result);
}

/// The variable bound to this value at the level.
Expr RegionMap::let_of(const Level &level, const std::string &name, const Expr &value) {
    auto [known, is_new] = let_names_[level].emplace(value, name);
    if (is_new) {
        while (let_values_.count(known->second))
            known->second += "'";
        lets_[level].emplace_back(known->second, value);
        define_let(known->second, value);
    }
    return make_variable(Int(32), known->second);
}

void RegionMap::define_let(const std::string &name, const Expr &value) {
    int order = static_cast<int>(let_values_.size());
    let_values_.emplace(name, std::pair(value, order));
    LetDependencies &all = let_dependencies_[name] = dependencies(value);
    all.slides |= steady_values_.count(name) != 0;
}

RegionMap::LetDependencies RegionMap::dependencies(const Expr &e) const {
    LetDependencies all;
    walk(e, [&](const Expr &node) {
        if (node->op != Op::Variable)
            return true;
        auto let = let_dependencies_.find(node->name);
        if (let == let_dependencies_.end()) {
            all.variables.insert(node->name);
            return true;
        }
        all.variables.insert(let->second.variables.begin(), let->second.variables.end());
        all.slides |= let->second.slides;
        all.from_query |= let->second.from_query;
        return true;
    });
    return all;
}

Box RegionMap::bind(const Level &level, const std::string &prefix, const graph::FuncNode &func,
                    const Box &box) {
    Box result;
    for (size_t d = 0; d < box.size(); d++) {
        std::string name = prefix + "." + func.args[d];
        Expr min = bind(level, name + ".min", box[d].min);
        std::optional<int64_t> extent =
            constant_difference(simplify(box[d].max), simplify(box[d].min));
        if (extent && *extent >= INT32_MAX)
            throw CompileError(
                graph::located_name(func) + " is needed in dimension " + std::to_string(d) + " (" +
                support::marked(support::Field::Dimension, func.args[d]) +
                ") at more than 2147483647 coordinates, from " +
                support::marked(support::Field::Needed, ir::to_string(simplify(box[d].min)) + " to " +
                                                            ir::to_string(simplify(box[d].max))) +
                ". Apply clamp(index, lowest, highest) to the data-dependent index.");
        result.push_back(
            {min, extent ? add(min, int32(*extent)) : bind(level, name + ".max", box[d].max)});
    }
    return result;
}

namespace {

class Expander : public GraphMutator {
  public:
    using Lets = std::map<std::string, std::pair<Expr, int>>;
    using Choice = std::function<bool(const std::string &)>;
    Expander(const Lets &lets, const std::map<std::string, Expr> &first, Choice stays = nullptr)
        : lets_(lets), first_(first), stays_(std::move(stays)) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op != Op::Variable)
            return GraphMutator::rewrite(e);
        auto known = expanded_.find(e->name);
        if (known != expanded_.end())
            return known->second;
        auto preferred = first_.find(e->name);
        auto let = stays_ && stays_(e->name) ? lets_.end() : lets_.find(e->name);
        Expr value = preferred != first_.end() ? mutate(preferred->second)
                     : let != lets_.end()      ? mutate(let->second.first)
                                               : e;
        return expanded_[e->name] = value;
    }

  private:
    const Lets &lets_;
    const std::map<std::string, Expr> &first_;
    Choice stays_;
    std::map<std::string, Expr> expanded_;
};

const std::map<std::string, Expr> no_values;

}  // namespace

Expr RegionMap::expand(const Expr &e) const {
    return Expander(let_values_, no_values).mutate(e);
}

bool RegionMap::moves_with(const Expr &e, const Level &loop) const {
    return dependencies(e).variables.count(loop) != 0;
}

Expr RegionMap::expand_along(const Expr &e, const Level &loop) const {
    auto stays = [&](const std::string &name) {
        auto let = let_dependencies_.find(name);
        return let != let_dependencies_.end() && !let->second.variables.count(loop);
    };
    return Expander(let_values_, no_values, stays).mutate(e);
}

Expr RegionMap::expand_steady(const Expr &e) const {
    return Expander(let_values_, steady_values_).mutate(e);
}

std::optional<int64_t> RegionMap::upper_bound(const Expr &e) {
    Variables variables;
    variables.extent_of = [this](const std::string &name) -> std::optional<int64_t> {
        if (!tree_.is_loop(name))
            return std::nullopt;
        Range range = loop_range(name);
        int64_t extent = 0;
        if (!is_const(range.min, 0) || !as_const_int(range.extent, &extent))
            return std::nullopt;
        return extent;
    };
    variables.let_of = [this](const std::string &name) -> std::pair<Expr, int> {
        auto found = let_values_.find(name);
        return found == let_values_.end() ? std::pair(Expr(), 0) : found->second;
    };
    return region::upper_bound(Linear::from_expr(simplify(e)), variables);
}

}  // namespace Pipe::region
