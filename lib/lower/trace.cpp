#include "lower/trace.h"

#include <algorithm>
#include <map>

#include "graph/extern_stage.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"
#include <pipe/jit.h>

namespace Pipe::lower {

using namespace ir;
using Code = TraceEventCode;

namespace {

/// trace(code, func, tag, parent, value index, coordinates...): the number that the handler
/// answers.
Expr event(Code code, const std::string &func, const std::string &tag, const Expr &parent,
           const std::vector<Expr> &coordinates) {
    std::vector<Expr> args = {int32(static_cast<int64_t>(code)), make_string(func),
                              make_string(tag), parent, int32(0)};
    args.insert(args.end(), coordinates.begin(), coordinates.end());
    return make_call(Int(32), extern_function::trace, std::move(args), CallKind::Extern);
}

/// trace_value(value, code, func, parent, value index, coordinates...) = value
Expr traced_value(Code code, const std::string &func, const Expr &value, const Expr &parent,
                  int index, const std::vector<Expr> &coordinates) {
    std::vector<Expr> args = {value, int32(static_cast<int64_t>(code)), make_string(func), parent,
                              int32(index)};
    args.insert(args.end(), coordinates.begin(), coordinates.end());
    return make_call(value.type(), extern_function::trace_value, std::move(args), CallKind::Extern);
}

bool produces(const Stmt &s, const std::string &name) {
    return s->op == StmtOp::Produce && s->name == name;
}

class Tracer : public GraphMutator {
  public:
    Tracer(const graph::Graph &graph, const schedules::Schedule &schedule) {
        for (const graph::FuncNode &f : graph.funcs) {
            const schedules::Trace &t = schedule[f.id].trace;
            funcs_[f.name] = t;
            any_ |= t.loads || t.stores || t.realizations;
        }
        for (const graph::Image &image : graph.images) {
            funcs_[image.name].loads = image.trace_loads;
            any_ |= image.trace_loads;
        }
    }

    bool any() const { return any_; }

    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        switch (s->op) {
        case StmtOp::Realize:
            return realize(s);
        case StmtOp::Memoize:
            return memoize(s);
        case StmtOp::Produce:
            return produce(s);
        case StmtOp::Provide:
            return provide(s);
        case StmtOp::Block:
            return block(s);
        default:
            return Mutator::mutate(s);
        }
    }

    /// f() between the events `begin` and `end`; inside, the former is the parent.
    template <typename F>
    Stmt between(Code begin, Code end, const std::string &func,
                 const std::vector<Expr> &coordinates, F &&f) {
        Expr id = make_variable(Int(32), func + ".trace." + std::to_string(count_++));
        Expr first = event(begin, func, "", parent_of(func), coordinates);
        parents_[func].push_back(id);
        forget();  // loads have another parent inside
        Stmt body = f();
        parents_[func].pop_back();
        forget();
        Stmt last = make_evaluate(event(end, func, "", id, coordinates));
        return make_let(id->name, first, make_block({body, last}));
    }

    /// The whole pipeline: parent of all that has no other.
    Stmt pipeline(const std::string &name,
                  const std::vector<std::pair<std::string, std::string>> &tags,
                  const std::vector<const graph::FuncNode *> &outputs, const Stmt &s) {
        Expr id = make_variable(Int(32), "pipeline.trace");
        pipeline_ = id;
        std::vector<Stmt> parts;
        for (const auto &[func, tag] : tags)
            parts.push_back(make_evaluate(event(Code::Tag, func, tag, id, {})));
        parts.push_back(output_realizations(outputs, s));
        parts.push_back(make_evaluate(event(Code::EndPipeline, name, "", id, {})));
        return make_let(id->name, event(Code::BeginPipeline, name, "", int32(0), {}),
                        make_block(std::move(parts)));
    }

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = GraphMutator::rewrite(e);
        bool load = now->op == Op::Call &&
                    (now->call_kind == CallKind::Func || now->call_kind == CallKind::Image) &&
                    !graph::is_whole(*now);
        if (!load || !flags(now->name).loads)
            return now;
        return traced_value(Code::Load, now->name, now, parent_of(now->name), now->index,
                            now->args);
    }

  private:
    std::map<std::string, schedules::Trace> funcs_;
    std::map<std::string, std::vector<Expr>> parents_, boxes_;
    Expr pipeline_ = int32(0);
    bool any_ = false;
    int count_ = 0;

    const schedules::Trace &flags(const std::string &name) { return funcs_[name]; }

    Expr parent_of(const std::string &func) {
        const std::vector<Expr> &ids = parents_[func];
        return ids.empty() ? pipeline_ : ids.back();
    }

    Stmt realize(const Stmt &s) {
        if (!flags(s->name).realizations)
            return Mutator::mutate(s);
        std::vector<Expr> outer = boxes_[s->name];
        boxes_[s->name] = s->exprs;
        Stmt body = between(Code::BeginRealization, Code::EndRealization, s->name, s->exprs,
                            [&] { return mutate(s->body()); });
        boxes_[s->name] = outer;
        return with_children(s, s->exprs, {body});
    }

    /// What is found in the cache is realized and consumed, but not produced.
    Stmt memoize(const Stmt &s) {
        if (!flags(s->name).realizations)
            return Mutator::mutate(s);
        std::vector<Expr> outer = boxes_[s->name], box = shape_of_memoize(*s.get());
        boxes_[s->name] = box;
        Stmt result = between(Code::BeginRealization, Code::EndRealization, s->name, box, [&] {
            Stmt production = mutate(s->producer());
            Stmt consumer = between(Code::Consume, Code::EndConsume, s->name, box,
                                    [&] { return mutate(s->consumer()); });
            return with_children(s, s->exprs, {production, consumer});
        });
        boxes_[s->name] = outer;
        return result;
    }

    /// Outputs have storage of the caller's.
    Stmt output_realizations(std::vector<const graph::FuncNode *> outputs, const Stmt &s) {
        if (outputs.empty())
            return mutate(s);
        const graph::FuncNode &f = *outputs.back();
        outputs.pop_back();
        if (!flags(f.name).realizations)
            return output_realizations(outputs, s);
        std::vector<Expr> box;
        for (size_t d = 0; d < f.args.size(); d++)
            for (const char *what : {".min.", ".extent."})
                box.push_back(
                    make_variable(Int(32), graph::buffer_name(f, 0) + what + std::to_string(d)));
        boxes_[f.name] = box;
        return between(Code::BeginRealization, Code::EndRealization, f.name, box,
                       [&] { return output_realizations(outputs, s); });
    }

    Stmt produce(const Stmt &s) {
        if (!flags(s->name).realizations)
            return Mutator::mutate(s);
        return between(Code::Produce, Code::EndProduce, s->name, boxes_[s->name],
                       [&] { return Mutator::mutate(s); });
    }

    /// What follows on the production of a Func, to the end of the block, consumes it.
    Stmt block(const Stmt &s) { return rest_of_block(s->stmts, 0); }

    Stmt rest_of_block(const std::vector<Stmt> &stmts, size_t from) {
        std::vector<Stmt> parts;
        for (size_t i = from; i < stmts.size(); i++) {
            parts.push_back(mutate(stmts[i]));
            const std::string &name = stmts[i]->name;
            if (i + 1 == stmts.size() || !produces(stmts[i], name) || !flags(name).realizations)
                continue;
            bool again = std::any_of(stmts.begin() + static_cast<long>(i) + 1, stmts.end(),
                                     [&](const Stmt &later) { return produces(later, name); });
            if (again)
                continue;
            parts.push_back(between(Code::Consume, Code::EndConsume, name, boxes_[name],
                                    [&] { return rest_of_block(stmts, i + 1); }));
            break;
        }
        return make_block(std::move(parts));
    }

    Stmt provide(const Stmt &s) {
        Stmt now = Mutator::mutate(s);
        if (!flags(s->name).stores)
            return now;
        std::vector<Expr> exprs = now->exprs;
        auto values = static_cast<size_t>(now->num_values);
        std::vector<Expr> coordinates(exprs.begin() + 1 + static_cast<long>(values), exprs.end());
        for (size_t i = 0; i < values; i++)
            exprs[1 + i] = traced_value(Code::Store, s->name, exprs[1 + i], parent_of(s->name),
                                        static_cast<int>(i), coordinates);
        return with_children(now, std::move(exprs), {});
    }
};

/// f applied to what follows on the checks of the arguments.
template <typename F> Stmt after_checks(const Stmt &s, F &&f) {
    if (s->op == StmtOp::Let)
        return make_let(s->name, s->value(), after_checks(s->body(), f));
    if (s->op != StmtOp::Block)
        return f(s);
    std::vector<Stmt> parts;
    size_t i = 0;
    while (i < s->stmts.size() && s->stmts[i]->op == StmtOp::Assert)
        parts.push_back(s->stmts[i++]);
    if (i == s->stmts.size())
        return s;
    Stmt rest = make_block({s->stmts.begin() + static_cast<long>(i), s->stmts.end()});
    bool more_checks = i > 0 && rest->op == StmtOp::Let;
    parts.push_back(more_checks ? after_checks(rest, f) : f(rest));
    return make_block(std::move(parts));
}

}  // namespace

Stmt trace(const Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule,
           const std::string &name, bool trace_pipeline) {
    Tracer tracer(graph, schedule);
    std::vector<std::pair<std::string, std::string>> tags;
    for (const graph::FuncNode &f : graph.funcs)
        for (const std::string &tag : schedule[f.id].trace.tags)
            tags.emplace_back(f.name, tag);
    for (const graph::Image &image : graph.images)
        for (const std::string &tag : image.trace_tags)
            tags.emplace_back(image.name, tag);
    if (!s.defined() || (!tracer.any() && !trace_pipeline && tags.empty()))
        return s;
    std::vector<const graph::FuncNode *> outputs;
    for (FuncId id : graph.outputs)
        outputs.push_back(&graph[id]);
    return after_checks(
        s, [&](const Stmt &body) { return tracer.pipeline(name, tags, outputs, body); });
}

}  // namespace Pipe::lower
