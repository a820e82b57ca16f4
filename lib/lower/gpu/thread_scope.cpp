#include "lower/gpu/thread_scope.h"

#include <algorithm>

#include "ir/constant_bounds.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/gpu/kernels.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr const char *counter_prefix = ".counter.";

size_t dimension_of(const ExprNode &atom) {
    for (size_t d = 0; d < 3; d++)
        if (atom.op == Op::Variable && atom.name == thread_index(d)->name)
            return d;
    return 3;
}

void add_digit(std::vector<Digit> &digits, const Digit &digit) {
    for (Digit &d : digits)
        if (d.coefficient == digit.coefficient && d.counter.defined() && digit.counter.defined()) {
            d.count = std::max(d.count, digit.count) < INT32_MAX ? d.count + digit.count - 1
                                                                 : INT64_MAX;
            d.counter = add(d.counter, make_cast(d.counter.type(), digit.counter));
            return;
        }
    digits.push_back(digit);
}

}  // namespace

ThreadScope::ThreadScope(const StmtNode &launch) {
    for (size_t d = 0; d < 3; d++)
        if (!as_const_int(threads_of_launch(launch, d), &threads_[d]))
            threads_[d] = -1;
}

ThreadScope::Outer ThreadScope::enter(const Stmt &s) {
    Outer outer;
    if (!binds_variable(s))
        return outer;
    if (auto known = meaning_.find(s->name); known != meaning_.end())
        outer = known->second;
    if (std::optional<Expr> now = meaning(s))
        meaning_[s->name] = *now;
    else
        meaning_.erase(s->name);
    return outer;
}

void ThreadScope::leave(const Stmt &s, const Outer &outer) {
    if (!binds_variable(s))
        return;
    meaning_.erase(s->name);
    if (outer)
        meaning_[s->name] = *outer;
}

/// A let, or a loop's variable, in terms of indices of threads and of counters that begin at 0.
std::optional<Expr> ThreadScope::meaning(const Stmt &s) {
    const Expr first = substitute(meaning_, s->initial());
    if (s->op == StmtOp::Let)
        return first.type().is_int() && !contains(first, may_change) ? std::optional(first)
                                                                     : std::nullopt;
    const Type type = first.type();
    const int64_t extent = constant_bounds(simplify(substitute(meaning_, s->extent()))).hi;
    if (!is_thread_loop(*s.get()))
        return add(first, counter(*s.get(), extent, false));
    const size_t d = thread_dimension(*s.get());
    if (d >= 3 || threads_[d] < 0)
        return std::nullopt;
    Expr place = add(first, make_cast(type, thread_index(d)));
    if (extent <= threads_[d])
        return place;
    const int64_t steps = extent == INT64_MAX ? extent : (extent + threads_[d] - 1) / threads_[d];
    return add(place, mul(counter(*s.get(), steps, true), make_int(type, threads_[d])));
}

Expr ThreadScope::counter(const StmtNode &loop, int64_t count, bool strided) {
    const Type type = loop.min().type();
    const std::string name = counter_prefix + loop.name;
    counters_[name] = {count, sub(make_variable(type, loop.name), loop.min()), strided};
    return make_variable(type, name);
}

std::optional<ThreadIndex> ThreadScope::index(const Expr &e) const {
    ThreadIndex result;
    Expr index = simplify(substitute(meaning_, e));
    result.lanes = index.type().lanes();
    if (index->op == Op::Ramp) {
        int64_t stride = 0;
        if (!as_const_int(index->stride(), &stride))
            return std::nullopt;
        result.digits.push_back({stride, result.lanes, Expr()});
        index = index->base();
    }
    if (!index.type().is_scalar() || !has_no_overflow(index.type()))
        return std::nullopt;
    const Linear sum = Linear::from_expr(index);
    Linear rest = Linear::from_constant(index.type(), 0);
    for (const Linear::Term &t : sum.terms) {
        const ExprNode *atom = t.atom.get();
        while (atom->op == Op::Cast)
            atom = atom->value().get();
        const size_t d = dimension_of(*atom);
        const auto counter =
            atom->op == Op::Variable ? counters_.find(atom->name) : counters_.end();
        if (d < 3) {
            result.thread[d] += t.coefficient;
        } else if (counter != counters_.end() &&
                   (counter->second.count < INT32_MAX || counter->second.strided)) {
            add_digit(result.digits, {t.coefficient, counter->second.count, counter->second.value});
            result.strided |= counter->second.strided;
        } else {
            rest.terms.push_back(t);
        }
    }
    result.constant = sum.constant;
    result.rest = rest.to_expr();
    return result;
}

bool ThreadScope::is_same_in_all_steps(const Expr &rest) {
    return !contains(rest, [&](const ExprNode &n) {
        return n.op == Op::Load || (n.op == Op::Variable && n.name.starts_with(counter_prefix));
    });
}

bool ThreadScope::depends_on_thread(const Expr &rest) {
    return contains(rest, [](const ExprNode &n) { return dimension_of(n) < 3; });
}

}  // namespace Pipe::lower
