#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "ir/intrinsics.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include <pipe/func.h>

namespace Pipe {
namespace language {
namespace {

Expr whole(const std::shared_ptr<ImageContents> &image) {
    return ir::make_call(Handle(), image->identity->name, {}, ir::CallKind::Image, 0, image);
}

/// One call of define_extern.
class ExternDefinition {
  public:
    ExternDefinition(FuncContents &func, const std::string &function, SourceLocation where)
        : func_(func), where_(where), given_{ir::make_string(function)} {}

    [[noreturn]] void reject(const std::string &why) const {
        throw CompileError(fmt::format("{}.define_extern(\"{}\"){}: {}", func_field(func_.name()),
                                       given_[0]->name, at(where_), why));
    }

    void check(NameMangling mangling, DeviceAPI device, const std::vector<Type> &types) const {
        if (func_.defined())
            reject("the Func is defined already.");
        if (given_[0]->name.empty())
            reject("the C function needs a name.");
        if (mangling == NameMangling::CPlusPlus)
            reject("C++ name mangling is not supported. Declare the function extern \"C\", or make "
                   "it known by a name of your choice with Pipeline::set_jit_externs.");
        if (device != DeviceAPI::Host && device != DeviceAPI::None)
            reject("C functions run on the host: DeviceAPI::Host.");
        if (types.empty())
            reject("it needs the type of at least one value.");
        for (Type t : types)
            if (!t.defined() || !t.is_scalar() || t.is_handle())
                reject(fmt::format("the values are numbers, not {}.", to_string(t)));
    }

    void add(const ExternFuncArgument &arg) {
        if (arg.is_func())
            return add_func(arg.func());
        if (!arg.expr().defined())
            reject(fmt::format("argument {} is undefined.", number()));
        if (arg.is_expr())
            check_number(arg.expr());
        given_.push_back(arg.expr());
    }

    void define(const std::vector<Type> &types, const std::vector<std::string> &names) {
        std::vector<Expr> vars, values;
        for (const std::string &name : names)
            vars.push_back(Var(name));
        for (size_t i = 0; i < types.size(); i++)
            values.push_back(ir::make_call(types[i], ir::extern_function::extern_definition, given_,
                                           ir::CallKind::Extern, static_cast<int>(i)));
        language::define(func_, vars, values, where_);
    }

  private:
    FuncContents &func_;
    SourceLocation where_;
    std::vector<Expr> given_;

    size_t number() const { return given_.size(); }

    void add_func(const std::shared_ptr<FuncContents> &f) {
        if (!f->defined())
            reject(fmt::format("argument {}, the Func '{}', is not defined yet.", number(),
                               f->name()));
        for (size_t i = 0; i < f->types.size(); i++)
            given_.push_back(
                ir::make_call(Handle(), f->name(), {}, ir::CallKind::Func, static_cast<int>(i), f));
    }

    void check_number(const Expr &e) const {
        if (is_uniform(e))
            return;
        reject(fmt::format("argument {}, {}, depends on coordinates: it may contain only "
                           "Params, sizes of ImageParams and constants. Pass Funcs and images as "
                           "such, without coordinates.",
                           number(), describe(e)));
    }
};

}  // namespace
}  // namespace language

ExternFuncArgument::ExternFuncArgument(const Func &f) : kind_(Kind::Func), func_(f.contents()) {}

ExternFuncArgument::ExternFuncArgument(const ImageParam &image) : kind_(Kind::ImageParam) {
    if (image.defined())
        expr_ = language::whole(image.contents());
}

Expr ExternFuncArgument::whole_buffer(const Buffer<void, AnyDims> &buffer) {
    return buffer.defined() ? language::whole(language::image_of(buffer)) : Expr();
}

ExternFuncArgument user_context_value() {
    return Expr(ir::make_call(Handle(), ir::intrinsic::user_context, {}, ir::CallKind::Intrinsic));
}

void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         const std::vector<Type> &types, const std::vector<Var> &dimensions,
                         NameMangling mangling, DeviceAPI device, SourceLocation where) {
    language::ExternDefinition definition(*contents_, function, where);
    definition.check(mangling, device, types);
    for (const ExternFuncArgument &arg : args)
        definition.add(arg);
    std::vector<std::string> names;
    for (const Var &v : dimensions)
        names.push_back(v.name());
    definition.define(types, names);
}

void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         const std::vector<Type> &types, int dimensions, NameMangling mangling,
                         DeviceAPI device, SourceLocation where) {
    if (dimensions < 0)
        language::ExternDefinition(*contents_, function, where)
            .reject(fmt::format("the number of dimensions is {}.", dimensions));
    std::vector<Var> implicit;
    for (int d = 0; d < dimensions; d++)
        implicit.push_back(Var::implicit(d));
    define_extern(function, args, types, implicit, mangling, device, where);
}

bool Func::is_extern() const {
    return defined() && graph::extern_definition(contents_->stages[0]) != nullptr;
}

const std::string &Func::extern_function_name() const {
    if (!is_extern())
        throw CompileError(contents_->description() + " is not an extern stage.");
    return graph::extern_definition(contents_->stages[0])->args[0]->name;
}

}  // namespace Pipe
