#include "poly/range_program.h"

#include <algorithm>
#include <bit>

#include "ir/intrinsics.h"
#include "ir/linear.h"
#include <pipe/error.h>

namespace Pipe::poly {

using ir::Op;

namespace {

constexpr Range truth{0, 1};

Range truth_if(bool always, bool never) {
    return always ? Range::point(1) : never ? Range::point(0) : truth;
}

}  // namespace

RangeProgram::Slot RangeProgram::new_variable(const Range &initial) {
    values_.push_back(initial);
    return static_cast<Slot>(values_.size()) - 1;
}

RangeProgram::Slot RangeProgram::constant(const Range &value) {
    auto [known, is_new] = known_.try_emplace({value.min, value.max});
    if (is_new)
        known->second = new_variable(value);
    return known->second;
}

RangeProgram::Slot RangeProgram::push(const Key &key, Step step) {
    auto [known, is_new] = known_.try_emplace(key);
    if (!is_new)
        return known->second;
    step.target = known->second = new_variable();
    steps_.push_back(step);
    return step.target;
}

RangeProgram::Slot RangeProgram::step(Kind kind, Slot a, Slot b, Slot c) {
    return push({static_cast<int64_t>(kind), a, b, c}, {kind, -1, a, b, c, 0});
}

RangeProgram::Slot RangeProgram::sum(int64_t value, const std::vector<Term> &terms) {
    if (terms.empty())
        return constant(Range::point(value));
    if (terms.size() == 1 && terms[0].coefficient == 1 && value == 0)
        return terms[0].slot;
    Key key{static_cast<int64_t>(Kind::Sum), value};
    for (const Term &t : terms)
        key.insert(key.end(), {t.slot, t.coefficient});
    key.push_back(0);  // longer than the key of any other step
    const size_t begin = terms_.size(), steps = steps_.size();
    const Slot result = push(key, {Kind::Sum, -1, static_cast<Slot>(begin),
                                   static_cast<Slot>(begin + terms.size()), -1, value});
    if (steps_.size() > steps)
        terms_.insert(terms_.end(), terms.begin(), terms.end());
    return result;
}

void RangeProgram::define(const std::string &name, Slot value) {
    if (!variables_.emplace(name, value).second)
        throw InternalError("'" + name + "' is used before it is defined");
}

RangeProgram::Slot RangeProgram::find(const std::string &name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? -1 : found->second;
}

RangeProgram::Slot RangeProgram::add(const Expr &e) {
    if (auto done = done_.find(e.get()); done != done_.end())
        return done->second.second;
    const Slot result = ir::has_no_overflow(e.type()) && e.type().is_scalar() ? index(e) : node(e);
    done_.emplace(e.get(), std::pair(e, result));
    return result;
}

/// A sum of parts that are not sums.
RangeProgram::Slot RangeProgram::index(const Expr &e) {
    const ir::Linear form = ir::Linear::from_expr(e);
    std::vector<Term> terms;
    for (const ir::Linear::Term &t : form.terms)
        terms.push_back({t.atom.same_as(e) ? node(e) : add(t.atom), t.coefficient});
    // Different expressions may be the same step.
    std::sort(terms.begin(), terms.end(),
              [](const Term &a, const Term &b) { return a.slot < b.slot; });
    std::vector<Term> distinct;
    for (const Term &t : terms) {
        if (distinct.empty() || distinct.back().slot != t.slot)
            distinct.push_back(t);
        else
            distinct.back().coefficient += t.coefficient;
    }
    replace_limited(distinct);
    std::erase_if(distinct, [](const Term &t) { return t.coefficient == 0; });
    return sum(form.constant, distinct);
}

void RangeProgram::limit_sum(const Term &a, const Term &b, Slot extent) {
    const Slot whole = sum(0, a.slot < b.slot ? std::vector{a, b} : std::vector{b, a}),
               last = sum(-1, {{extent, 1}});
    limited_.push_back({a, b, clip(whole, constant(Range::point(0)), last)});
}

void RangeProgram::replace_limited(std::vector<Term> &terms) const {
    for (const LimitedSum &known : limited_) {
        auto find = [&](Slot slot) {
            return std::find_if(terms.begin(), terms.end(),
                                [&](const Term &t) { return t.slot == slot; });
        };
        const auto a = find(known.a.slot), b = find(known.b.slot);
        if (a == terms.end() || b == terms.end() ||
            a->coefficient != b->coefficient * known.a.coefficient || known.a.slot == known.b.slot)
            continue;
        const Term all{known.value, b->coefficient};
        a->coefficient = b->coefficient = 0;
        terms.push_back(all);
    }
}

RangeProgram::Slot RangeProgram::node(const Expr &e) {
    if (!e.type().is_int_or_uint() || !e.type().is_scalar())
        return unknown(e.type());
    auto arg = [&](size_t i) { return add(e->args[i]); };
    switch (e->op) {
    case Op::IntImm:
        return constant(Range::point(e->int_value));
    case Op::UIntImm:
        return fit(constant(Range::point(static_cast<int64_t>(e->uint_value))), e.type());
    case Op::Variable:
        return variable(e);
    case Op::Cast:
        return cast(e);
    case Op::Not:
        return negation(arg(0));
    case Op::Select:
        return step(Kind::Select, arg(0), arg(1), arg(2));
    case Op::Call:
        return call(e);
    default:
        return ir::is_comparison(e->op) ? comparison(e)
               : ir::is_binary(e->op)   ? binary(e)
                                        : unknown(e.type());
    }
}

RangeProgram::Slot RangeProgram::variable(const Expr &e) {
    if (auto known = variables_.find(e->name); known != variables_.end())
        return known->second;
    const auto definition = definitions_.find(e->name);
    const Slot slot = definition == definitions_.end() ? new_variable(range_of(e->type))
                                                       : add(definition->second);
    variables_.emplace(e->name, slot);
    return slot;
}

RangeProgram::Slot RangeProgram::binary(const Expr &e) {
    const Slot a = add(e->a()), b = add(e->b());
    auto wrapped = [&](Slot slot) {
        return ir::has_no_overflow(e.type()) ? slot : fit(slot, e.type());
    };
    switch (e->op) {
    case Op::Min:
    case Op::And:
        return step(Kind::Min, std::min(a, b), std::max(a, b));
    case Op::Max:
    case Op::Or:
        return step(Kind::Max, std::min(a, b), std::max(a, b));
    case Op::Mul:
        return wrapped(step(Kind::Product, std::min(a, b), std::max(a, b)));
    case Op::Div:
        return wrapped(step(Kind::Quotient, a, b));
    case Op::Mod:
        return step(Kind::Remainder, a, b);
    case Op::Add:
    case Op::Sub:
        return wrapped(difference(a, b, e->op == Op::Add ? 1 : -1, 0));
    default:
        return unknown(e.type());
    }
}

/// a + factor * b + more
RangeProgram::Slot RangeProgram::difference(Slot a, Slot b, int64_t factor, int64_t more) {
    return sum(more, a == b ? std::vector<Term>{{a, 1 + factor}}
                            : std::vector<Term>{{a, 1}, {b, factor}});
}

RangeProgram::Slot RangeProgram::comparison(const Expr &e) {
    const Type operands = e->a().type();
    if (!operands.is_int_or_uint() || !operands.is_scalar())
        return unknown(e.type());
    auto less = [&](const Expr &x, const Expr &y, int64_t more) {
        // The linear form of a difference knows what the two have in common.
        const Slot difference_of =
            ir::has_no_overflow(operands) ? add(ir::sub(x, y)) : difference(add(x), add(y), -1, 0);
        const Slot moved = more == 0 ? difference_of : sum(more, {{difference_of, 1}});
        return step(Kind::IsNegative, moved);
    };
    const Expr &a = e->a(), &b = e->b();
    switch (e->op) {
    case Op::LT:
        return less(a, b, 0);
    case Op::GT:
        return less(b, a, 0);
    case Op::LE:
        return less(a, b, -1);
    case Op::GE:
        return less(b, a, -1);
    default:
        break;
    }
    const Slot equal =
        step(Kind::IsZero, ir::has_no_overflow(operands) ? add(ir::sub(a, b))
                                                         : difference(add(a), add(b), -1, 0));
    return e->op == Op::EQ ? equal : negation(equal);
}

RangeProgram::Slot RangeProgram::negation(Slot condition) {
    return sum(1, {{condition, -1}});
}

RangeProgram::Slot RangeProgram::cast(const Expr &e) {
    const Type from = e->value().type();
    return from.is_int_or_uint() && !e.type().is_bool() ? fit(add(e->value()), e.type())
                                                        : unknown(e.type());
}

RangeProgram::Slot RangeProgram::call(const Expr &e) {
    if (e->call_kind != ir::CallKind::Intrinsic)
        return unknown(e.type());
    auto is = [&](const char *name) { return e->name == name; };
    auto arg = [&](size_t i) { return add(e->args[i]); };
    int64_t number = 0;
    const bool by_constant = e->args.size() == 2 && ir::as_const_int(e->args[1], &number);
    if (is(ir::intrinsic::likely))
        return arg(0);
    if (is(ir::intrinsic::if_then_else))
        return step(Kind::Select, arg(0), arg(1), arg(2));
    if (is(ir::intrinsic::promise_clamped))
        return clip(arg(0), arg(1), arg(2));
    if (is(ir::intrinsic::shift_right) && by_constant && number >= 0 && number < 62)
        return step(Kind::Quotient, arg(0), constant(Range::point(int64_t{1} << number)));
    if (is(ir::intrinsic::shift_left) && by_constant && number >= 0 && number < 32)
        return fit(sum(0, {{arg(0), int64_t{1} << number}}), e.type());
    if (is(ir::intrinsic::bitwise_and) && by_constant && number >= 0 &&
        std::has_single_bit(static_cast<uint64_t>(number) + 1))
        return step(Kind::Remainder, arg(0), constant(Range::point(number + 1)));
    return unknown(e.type());
}

/// Nothing in common with other unknown values.
RangeProgram::Slot RangeProgram::unknown(Type type) {
    has_unknown_ = true;
    return new_variable(range_of(type));
}

RangeProgram::Slot RangeProgram::fit(Slot value, Type type) {
    return step(Kind::Fit, value, type.is_int() ? 1 : 0, type.bits());
}

Range RangeProgram::sum_of(const Step &s) const {
    Range result = Range::point(s.constant);
    for (Slot t = s.a; t < s.b; t++) {
        const Term &term = terms_[static_cast<size_t>(t)];
        result = result + (*this)[term.slot] * term.coefficient;
    }
    return result;
}

Range RangeProgram::result(const Step &s) const {
    if (s.kind == Kind::Sum)
        return sum_of(s);
    const Range &a = (*this)[s.a];
    if (a.is_empty())
        return a;
    switch (s.kind) {
    case Kind::IsNegative:
        return truth_if(a.max < 0, a.min >= 0);
    case Kind::IsZero:
        return truth_if(a == Range::point(0), a.min > 0 || a.max < 0);
    case Kind::Fit:
        return fitted(a, Type(s.b == 1 ? Type::Int : Type::UInt, s.c));
    case Kind::Select:
        return a.is_point() ? (*this)[a.min != 0 ? s.b : s.c] : hull((*this)[s.b], (*this)[s.c]);
    default:
        break;
    }
    const Range &b = (*this)[s.b];
    if (b.is_empty())
        return b;
    switch (s.kind) {
    case Kind::Product:
        return product(a, b);
    case Kind::Quotient:
        return quotient(a, b);
    case Kind::Remainder:
        return remainder(a, b);
    case Kind::Min:
        return smaller(a, b);
    case Kind::Max:
        return larger(a, b);
    default:  // Clip
        return (*this)[s.c].is_empty() ? (*this)[s.c] : intersect(a, {b.min, (*this)[s.c].max});
    }
}

void RangeProgram::evaluate() {
    for (const Step &s : steps_)
        values_[static_cast<size_t>(s.target)] = result(s);
}

}  // namespace Pipe::poly
