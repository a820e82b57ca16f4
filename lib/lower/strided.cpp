#include "lower/strided.h"

#include "ir/equal.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Whether everything that `e` loads from the buffer is disjoint from the index.
bool reads_elsewhere(const Expr &e, const std::string &buffer, const Expr &index) {
    return !e.defined() || !contains(e, [&](const ExprNode &n) {
        return n.op == Op::Load && n.name == buffer && !are_disjoint(n.element(), index);
    });
}

bool reads_elsewhere(const Stmt &store, const std::string &buffer, const Expr &index) {
    for (const Expr &e : store->exprs)
        if (!reads_elsewhere(e, buffer, index))
            return false;
    return true;
}

}  // namespace

std::optional<Strided> strided(const Expr &index) {
    if (!has_no_overflow(index.type()))
        return std::nullopt;
    if (index.type().is_scalar())
        return Strided{index, 1, 1};
    int64_t stride = 0;
    if (index->op == Op::Broadcast)
        return Strided{index->value(), 1, 1};
    if (index->op != Op::Ramp || !as_const_int(index->stride(), &stride))
        return std::nullopt;
    return Strided{index->base(), stride, index.type().lanes()};
}

bool has_channel_stride(const Expr &index) {
    int64_t stride = 0;
    return index->op == Op::Ramp && has_no_overflow(index.type()) &&
           as_const_int(index->stride(), &stride) && stride >= 2 && stride <= max_channels;
}

Expr dense_index(const Expr &base, int64_t offset, int lanes) {
    Expr first = simplify(add(base, make_const(base.type(), offset)));
    return make_ramp(first, make_const(base.type(), 1), lanes);
}

bool same_predicate(const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

bool loads_always(const StmtNode &store) {
    const Expr &predicate = store.predicate();
    return !predicate.defined() || (predicate.type().is_vector() && predicate->op != Op::Broadcast);
}

bool are_disjoint(const Expr &index, const Expr &other) {
    auto a = strided(index), b = strided(other);
    if (!a || !b || a->stride <= 0 || b->stride <= 0)
        return false;
    std::optional<int64_t> distance = constant_difference(b->base, a->base);
    if (!distance)
        return false;
    if (*distance > a->last() || -*distance > b->last())
        return true;
    return a->stride == b->stride && *distance % a->stride != 0;
}

bool may_swap(const Stmt &a, const Stmt &b) {
    const Expr &at_a = a->index(), &at_b = b->index();
    return reads_elsewhere(a, b->name, at_b) && reads_elsewhere(b, a->name, at_a) &&
           (a->name != b->name || are_disjoint(at_a, at_b));
}

}  // namespace Pipe::lower
