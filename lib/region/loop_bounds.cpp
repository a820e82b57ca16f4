#include "region/loop_bounds.h"

#include "ir/linear.h"
#include "ir/simplify.h"
#include "region/unbounded.h"
#include "region/upper_bound.h"

namespace Pipe::region {

using namespace ir;

std::optional<int64_t> LoopBounds::extent_of(const std::string &name) const {
    if (!tree_.is_loop(name))
        return std::nullopt;
    Range range = loop_range_(name);
    int64_t extent = 0;
    if (!is_const(range.min, 0) || !as_const_int(range.extent, &extent))
        return std::nullopt;
    return extent;
}

std::optional<int64_t> LoopBounds::upper_bound(const Expr &e) const {
    Variables variables;
    std::map<std::string, std::optional<int64_t>> extents;  // they are asked for in every case
    variables.extent_of = [&](const std::string &name) {
        auto known = extents.find(name);
        return known != extents.end() ? known->second
                                      : extents.emplace(name, extent_of(name)).first->second;
    };
    variables.let_of = [this](const std::string &name) { return lets_.value_of(name); };
    const Linear sum = Linear::from_expr(simplify(e));
    // Of the size of a region along one dimension, a bound in the millions is as good as none.
    return is_unbounded(sum, variables) ? std::nullopt : region::upper_bound(sum, variables);
}

Expr LoopBounds::greatest(const Expr &e, const Level &inner, const Level &outer) const {
    const std::vector<Level> &path = tree_.path_to(inner);
    Expr result = lets_.expand(e);
    for (size_t i = path.size(); i-- > tree_.path_to(outer).size() && result.defined();) {
        Range range = loop_range_(path[i]);
        IntervalScope scope;
        scope.push(path[i], {lets_.expand(range.min), lets_.expand(range.max())});
        // The end of a guarded split's inner loop depends on what was split further.
        const StageNest &nest = tree_.owner(path[i]);
        for (const auto &[var, of] : ranges_(nest))
            if (auto in = nest.known_in.find(var);
                in != nest.known_in.end() && nest.loops[in->second].name == path[i])
                if (std::string name = tree_.variable(nest, var)->name; name != path[i])
                    scope.push(name, {lets_.expand(of.min), lets_.expand(of.max())});
        result = bounds_of(result, scope).max;
    }
    return result.defined() ? simplify(result) : result;
}

bool LoopBounds::uses_lets_between(const Expr &e, const Level &inner, const Level &outer) const {
    const std::vector<Level> &path = tree_.path_to(inner);
    for (size_t i = tree_.path_to(outer).size(); i < path.size(); i++)
        if (lets_.uses_lets_of(e, path[i]))
            return true;
    return false;
}

}  // namespace Pipe::region
