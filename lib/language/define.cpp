// Definitions of Funcs: checks both sides of f(x, y) = e.

#include <algorithm>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "graph/loops.h"
#include "graph/scatter.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/implicit.h"
#include "language/match.h"
#include "language/random.h"
#include "support/deep_stack.h"
#include "support/error_text.h"
#include "support/text.h"
#include <pipe/var.h>

namespace Pipe::language {
namespace {

/// Removes the referents of RVars and of calls of the Func itself (see contents.h).
class Detach : public ir::GraphMutator {
  public:
    explicit Detach(const FuncContents &self) : self_(&self) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == ir::Op::Variable && dynamic_cast<const RDomContents *>(e->referent.get()))
            return ir::make_variable(e.type(), e->name);
        Expr now = ir::GraphMutator::rewrite(e);
        if (now->op == ir::Op::Call && now->referent.get() == self_)
            return ir::make_call(now.type(), now->name, now->args, now->call_kind, now->index);
        return now;
    }

  private:
    const FuncContents *self_;
};

/// A definition being added to a Func.
class Definition {
  public:
    Definition(FuncContents &func, const std::vector<Expr> &args, const std::vector<Expr> &values,
               SourceLocation where, std::shared_ptr<const RDomContents> rdom)
        : func_(func), args_(args), values_(values), where_(where), rdom_(std::move(rdom)) {}

    void add() {
        check_wrappers();
        for (const Expr &value : values_)
            if (!value.defined())
                reject("a value is an undefined Expr. Give it a value before it is used.");
        for (const Expr &value : values_)
            require_scalar("The definition of Func '" + func_.name() + "'", value.type());
        bool pure = !func_.defined();
        expand_args(pure);
        if (pure) {
            check_promises();
            take_pure_args();
        } else {
            check_update();
        }
        collect();
        if (pure) {
            check_pure_names();
        } else {
            check_update_names();
            check_self_calls();
            check_recursion();
        }
        store(pure);
    }

  private:
    FuncContents &func_;
    std::vector<Expr> args_;
    std::vector<Expr> values_;
    SourceLocation where_;
    std::vector<std::string>
        pure_args_;  // by position; "" if an update's argument is not a pure Var
    Names names_;
    std::shared_ptr<const RDomContents> rdom_;

    [[noreturn]] void reject(const std::string &why) const {
        std::string which =
            func_.defined() ? fmt::format("update {} of ", func_.stages.size() - 1) : "";
        throw CompileError(fmt::format("In the definition of {}Func '{}'{}: {}", which,
                                       func_field(func_.name()), support::in_parentheses(where_),
                                       why));
    }

    void check_wrappers() const {
        if (func_.wrapped.lock())
            reject("it is a wrapper made by in(), which cannot have further definitions. Update "
                   "the Func that it wraps, or make a Func of your own.");
        for (const Wrapper &w : func_.wrappers)
            if (!w.func->wrapped.lock())
                reject(fmt::format("clone_in(){} has copied the definitions so far. Define the "
                                   "Func completely first.",
                                   at(w.func->where)));
    }

    static bool is_var(const Expr &e) {
        return e.defined() && e->op == ir::Op::Variable && !e->referent;
    }

    void expand_args(bool pure) {
        std::string what = "The left side of '" + func_.name() + "'";
        args_ = pure ? expand_placeholder(what, args_, count_implicit(values_), where_)
                     : expand_to(what, args_, static_cast<int>(func_.args.size()), where_);
    }

    static std::string list(const std::vector<Type> &types) {
        std::vector<std::string> names;
        for (Type type : types)
            names.push_back(to_string(type));
        return join(names);
    }

    void check_promises() const {
        int dimensions = static_cast<int>(args_.size());
        if (func_.promised_dimensions >= 0 && func_.promised_dimensions != dimensions)
            reject(fmt::format("it has {}, but the Func was declared with {}. Use as many Vars, or "
                               "change the declaration.",
                               support::counted(dimensions, "dimension"),
                               func_.promised_dimensions));
        std::vector<Type> types;
        for (const Expr &value : values_)
            types.push_back(value.type());
        if (!func_.promised_types.empty() && types != func_.promised_types)
            reject(fmt::format("its values are of type {}, but the Func was declared with {}. Cast "
                               "the values, as in cast<uint8_t>(x).",
                               list(types), list(func_.promised_types)));
    }

    void take_pure_args() {
        for (const Expr &arg : args_) {
            if (arg.defined() && arg->op == ir::Op::Variable &&
                dynamic_cast<const RDomContents *>(arg->referent.get()))
                reject(fmt::format(
                    "argument '{}' is an RVar. The first definition of a Func takes Vars; "
                    "RVars are for updates.",
                    arg->name));
            if (!is_var(arg))
                reject(fmt::format(
                    "argument {} is not a Var. The first definition of a Func takes Vars; "
                    "other coordinates are for updates.",
                    arg.defined() ? "'" + ir::shortened(arg) + "'" : "(undefined)"));
            if (std::count(pure_args_.begin(), pure_args_.end(), arg->name) > 0)
                reject(
                    fmt::format("the Var '{}' is used for two arguments. Name another for one of "
                                "them.",
                                arg->name));
            pure_args_.push_back(arg->name);
        }
    }

    void check_update() {
        if (const ir::ExprNode *by = graph::extern_definition(func_.stages[0]))
            reject(fmt::format("it is an extern stage, computed by the C function '{}', which "
                               "cannot have updates. Update a Func "
                               "that reads it.",
                               by->args[0]->name));
        args_ = coordinates("the left side of '" + func_.name() + "'", args_, where_);
        if (args_.size() != func_.args.size())
            reject(fmt::format("it has {}, but the Func has {} ({}). Give one coordinate per "
                               "dimension.",
                               support::counted(args_.size(), "argument"),
                               support::counted(func_.args.size(), "dimension"),
                               func_.arg_names()));
        if (values_.size() != func_.types.size())
            reject(fmt::format("it has {}, but the Func has {}. Use a Tuple of as many.",
                               support::counted(values_.size(), "value"), func_.types.size()));
        for (size_t i = 0; i < values_.size(); i++)
            adapt_value(i);
        for (size_t i = 0; i < args_.size(); i++)
            pure_args_.push_back(is_var(args_[i]) && args_[i]->name == func_.args[i] ? func_.args[i]
                                                                                     : "");
    }

    void adapt_value(size_t i) {
        Type wanted = func_.types[i];
        if (values_[i].type() == wanted)
            return;
        bool constant = values_[i].type().is_int() && ir::as_const_int(values_[i], nullptr);
        Expr same = constant ? lossless_cast(wanted, values_[i]) : Expr();
        if (!same.defined())
            reject(fmt::format("the value {} is not of the Func's type {}. Use cast<...>().",
                               describe(values_[i]), to_string(wanted)));
        values_[i] = same;
    }

    void collect() {
        for (const Expr &e : args_)
            names_.add(e);
        for (const Expr &e : values_)
            names_.add(e);
        if (rdom_ && names_.rdoms.empty())
            names_.rdoms.push_back(rdom_);
        if (names_.rdoms.empty())
            return;
        rdom_ = names_.rdoms[0];
        if (rdom_->predicate.defined())
            names_.add(rdom_->predicate);
    }

    void check_pure_names() const {
        if (rdom_)
            reject(fmt::format(
                "the RVars of RDom '{}' are used in a pure definition. They are allowed in an "
                "update, or inside sum(), maximum() and similar functions.",
                rdom_->name));
        for (const std::string &var : names_.vars)
            if (std::count(pure_args_.begin(), pure_args_.end(), var) == 0)
                reject(fmt::format(
                    "Var '{}' is used on the right, but is not one of the arguments ({}).{}", var,
                    join(pure_args_),
                    Var::is_implicit(var) ? " '_' on the left stands for all implicit Vars." : ""));
    }

    void check_update_names() const {
        if (names_.rdoms.size() > 1)
            reject(fmt::format(
                "it uses two RDoms, '{}' and '{}'. A definition can use only one RDom: give "
                "it the dimensions of both, or use sum() or a similar function for one of them.",
                names_.rdoms[0]->name, names_.rdoms[1]->name));
        for (const std::string &var : names_.vars)
            if (std::count(pure_args_.begin(), pure_args_.end(), var) == 0 && !is_rvar(var))
                reject(fmt::format(
                    "Var '{}' is used, but is not an argument on the left at its position in "
                    "the pure definition ({}).",
                    var, join(func_.args)));
    }

    /// Conditions of an RDom name its RVars without referent.
    bool is_rvar(const std::string &name) const {
        return rdom_ && std::any_of(rdom_->vars.begin(), rdom_->vars.end(),
                                    [&](const ReductionVar &r) { return r.name == name; });
    }

    /// A loop over a pure Var of an update is parallel only if points with different values of the
    /// Var are independent.
    void check_self_calls() const {
        for (const ir::ExprNode *call : names_.calls) {
            if (call->referent.get() != &func_)
                continue;
            for (size_t i = 0; i < pure_args_.size(); i++) {
                if (pure_args_[i].empty())
                    continue;
                if (!is_var(call->args[i]) || call->args[i]->name != pure_args_[i])
                    reject(fmt::format(
                        "the Func reads itself at '{}' where the left side has the Var "
                        "'{}'. Only an RVar can iterate over a dimension in which the update "
                        "reads other elements.",
                        ir::shortened(call->args[i]), pure_args_[i]));
            }
        }
    }

    void check_recursion() const {
        std::vector<const FuncContents *> pending, seen;
        for (const auto &f : names_.funcs)
            if (f.get() != &func_)
                pending.push_back(f.get());
        while (!pending.empty()) {
            const FuncContents *f = pending.back();
            pending.pop_back();
            if (std::find(seen.begin(), seen.end(), f) != seen.end())
                continue;
            seen.push_back(f);
            std::vector<const FuncContents *> callees;
            for (const auto &callee : f->callees)
                callees.push_back(callee.get());
            auto wrapped = std::dynamic_pointer_cast<const FuncContents>(f->wrapped.lock());
            if (wrapped)
                callees.push_back(wrapped.get());
            for (const FuncContents *callee : callees) {
                if (callee == &func_)
                    reject(
                        fmt::format("it reads {}, which reads '{}': a cycle of Funcs cannot be "
                                    "computed. Write the update before the other Func reads it, or "
                                    "combine both in one Func with a Tuple.",
                                    f->description(), func_.name()));
                pending.push_back(callee);
            }
        }
    }

    void store(bool pure) {
        int levels = 0;
        for (const auto *exprs : {&args_, &values_})
            for (const Expr &e : *exprs)
                levels = std::max(levels, e->depth);
        support::on_deep_stack(levels, [&] { store_stage(pure); });
    }

    void store_stage(bool pure) {
        Detach detach(func_);
        RandomNumbers random = random_numbers();
        auto final = [&](const Expr &e) { return random.expand(detach.mutate(e)); };
        Stage stage;
        for (const Expr &e : args_)
            stage.args.push_back(final(e));
        for (const Expr &e : values_)
            stage.values.push_back(final(e));
        stage.where = where_;
        if (count_stores(stage) > 1 && pure)
            reject(
                "scatter() and gather() are for updates. Give the Func a pure definition first.");
        if (rdom_) {
            stage.rvars = rdom_->vars;
            if (rdom_->predicate.defined())
                stage.predicate = final(rdom_->predicate);
            const_cast<RDomContents &>(*rdom_).used = true;
        }
        if (pure) {
            func_.args = pure_args_;
            for (const Expr &value : values_)
                func_.types.push_back(value.type());
            func_.where = where_;
        }
        for (const auto &f : names_.funcs)
            if (f.get() != &func_ &&
                std::find(func_.callees.begin(), func_.callees.end(), f) == func_.callees.end())
                func_.callees.push_back(f);
        for (const auto &image : names_.images)
            if (std::count(func_.images.begin(), func_.images.end(), image) == 0)
                func_.images.push_back(image);
        func_.schedule.stages.emplace_back().dims = graph::initial_loops(func_.args, stage);
        func_.stages.push_back(std::move(stage));
        func_.identity->touch();
    }

    /// Random numbers depend on the Func, the definition, and the point.
    RandomNumbers random_numbers() const {
        std::vector<std::string> coordinates;
        for (const std::string &var : pure_args_)
            if (!var.empty())
                coordinates.push_back(var);
        if (rdom_)
            for (const ReductionVar &r : rdom_->vars)
                coordinates.push_back(r.name);
        return RandomNumbers(fmt::format("{} {}", func_.name(), func_.stages.size()), coordinates);
    }
};

}  // namespace

Expr without_referent(const Expr &e, const FuncContents &func) {
    return Detach(func).mutate(e);
}

void define(FuncContents &func, const std::vector<Expr> &args, const std::vector<Expr> &values,
            SourceLocation where, std::shared_ptr<const RDomContents> rdom) {
    Definition(func, args, values, where, std::move(rdom)).add();
}

}  // namespace Pipe::language
