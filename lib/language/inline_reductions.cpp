#include <pipe/inline_reductions.h>

#include <algorithm>

#include <fmt/format.h>

#include "ir/print.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include <pipe/fixed_point.h>
#include <pipe/func.h>

namespace Pipe {
namespace {

using language::RDomContents;

/// RVars of other RDoms become Vars of the reduction's Func.
class FreeForeignRVars : public ir::GraphMutator {
  public:
    explicit FreeForeignRVars(const RDomContents *own) : own_(own) {}

    /// The replacements: (new name, the RVar), in order of first use.
    std::vector<std::pair<std::string, Expr>> replaced;

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op != ir::Op::Variable || !dynamic_cast<const RDomContents *>(e->referent.get()) ||
            e->referent.get() == own_)
            return ir::GraphMutator::rewrite(e);
        for (const auto &[name, rvar] : replaced)
            if (rvar->name == e->name && rvar->referent == e->referent)
                return Var(name);
        Var free;
        replaced.emplace_back(free.name(), e);
        return free;
    }

  private:
    const RDomContents *own_;
};

/// The Func of an inline reduction.
class Reduction {
  public:
    Reduction(const char *what, const Expr &e, const RDom *given, const Func &into)
        : func_(into), where_(into.contents()->where) {
        language::require_defined(what, e);
        language::Names names;
        names.add(e);
        if (!given && names.rdoms.size() != 1)
            throw CompileError(fmt::format(
                "{}({}){}: {}", what, ir::shortened(e), language::at(where_),
                names.rdoms.empty()
                    ? "it uses no RVar, so there is nothing to reduce over."
                    : "it uses several RDoms: pass the one to reduce over as the first argument."));
        own_ = given ? contents_of(*given) : names.rdoms[0];
        FreeForeignRVars free(own_.get());
        value = free.mutate(e);
        for (const std::string &var : names.vars)
            add_arg(var, Var(var));
        language::Names in_condition;
        in_condition.add(own_->predicate);
        for (const std::string &var : in_condition.vars)
            if (!is_own(var))
                add_arg(var, Var(var));
        for (const auto &[var, rvar] : free.replaced)
            add_arg(var, rvar);
    }

    void define(const Expr &value) const { define(Tuple(std::vector<Expr>{value})); }
    /// The first call adds the pure definition, the second the update.
    void define(const Tuple &values) const {
        auto rdom = func_.defined() ? own_ : nullptr;
        language::define(*func_.contents(), vars_, values.as_vector(), where_, rdom);
    }
    /// The element that the update changes.
    FuncRef old() const { return func_(vars_, where_); }
    FuncRef call() const { return func_(call_args_, where_); }

    /// The current point of the domain, and its first point.
    std::vector<Expr> point() const {
        std::vector<Expr> result;
        for (const auto &r : own_->vars)
            result.push_back(ir::make_variable(Int(32), r.name, own_));
        return result;
    }
    std::vector<Expr> first_point() const {
        std::vector<Expr> result;
        for (const auto &r : own_->vars)
            result.push_back(r.min);
        return result;
    }

    Expr value;

  private:
    Func func_;
    SourceLocation where_;
    std::shared_ptr<const RDomContents> own_;
    std::vector<Expr> vars_, call_args_;

    static std::shared_ptr<const RDomContents> contents_of(const RDom &r) {
        return std::dynamic_pointer_cast<const RDomContents>(Expr(r[0])->referent);
    }

    bool is_own(const std::string &var) const {
        return std::any_of(own_->vars.begin(), own_->vars.end(),
                           [&](const graph::ReductionVar &r) { return r.name == var; });
    }

    void add_arg(const std::string &name, const Expr &at_call) {
        for (const Expr &v : vars_)
            if (v->name == name)
                return;
        vars_.push_back(Var(name));
        call_args_.push_back(at_call);
    }
};

/// Before operators refuse it, whose errors do not name the reduction.
void require_number(const char *what, const Expr &e) {
    language::require_defined(what, e);
    if (e.type().is_bool())
        language::reject(what, e, "it works on numbers. Cast the bool first, as in cast<int>(x).");
}

Expr reduce_sum(const Expr &e, const RDom *r, const Func &into) {
    require_number("sum", e);
    Reduction reduction("sum", e, r, into);
    reduction.define(ir::make_const(e.type(), 0));
    reduction.define(reduction.old() + reduction.value);
    return reduction.call();
}

Expr reduce_saturating_sum(const Expr &e, const RDom *r, const Func &into) {
    require_number("saturating_sum", e);
    Reduction reduction("saturating_sum", e, r, into);
    reduction.define(ir::make_const(e.type(), 0));
    reduction.define(saturating_add(reduction.old(), reduction.value));
    return reduction.call();
}

Expr reduce_product(const Expr &e, const RDom *r, const Func &into) {
    require_number("product", e);
    Reduction reduction("product", e, r, into);
    reduction.define(ir::make_const(e.type(), 1));
    reduction.define(reduction.old() * reduction.value);
    return reduction.call();
}

Expr reduce_maximum(const Expr &e, const RDom *r, const Func &into) {
    require_number("maximum", e);
    Reduction reduction("maximum", e, r, into);
    reduction.define(e.type().min());
    reduction.define(max(reduction.old(), reduction.value));
    return reduction.call();
}

Expr reduce_minimum(const Expr &e, const RDom *r, const Func &into) {
    require_number("minimum", e);
    Reduction reduction("minimum", e, r, into);
    reduction.define(e.type().max());
    reduction.define(min(reduction.old(), reduction.value));
    return reduction.call();
}

Tuple reduce_arg(const char *what, bool largest, const Expr &e, const RDom *r, const Func &into) {
    Reduction reduction(what, e, r, into);
    std::vector<Expr> point = reduction.point(), initial = reduction.first_point(), next;
    initial.push_back(largest ? e.type().min() : e.type().max());
    reduction.define(Tuple(initial));
    Tuple old = reduction.old();
    const Expr &best = old[point.size()];
    Expr better = largest ? reduction.value > best : reduction.value < best;
    point.push_back(reduction.value);
    for (size_t i = 0; i < point.size(); i++)
        next.push_back(select(better, point[i], old[i]));
    reduction.define(Tuple(next));
    return reduction.call();
}

Tuple reduce_argmax(const Expr &e, const RDom *r, const Func &into) {
    return reduce_arg("argmax", true, e, r, into);
}
Tuple reduce_argmin(const Expr &e, const RDom *r, const Func &into) {
    return reduce_arg("argmin", false, e, r, into);
}

/// A new Func has the user's name, or else a generated one.
Func func_of(const char *what, const ReductionFunc &into, SourceLocation where) {
    if (!into.func() && into.name() != what)
        return Func(into.name(), where);
    if (!into.func()) {
        auto contents = language::undefined_func(language::Identity::unnamed(what), where);
        contents->reduction = what;
        return Func(contents);
    }
    const Func &func = *into.func();
    if (func.defined())
        throw CompileError(fmt::format("{}(..., {}): {} already has a definition. Pass a new Func.",
                                       what, func.name(), func.contents()->description()));
    return func;
}

}  // namespace

#define PIPE_REDUCTION(Result, name)                                                               \
    Result name(const Expr &e, const ReductionFunc &into, SourceLocation where) {                  \
        return reduce_##name(e, nullptr, func_of(#name, into, where));                             \
    }                                                                                              \
    Result name(const RDom &r, const Expr &e, const ReductionFunc &into, SourceLocation where) {   \
        return reduce_##name(e, &r, func_of(#name, into, where));                                  \
    }

PIPE_REDUCTION(Expr, sum)
PIPE_REDUCTION(Expr, saturating_sum)
PIPE_REDUCTION(Expr, product)
PIPE_REDUCTION(Expr, maximum)
PIPE_REDUCTION(Expr, minimum)
PIPE_REDUCTION(Tuple, argmax)
PIPE_REDUCTION(Tuple, argmin)

}  // namespace Pipe
