#include "region/region_solver.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/int32.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/conditions.h"
#include "support/error_text.h"

namespace Pipe::region {

using namespace ir;

namespace {

const schedules::Bound *find_bound(const std::vector<schedules::Bound> &bounds,
                                   const std::string &var) {
    for (const schedules::Bound &b : bounds)
        if (b.var == var)
            return &b;
    return nullptr;
}

}  // namespace

bool has_selects(const graph::Stage &stage) {
    bool found = false;
    graph::for_each_expr(stage, [&](const Expr &root) {
        found |= contains(root, [](const ExprNode &e) { return e.op == Op::Select; });
    });
    return found;
}

RegionSolver::RegionSolver(const LoopTree &tree, bool any_size)
    : tree_(tree), graph_(tree.graph()), tails_(graph_, any_size),
      whole_(graph::read_as_whole(graph_)), kept_(graph_.funcs.size()),
      bounds_(
          tree, lets_, [this](const Level &level) { return loop_range(level); },
          [this](const StageNest &nest) { return ranges(nest); }) {
    for (const graph::FuncNode &func : graph_.funcs)
        if (graph::is_extern(func))
            whole_[static_cast<size_t>(func.id)] = true;
    find_values();
}

/// Bounds of the values of a Func that is used as an index, if its definition clamps them to
/// constants or to small expressions of Params and sizes.
void RegionSolver::find_values() {
    constexpr int few = 24;
    auto known = [](const Expr &end) {
        Expr e = end.defined() ? simplify(end) : end;
        int nodes = 0;
        if (e.defined())
            walk(e, [&](const Expr &) { return ++nodes <= few; });
        return nodes <= few ? e : Expr();
    };
    for (const graph::FuncNode &func : graph_.funcs) {
        if (func.has_updates() || func.consumers.empty() || graph::is_extern(func))
            continue;
        IntervalScope scope;
        for (const std::string &arg : func.args)
            scope.push(arg, Interval::everything());
        add_values(func, scope);
        Box values;
        bool any = false;
        for (size_t i = 0; i < func.types.size(); i++) {
            Interval v;
            if (func.types[i].is_int_or_uint())
                v = bounds_of(func.stages[0].values[i], scope);
            values.push_back({known(v.min), known(v.max)});
            any |= values.back().min.defined() || values.back().max.defined();
        }
        if (any)
            values_.emplace(func.id, values);
    }
}

void RegionSolver::add_values(const graph::FuncNode &func, IntervalScope &scope) const {
    for (FuncId producer : func.producers) {
        auto found = values_.find(producer);
        if (found == values_.end())
            continue;
        for (size_t i = 0; i < found->second.size(); i++)
            if (found->second[i].min.defined() || found->second[i].max.defined())
                scope.push(values_name(graph_[producer].name, static_cast<int>(i)),
                           found->second[i]);
    }
}

const Box &RegionSolver::domain(FuncId func, int stage) {
    return domain_at(func, stage, tree_.place(func).compute);
}

const Box &RegionSolver::domain_at(FuncId id, int stage, const Level &level) {
    auto key = std::tuple(id, stage, level);
    auto found = domains_.find(key);
    if (found != domains_.end())
        return found->second;

    const graph::FuncNode &func = graph_[id];
    const FuncPlace &place = tree_.place(id);
    bool here = level == place.compute;
    bool last = stage + 1 == static_cast<int>(func.stages.size());
    Box box = needed_by_others(id, stage, level);
    for (size_t d = 0; d < box.size(); d++)
        if (const schedules::Bound *bound = find_bound(tree_.schedule()[id].bounds, func.args[d])) {
            // If only the extent is promised, each computation starts at its own min.
            Expr last = bound->min.defined() || here ? box[d].min : box[d].max;
            if (bound->min.defined())
                last = box[d].min = bound->min;
            box[d].max = sub(add(last, bound->extent), int32(1));
        }
    align(id, stage, level, box);
    // Alignment starts at the compute level, whose own region may have needed this one.
    if (auto known = domains_.find(key); known != domains_.end())
        return known->second;
    std::string prefix = stage_name(func, stage);
    if (!here)
        prefix += "@" + level;
    if (graph::is_extern(func)) {
        if (here)
            unpadded_[{id, stage}] = box;
        return domains_[key] = ask(id, level, prefix, box);
    }
    if (!func.is_output) {
        box = pad_for_tails(place.stages[stage], std::move(box), level);
        if (whole_[static_cast<size_t>(id)]) {
            // A C function accesses all of it, as it lies in memory.
        } else if (here) {
            if (place.store != place.compute)
                for (Interval &i : box)
                    i = {simplify(i.min), simplify(i.max)};
            const Box needed = box;
            if (last && place.store != place.compute)
                slide(id, box);
            if (stage == 0)
                fold(id, needed);
        }
    }
    return domains_[key] = bind(level, prefix, func, box);
}

/// The region of a stage that readers and later stages need, in one iteration of the level.
Box RegionSolver::needed_by_others(FuncId id, int stage, const Level &level) {
    auto key = std::tuple(id, stage, level);
    if (auto known = needed_by_others_.find(key); known != needed_by_others_.end())
        return known->second;
    const graph::FuncNode &func = graph_[id];
    Box box;
    if (stage + 1 < static_cast<int>(func.stages.size())) {
        box = domain_at(id, stage + 1, level);
        const Touched &later = touched(tree_.place(id).stages[stage + 1], level);
        auto self = later.find(func.name);
        if (self != later.end())
            merge(box, self->second);
    } else if (func.is_output) {
        for (size_t d = 0; d < func.args.size(); d++) {
            std::string buffer = graph::buffer_name(func, 0);
            Expr min = make_variable(Int(32), min_name(buffer, d));
            Expr extent = make_variable(Int(32), extent_name(buffer, d));
            box.push_back({min, sub(add(min, extent), int32(1))});
        }
    } else {
        box = required(id, level);
    }
    if (!level.empty())
        keep_inside(id, stage, level, box);
    require_bounded(box, func.name, &func);
    return needed_by_others_[key] = std::move(box);
}

/// align_bounds, align_extent: the box expanded to multiples. A box for several iterations of the
/// compute level contains the expanded box of each: aligned bounds are the same for all, while
/// aligned extents may begin anywhere.
void RegionSolver::align(FuncId id, int stage, const Level &level, Box &box) {
    const std::vector<schedules::Alignment> &alignments = tree_.schedule()[id].alignments;
    if (alignments.empty())
        return;
    const std::vector<std::string> &args = graph_[id].args;
    const Level &compute = tree_.place(id).compute;
    std::pair key(id, stage);
    if (level == compute) {
        Box &unaligned = unaligned_[key] = box;
        auto later = domains_.find({id, stage + 1, level});
        // The later stage's box is already aligned.
        for (size_t d = 0; later != domains_.end() && d < box.size(); d++)
            if (equal(simplify(box[d].min), later->second[d].min) &&
                equal(simplify(box[d].max), later->second[d].max))
                unaligned[d] = Interval::everything();
    }
    // If the domain's own sliding window requests its storage, it is already known.
    if (!unaligned_.count(key))
        domain(id, stage);
    Box once = unaligned_.at(key);
    auto round_up = [](const Interval &i, const Expr &m) {
        Expr extent = simplify(add(sub(i.max, i.min), int32(1)));
        return simplify(sub(mul(div(add(extent, sub(m, int32(1))), m), m), extent));
    };
    for (const schedules::Alignment &a : alignments)
        for (size_t d = 0; d < box.size(); d++) {
            if (args[d] != a.var || !once[d].bounded())
                continue;
            const Expr &m = a.modulus;
            for (Interval *i : {&box[d], &once[d]})
                if (a.remainder.defined())
                    i->min = add(mul(div(sub(i->min, a.remainder), m), m), a.remainder);
            Expr more = round_up(once[d], m);
            once[d].max = add(once[d].max, more);
            if (level == compute || a.remainder.defined() || same_for_all(once[d], compute, level))
                more = round_up(box[d], m);
            else if (!is_const_int(more))
                more = sub(m, int32(1));
            box[d].max = add(box[d].max, more);
        }
}

Box RegionSolver::required(FuncId id, const Level &level) {
    const graph::FuncNode &func = graph_[id];
    Box box;
    bool read = false;  // the box of a Func with zero dimensions is empty
    for (const StageNest *reader : tree_.readers(id)) {
        const Touched &touches = touched(*reader, level, use_by(*reader, id));
        auto found = touches.find(func.name);
        if (found == touches.end())
            continue;
        merge(box, found->second);
        read = true;
    }
    if (!read)
        throw InternalError("nothing requires " + func.name);
    return box;
}

const Touched &RegionSolver::touched(const StageNest &nest, const Level &level, Use use) {
    auto key = std::tuple(nest.func, nest.stage, level, use);
    auto found = touched_.find(key);
    if (found != touched_.end())
        return found->second;
    const graph::FuncNode &func = graph_[nest.func];
    const graph::Stage &stage = func.stages[nest.stage];
    if (graph::is_extern(func)) {
        const Level &compute = tree_.place(nest.func).compute,
                    &at = tree_.encloses(level, compute) ? level : compute;
        domain_at(nest.func, 0, at);
        return touched_[key] = extern_regions_.at({nest.func, at}).inputs;
    }
    IntervalScope scope = scope_of(nest, level, use);
    Touched result;
    const Choices &chosen = choices(nest);
    if (stage.predicate.defined()) {
        add_touched(stage.predicate, scope, result, Expr(), &chosen);
        scope = narrowed(scope, stage.predicate);
    }
    for (const Expr &e : stage.values)
        add_touched(e, scope, result, stage.predicate, &chosen);
    if (nest.stage > 0) {
        for (const Expr &e : stage.args)
            add_touched(e, scope, result, stage.predicate, &chosen);
        merge(result[func.name], written(nest, level, scope));
    }
    return touched_[key] = std::move(result);
}

/// The region that an update writes; `loads`: the ranges of the data that it reads. If a tail lets
/// stores exceed the range, computed() handles the elements at the Vars themselves, but other
/// elements are affected, too.
Box RegionSolver::written(const StageNest &nest, const Level &level, const IntervalScope &loads) {
    const graph::FuncNode &func = graph_[nest.func];
    const graph::Stage &stage = func.stages[nest.stage];
    const std::vector<Tail> ends = stage_tails(nest).tails;
    const bool further = std::any_of(ends.begin(), ends.end(), [](Tail t) {
        return goes_beyond(t, Use::Stores) && !goes_beyond(t, Use::Loads);
    });
    std::optional<IntervalScope> stores;
    Box result;
    for (size_t d = 0; d < stage.args.size(); d++) {
        const Expr &e = stage.args[d];
        bool own = e->op == Op::Variable && e->name == func.args[d];
        if (own || !further) {
            result.push_back(bounds_of(e, loads));
            continue;
        }
        if (!stores) {
            stores = scope_of(nest, level, Use::Stores);
            if (stage.predicate.defined())
                stores = narrowed(*stores, stage.predicate);
        }
        result.push_back(bounds_of(e, *stores));
    }
    return result;
}

const Choices &RegionSolver::choices(const StageNest &nest) {
    auto [found, fresh] = choices_.try_emplace({nest.func, nest.stage});
    Choices &result = found->second;
    const graph::Stage &stage = graph_[nest.func].stages[nest.stage];
    if (!fresh || !has_selects(stage))
        return result;
    IntervalScope scope = scope_of(nest, "");
    if (stage.predicate.defined()) {
        add_choices(stage.predicate, scope, result);
        scope = narrowed(scope, stage.predicate);
    }
    for (const auto *exprs : {&stage.values, &stage.args})
        for (const Expr &e : *exprs)
            add_choices(e, scope, result, stage.predicate);
    return result;
}

Box RegionSolver::demand(FuncId id) {
    return tree_.readers(id).empty() ? Box() : required(id, "");
}

Box RegionSolver::needed(FuncId id, int stage, bool one_computation) {
    return needed_by_others(id, stage, one_computation ? tree_.place(id).compute : "");
}

const Box *RegionSolver::image_read_by(const StageNest &nest, const std::string &name) {
    const Touched &touches = touched(nest, "");
    auto here = touches.find(name);
    return here == touches.end() ? nullptr : &here->second;
}

const Box &RegionSolver::image(const std::string &name) {
    auto found = images_.find(name);
    if (found != images_.end())
        return found->second;
    Box box;
    for (const graph::FuncNode &func : graph_.funcs)
        for (const StageNest &nest : tree_.place(func.id).stages) {
            const Box *here = image_read_by(nest, name);
            if (!here)
                continue;
            require_bounded(*here, name, nullptr);
            merge(box, *here);
        }
    for (Interval &i : box)
        i = {simplify(i.min), simplify(i.max)};
    return images_[name] = std::move(box);
}

void RegionSolver::require_bounded(const Box &box, const std::string &what,
                                   const graph::FuncNode *callee) {
    for (size_t d = 0; d < box.size(); d++) {
        if (box[d].bounded())
            continue;
        using support::Field, support::marked;
        const std::string dim = callee ? "dimension " + std::to_string(d) + " (" +
                                             marked(Field::Dimension, callee->args[d]) + ")"
                                       : "dimension " + marked(Field::Dimension, d);
        std::string users;
        for (const graph::FuncNode &func : graph_.funcs)
            for (const graph::Stage &stage : func.stages) {
                auto reads = [&](const Expr &e) { return calls(e, what); };
                if (func.name == what ||
                    std::none_of(stage.values.begin(), stage.values.end(), reads))
                    continue;
                users += (users.empty() ? " It is read by " : ", ") + func.name +
                         support::in_parentheses(stage.where);
            }
        if (!users.empty())
            users += ".";
        throw CompileError("Unbounded access: the region needed of " + marked(Field::Func, what) +
                           " in " + dim + " cannot be bounded." + users +
                           " Apply clamp(index, lowest, highest) to the data-dependent index.");
    }
}

}  // namespace Pipe::region
