#include "region/small_bound.h"

#include <algorithm>

#include "ir/constant_bounds.h"
#include "ir/linear.h"
#include "region/at_most.h"
#include "region/interval.h"

namespace Pipe::region {

using namespace ir;

namespace {

bool has_nodes_left(const Expr &e, int *budget) {
    return --*budget >= 0 && std::all_of(e->args.begin(), e->args.end(), [&](const Expr &arg) {
        return !arg.defined() || has_nodes_left(arg, budget);
    });
}

constexpr int small = 1000;

Expr small_bound(const Expr &e, bool is_min, int depth) {
    if (is_small_tree(e, small))
        return e;
    if (!e.type().is_int())
        return Expr();
    const ConstantInterval range = constant_bounds(e);
    if (is_min ? range.has_lo() : range.has_hi())
        return constant_end(e.type(), is_min ? range.lo : range.hi);
    const bool is_sum = e->op == Op::Add || e->op == Op::Sub;
    if (depth == 0 || !has_no_overflow(e.type()) ||
        (!is_sum && e->op != Op::Min && e->op != Op::Max))
        return Expr();
    // Where one operand is never the better one, the chain of operations does not double.
    if (e->op == Op::Min || e->op == Op::Max)
        for (size_t i : {0, 1})
            if (at_most(e->args[i], e->args[1 - i]))
                return small_bound(e->args[e->op == Op::Min ? i : 1 - i], is_min, depth);
    const Expr a = small_bound(e->a(), is_min, depth - 1),
               b = small_bound(e->b(), is_min == (e->op != Op::Sub), depth - 1);
    if (!a.defined() || !b.defined()) {
        const bool one_is_enough = e->op == (is_min ? Op::Max : Op::Min);
        return !one_is_enough ? Expr() : a.defined() ? a : b;
    }
    const Expr result = make_binary(e->op, a, b);
    return is_small_tree(result, small) ? result : Expr();
}

}  // namespace

bool is_small_tree(const Expr &e, int most) {
    return has_nodes_left(e, &most);
}

Expr small_bound(const Expr &e, bool is_min) {
    constexpr int deepest_sum = 8;
    return small_bound(e, is_min, deepest_sum);
}

}  // namespace Pipe::region
