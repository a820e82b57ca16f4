// FuncRef: Funcs on the left and right side of definitions.

#include <algorithm>

#include <fmt/format.h>

#include "ir/equal.h"
#include "language/contents.h"
#include "language/implicit.h"
#include "language/match.h"
#include "support/text.h"
#include <pipe/func.h>

namespace Pipe {

using language::at;
using language::FuncContents;

FuncRef::FuncRef(std::shared_ptr<FuncContents> func, std::vector<Expr> args, SourceLocation where)
    : func_(std::move(func)), args_(std::move(args)), where_(where) {
    language::passed(where);
}

Stage FuncRef::define(const std::vector<Expr> &values) const {
    language::define(*func_, args_, values, where_);
    return Stage(func_, static_cast<int>(func_->stages.size()) - 1);
}

Stage FuncRef::operator=(const Expr &value) const {
    return define({value});
}
Stage FuncRef::operator=(const Tuple &values) const {
    return define(values.as_vector());
}
Stage FuncRef::operator=(const FuncRef &value) const {
    return define(value.all());
}

namespace {

/// The Vars of the implicit pure definition for `f(args) += e` if f is undefined: the arguments
/// that are Vars, and new Vars for the others.
std::vector<Expr> implicit_args(const std::vector<Expr> &args) {
    std::vector<Expr> vars;
    for (const Expr &arg : args) {
        bool is_var = arg.defined() && arg->op == ir::Op::Variable && !arg->referent;
        vars.push_back(is_var ? arg : Expr(Var()));
    }
    return vars;
}

/// old op value; a constant is converted to the type of the old value if it fits.
Expr combine(char op, const Expr &old, const Expr &value) {
    Expr v = value;
    if (v.type().is_int() && ir::as_const_int(v, nullptr) && old.type().is_int_or_uint()) {
        Expr same = language::lossless_cast(old.type(), v);
        if (same.defined())
            v = same;
    }
    switch (op) {
    case '+':
        return old + v;
    case '-':
        return old - v;
    case '*':
        return old * v;
    default:
        return old / v;
    }
}

/// The initial value for an update of an undefined Func.
Expr neutral(char op, const Expr &value) {
    language::require_defined("an update", value);
    return ir::make_const(value.type(), op == '+' || op == '-' ? 0 : 1);
}

}  // namespace

Stage FuncRef::update_with(char op, const std::vector<Expr> &values) const {
    for (const Expr &value : values)
        language::require_defined("an update", value);
    std::vector<Expr> args = args_;
    if (!func_->defined()) {
        args = language::expand_placeholder("The left side of '" + func_->name() + "'", args,
                                            language::count_implicit(values), where_);
        std::vector<Expr> initial;
        for (const Expr &value : values)
            initial.push_back(neutral(op, value));
        language::define(*func_, implicit_args(args), initial, where_);
    }
    FuncRef self(func_, args, where_);
    if (values.size() != static_cast<size_t>(size()))
        throw CompileError(fmt::format("{} has {}, but {}= is given {}{}. Give a Tuple of as many.",
                                       func_->description(), support::counted(size(), "value"), op,
                                       values.size(), at(where_)));
    std::vector<Expr> now;
    for (size_t i = 0; i < values.size(); i++)
        now.push_back(combine(op, self.element(static_cast<int>(i)), values[i]));
    return self.define(now);
}

// clang-format off
Stage FuncRef::operator+=(const Expr &value) const { return update_with('+', {value}); }
Stage FuncRef::operator-=(const Expr &value) const { return update_with('-', {value}); }
Stage FuncRef::operator*=(const Expr &value) const { return update_with('*', {value}); }
Stage FuncRef::operator/=(const Expr &value) const { return update_with('/', {value}); }
Stage FuncRef::operator+=(const Tuple &v) const { return update_with('+', v.as_vector()); }
Stage FuncRef::operator-=(const Tuple &v) const { return update_with('-', v.as_vector()); }
Stage FuncRef::operator*=(const Tuple &v) const { return update_with('*', v.as_vector()); }
Stage FuncRef::operator/=(const Tuple &v) const { return update_with('/', v.as_vector()); }
Stage FuncRef::operator+=(const FuncRef &value) const { return update_with('+', value.all()); }
Stage FuncRef::operator-=(const FuncRef &value) const { return update_with('-', value.all()); }
Stage FuncRef::operator*=(const FuncRef &value) const { return update_with('*', value.all()); }
Stage FuncRef::operator/=(const FuncRef &value) const { return update_with('/', value.all()); }
// clang-format on

Expr FuncRef::element(int i) const {
    if (!func_->defined())
        throw CompileError(fmt::format(
            "Func '{0}' is used{1} before it is defined. Define it first, as in {0}(x, y) = "
            "x + y.",
            language::func_field(func_->name()), at(where_)));
    std::string what = "the call of '" + func_->name() + "'";
    std::vector<Expr> args =
        language::expand_to(what, args_, static_cast<int>(func_->args.size()), where_);
    if (args.size() != func_->args.size())
        throw CompileError(fmt::format(
            "{} has {} ({}), but is called with {}{}. Give one coordinate per dimension.",
            func_->description(), support::counted(func_->args.size(), "dimension"),
            func_->arg_names(), support::counted(args.size(), "argument"), at(where_)));
    if (i < 0 || i >= size())
        throw CompileError(fmt::format("{} has {}, numbered from 0: there is no value {}{}.",
                                       func_->description(), support::counted(size(), "value"), i,
                                       at(where_)));
    return ir::make_call(func_->types[static_cast<size_t>(i)], func_->name(),
                         language::coordinates(what, args, where_), ir::CallKind::Func, i, func_);
}

std::vector<Expr> FuncRef::all() const {
    std::vector<Expr> values;
    for (int i = 0; i < size(); i++)
        values.push_back(element(i));
    return values;
}

FuncRef::operator Expr() const {
    if (func_->defined() && size() != 1)
        throw CompileError(fmt::format("{} has {} values, but is used as one{}. Pick one with [i].",
                                       func_->description(), size(), at(where_)));
    return element(0);
}

FuncRef::operator Tuple() const {
    return Tuple(all());
}
FuncTupleElementRef FuncRef::operator[](int i) const {
    return FuncTupleElementRef(*this, i);
}

int FuncRef::size() const {
    if (!func_->defined())
        throw CompileError(fmt::format(
            "Func '{0}' is used{1} before it is defined. Define it first, as in {0}(x, y) = "
            "x + y.",
            language::func_field(func_->name()), at(where_)));
    return static_cast<int>(func_->types.size());
}

const std::vector<Type> &FuncRef::types() const {
    size();  // must be defined
    return func_->types;
}

Type FuncRef::type() const {
    if (size() != 1)
        throw CompileError(fmt::format("{} has a Tuple of values{}: use types().",
                                       func_->description(), at(where_)));
    return func_->types[0];
}

Func FuncRef::function() const {
    return Func(func_);
}

bool FuncRef::equivalent_to(const FuncRef &other) const {
    return func_ == other.func_ &&
           std::equal(args_.begin(), args_.end(), other.args_.begin(), other.args_.end(),
                      [](const Expr &a, const Expr &b) { return ir::equal(a, b); });
}

FuncTupleElementRef::FuncTupleElementRef(const FuncRef &func, int element)
    : func_(std::make_shared<const FuncRef>(func)), element_(element) {
    func.element(element);  // must be there
}

FuncTupleElementRef::operator Expr() const {
    return func_->element(element_);
}

Stage FuncTupleElementRef::operator=(const Expr &value) const {
    std::vector<Expr> values;
    for (int i = 0; i < func_->size(); i++)
        values.push_back(i == element_ ? value : undef(func_->element(i).type()));
    return func_->define(values);
}
Stage FuncTupleElementRef::operator=(const FuncTupleElementRef &value) const {
    return *this = Expr(value);
}
Stage FuncTupleElementRef::operator+=(const Expr &value) const {
    return *this = combine('+', *this, value);
}
Stage FuncTupleElementRef::operator-=(const Expr &value) const {
    return *this = combine('-', *this, value);
}
Stage FuncTupleElementRef::operator*=(const Expr &value) const {
    return *this = combine('*', *this, value);
}
Stage FuncTupleElementRef::operator/=(const Expr &value) const {
    return *this = combine('/', *this, value);
}

}  // namespace Pipe
