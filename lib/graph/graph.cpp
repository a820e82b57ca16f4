#include "graph/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "graph/names.h"
#include "graph/walk.h"
#include "ir/print.h"
#include "support/error_text.h"

namespace Pipe::graph {

using support::Field;

std::string description(const Graph &graph) {
    std::vector<std::string> names;
    for (FuncId id : graph.outputs)
        names.push_back(graph[id].name);
    SourceLocation where = graph[graph.outputs[0]].where;
    std::string place = to_string(where);
    if (!place.empty())
        place = " (" + support::marked(Field::NearPlace, place) + ")";
    return fmt::format("Pipeline {}{}", fmt::join(names, ", "), place);
}

std::string located_name(const FuncNode &f, size_t stage) {
    return support::marked(Field::Func, definition_name(f, stage)) +
           support::in_parentheses(f.stages[stage].where);
}

std::string located_name(const FuncNode &f) {
    return support::marked(Field::Func, f.name) + support::in_parentheses(f.where);
}

std::string located_name(const Image &image) {
    const bool named = image.bound.defined() ? !image.bound.name().empty() : image.is_named;
    const std::string name = support::marked(Field::Func, image.name);
    if (named || !image.where.known())
        return name;
    // The place of an error is that of the definition that reads the image.
    return name + " (" + support::marked(Field::NearPlace, to_string(image.where)) + ")";
}

std::string definition_name(const FuncNode &f, size_t stage) {
    return stage == 0 ? f.name : fmt::format("{}.update({})", f.name, stage - 1);
}

void reject_directive(const FuncNode &f, size_t stage, const std::string &directive,
                      const std::string &why) {
    throw CompileError(fmt::format("{}.{}{}: {}",
                                   support::marked(Field::Func, definition_name(f, stage)),
                                   directive, support::in_parentheses(f.stages[stage].where), why));
}

std::vector<FuncId> funcs_read(const Stage &stage, FuncId self) {
    std::set<FuncId> found;
    Walk walk;
    auto visit = [&](const ir::ExprNode &node) {
        if (node.op == ir::Op::Call && node.call_kind == ir::CallKind::Func)
            found.insert(static_cast<FuncId>(node.int_value));
    };
    for_each_expr(stage, [&](const Expr &e) { walk(e, visit); });
    found.erase(self);
    return {found.begin(), found.end()};
}

void connect(Graph &graph, const std::function<bool(const FuncNode &)> &counts) {
    for (FuncNode &f : graph.funcs)
        f.producers.clear(), f.consumers.clear();
    // Consumers first: a Func that is no longer read reads nothing.
    for (auto f = graph.funcs.rbegin(); f != graph.funcs.rend(); ++f) {
        if (!counts(*f) || (!f->is_output && f->consumers.empty()))
            continue;
        for (const Stage &stage : f->stages) {
            std::vector<FuncId> read = funcs_read(stage, f->id);
            f->producers.insert(f->producers.end(), read.begin(), read.end());
        }
        std::sort(f->producers.begin(), f->producers.end());
        f->producers.erase(std::unique(f->producers.begin(), f->producers.end()),
                           f->producers.end());
        for (FuncId p : f->producers)
            graph.funcs[static_cast<size_t>(p)].consumers.push_back(f->id);
    }
    for (FuncNode &f : graph.funcs)
        std::reverse(f.consumers.begin(), f.consumers.end());
}

namespace {

class Verifier {
  public:
    explicit Verifier(const Graph &graph) : graph_(graph) {}

    void verify() {
        for (size_t i = 0; i < graph_.funcs.size(); i++) {
            const FuncNode &f = graph_.funcs[i];
            check(f.id == static_cast<FuncId>(i), f, "id is not its index");
            take_name(f.name);
            check(!f.stages.empty(), f, "no definition");
            for (FuncId p : f.producers)
                check(p < f.id, f, "producer after consumer");
            for (size_t s = 0; s < f.stages.size(); s++)
                verify_stage(f, s);
        }
        for (const Image &image : graph_.images)
            take_name(image.name);
        for (const Scalar &scalar : graph_.scalars)
            take_name(scalar.name);
        for (FuncId id : graph_.outputs)
            if (!graph_[id].is_output)
                throw InternalError("output is not marked");
    }

  private:
    const Graph &graph_;
    const std::set<std::string> shapes_ = shape_names(graph_);
    std::set<std::string> names_;

    static void check(bool condition, const FuncNode &f, const std::string &what) {
        if (!condition)
            throw InternalError("malformed graph: Func '" + f.name + "': " + what);
    }

    void take_name(const std::string &name) {
        if (!names_.insert(name).second)
            throw InternalError("malformed graph: two things named " + name);
    }

    void verify_stage(const FuncNode &f, size_t s) {
        const Stage &stage = f.stages[s];
        check(stage.args.size() == f.args.size(), f, "number of arguments");
        check(stage.values.size() == f.types.size(), f, "number of values");
        for (size_t i = 0; i < stage.values.size(); i++)
            check(stage.values[i].type() == f.types[i], f, "type of a value");
        std::set<std::string> vars(f.args.begin(), f.args.end());
        for (const ReductionVar &r : stage.rvars)
            check(vars.insert(r.name).second, f, "RVar's name taken");
        for (const Scalar &scalar : graph_.scalars)
            vars.insert(scalar.name);
        Walk walk;
        auto visit = [&](const ir::ExprNode &node) {
            check(!node.referent, f, "a referent is left");
            if (node.op == ir::Op::Variable)
                check(vars.count(node.name) + shapes_.count(node.name) > 0, f,
                      "free variable " + node.name);
            if (node.op == ir::Op::Call)
                verify_call(f, s, node);
        };
        for_each_expr(stage, [&](const Expr &e) { walk(e, visit); });
    }

    void verify_call(const FuncNode &f, size_t stage, const ir::ExprNode &call) {
        if (call.call_kind == ir::CallKind::Image) {
            auto named = [&](const Image &image) { return image.name == call.name; };
            auto image = std::find_if(graph_.images.begin(), graph_.images.end(), named);
            check(image != graph_.images.end(), f, "unknown image " + call.name);
            check(is_whole(call) || call.args.size() == static_cast<size_t>(image->dimensions), f,
                  "arity of " + call.name);
        } else if (call.call_kind == ir::CallKind::Func) {
            check(call.int_value >= 0 && call.int_value < static_cast<int64_t>(graph_.funcs.size()),
                  f, "FuncId");
            const FuncNode &callee = graph_.funcs[static_cast<size_t>(call.int_value)];
            check(callee.name == call.name, f, "name of " + call.name);
            check(callee.id < f.id || (callee.id == f.id && stage > 0), f,
                  "reads " + call.name + " too early");
            check(call.index >= 0 && call.index < static_cast<int>(callee.types.size()), f,
                  "value of " + call.name);
            check(is_whole(call) || call.args.size() == callee.args.size(), f,
                  "arity of " + call.name);
            check(is_whole(call) || callee.types[static_cast<size_t>(call.index)] == call.type, f,
                  "type of " + call.name);
        }
    }
};

std::string text(const std::vector<Expr> &list) {
    std::vector<std::string> parts;
    for (const Expr &e : list)
        parts.push_back(ir::to_string(e));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string text(const FuncNode &f, const Stage &stage) {
    std::string line = fmt::format("  {}({}) = {}", f.name, text(stage.args), text(stage.values));
    for (const ReductionVar &r : stage.rvars)
        line +=
            fmt::format("  {} in [{}, +{})", r.name, ir::to_string(r.min), ir::to_string(r.extent));
    if (stage.predicate.defined())
        line += "  where " + ir::to_string(stage.predicate);
    return line + "\n";
}

}  // namespace

void verify(const Graph &graph) {
    Verifier(graph).verify();
}

std::string to_string(const Graph &graph) {
    std::string out;
    for (const Image &image : graph.images)
        out += fmt::format("image {}: {} dimensions of {}\n", image.name, image.dimensions,
                           to_string(image.type));
    for (const Scalar &scalar : graph.scalars)
        out += fmt::format("scalar {}: {}\n", scalar.name, to_string(scalar.type));
    for (const Requirement &r : graph.requirements)
        out += fmt::format("require {}\n", ir::to_string(r.condition));
    for (const FuncNode &f : graph.funcs) {
        std::vector<std::string> types;
        for (Type t : f.types)
            types.push_back(to_string(t));
        out += fmt::format("{} {}: {}\n", f.is_output ? "output" : "func", f.name,
                           fmt::join(types, ", "));
        for (const Stage &stage : f.stages)
            out += text(f, stage);
    }
    return out;
}

}  // namespace Pipe::graph
