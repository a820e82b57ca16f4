// FuncRef and Func: definitions, uses, and directives of a whole Func.

#include <pipe/func.h>

#include <algorithm>

#include <fmt/format.h>

#include "graph/collect.h"
#include "graph/contents.h"
#include "graph/match.h"

namespace Pipe {

using graph::at;
using graph::FuncContents;

FuncRef::FuncRef(std::shared_ptr<FuncContents> func, std::vector<Expr> args, SourceLocation where)
    : func_(std::move(func)), args_(std::move(args)), where_(where) {}

Stage FuncRef::define(const std::vector<Expr> &values) const {
    graph::define(*func_, args_, values, where_);
    return Stage(func_, static_cast<int>(func_->stages.size()) - 1);
}

Stage FuncRef::operator=(const Expr &value) const {
    return define({value});
}
Stage FuncRef::operator=(const Tuple &values) const {
    return define(values.as_vector());
}

Stage FuncRef::operator=(const FuncRef &value) const {
    return value.size() == 1 ? define({Expr(value)}) : define(Tuple(value).as_vector());
}

namespace {

/// The Vars of the pure definition that `f(args) += e` makes where f is undefined: the arguments
/// that are Vars; new ones in place of the others.
std::vector<Expr> implicit_args(const std::vector<Expr> &args) {
    std::vector<Expr> vars;
    for (const Expr &arg : args) {
        bool is_var = arg.defined() && arg->op == ir::Op::Variable && !arg->referent;
        vars.push_back(is_var ? arg : Expr(Var()));
    }
    return vars;
}

}  // namespace

Stage FuncRef::update_with(const char *op, int initial, const Expr &value) const {
    graph::require_defined(op, value);
    if (!func_->defined())
        graph::define(*func_, implicit_args(args_), {ir::make_const(value.type(), initial)},
                      where_);
    Expr old = *this, v = value;
    if (v.type().is_int() && ir::as_const_int(v, nullptr) && old.type().is_int_or_uint()) {
        Expr same = graph::lossless_cast(old.type(), v);
        if (same.defined())
            v = same;
    }
    switch (op[0]) {
    case '+':
        return *this = old + v;
    case '-':
        return *this = old - v;
    case '*':
        return *this = old * v;
    default:
        return *this = old / v;
    }
}

Stage FuncRef::operator+=(const Expr &value) const {
    return update_with("+=", 0, value);
}
Stage FuncRef::operator-=(const Expr &value) const {
    return update_with("-=", 0, value);
}
Stage FuncRef::operator*=(const Expr &value) const {
    return update_with("*=", 1, value);
}
Stage FuncRef::operator/=(const Expr &value) const {
    return update_with("/=", 1, value);
}

Expr FuncRef::element(int i) const {
    if (!func_->defined())
        throw CompileError(
            fmt::format("Func '{}' is used{} before it is defined.", func_->name(), at(where_)));
    if (args_.size() != func_->args.size())
        throw CompileError(fmt::format(
            "{} has {} dimensions ({}), but is called with {} arguments{}.", func_->description(),
            func_->args.size(), graph::join(func_->args), args_.size(), at(where_)));
    if (i < 0 || i >= size())
        throw CompileError(fmt::format("{} has {} values: there is no value {}{}.",
                                       func_->description(), size(), i, at(where_)));
    return ir::make_call(func_->types[static_cast<size_t>(i)], func_->name(),
                         graph::coordinates("the call of '" + func_->name() + "'", args_, where_),
                         ir::CallKind::Func, i, func_);
}

FuncRef::operator Expr() const {
    if (func_->defined() && size() != 1)
        throw CompileError(fmt::format("{} has {} values: pick one with [i]{}.",
                                       func_->description(), size(), at(where_)));
    return element(0);
}

FuncRef::operator Tuple() const {
    std::vector<Expr> values;
    for (int i = 0; i < size(); i++)
        values.push_back(element(i));
    return Tuple(values);
}

Expr FuncRef::operator[](int i) const {
    return element(i);
}

int FuncRef::size() const {
    if (!func_->defined())
        throw CompileError(
            fmt::format("Func '{}' is used{} before it is defined.", func_->name(), at(where_)));
    return static_cast<int>(func_->types.size());
}

Func::Func(SourceLocation where) : Func(graph::fresh_name("f"), where) {}

Func::Func(const std::string &name, SourceLocation where)
    : contents_(std::make_shared<FuncContents>()) {
    contents_->identity = std::make_shared<graph::Identity>(name);
    contents_->where = where;
}

Func::Func(std::shared_ptr<FuncContents> contents) : contents_(std::move(contents)) {}

namespace {

const FuncContents &require(const FuncContents &f, const char *what) {
    if (!f.defined())
        throw CompileError(
            fmt::format("Func '{}' has no definition yet: {} needs one.", f.name(), what));
    return f;
}

}  // namespace

const std::string &Func::name() const {
    return contents_->name();
}
bool Func::defined() const {
    return contents_->defined();
}
int Func::dimensions() const {
    return static_cast<int>(require(*contents_, "dimensions()").args.size());
}

std::vector<Var> Func::args() const {
    return {contents_->args.begin(), contents_->args.end()};
}

Expr Func::value() const {
    const FuncContents &f = require(*contents_, "value()");
    if (f.types.size() != 1)
        throw CompileError(f.description() + " has a Tuple of values: use values().");
    return f.stages[0].values[0];
}

Tuple Func::values() const {
    return Tuple(require(*contents_, "values()").stages[0].values);
}
const std::vector<Type> &Func::types() const {
    return require(*contents_, "types()").types;
}

Type Func::type() const {
    if (types().size() != 1)
        throw CompileError(contents_->description() + " has a Tuple of values: use types().");
    return types()[0];
}

int Func::outputs() const {
    return static_cast<int>(types().size());
}

int Func::num_update_definitions() const {
    return defined() ? static_cast<int>(contents_->stages.size()) - 1 : 0;
}

FuncRef Func::operator()(std::vector<Expr> args, SourceLocation where) const {
    return FuncRef(contents_, std::move(args), where);
}

Stage Func::update(int i) const {
    if (i < 0 || i >= num_update_definitions())
        throw CompileError(fmt::format("{} has {} update definitions: there is no update({}).",
                                       contents_->description(), num_update_definitions(), i));
    return Stage(contents_, i + 1);
}

Func::operator Stage() const {
    return Stage(contents_, 0);
}

}  // namespace Pipe
