// Func: its definitions, and queries about them.

#include <pipe/func.h>

#include <algorithm>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "support/text.h"

namespace Pipe {

using language::FuncContents;

Func::Func(SourceLocation where) : Func("", where) {}

Func::Func(const std::string &name, SourceLocation where)
    : Func(language::undefined_func(name.empty() ? language::Identity::unnamed("f")
                                                 : language::Identity::unique(name),
                                    where)) {}

std::shared_ptr<FuncContents> language::undefined_func(std::shared_ptr<Identity> identity,
                                                       SourceLocation where) {
    auto contents = std::make_shared<FuncContents>();
    contents->identity = std::move(identity);
    contents->where = where;
    passed(where);
    return contents;
}

Func::Func(std::shared_ptr<FuncContents> contents) : contents_(std::move(contents)) {}

Func::Func(Type type, int dimensions, const std::string &name, SourceLocation where)
    : Func(std::vector<Type>{type}, dimensions, name, where) {}

Func::Func(const std::vector<Type> &types, int dimensions, const std::string &name,
           SourceLocation where)
    : Func(name, where) {
    for (Type type : types)
        language::require_scalar("Func '" + contents_->name() + "'", type);
    contents_->promised_types = types;
    contents_->promised_dimensions = dimensions;
}

Func::Func(const Expr &value, SourceLocation where) : Func(where) {
    (*this)(std::vector<Expr>{_}, where) = value;
}

namespace {

const FuncContents &require(const FuncContents &f, const char *what) {
    if (!f.defined())
        throw CompileError(fmt::format(
            "{} has no definition yet, which {} needs. Define it first, as in f(x, y) = "
            "x + y.",
            f.description(), what));
    return f;
}

const FuncContents &with_values(const FuncContents &f, const char *what) {
    if (graph::extern_definition(require(f, what).stages[0]))
        throw CompileError(fmt::format("{} is an extern stage: a C function computes it, so it has "
                                       "no {}.",
                                       f.description(), what));
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
    if (!defined() && contents_->promised_dimensions >= 0)
        return contents_->promised_dimensions;
    return static_cast<int>(require(*contents_, "dimensions()").args.size());
}

std::vector<Var> Func::args() const {
    return {contents_->args.begin(), contents_->args.end()};
}

Expr Func::value() const {
    const FuncContents &f = with_values(*contents_, "value()");
    if (f.types.size() != 1)
        throw CompileError(f.description() + " has a Tuple of values: use values().");
    return f.stages[0].values[0];
}

Tuple Func::values() const {
    return Tuple(with_values(*contents_, "values()").stages[0].values);
}
const std::vector<Type> &Func::types() const {
    if (!defined() && !contents_->promised_types.empty())
        return contents_->promised_types;
    return require(*contents_, "types()").types;
}

Type Func::type() const {
    if (types().size() != 1)
        throw CompileError(contents_->description() + " has a Tuple of values: use types().");
    return types()[0];
}

OutputImageParam Func::output_buffer() const {
    std::vector<OutputImageParam> buffers = output_buffers();
    if (buffers.size() != 1)
        throw CompileError(contents_->description() +
                           " has a Tuple of values: use output_buffers(), one per value.");
    return buffers[0];
}

std::vector<OutputImageParam> Func::output_buffers() const {
    const FuncContents &f = *contents_;
    const bool promised = f.promised_dimensions >= 0 && !f.promised_types.empty();
    if (!f.defined() && !promised)
        require(f, "output_buffer()");
    const std::vector<Type> &types = f.defined() ? f.types : f.promised_types;
    for (size_t i = contents_->output_buffers.size(); i < types.size(); i++) {
        auto buffer = std::make_shared<language::ImageContents>();
        buffer->identity = f.identity;  // promises count as changes of the Func
        buffer->where = f.where;
        buffer->type = types[i];
        buffer->dimensions = dimensions();
        buffer->is_output = true;
        buffer->promise.dims.resize(static_cast<size_t>(buffer->dimensions));
        contents_->output_buffers.push_back(buffer);
    }
    return {contents_->output_buffers.begin(), contents_->output_buffers.end()};
}

int Func::outputs() const {
    return static_cast<int>(types().size());
}

int Func::num_update_definitions() const {
    return defined() ? static_cast<int>(contents_->stages.size()) - 1 : 0;
}

namespace {

const graph::Stage &update_of(const FuncContents &f, int i) {
    int updates = static_cast<int>(f.stages.size()) - 1;
    if (i < 0 || i >= updates)
        throw CompileError(fmt::format(
            "{} has {}, numbered from 0: there is no update {}. Pass a smaller number, or "
            "define the update first.",
            f.description(), support::counted(std::max(updates, 0), "update definition"), i));
    return f.stages[static_cast<size_t>(i) + 1];
}

}  // namespace

std::vector<Expr> Func::update_args(int i) const {
    return update_of(*contents_, i).args;
}

Expr Func::update_value(int i) const {
    const graph::Stage &update = update_of(*contents_, i);
    if (update.values.size() != 1)
        throw CompileError(contents_->description() +
                           " has a Tuple of values: use update_values().");
    return update.values[0];
}

Tuple Func::update_values(int i) const {
    return Tuple(update_of(*contents_, i).values);
}

std::vector<RVar> Func::rvars(int i) const {
    std::vector<RVar> result;
    for (const graph::ReductionVar &r : update_of(*contents_, i).rvars)
        result.emplace_back(r.name);
    return result;
}

FuncRef Func::operator()(std::vector<Expr> args, SourceLocation where) const {
    return FuncRef(contents_, std::move(args), where);
}

Stage Func::update(int i) const {
    if (i < 0 || i >= num_update_definitions())
        throw CompileError(fmt::format(
            "{} has {}, numbered from 0: there is no update({}).", contents_->description(),
            support::counted(num_update_definitions(), "update definition"), i));
    return Stage(contents_, i + 1);
}

Func::operator Stage() const {
    return Stage(contents_, 0);
}

}  // namespace Pipe
