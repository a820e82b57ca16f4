#include "language/portable.h"

#include "language/wrap.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/print.h"
#include "ir/substitute.h"
#include "schedule/print.h"

namespace Pipe::language {
namespace {

const char *const outermost = "Var::outermost()";

std::string portable_rvar(const std::string &name, size_t position) {
    return is_generated(name) ? fmt::format("#r{}", position) : name;
}

/// The position of a loop among the dimensions or RVars; -1 if it is none.
template <typename List, typename Name>
int position(const List &list, const std::string &wanted, Name &&name) {
    for (size_t i = 0; i < list.size(); i++)
        if (name(list[i], i) == wanted)
            return static_cast<int>(i);
    return -1;
}

Argument text_argument(const std::string &text) {
    return {.kind = Argument::Kind::Text, .text = text};
}

using ByVariable = std::map<std::string, std::shared_ptr<const FuncContents>>;

/// The Func that in() would make.
std::shared_ptr<const FuncContents> packed(const FuncNode &copy, const Frozen &frozen,
                                           const ByVariable &by_variable) {
    std::shared_ptr<const Wrappable> of;
    for (size_t i = 0; i < frozen.images.size(); i++)
        if (frozen.graph.images[i].name == copy.packs)
            of = frozen.images[i];
    std::shared_ptr<const FuncContents> reader;
    for (const FuncNode &f : frozen.graph.funcs) {
        if (f.name == copy.packs)
            of = by_variable.at(f.variable);
        if (f.name == copy.packed_for)
            reader = by_variable.at(f.variable);
    }
    return copy_of(*of, *reader);
}

/// Per FuncNode, what it was frozen from; copies stand for their originals.
std::vector<std::shared_ptr<const FuncContents>> contents_of(const std::vector<Func> &outputs,
                                                             const Frozen &frozen) {
    ByVariable by_variable;
    const auto contents = funcs_of(outputs);
    size_t next = 0;
    for (const FuncNode &f : frozen.graph.funcs)
        if (!f.is_copy && f.packs.empty())
            by_variable[f.variable] = contents.at(next++);
    for (const FuncNode &f : frozen.graph.funcs)
        if (!f.packs.empty())
            by_variable[f.variable] = packed(f, frozen, by_variable);
    std::vector<std::shared_ptr<const FuncContents>> result;
    for (const FuncNode &f : frozen.graph.funcs)
        result.push_back(by_variable.at(f.variable));
    return result;
}

/// Converts the statements of one frozen pipeline.
class Porter {
  public:
    Porter(const std::vector<Func> &outputs, const Frozen &frozen)
        : frozen_(frozen), contents_(contents_of(outputs, frozen)), names_(outputs, contents_) {
        name_inputs();
    }

    PortableSchedule run() {
        PortableSchedule result;
        for (const auto &f : names_.made())
            result.made.push_back(names_.how(*f));
        for (const Statement &s : directives(frozen_.graph, frozen_.schedule)) {
            PortableSchedule::Entry entry{name(s.func), s.stage, s.specialized, {}};
            for (const Directive &d : s.directives) {
                entry.directives.push_back({d.name});
                for (const Argument &a : d.args)
                    entry.directives.back().args.push_back(convert(a));
            }
            result.entries.push_back(std::move(entry));
        }
        return result;
    }

  private:
    const Frozen &frozen_;
    const std::vector<std::shared_ptr<const FuncContents>> contents_;  // per FuncNode
    PortableNames names_;
    std::map<std::string, Expr> inputs_;  // by names in the graph

    const FuncContents &contents(FuncId id) const { return *contents_[static_cast<size_t>(id)]; }
    std::string name(FuncId id) const { return names_.name_of(contents(id)); }

    /// The name that the user gave an image; "" for a Buffer.
    std::string given(size_t image) const {
        return frozen_.images[image] ? frozen_.images[image]->identity->given : "";
    }

    void name_inputs() {
        for (size_t i = 0; i < frozen_.scalars.size(); i++)
            if (const std::string &name = frozen_.scalars[i]->identity->given; !name.empty())
                inputs_[frozen_.graph.scalars[i].name] =
                    ir::make_param(frozen_.graph.scalars[i].type, name);
        for (size_t i = 0; i < frozen_.images.size(); i++)
            if (const std::string name = given(i); !name.empty())
                for (int d = 0; d < frozen_.graph.images[i].dimensions; d++)
                    for (const char *what : {"min", "extent"})
                        inputs_[fmt::format("{}.{}.{}", frozen_.graph.images[i].name, what, d)] =
                            ir::make_variable(Int(32), fmt::format("{}.{}.{}", name, what, d));
        for (FuncId id : frozen_.graph.outputs) {
            const FuncNode &f = frozen_.graph[id];
            for (size_t i = 0; i < f.types.size(); i++)
                for (size_t d = 0; d < f.args.size(); d++)
                    for (const char *what : {"min", "extent"})
                        inputs_[fmt::format("{}.{}.{}", graph::buffer_name(f, i), what, d)] =
                            ir::make_variable(
                                Int(32), fmt::format("{}.output.{}.{}.{}", name(id), i, what, d));
        }
    }

    Expr number(const Expr &e) const {
        for (const std::string &name : ir::free_vars(e))
            if (!inputs_.count(name))
                throw CompileError(fmt::format(
                    "The schedule contains {}, which refers to a Param or an image without a name, "
                    "so that it cannot be stored. Give it a name, as in Param<int> n(\"n\").",
                    ir::to_string(e)));
        return ir::substitute(inputs_, e);
    }

    /// The name of a Func or an image.
    std::string source(const std::string &name_in_graph) const {
        for (const FuncNode &f : frozen_.graph.funcs)
            if (f.name == name_in_graph)
                return name(f.id);
        for (size_t i = 0; i < frozen_.images.size(); i++)
            if (frozen_.graph.images[i].name == name_in_graph)
                return given(i);
        return name_in_graph;
    }

    /// A loop of the frozen graph by the name that it has in the Func.
    std::string loop(const Argument &a) {
        if (a.text == schedules::outermost_loop)
            return outermost;
        const FuncNode &node = frozen_.graph[a.func];
        const FuncContents &func = contents(a.func);
        const auto stage = static_cast<size_t>(a.stage);
        const int dim = position(node.args, a.text, [](const auto &arg, size_t) { return arg; });
        if (dim >= 0)
            return names_.loop(func, stage, func.args[static_cast<size_t>(dim)]);
        const int rvar = position(node.stages[stage].rvars, a.text,
                                  [](const ReductionVar &r, size_t) { return r.name; });
        if (rvar >= 0)
            return names_.loop(func, stage,
                               func.stages[stage].rvars[static_cast<size_t>(rvar)].name);
        return names_.loop(func, stage, a.text);
    }

    Argument convert(const Argument &a) {
        switch (a.kind) {
        case Argument::Kind::Loop:
            return text_argument(loop(a));
        case Argument::Kind::Func:
            return text_argument(name(a.func));
        case Argument::Kind::Stage:
            return {.kind = a.kind, .text = name(a.func), .stage = a.stage};
        case Argument::Kind::Source:
            return text_argument(source(a.text));
        case Argument::Kind::Number:
            return {.kind = a.kind, .number = number(a.number)};
        case Argument::Kind::Word:
        case Argument::Kind::Text:
            return text_argument(a.text);
        case Argument::Kind::Flag:
            return a;
        case Argument::Kind::List:
            break;
        }
        Argument list{.kind = a.kind};
        for (const Argument &element : a.list)
            list.list.push_back(convert(element));
        return list;
    }
};

std::string argument_text(const Argument &a) {
    switch (a.kind) {
    case Argument::Kind::Number:
        return ir::to_string(a.number);
    case Argument::Kind::Flag:
        return a.flag ? "true" : "false";
    case Argument::Kind::Stage:
        return fmt::format("{}, stage {}", a.text, a.stage);
    case Argument::Kind::List: {
        std::vector<std::string> texts;
        for (const Argument &element : a.list)
            texts.push_back(argument_text(element));
        return "{" + join(texts) + "}";
    }
    default:
        return a.text;
    }
}

}  // namespace

PortableNames::PortableNames(const std::vector<Func> &outputs)
    : PortableNames(outputs, funcs_of(outputs)) {}

PortableNames::PortableNames(const std::vector<Func> &outputs,
                             const std::vector<std::shared_ptr<const FuncContents>> &funcs)
    : algorithm_(algorithm_of(outputs)) {
    for (size_t i = 0; i < algorithm_.funcs.size(); i++) {
        auto func = std::const_pointer_cast<FuncContents>(algorithm_.contents[i]);
        funcs_[algorithm_.funcs[i].name] = func;
        names_[func.get()] = algorithm_.funcs[i].name;
    }
    // The others were made of objects that come before them, or of each other.
    std::vector<std::shared_ptr<const FuncContents>> rest;
    auto meet = [&](const std::shared_ptr<const FuncContents> &f) {
        if (f && !names_.count(f.get()) && std::count(rest.begin(), rest.end(), f) == 0)
            rest.push_back(f);
    };
    for (const auto &f : funcs)
        meet(f);
    // One that nobody reads any more, because of its clone.
    for (size_t i = 0; i < rest.size(); i++)
        meet(std::dynamic_pointer_cast<const FuncContents>(rest[i]->origin.of.lock()));
    auto is_ready = [&](const auto &f) {  // what its name contains has a name
        auto of = f->origin.of.lock();
        return std::none_of(rest.begin(), rest.end(), [&](const auto &other) {
            return other == of || std::count(f->origin.consumers.begin(), f->origin.consumers.end(),
                                             other->identity) > 0;
        });
    };
    while (!rest.empty()) {
        auto next = std::find_if(rest.begin(), rest.end(), is_ready);
        if (next == rest.end())
            throw InternalError("Funcs added by in() are made of each other");
        add(std::const_pointer_cast<FuncContents>(*next));
        rest.erase(next);
    }
}

void PortableNames::add(const std::shared_ptr<FuncContents> &func) {
    const std::string name = name_made(*func);
    funcs_[name] = func;
    names_[func.get()] = name;
    made_.push_back(func);
}

std::shared_ptr<FuncContents> PortableNames::find(const std::string &name) const {
    auto found = funcs_.find(name);
    return found == funcs_.end() ? nullptr : found->second;
}

std::string PortableNames::name_of(const FuncContents &func) const {
    auto found = names_.find(&func);
    return found == names_.end() ? "" : found->second;
}

std::string PortableNames::name_of(const Wrappable &object) const {
    auto func = dynamic_cast<const FuncContents *>(&object);
    if (!func && object.identity->given.empty())
        throw CompileError("The schedule contains in() of an ImageParam without a name, so that it "
                           "cannot be stored. Give it a name.");
    return func ? name_of(*func) : object.identity->given;
}

PortableSchedule::DerivedFunc PortableNames::how(const FuncContents &func) const {
    PortableSchedule::DerivedFunc made{name_of(func), func.origin.method, "", {}, 0, {}, {}};
    if (auto of = func.origin.of.lock())
        made.of = name_of(*of);
    for (const auto &consumer : func.origin.consumers) {
        auto named = std::find_if(names_.begin(), names_.end(),
                                  [&](const auto &n) { return n.first->identity == consumer; });
        made.consumers.push_back(named == names_.end() ? consumer->given : named->second);
    }
    if (!func.origin.factored)
        return made;
    const RFactor &factored = *func.origin.factored;
    made.stage = factored.stage;
    auto loop = [&](const std::string &name) {
        const int rvar = position(factored.before.rvars, name,
                                  [](const ReductionVar &r, size_t) { return r.name; });
        return rvar < 0 ? name : portable_rvar(name, static_cast<size_t>(rvar));
    };
    auto texts = [&](std::initializer_list<std::string> names) {
        std::vector<Argument> args;
        for (const std::string &name : names)
            args.push_back(text_argument(loop(name)));
        return args;
    };
    for (const schedules::Transform &t : factored.loops.transforms) {
        if (t.kind == schedules::Transform::Kind::Fuse) {
            made.before.push_back({"fuse", texts({t.inner, t.outer, t.old_name})});
        } else if (t.kind == schedules::Transform::Kind::Rename) {
            made.before.push_back({"rename", texts({t.old_name, t.outer})});
        } else {
            made.before.push_back({"split", texts({t.old_name, t.outer, t.inner})});
            made.before.back().args.push_back({.kind = Argument::Kind::Number, .number = t.factor});
            made.before.back().args.push_back(text_argument(schedules::to_string(t.tail)));
        }
    }
    for (const auto &[r, v] : factored.preserved)
        made.preserved.emplace_back(loop(r), v);
    return made;
}

std::string PortableNames::name_made(const FuncContents &func) const {
    const PortableSchedule::DerivedFunc made = how(func);
    if (!func.origin.factored)
        return fmt::format("{}.{}({})", made.of, made.method, join(made.consumers));
    std::vector<std::string> loops;
    for (const auto &[r, v] : made.preserved)
        loops.push_back(r);
    return fmt::format("{}.update({}).rfactor({})", made.of, made.stage - 1, join(loops));
}

std::string PortableNames::loop(const FuncContents &func, size_t stage, const std::string &name) {
    const int dim = position(func.args, name, [](const std::string &arg, size_t) { return arg; });
    if (dim >= 0)
        return portable_name(name, static_cast<size_t>(dim));
    const int rvar = position(func.stages[stage].rvars, name,
                              [](const ReductionVar &r, size_t) { return r.name; });
    if (rvar >= 0)
        return portable_rvar(name, static_cast<size_t>(rvar));
    if (!is_generated(name))
        return name;
    std::string &known = new_loops_[{&func, name}];
    if (known.empty())
        known = fmt::format("#loop{}", new_loop_count_[&func]++);
    return known;
}

std::string PortableNames::find_loop(const FuncContents &func, size_t stage,
                                     const std::string &name) {
    if (name == outermost)
        return schedules::outermost_loop;
    const int dim = position(func.args, name, portable_name);
    if (dim >= 0)
        return func.args[static_cast<size_t>(dim)];
    const auto &rvars = func.stages[stage].rvars;
    const int rvar = position(
        rvars, name, [](const ReductionVar &r, size_t i) { return portable_rvar(r.name, i); });
    return rvar >= 0 ? rvars[static_cast<size_t>(rvar)].name : name;
}

PortableSchedule portable(const std::vector<Func> &outputs, const Frozen &frozen) {
    return Porter(outputs, frozen).run();
}

std::string to_string(const Directive &directive) {
    std::vector<std::string> args;
    for (const Argument &a : directive.args)
        args.push_back(argument_text(a));
    return fmt::format("{}({})", directive.name, join(args));
}

}  // namespace Pipe::language
