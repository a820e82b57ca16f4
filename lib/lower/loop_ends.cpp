#include "lower/loop_ends.h"

#include <unordered_set>

#include "ir/visit.h"
#include "lower/lanes.h"
#include "support/target.h"

namespace Pipe::lower {

using namespace ir;

bool is_end(const Expr &condition) {
    Op op = condition->op;
    if (op == Op::And)
        return is_end(condition->a()) && is_end(condition->b());
    auto even = [](const Expr &e) { return e->op == Op::Ramp || e->op == Op::Broadcast; };
    bool is_order = op == Op::LT || op == Op::LE || op == Op::GT || op == Op::GE;
    return is_order && even(condition->a()) && even(condition->b()) &&
           buffers_read(condition).empty();
}

Expr holds_in_all(const Expr &condition) {
    const Expr &a = condition->a(), &b = condition->b();
    if (condition->op == Op::And)
        return make_binary(Op::And, holds_in_all(a), holds_in_all(b));
    bool less = condition->op == Op::LT || condition->op == Op::LE;
    return make_binary(condition->op, all_lanes(less ? Op::Max : Op::Min, a),
                       all_lanes(less ? Op::Min : Op::Max, b));
}

bool takes_less_lane_by_lane(const Stmt &s, const Target &target) {
    int unmasked = 0, operations = 0;  // operations that are not of an index
    auto count_access = [&](const Type &type) {
        unmasked += !support::has_masked_access(target, type.element_of());
    };
    std::unordered_set<const ExprNode *> seen;
    auto count = [&](const Expr &e) {
        if (is_shared(e) && !seen.insert(e.get()).second)
            return false;
        if (e->op == Op::Load)
            count_access(e.type());
        else
            operations += !e->args.empty();
        return e->op != Op::Load;
    };
    auto look = [&](const Stmt &child) {
        if (child->op != StmtOp::Store)
            return true;
        count_access(child->value().type());
        walk(child->value(), count);
        return false;
    };
    walk(s, look, count);
    // Per lane: the test of the mask, a branch, the access, and the move into or out of a vector.
    constexpr int instructions_per_access = 4;
    return unmasked > 0 && operations <= instructions_per_access * unmasked;
}

}  // namespace Pipe::lower
