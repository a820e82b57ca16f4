// RegionSolver: the regions that prefetch directives name.

#include <algorithm>

#include <fmt/format.h>

#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Why a directive on a stage cannot be followed.
class PrefetchRefusal {
  public:
    PrefetchRefusal(const LoopTree &tree, const StageNest &nest,
                    const schedules::Prefetch &directive)
        : tree_(tree), nest_(nest), directive_(directive) {}

    [[noreturn]] void reject(const std::string &why) const {
        graph::reject_directive(
            tree_.graph()[nest_.func], nest_.stage,
            fmt::format("prefetch({}, {}, {})", directive_.source, directive_.at, directive_.from),
            why);
    }

    const StageLoop &loop(const std::string &var) const {
        for (const StageLoop &l : nest_.loops)
            if (l.var == var)
                return l;
        reject("there is no loop '" + var + "'.");
    }

    void check_storage(const graph::FuncNode &func, const StageLoop &from) const {
        const FuncPlace &place = tree_.place(func.id);
        if (!place.computed || place.stages.empty())
            reject("'" + func.name +
                   "' is inlined, so it has no memory. Give it compute_root() or compute_at().");
        // Memory that is only hoisted is the same, but not what is where in it.
        bool inside = place.store == from.name || !tree_.encloses(place.store, from.name);
        if (inside && !place.store.empty())
            reject("'" + func.name + "' is stored inside the loop '" + directive_.from +
                   "', so a later iteration uses different memory. Store it further out.");
    }

  private:
    const LoopTree &tree_;
    const StageNest &nest_;
    const schedules::Prefetch &directive_;
};

/// How far both ends of an interval have moved; 0 if not by one constant.
int64_t moved(const Interval &now, const Interval &before) {
    if (!now.bounded() || !before.bounded())
        return 0;
    const auto low = constant_difference(now.min, before.min);
    const auto high = constant_difference(now.max, before.max);
    return low && high && *low == *high ? *low : 0;
}

/// What a box has that the box of the iteration before has not, where that is a box: windows move along one dimension.
Box without_overlap(Box box, const Box &before) {
    size_t along = box.size();
    for (size_t d = 0; d < box.size(); d++) {
        const bool same = box[d].bounded() && before[d].bounded() &&
                          constant_difference(box[d].min, before[d].min) == 0 &&
                          constant_difference(box[d].max, before[d].max) == 0;
        if (same)
            continue;
        if (along < box.size())
            return box;
        along = d;
    }
    if (along == box.size())
        return box;
    Interval &now = box[along];
    const int64_t step = moved(now, before[along]);
    if (step > 0)
        now.min = simplify(ir::max(now.min, ir::add(before[along].max, int32(1))));
    else if (step < 0)
        now.max = simplify(ir::min(now.max, ir::sub(before[along].min, int32(1))));
    return box;
}

}  // namespace

Box RegionSolver::prefetched(const StageNest &nest, const schedules::Prefetch &directive,
                             const Level &at) {
    const PrefetchRefusal check(tree_, nest, directive);
    const StageLoop &from = check.loop(directive.from);
    for (const graph::FuncNode &func : graph_.funcs)
        if (func.name == directive.source)
            check.check_storage(func, from);
    std::optional<Box> later = read_later(nest, directive.source, at, from.name, directive.offset);
    if (!later)
        check.reject("neither the definition nor any Func computed inside the loop '" +
                     directive.at + "' reads '" + directive.source + "'.");
    if (std::any_of(later->begin(), later->end(), [](const Interval &i) { return !i.bounded(); }))
        check.reject("the region of '" + directive.source + "' that is read cannot be bounded.");
    return *later;
}

std::optional<Box> RegionSolver::read_later(const StageNest &nest, const std::string &source,
                                            const Level &at, const Level &from,
                                            const Expr &offset) {
    std::optional<Box> result;
    auto add_reads = [&](const StageNest &reader) {
        const Touched &touches = touched(reader, at);
        auto found = touches.find(source);
        if (found == touches.end())
            return;
        if (!result)
            result.emplace();
        merge(*result, found->second);
    };
    add_reads(nest);
    for (const graph::FuncNode &func : graph_.funcs) {
        const FuncPlace &place = tree_.place(func.id);
        if (place.computed && !place.compute.empty() && tree_.encloses(at, place.compute))
            for (const StageNest &inside : place.stages)
                add_reads(inside);
    }
    if (!result)
        return result;
    auto in_iteration = [&](const Expr &ahead) {
        Box box = *result;
        const Expr iteration = ir::add(make_variable(Int(32), from), ahead);
        for (Interval &i : box)
            for (Expr *end : {&i.min, &i.max})
                if (end->defined())
                    *end = simplify(substitute(from, iteration, lets_.expand_along(*end, from)));
        return box;
    };
    return without_overlap(in_iteration(offset), in_iteration(ir::sub(offset, int32(1))));
}

}  // namespace Pipe::region
