#include "graph/schedule_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/directives.h"
#include "graph/names.h"
#include "ir/print.h"
#include "ir/substitute.h"
#include "support/text.h"

namespace Pipe::graph {
namespace {

/// Maps variables of the graph to C++ expressions.
std::map<std::string, Expr> cpp_names(const Graph &graph) {
    std::map<std::string, Expr> names;
    auto add = [&](Type type, const std::string &name, const std::string &text) {
        names[name] = ir::make_variable(type, text);
    };
    for (const Scalar &scalar : graph.scalars)
        add(scalar.type, scalar.name, identifier(scalar.name));
    for (const Image &image : graph.images)
        for (int d = 0; d < image.dimensions; d++)
            for (const char *what : {"min", "extent"})
                add(Int(32), fmt::format("{}.{}.{}", image.name, what, d),
                    fmt::format("{}.dim({}).{}()", identifier(image.name), d, what));
    for (FuncId id : graph.outputs)
        for (size_t i = 0; i < graph[id].types.size(); i++)
            for (size_t d = 0; d < graph[id].args.size(); d++)
                for (const char *what : {"min", "extent"})
                    add(Int(32), fmt::format("{}.{}.{}", buffer_name(graph[id], i), what, d),
                        fmt::format("{}.output_buffers()[{}].dim({}).{}()", graph[id].variable, i,
                                    d, what));
    return names;
}

class Writer {
  public:
    Writer(const Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule), cpp_names_(cpp_names(graph)) {}

    std::string write() {
        for (const Statement &s : directives(graph_, schedule_))
            statement(s);
        for (const FuncNode &f : graph_.funcs)
            wrapper(f);
        std::string text = wrappers_ + declarations() + out_;
        return "{\n" + undeclared(text) + text + "}\n";
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    const std::map<std::string, Expr> cpp_names_;
    std::string out_, wrappers_;
    std::set<std::string> declared_;                // wrappers that are declared
    std::set<std::string> new_loops_;               // names of loops created by transforms
    std::map<std::string, std::string> variables_;  // identifier -> initializer

    /// Declarations for the unnamed Funcs in `text`, by their index in the pipeline before in(),
    /// clone_in() and rfactor() add Funcs.
    std::string undeclared(const std::string &text) const {
        std::string result;
        int place = 0;
        for (const FuncNode &f : graph_.funcs) {
            if (f.is_copy || !f.made_by.empty())
                continue;
            if (!f.is_declared && mentions(text, f.variable))
                result += fmt::format("Func {} = pipeline.get_func({});\n", f.variable, place);
            place++;
        }
        return result;
    }

    static bool mentions(const std::string &text, const std::string &identifier) {
        auto part_of_name = [&](size_t i) {
            return i < text.size() &&
                   (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
        };
        for (size_t at = text.find(identifier); at != std::string::npos;
             at = text.find(identifier, at + 1))
            if (!(at > 0 && part_of_name(at - 1)) && !part_of_name(at + identifier.size()))
                return true;
        return false;
    }

    std::string declarations() const {
        std::string text;
        for (const auto &[variable, value] : variables_)
            text += fmt::format("const auto {} = {};\n", variable, value);
        for (const std::string &name : new_loops_)
            text += fmt::format("Var {0}(\"{0}\");\n", identifier(name));
        return text;
    }

    /// Declares a Func created by in(), clone_in() or rfactor(), after the object that it is made of and those that shall
    /// read it.
    void wrapper(const FuncNode &f) {
        if (f.made_by.empty() || !declared_.insert(f.name).second)
            return;
        for (const FuncNode &of : graph_.funcs)
            if (of.name != f.name && mentions(f.made_by, of.variable))
                wrapper(of);
        wrappers_ += fmt::format("Func {} = {};\n", f.variable, f.made_by);
    }

    std::string text(const Expr &e) const { return ir::to_string(ir::substitute(cpp_names_, e)); }

    std::string stage_name(const FuncNode &f, size_t s) const {
        std::string name = f.variable;
        return s == 0 ? name : fmt::format("{}.update({})", name, s - 1);
    }

    /// The C++ name of a loop: a Var of the definition is given by its position, because it may
    /// have no name.
    std::string loop(const FuncNode &f, size_t s, const std::string &name) {
        auto place = [&](const auto &list, auto &&get) -> int {
            for (size_t i = 0; i < list.size(); i++)
                if (get(list[i]) == name)
                    return static_cast<int>(i);
            return -1;
        };
        int arg = place(f.args, [](const std::string &a) { return a; });
        int rvar = place(f.stages[s].rvars, [](const ReductionVar &r) { return r.name; });
        if (arg < 0 && rvar < 0) {
            new_loops_.insert(name);
            return identifier(name);
        }
        std::string variable = identifier(arg >= 0 ? f.variable + "_" + name
                                                   : fmt::format("{}_{}_{}", f.variable, s, name));
        variables_[variable] = arg >= 0 ? fmt::format("{}.args()[{}]", f.variable, arg)
                                        : fmt::format("{}.loops()[{}]", stage_name(f, s), rvar);
        return variable;
    }

    static std::string quoted(const std::string &text) {
        std::string result = "\"";
        for (char c : text) {
            if (c == '"' || c == '\\')
                result += '\\';
            result += c == '\n' ? std::string("\\n") : std::string(1, c);
        }
        return result + "\"";
    }

    /// As it is passed in C++.
    std::string argument(const Argument &a) {
        switch (a.kind) {
        case Argument::Kind::Loop:
            return a.text == schedules::outermost_loop
                       ? "Var::outermost()"
                       : loop(graph_[a.func], static_cast<size_t>(a.stage), a.text);
        case Argument::Kind::Func:
            return graph_[a.func].variable;
        case Argument::Kind::Stage:
            return a.stage == 0 ? fmt::format("Stage({})", graph_[a.func].variable)
                                : stage_name(graph_[a.func], static_cast<size_t>(a.stage));
        case Argument::Kind::Source:
            return identifier(a.text);
        case Argument::Kind::Number:
            return a.scope.empty() ? text(a.number)
                                   : fmt::format("{}({})", a.scope, text(a.number));
        case Argument::Kind::Word:
            return a.scope + "::" + a.text;
        case Argument::Kind::Text:
            return quoted(a.text);
        case Argument::Kind::Flag:
            return a.flag ? "true" : "false";
        case Argument::Kind::List:
            return fmt::format("{}{{{}}}", a.scope, arguments(a.list));
        }
        return "";
    }

    std::string arguments(const std::vector<Argument> &list) {
        std::vector<std::string> texts;
        for (const Argument &a : list)
            texts.push_back(argument(a));
        return support::join(texts);
    }

    /// The variable that stands for a stage, or for the result of its specialize().
    std::string object(const Statement &s) const {
        const FuncNode &f = graph_[s.func];
        std::string name = s.stage < 0 ? f.variable : stage_name(f, static_cast<size_t>(s.stage));
        for (int i : s.specialized)
            name = special(name, i);
        return name;
    }

    static std::string special(const std::string &stage, int i) {
        return fmt::format("{}_special{}", identifier(stage), i);
    }

    void statement(const Statement &s) {
        const std::string name = object(s);
        const std::string &first = s.directives[0].name;
        if (first == "specialize" || first == "specialize_fail") {
            const std::string call =
                fmt::format("{}.{}({});\n", name, first, arguments(s.directives[0].args));
            out_ += first == "specialize"
                        ? fmt::format("Stage {} = {}", special(name, specializations_[name]), call)
                        : call;
            specializations_[name]++;
            return;
        }
        const bool of_stage = first == "unscheduled" && s.stage == 0 && s.specialized.empty();
        out_ += of_stage ? fmt::format("Stage({})", name) : name;
        for (const Directive &d : s.directives)
            out_ += fmt::format("\n    .{}({})", d.name, arguments(d.args));
        out_ += ";\n";
    }
    std::map<std::string, int> specializations_;  // of a stage, so far
};

}  // namespace

std::string schedule_source(const Graph &graph, const schedules::Schedule &schedule) {
    return Writer(graph, schedule).write();
}

}  // namespace Pipe::graph
