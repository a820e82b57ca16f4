#include "graph/pack.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/loops.h"
#include "graph/names.h"
#include "graph/renumber.h"
#include "ir/int32.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

/// The names of the source, as in the graph and in C++.
struct Source {
    std::string name, variable;
    std::vector<std::string> args;
    std::vector<Type> types;
    SourceLocation where{};
};

Source source_of(const Graph &graph, const Packing &p) {
    if (p.image < 0) {
        const FuncNode &f = graph[p.func];
        return {f.name, f.variable, f.args, f.types, f.where};
    }
    const Image &image = graph.images[static_cast<size_t>(p.image)];
    Source source{image.name, identifier(image.name), {}, {image.type}, image.where};
    for (int d = 0; d < image.dimensions; d++)  // as Var::implicit()
        source.args.push_back(fmt::format("_{}", d));
    return source;
}

Expr call(const Source &source, size_t value, std::vector<Expr> args, ir::CallKind kind,
          FuncId id) {
    auto *node = new ir::ExprNode(ir::Op::Call, source.types[value]);
    node->call_kind = kind;
    node->index = static_cast<int>(value);
    node->int_value = static_cast<int64_t>(id);
    node->args = std::move(args);
    node->name = source.name;
    return Expr(node);
}

bool is_taken(const Graph &graph, const std::string &name) {
    return std::any_of(graph.funcs.begin(), graph.funcs.end(),
                       [&](const FuncNode &f) { return f.name == name || f.variable == name; }) ||
           std::any_of(graph.images.begin(), graph.images.end(),
                       [&](const Image &i) { return i.name == name; });
}

/// Reads the copy where a definition reads the source.
class ReadCopy : public ir::GraphMutator {
  public:
    ReadCopy(const Packing &packing, std::string source, Source copy, FuncId id)
        : packing_(packing), source_(std::move(source)), copy_(std::move(copy)), id_(id) {}

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = ir::GraphMutator::rewrite(e);
        const ir::CallKind kind = packing_.image < 0 ? ir::CallKind::Func : ir::CallKind::Image;
        if (now->op != ir::Op::Call || now->call_kind != kind || now->name != source_)
            return now;
        return call(copy_, static_cast<size_t>(now->index), now->args, ir::CallKind::Func, id_);
    }

  private:
    const Packing &packing_;
    const std::string source_;
    const Source copy_;
    const FuncId id_;
};

schedules::FuncSchedule schedule_of(const FuncNode &copy, const Packing &p) {
    schedules::FuncSchedule f;
    f.compute = f.store = p.level;
    for (int d : p.storage_order)
        f.storage_order.push_back(copy.args[static_cast<size_t>(d)]);
    if (std::is_sorted(p.storage_order.begin(), p.storage_order.end()))
        f.storage_order.clear();
    if (p.row > 0)
        f.storage_dims.push_back({copy.args[static_cast<size_t>(p.storage_order[0])],
                                  ir::int32(static_cast<int32_t>(p.row)),
                                  {}});
    schedules::StageSchedule &stage = f.stages.emplace_back();
    stage.dims = initial_loops(copy.args, copy.stages[0]);
    if (p.lanes > 1) {
        const std::string x = stage.dims[0].name;
        stage.transforms.push_back({schedules::Transform::Kind::Split, x, x + "_w", x + "_v",
                                    ir::int32(static_cast<int32_t>(p.lanes)),
                                    TailStrategy::GuardWithIf});
        stage.dims[0].name = x + "_w";
        stage.dims.insert(stage.dims.begin(), {x + "_v", LoopKind::Vectorized, false});
    }
    return f;
}

/// The Func that in() would create; its calls are not in the graph yet.
FuncNode copy_in(const Graph &graph, const Packing &p) {
    const Source source = source_of(graph, p);
    const FuncNode &reader = graph[p.reader];
    FuncNode copy;
    copy.name = fmt::format("{}_in_{}", source.name, reader.name);
    copy.variable = fmt::format("{}_in_{}", source.variable, reader.variable);
    while (is_taken(graph, copy.name) || is_taken(graph, copy.variable))
        copy.name += "_", copy.variable += "_";
    copy.args = source.args;
    copy.types = source.types;
    copy.where = source.where;
    copy.made_by = fmt::format("{}.in({})", source.variable, reader.variable);
    copy.packs = source.name;
    copy.packed_for = reader.name;
    Stage &stage = copy.stages.emplace_back();
    stage.where = source.where;
    for (const std::string &arg : source.args)
        stage.args.push_back(ir::make_variable(Int(32), arg));
    const ir::CallKind kind = p.image < 0 ? ir::CallKind::Func : ir::CallKind::Image;
    for (size_t i = 0; i < source.types.size(); i++)
        stage.values.push_back(call(source, i, stage.args, kind, p.func));
    return copy;
}

}  // namespace

void pack(Graph &graph, schedules::Schedule &schedule, const std::vector<Packing> &packings) {
    if (packings.empty())
        return;
    const size_t given = graph.funcs.size();
    for (const Packing &p : packings) {
        FuncNode copy = copy_in(graph, p);
        copy.id = static_cast<FuncId>(graph.funcs.size());
        ReadCopy read(p, source_of(graph, p).name, {copy.name, "", copy.args, copy.types}, copy.id);
        for (Stage &stage : graph.funcs[static_cast<size_t>(p.reader)].stages)
            for_each_expr(stage, [&](Expr &e) { e = read.mutate(e); });
        schedule.funcs.push_back(schedule_of(copy, p));
        graph.funcs.push_back(std::move(copy));
    }
    std::vector<size_t> order;
    for (size_t f = 0; f < given; f++) {
        for (size_t i = 0; i < packings.size(); i++)
            if (static_cast<size_t>(packings[i].reader) == f)
                order.push_back(given + i);
        order.push_back(f);
    }
    renumber(graph, schedule, order);
    connect(graph, [](const FuncNode &) { return true; });
}

}  // namespace Pipe::graph
