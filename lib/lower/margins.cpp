#include "lower/margins.h"

#include <algorithm>
#include <utility>

#include "ir/lets.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

void take_apart(const Expr &condition, std::vector<Expr> &parts) {
    if (condition->op != Op::And) {
        parts.push_back(condition);
        return;
    }
    take_apart(condition->a(), parts);
    take_apart(condition->b(), parts);
}

std::optional<Linear> margin_of(const Expr &comparison) {
    const bool less = comparison->op == Op::LT || comparison->op == Op::LE;
    if (!less && comparison->op != Op::GT && comparison->op != Op::GE)
        return {};
    const Type type = comparison->a().type();
    if (!has_no_overflow(type) || !type.is_scalar())
        return {};
    const bool or_equal = comparison->op == Op::LE || comparison->op == Op::GE;
    LinearBuilder builder(Int(64));
    builder.add(less ? comparison->b() : comparison->a());
    builder.add(less ? comparison->a() : comparison->b(), -1);
    builder.add(make_const(Int(64), or_equal));
    Linear margin;
    return builder.finish(&margin) ? std::optional(margin) : std::nullopt;
}

namespace {

bool is_variable(const Expr &atom, const std::string &name) {
    const Expr &e = atom->op == Op::Cast ? atom->value() : atom;
    return e->op == Op::Variable && e->name == name;
}

}  // namespace

std::optional<int64_t> growth(const Linear &margin, const std::string &name) {
    int64_t growth = 0;
    for (const Linear::Term &term : margin.terms) {
        if (is_variable(term.atom, name))
            growth += term.coefficient;
        else if (uses_var(term.atom, name))
            return {};
    }
    return growth;
}

std::optional<Linear> margin_at(const Linear &margin, const std::string &name, const Expr &value) {
    LinearBuilder builder(Int(64));
    builder.add(make_const(Int(64), margin.constant));
    for (const Linear::Term &term : margin.terms) {
        if (is_variable(term.atom, name))
            builder.add(value, term.coefficient);
        else
            builder.add_atom(term.atom, term.coefficient);
    }
    Linear result;
    return builder.finish(&result) ? std::optional(result) : std::nullopt;
}

namespace {

std::optional<Linear> extreme(std::optional<Linear> margin,
                              const std::vector<const StmtNode *> &loops, bool least) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
        if (!margin || !depends_on(*margin, (*loop)->name))
            continue;
        const auto grows = growth(*margin, (*loop)->name);
        if (!grows || !as_const_int((*loop)->extent(), nullptr))
            return {};
        const bool at_last = (*grows < 0) == least;
        margin = margin_at(*margin, (*loop)->name, at_last ? last_of(**loop) : (*loop)->min());
    }
    return margin;
}

}  // namespace

std::optional<Linear> least(std::optional<Linear> margin,
                            const std::vector<const StmtNode *> &loops) {
    return extreme(std::move(margin), loops, true);
}

std::optional<Linear> greatest(std::optional<Linear> margin,
                               const std::vector<const StmtNode *> &loops) {
    return extreme(std::move(margin), loops, false);
}

Expr to_expr(const Linear &sum) {
    Expr result = make_const(Int(64), sum.constant);
    for (const Linear::Term &term : sum.terms)
        result =
            add(result, mul(make_cast(Int(64), term.atom), make_const(Int(64), term.coefficient)));
    return simplify(result);
}

bool depends_on(const Linear &sum, const std::string &name) {
    return std::any_of(sum.terms.begin(), sum.terms.end(),
                       [&](const Linear::Term &term) { return ir::uses_var(term.atom, name); });
}

Expr last_of(const StmtNode &loop) {
    const Expr &first = loop.min();
    return simplify(sub(add(first, loop.extent()), make_const(first.type(), 1)));
}

}  // namespace Pipe::lower
