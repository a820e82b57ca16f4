#include "lower/gpu/uniform.h"

#include "ir/constant_bounds.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "region/upper_bound.h"

namespace Pipe::lower {

using namespace ir;

void UniformScope::learn(const std::string &name, const Bound &bound) {
    intervals_.push(name, bound.interval);
    facts_.bound(name, bound.constant);
}

region::Interval UniformScope::interval(const Expr &e) const {
    if (!e.type().is_scalar() || contains(e, may_change))
        return {};
    return region::bounds_of(e, intervals_);
}

ConstantInterval UniformScope::constant(const Expr &e) const {
    return e.type().is_int() && e.type().bits() >= 32 ? constant_bounds(e, facts_)
                                                      : ConstantInterval();
}

void UniformScope::learn_let(const std::string &name, const Expr &value) {
    learn(name, {interval(value), constant(value)});
    lets_.push(name, {value, depth_++});
}

void UniformScope::learn_loop(const std::string &name, const Expr &min, const Expr &extent) {
    const Expr last = simplify(sub(add(min, extent), make_int(min.type(), 1)));
    const ConstantInterval low = constant(min), high = constant(last);
    learn(name, {{interval(min).min, interval(last).max}, ConstantInterval{low.lo, high.hi}});
}

void UniformScope::inside(const Stmt &s, const std::function<void(const Stmt &)> &visit) {
    const bool binds = binds_variable(s);
    const size_t mark = facts_.mark();
    if (binds && s->op == StmtOp::Let)
        learn_let(s->name, s->value());
    else if (binds)
        learn_loop(s->name, s->min(), s->extent());
    for (const Stmt &child : s->stmts)
        if (child.defined())
            visit(child);
    if (binds) {
        intervals_.pop(s->name);
        facts_.rewind(mark);
        if (s->op == StmtOp::Let) {
            lets_.pop(s->name);
            depth_--;
        }
    }
}

bool UniformScope::is_uniform(const Expr &e) const {
    if (contains(e, may_change))
        return false;
    for (const std::string &name : free_vars(e))
        if (intervals_.contains(name))
            return false;
    return true;
}

Expr UniformScope::with_lets(const Expr &e) const {
    Expr result = e;
    while (true) {  // the innermost let that is used: its value may use those around it
        std::string innermost;
        int order = -1;
        for (const std::string &name : free_vars(result))
            if (auto *let = lets_.find(name); let && let->second > order)
                innermost = name, order = let->second;
        if (order < 0)
            return result;
        result = make_let(innermost, lets_.find(innermost)->first, result);
    }
}

std::optional<int64_t> UniformScope::constant_most(const Expr &e) const {
    const ConstantInterval known = constant(e);
    if (known.has_hi())
        return known.hi;
    if (e->op == Op::Cast && e.type() == Int(64) && e->value().type() == Int(32))
        return constant_most(e->value());
    if (e.type() != Int(32) && e.type() != Int(64))
        return std::nullopt;
    region::Variables variables;
    variables.extent_of = [](const std::string &) { return std::nullopt; };
    variables.let_of = [&](const std::string &name) {
        const std::pair<Expr, int> *let = lets_.find(name);
        return let ? *let : std::pair(Expr(), 0);
    };
    return region::upper_bound(Linear::from_expr(e), variables);
}

std::optional<Expr> UniformScope::most(const Expr &e) const {
    if (std::optional<int64_t> known = constant_most(e))
        return make_int(e.type(), *known);
    const Expr end = interval(e).max;
    if (!end.defined() || !is_uniform(end))
        return std::nullopt;
    return simplify(end);
}

}  // namespace Pipe::lower
