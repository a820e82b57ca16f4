// RegionSolver: regions that are known more tightly further out.

#include <algorithm>
#include <set>

#include "ir/fold.h"
#include "ir/int32.h"
#include "ir/integer_ops.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/conditions.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Whether intervals of the operation are exact only for constants or at single points: casts to
/// narrow types, integer operations such as popcount, remainders, products and quotients of
/// non-constants.
bool is_loose(const Expr &e) {
    auto varies = [&](size_t i) { return !is_constant(e->args[i]); };
    switch (e->op) {
    case Op::Cast:
        return e.type().is_int_or_uint() && !index_type(e.type());
    case Op::Mod:
        return true;
    case Op::Mul:
        return varies(0) && varies(1);
    case Op::Div:
        return varies(1);
    default:
        return is_integer_op(e);
    }
}

/// Whether an index may be bounded more tightly at the begin of loops than inside: if it contains
/// such an operation, or correlated operands as in x - x / 2, which intervals treat as independent.
bool may_be_loose(const Expr &index) {
    std::set<const ExprNode *> nodes;
    std::set<std::string> variables;
    auto is_second = [&](const Expr &e) {
        return e->op == Op::Variable ? !variables.insert(e->name).second
                                     : !is_constant(e) && !nodes.insert(e.get()).second;
    };
    return is_loose(index) || contains(index, [&](const ExprNode &e) {
               return std::any_of(e.args.begin(), e.args.end(), [&](const Expr &arg) {
                   return arg.defined() && (is_loose(arg) || is_second(arg));
               });
           });
}

}  // namespace

/// Whether a split that shifts inwards has its outer loop rounded up by another split. The last iterations stay inside, as
/// min(i * factor, extent - factor), but an interval may take the first operand there, and at another level the second.
bool RegionSolver::rounds_what_shifts(const StageNest &nest) {
    const std::vector<Tail> ends = stage_tails(nest).tails;
    std::set<std::string> shifted;
    for (size_t i = 0; i < ends.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        const bool again = shifted.count(t.old_name) > 0;
        if (again && goes_beyond(ends[i], Use::Loads))
            return true;
        if (again || shifts(ends[i]))
            shifted.insert(t.outer);
    }
    return false;
}

/// The dimensions of the Func with an index that may be bounded more tightly at an outer level.
const std::vector<bool> &RegionSolver::loose_dimensions(FuncId id) {
    auto [known, is_new] = loose_.try_emplace(id, graph_[id].args.size(), false);
    std::vector<bool> &loose = known->second;
    if (!is_new)
        return loose;
    auto note = [&](const std::vector<Expr> &indices) {
        for (size_t d = 0; d < loose.size() && d < indices.size(); d++)
            loose[d] = loose[d] || may_be_loose(indices[d]);
    };
    auto note_reads = [&](const graph::Stage &stage) {
        graph::for_each_expr(stage, [&](const Expr &root) {
            each_node(root, [&](const ExprNode &e) {
                if (e.op == Op::Call && e.call_kind == CallKind::Func && e.name == graph_[id].name)
                    note(e.args);
                return true;
            });
        });
    };
    for (const StageNest *reader : tree_.readers(id)) {
        note_reads(graph_[reader->func].stages[reader->stage]);
        if (rounds_what_shifts(*reader))
            loose.assign(loose.size(), true);
    }
    const std::vector<graph::Stage> &own = graph_[id].stages;
    for (size_t update = 1; update < own.size(); update++) {
        note(own[update].args);
        note_reads(own[update]);
    }
    return loose;
}

/// If a condition is never true in an iteration, the needed interval is empty, but its ends are
/// arbitrary, and a product with it need not even be empty. The region needed in an iteration lies
/// inside the one needed by the enclosing loop's iteration; an empty interval may begin just beyond
/// that. The same holds for intervals that are less precise here than further out.
void RegionSolver::keep_inside(FuncId id, int stage, const Level &level, Box &box) {
    const bool maybe_empty = needed_under_conditions(id) != Need::Always;
    const std::vector<bool> &loose = loose_dimensions(id);
    const std::vector<Level> &path = tree_.path_to(level);
    const Level around = path.size() > 1 ? path[path.size() - 2] : "";
    for (size_t d = 0; d < box.size(); d++) {
        Interval &i = box[d];
        int64_t length = 0;
        const bool known_length =
            i.bounded() && as_const_int(simplify(sub(i.max, i.min)), &length) && length >= 0;
        if (!loose[d] && (!maybe_empty || known_length || !i.bounded()))
            continue;
        Interval all = needed_by_others(id, stage, around)[d];
        std::string name = stage_name(graph_[id], stage) + "@" + around + "." + graph_[id].args[d];
        all = {lets_.bind(around, name + ".first", all.min),
               lets_.bind(around, name + ".last", all.max)};
        i.min = i.min.defined() ? greater(lesser(i.min, add(all.max, int32(1))), all.min) : all.min;
        i.max = i.max.defined() ? lesser(i.max, all.max) : all.max;
    }
}

}  // namespace Pipe::region
