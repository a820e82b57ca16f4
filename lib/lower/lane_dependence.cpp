#include "lower/lane_dependence.h"

#include "ir/equal.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Products of constants and of strides of buffers. Any other stride may be 0 while the program runs.
bool is_never_zero(const Expr &stride) {
    if (stride->op == Op::Mul)
        return is_never_zero(stride->a()) && is_never_zero(stride->b());
    if (stride->op == Op::Cast)
        return is_never_zero(stride->value());
    if (stride->op == Op::Variable)
        return stride->name.find(".stride.") != std::string::npos;
    int64_t value = 0;
    return as_const_int(stride, &value) && value != 0;
}

/// Whether a ramp of loads reads what a ramp of stores writes some lanes earlier.
bool trails(const Expr &load, const Expr &store, int lanes) {
    int64_t stride = 0, distance = 0;
    if (load->op != Op::Ramp || !equal(load->stride(), store->stride()))
        return false;
    if (!as_const_int(store->stride(), &stride))
        return false;
    if (!as_const_int(simplify(sub(store->base(), load->base())), &distance))
        return false;
    const int64_t apart = distance / stride;
    return apart * stride == distance && apart > 0 && apart < lanes;
}

}  // namespace

bool depends_on_other_lane(const Expr &value, const std::string &buffer, const Expr &index,
                           const Lanes &lanes, ExprVectorizer &exprs) {
    if (lanes.copies.count(buffer) || !buffers_read(value).count(buffer))
        return false;
    Expr stored = exprs.seen_through(index);
    if (stored->op != Op::Ramp || !is_never_zero(stored->stride()))
        return true;  // lanes may share an element
    return contains(value, [&](const ExprNode &e) {
        return e.op == Op::Load && e.name == buffer &&
               trails(exprs.seen_through(e.element()), stored, lanes.count);
    });
}

bool feeds_later_lanes(const StmtNode &let, const Lanes &lanes, ExprVectorizer &exprs) {
    return !buffers_read(let.value()).empty() && contains_stmt(let.body(), [&](const StmtNode &s) {
        return s.op == StmtOp::Store &&
               depends_on_other_lane(let.value(), s.name, s.index(), lanes, exprs);
    });
}

}  // namespace Pipe::lower
