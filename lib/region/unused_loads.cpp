// RegionSolver: data that is loaded but not used, because a mask prevents its results from being
// stored (TailStrategy::PredicateStores). It is allocated, but need not be computed.

#include <algorithm>

#include "ir/extern_functions.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Whether an expression uses values of the Func other than in arithmetic: as an index, as a
/// condition, or as an argument of a C function.
bool follows(const Expr &root, const std::string &func) {
    auto reads = [&](const Expr &e) {
        return contains(e, [&](const ExprNode &n) {
            return n.op == Op::Call && n.call_kind == CallKind::Func && n.name == func;
        });
    };
    return contains(root, [&](const ExprNode &n) {
        if (is_choice(n))
            return reads(n.args[0]);
        const bool safe = n.op != Op::Call || n.call_kind == CallKind::Intrinsic ||
                          (n.call_kind == CallKind::PureExtern && n.index != users_function);
        return !safe && std::any_of(n.args.begin(), n.args.end(), reads);
    });
}

}  // namespace

/// A reader with masked stores loads values that it does not use. If the Func is stored and
/// computed for this reader alone, they need not be computed, as long as they are harmless.
Use RegionSolver::use_by(const StageNest &reader, FuncId id) const {
    const FuncPlace &place = tree_.place(id);
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    const bool masks = std::any_of(
        reader.transforms.begin(), reader.transforms.end(), [&](const schedules::Transform &t) {
            return t.kind == schedules::Transform::Kind::Split &&
                   tails_.strategy(reader, t) == TailStrategy::PredicateStores;
        });
    const bool plain = !graph_[id].is_output && !whole_[static_cast<size_t>(id)] &&
                       place.store == place.compute && place.hoist == place.store &&
                       !schedule.memoize && !schedule.async && schedule.folds.empty() &&
                       !schedule.ring_buffer.defined();
    if (!masks || !plain || shares_loops(reader))
        return Use::Loads;
    const graph::Stage &stage = graph_[reader.func].stages[reader.stage];
    bool followed = false;
    auto look = [&](const Expr &e, bool whole) {
        followed |= follows(e, graph_[id].name) || (whole && calls(e, graph_[id].name));
    };
    if (stage.predicate.defined())
        look(stage.predicate, true);
    for (const Expr &e : stage.args)
        look(e, true);
    for (const Expr &e : stage.values)
        look(e, false);
    return followed ? Use::Loads : Use::Values;
}

void RegionSolver::add_unused_loads(FuncId id, Box &storage) {
    bool any = false;
    for (const StageNest *reader : tree_.readers(id)) {
        if (use_by(*reader, id) != Use::Values)
            continue;
        const Touched &touches = touched(*reader, tree_.place(id).store);
        if (auto loads = touches.find(graph_[id].name); loads != touches.end()) {
            merge(storage, loads->second);
            any = true;
        }
    }
    if (any)
        for (Interval &i : storage)
            i = {simplify(i.min), simplify(i.max)};
}

}  // namespace Pipe::region
