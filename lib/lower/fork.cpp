#include "lower/fork.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using Names = std::set<std::string>;

/// Names of the statements of one kind at and below s.
Names names_of(const Stmt &s, StmtOp op) {
    Names names;
    walk(
        s,
        [&](const Stmt &child) {
            if (child->op == op)
                names.insert(child->name);
            return true;
        },
        [](const Expr &) { return false; });
    return names;
}

/// Keeps what the production of some Funcs does and drops that of all others, with the loops and storage
/// that then have nothing in them.
class Keep : public Mutator {
  public:
    /// `async`: Funcs whose semaphores are waited for.
    Keep(const Names &produced, const Names &async, bool outputs)
        : produced_(produced), async_(async), outputs_(outputs) {}

    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        switch (s->op) {
        case StmtOp::Produce:
            return produce(s);
        case StmtOp::Consume:
            return consume(s);
        case StmtOp::Block:
            return block(s->stmts);
        case StmtOp::Fork:
            return fork(s);
        case StmtOp::Memoize:
            return memoize(s);
        case StmtOp::Let:
        case StmtOp::For:
        case StmtOp::Allocate:  // sums in registers
        case StmtOp::Exclusive:
        case StmtOp::Realize: {
            Stmt body = mutate(s->body());
            return body.defined() ? with_children(s, s->exprs, {body}) : body;
        }
        case StmtOp::If: {
            Stmt t = mutate(s->then_case()),
                 f = s->else_case().defined() ? mutate(s->else_case()) : Stmt();
            if (!t.defined() && !f.defined())
                return Stmt();
            return with_children(s, s->exprs,
                                 {t.defined() ? t : make_evaluate(make_const(Int(32), 0)), f});
        }
        default:
            return (of_.empty() ? outputs_ : produced_.count(of_) > 0) ? s : Stmt();
        }
    }

  private:
    /// Its loops may be those that others are produced in.
    Stmt produce(const Stmt &s) {
        std::string outer = std::exchange(of_, s->name);
        Stmt body = mutate(s->body());
        of_ = outer;
        return body.defined() ? with_children(s, {}, {body}) : body;
    }

    Stmt block(const std::vector<Stmt> &stmts) {
        std::vector<Stmt> kept;
        for (const Stmt &child : stmts)
            kept.push_back(mutate(child));
        return make_block(std::move(kept));
    }

    /// Block{acquire, ..., release}: without them where the task does not read the Func.
    Stmt consume(const Stmt &s) {
        const std::vector<Stmt> &all = s->body()->stmts;
        std::vector<Stmt> ends, inner;
        for (const Stmt &child : all)
            (child->op == StmtOp::Acquire || child->op == StmtOp::Release ? ends : inner)
                .push_back(child);
        Stmt body = block(inner);
        if (!body.defined() || !async_.count(s->name))
            return body;
        std::vector<Stmt> parts{ends.front(), body};
        parts.insert(parts.end(), ends.begin() + 1, ends.end());
        return make_consume(s->name, make_block(std::move(parts)));
    }

    Stmt memoize(const Stmt &s) {
        Stmt production = mutate(s->producer()), consumer = mutate(s->consumer());
        bool kept = production.defined() && consumer.defined();
        return kept ? with_children(s, s->exprs, {production, consumer}) : consumer;
    }

    /// Both halves are still the same.
    Stmt fork(const Stmt &s) {
        Stmt body = mutate(s->producer());
        if (!body.defined() || !produced_.count(s->name))
            return body;
        return make_fork(s->name, s->slots(), body, body);
    }

    const Names &produced_, &async_;
    const bool outputs_;  ///< keeps what belongs to no Func too: tests
    std::string of_;      ///< the Func whose production the statement at hand belongs to
};

class ForkTasks : public Mutator {
  public:
    explicit ForkTasks(const graph::Graph &graph) : graph_(graph) {
        for (const graph::FuncNode &f : graph.funcs) {
            ids_[f.name] = f.id;
        }
    }

    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op != StmtOp::Fork)
            return Mutator::mutate(s);
        const Stmt &all = s->producer();
        Names inside = names_of(all, StmtOp::Produce);
        inside.insert(s->name);
        Names producer = needed_by(s->name, inside), consumer = needed_without(s->name, inside);
        Names stored_inside = names_of(all, StmtOp::Realize),
              async = names_of(all, StmtOp::Consume);
        stored_inside.merge(names_of(all, StmtOp::Memoize));
        for (const std::string &name : producer)
            if (consumer.count(name) && !stored_inside.count(name))
                reject(s->name, name, "computed");
        for (const std::string &name : async)
            if (name != s->name && !stored_inside.count(name) && reads(producer, name) &&
                reads_in_rest(consumer, inside, name))
                reject(s->name, name, "waited for");
        Names for_producer, for_consumer{s->name};
        for (const std::string &name : async) {
            if (name != s->name && reads(producer, name))
                for_producer.insert(name);
            if (reads_in_rest(consumer, inside, name))
                for_consumer.insert(name);
        }
        Stmt first = Keep(producer, for_producer, false).mutate(all);
        Stmt second = Keep(consumer, for_consumer, true).mutate(all);
        return make_fork(s->name, s->slots(), mutate(first), mutate(second));
    }

  private:
    const graph::FuncNode &func(const std::string &name) const { return graph_[ids_.at(name)]; }

    [[noreturn]] void reject(const std::string &task, const std::string &shared,
                             const char *what) const {
        const graph::FuncNode &f = func(task);
        throw CompileError("async: the tasks of " + graph::located_name(f) +
                           " and of its consumers both read " + shared + ", which is " + what +
                           " inside them but stored outside. Compute " + shared +
                           " before (compute_root), or store it where it is computed.");
    }

    /// f, and what of `inside` it needs.
    Names needed_by(const std::string &f, const Names &inside) const {
        Names result{f};
        std::vector<std::string> pending{f};
        while (!pending.empty()) {
            std::string next = pending.back();
            pending.pop_back();
            for (FuncId p : func(next).producers)
                if (const std::string &name = graph_[p].name;
                    inside.count(name) && result.insert(name).second)
                    pending.push_back(name);
        }
        return result;
    }

    /// What of `inside` is needed by more than f, and what only f needs.
    Names needed_without(const std::string &f, const Names &inside) const {
        Names result;
        for (auto node = graph_.funcs.rbegin(); node != graph_.funcs.rend();
             ++node) {  // consumers first
            if (!inside.count(node->name) || node->name == f)
                continue;
            bool needed = node->is_output;
            for (FuncId c : node->consumers) {
                const std::string &name = graph_[c].name;
                needed |= result.count(name) || (name != f && !inside.count(name));
            }
            if (needed)
                result.insert(node->name);
        }
        return result;
    }

    bool reads(const Names &funcs, const std::string &name) const {
        FuncId id = ids_.at(name);
        for (const std::string &f : funcs) {
            const auto &producers = func(f).producers;
            if (std::find(producers.begin(), producers.end(), id) != producers.end())
                return true;
        }
        return false;
    }

    /// Also by what stands around the fork's inner part: stages that are not produced inside.
    bool reads_in_rest(const Names &consumer, const Names &inside, const std::string &name) const {
        if (reads(consumer, name))
            return true;
        for (FuncId c : func(name).consumers)
            if (!inside.count(graph_[c].name))
                return true;
        return false;
    }

    const graph::Graph &graph_;
    std::map<std::string, FuncId> ids_;
};

}  // namespace

Stmt fork_tasks(const Stmt &s, const graph::Graph &graph) {
    return ForkTasks(graph).mutate(s);
}

}  // namespace Pipe::lower
