#include "language/wrap.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/loops.h"
#include <pipe/func.h>
#include <pipe/param.h>

namespace Pipe {
namespace language {
namespace {

bool is_for(const Wrapper &w, const FuncContents &reader) {
    return std::count(w.consumers.begin(), w.consumers.end(), reader.identity) > 0;
}

const Wrapper *wrapper_for(const Wrappable &named, const FuncContents &reader) {
    const Wrapper *for_all = nullptr;
    bool is_wrapper = false;  // a wrapper itself reads the wrapped object
    for (const Wrapper &w : named.wrappers) {
        if (is_for(w, reader))
            return &w;
        is_wrapper |= w.func.get() == &reader;
        if (w.consumers.empty())
            for_all = &w;
    }
    return is_wrapper ? nullptr : for_all;
}

/// Collects the names in the definitions of `reader`.
std::vector<std::shared_ptr<const Wrappable>> named_by(const FuncContents &reader) {
    std::vector<std::shared_ptr<const Wrappable>> all(reader.callees.begin(), reader.callees.end());
    all.insert(all.end(), reader.images.begin(), reader.images.end());
    if (auto wrapped = reader.wrapped.lock())
        all.push_back(wrapped);
    return all;
}

std::string names_of(const std::vector<std::shared_ptr<const Identity>> &consumers) {
    std::vector<std::string> names;
    for (const auto &c : consumers)
        names.push_back(c->name);
    return join(names);
}

}  // namespace

std::shared_ptr<const Wrappable> resolve(std::shared_ptr<const Wrappable> named,
                                         const FuncContents &reader) {
    while (const Wrapper *w = wrapper_for(*named, reader))
        named = w->func;
    return named;
}

std::vector<std::shared_ptr<const FuncContents>> callees(const FuncContents &reader) {
    std::vector<std::shared_ptr<const FuncContents>> result;
    for (const auto &named : named_by(reader)) {
        auto func = std::dynamic_pointer_cast<const FuncContents>(resolve(named, reader));
        if (func && std::count(result.begin(), result.end(), func) == 0)
            result.push_back(func);
    }
    return result;
}

void check_wrappers(const FuncContents &reader) {
    for (const auto &weak : reader.promised) {
        auto wrapper = weak.lock();
        auto of = wrapper ? wrapper->origin.of.lock() : nullptr;
        if (!of)
            continue;
        bool used = false;
        for (std::shared_ptr<const Wrappable> named : named_by(reader))
            while (const Wrapper *w = named ? wrapper_for(*named, reader) : nullptr) {
                used |= w->func == wrapper;
                named = w->func;
            }
        if (!used)
            throw CompileError(fmt::format(
                "{}.{}({}){}: {} does not call '{}' itself, so there is nothing to replace. Name a "
                "Func whose definition calls it, or use {}() for all of them.",
                func_field(of->identity->name), wrapper->origin.method,
                names_of(wrapper->origin.consumers), at(wrapper->where), reader.description(),
                of->identity->name, "in"));
    }
}

namespace {

using Consumers = std::vector<Func>;

/// One call of in() or clone_in().
class Wrapping {
  public:
    Wrapping(Wrappable &of, const char *method, const Consumers &consumers, SourceLocation where)
        : of_(of), method_(method), where_(where) {
        for (const Func &f : consumers)
            consumers_.push_back(f.contents()->identity);
        if (std::count(consumers_.begin(), consumers_.end(), of.identity) > 0)
            reject("a Func cannot read a wrapper of itself.");
    }

    /// The wrapper; created by `make` if there is none yet.
    template <typename Make> Func get(const Consumers &consumers, Make &&make) {
        std::shared_ptr<FuncContents> func = existing();
        if (!func) {
            func = make();
            func->identity = Identity::unnamed(name());
            func->where = where_;
            func->origin = {of_.weak_from_this(), method_, consumers_};
            of_.wrappers.push_back({consumers_, func});
            of_.identity->touch();
            for (const Func &f : consumers) {
                f.contents()->promised.push_back(func);
                f.contents()->identity->touch();
            }
        }
        // The handle owns both; the wrapped object owns the wrapper, but not vice versa.
        struct Both {
            std::shared_ptr<const Wrappable> of;
            std::shared_ptr<FuncContents> func;
        };
        auto both = std::make_shared<Both>(Both{of_.shared_from_this(), func});
        return Func(std::shared_ptr<FuncContents>(both, func.get()));
    }

    [[noreturn]] void reject(const std::string &why) const {
        throw CompileError(fmt::format("{}.{}({}){}: {}", func_field(of_.identity->name), method_,
                                       names_of(consumers_), at(where_), why));
    }

  private:
    Wrappable &of_;
    const char *method_;
    SourceLocation where_;
    std::vector<std::shared_ptr<const Identity>> consumers_;

    bool shares_consumers(const Wrapper &w) const {
        if (consumers_.empty())
            return w.consumers.empty();
        return std::any_of(consumers_.begin(), consumers_.end(), [&](const auto &c) {
            return std::count(w.consumers.begin(), w.consumers.end(), c) > 0;
        });
    }

    std::shared_ptr<FuncContents> existing() const {
        for (const Wrapper &w : of_.wrappers) {
            if (!shares_consumers(w))
                continue;
            std::vector<std::shared_ptr<const Identity>> mine = consumers_, its = w.consumers;
            std::sort(mine.begin(), mine.end()), std::sort(its.begin(), its.end());
            if (mine != its || std::string(w.func->origin.method) != method_)
                reject(fmt::format("one of these Funcs already reads the wrapper '{}', made by "
                                   "{}({}){}. A Func can read only one wrapper of another.",
                                   w.func->name(), w.func->origin.method, names_of(w.consumers),
                                   at(w.func->where)));
            return w.func;
        }
        return nullptr;
    }

    std::string name() const {
        std::string result = fmt::format("{}_{}", of_.identity->name, method_);
        for (const auto &c : consumers_)
            result += "_" + c->name;
        return result;
    }
};

/// A Func with the same values as `of`. Its calls have no referent: see FuncContents::wrapped.
std::shared_ptr<FuncContents> identity_of(const Wrappable &of, const std::vector<std::string> &args,
                                          const std::vector<Type> &types, ir::CallKind kind,
                                          SourceLocation where) {
    auto func = std::make_shared<FuncContents>();
    func->wrapped = of.weak_from_this();
    func->args = args;
    func->types = types;
    Stage stage;
    stage.where = where;
    for (const std::string &arg : args)
        stage.args.push_back(Var(arg));
    for (size_t i = 0; i < types.size(); i++)
        stage.values.push_back(
            ir::make_call(types[i], of.identity->name, stage.args, kind, static_cast<int>(i)));
    func->schedule.stages.emplace_back().dims = graph::initial_loops(args, stage);
    func->stages.push_back(std::move(stage));
    return func;
}

}  // namespace
}  // namespace language

using language::FuncContents;
using language::Wrapping;

Func Func::wrap(const char *method, const std::vector<Func> &consumers,
                SourceLocation where) const {
    Wrapping wrapping(*contents_, method, consumers, where);
    if (!defined())
        wrapping.reject("define the Func first.");
    return wrapping.get(consumers, [&] {
        return language::identity_of(*contents_, contents_->args, contents_->types,
                                     ir::CallKind::Func, where);
    });
}

Func Func::in(const Func &consumer, SourceLocation where) const {
    return wrap("in", {consumer}, where);
}

Func Func::in(const std::vector<Func> &consumers, SourceLocation where) const {
    if (consumers.empty())
        throw CompileError(fmt::format("{}.in(){}: the list of Funcs is empty.",
                                       language::func_field(name()), language::at(where)));
    return wrap("in", consumers, where);
}

Func Func::in(SourceLocation where) const {
    return wrap("in", {}, where);
}

Func Func::clone_in(const Func &consumer, SourceLocation where) const {
    return clone_in(std::vector<Func>{consumer}, where);
}

Func Func::clone_in(const std::vector<Func> &consumers, SourceLocation where) const {
    Wrapping wrapping(*contents_, "clone_in", consumers, where);
    if (!defined() || consumers.empty())
        wrapping.reject(defined() ? "the list of Funcs is empty." : "define the Func first.");
    return wrapping.get(consumers, [&] {
        const FuncContents &from = *contents_;
        auto clone = std::make_shared<FuncContents>();
        clone->args = from.args;
        clone->types = from.types;
        clone->stages = from.stages;
        clone->callees = from.callees;
        clone->images = from.images;
        clone->wrapped = from.wrapped;
        clone->schedule = from.schedule;
        clone->schedule_objects = from.schedule_objects;
        return clone;
    });
}

namespace language {
namespace {

std::shared_ptr<FuncContents> identity_of_image(const ImageContents &image, SourceLocation where) {
    std::vector<std::string> args;
    for (int d = 0; d < image.dimensions; d++)
        args.push_back(Var::implicit(d).name());
    return identity_of(image, args, {image.type}, ir::CallKind::Image, where);
}

}  // namespace

std::shared_ptr<FuncContents> copy_of(const Wrappable &of, const FuncContents &reader) {
    const auto *func = dynamic_cast<const FuncContents *>(&of);
    const auto *image = dynamic_cast<const ImageContents *>(&of);
    const SourceLocation where = func ? func->where : image->where;
    std::shared_ptr<FuncContents> copy =
        func ? identity_of(*func, func->args, func->types, ir::CallKind::Func, where)
             : identity_of_image(*image, where);
    copy->identity = Identity::unnamed(of.identity->name + "_in_" + reader.identity->name);
    copy->where = where;
    copy->origin = {
        std::const_pointer_cast<Wrappable>(of.shared_from_this()), "in", {reader.identity}};
    return copy;
}

}  // namespace language

Func language::wrap_image(ImageContents &image, const std::vector<Func> &consumers,
                          SourceLocation where) {
    return Wrapping(image, "in", consumers, where).get(consumers, [&] {
        return identity_of_image(image, where);
    });
}

Func ImageParam::in(const Func &consumer, SourceLocation where) const {
    return language::wrap_image(checked(), {consumer}, where);
}

Func ImageParam::in(const std::vector<Func> &consumers, SourceLocation where) const {
    if (consumers.empty())
        throw CompileError(fmt::format("ImageParam '{}'.in(){}: the list of Funcs is empty.",
                                       language::func_field(name()), language::at(where)));
    return language::wrap_image(checked(), consumers, where);
}

Func ImageParam::in(SourceLocation where) const {
    return language::wrap_image(checked(), {}, where);
}

}  // namespace Pipe
