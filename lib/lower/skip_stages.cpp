#include "lower/skip_stages.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/reads.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// What a statement reads and writes of the Funcs that are stored outside.
struct StorageUses {
    Conditions sometimes;       ///< reads under a condition
    std::set<std::string> any;  ///< the other reads
    std::set<std::string> written;
    double work = 0;  ///< nodes that are computed

    void read(Conditions reads) {
        for (auto &[name, when] : reads)
            if (is_always(when))
                any.insert(name);
            else
                add_reads(sometimes, {{name, when}});
    }
    void add(StorageUses other) {
        add_reads(sometimes, std::move(other.sometimes));
        auto insert = [](std::set<std::string> &to, const std::string &name) { to.insert(name); };
        merge_into(any, std::move(other.any), insert);
        merge_into(written, std::move(other.written), insert);
        work += other.work;
    }
    /// Everything is read under one more condition.
    void under(const Expr &condition) {
        restrict_to(condition, sometimes);
        Expr alone = guarded(condition, always());
        if (is_always(alone))
            return;
        for (const std::string &name : std::exchange(any, {}))
            add_reads(sometimes, {{name, alone}});
    }
    /// Changes all conditions.
    template <typename F> void change(const F &f) {
        for (auto it = sometimes.begin(); it != sometimes.end();) {
            it->second = f(it->second);
            if (is_always(it->second)) {
                any.insert(it->first);
                it = sometimes.erase(it);
            } else {
                ++it;
            }
        }
    }
    void forget(const std::string &func) {
        sometimes.erase(func);
        any.erase(func);
    }
};

constexpr const char *used_suffix = ".used";
std::string used_name(const std::string &func) {
    return func + used_suffix;
}

class FindUses {
  public:
    explicit FindUses(const graph::Graph &graph, const schedules::Schedule &schedule) {
        for (const graph::FuncNode &f : graph.funcs)
            if (!f.is_output && !schedule[f.id].async)
                candidates_.insert(f.name);
    }

    StorageUses visit(const Stmt &s) {
        if (!s.defined())
            return {};
        switch (s->op) {
        case StmtOp::Provide:
            return provide(*s.get());
        case StmtOp::If:
            return branch(*s.get());
        case StmtOp::For:
            return loop(*s.get());
        case StmtOp::Let:
            return let(*s.get());
        case StmtOp::Produce:
            return produce(*s.get());
        case StmtOp::Realize:
        case StmtOp::Memoize:
            return storage(*s.get());
        default:
            break;
        }
        StorageUses found = expressions(*s.get());
        constexpr double c_function = 1000;
        if (s->op == StmtOp::Evaluate && is_call(s->value()))
            found.work = c_function;
        for (size_t i = 0; i < s->stmts.size(); i++)
            if (i == 0 || !s->stmts[i].same_as(s->stmts[0]))
                found.add(visit(s->stmts[i]));
        return found;
    }

    /// The conditions that are worth a test, by the Func's name. They may name those of storage
    /// around.
    std::map<std::string, Expr> used() const {
        std::map<std::string, Expr> result;
        for (auto it = conditions_.rbegin(); it != conditions_.rend(); ++it) {
            std::map<std::string, Expr> others;
            for (const std::string &name : free_vars(it->second))
                if (variables_.count(name) &&
                    !result.count(name.substr(0, name.size() - std::strlen(used_suffix))))
                    others[name] = always();
            Expr condition = others.empty() ? it->second : simplify(substitute(others, it->second));
            if (!is_always(condition))
                result[it->first] = condition;
        }
        return result;
    }

  private:
    static bool is_call(const Expr &e) {
        return e->op == Op::Call && e->call_kind == CallKind::Extern;
    }

    StorageUses expressions(const StmtNode &s) {
        StorageUses found;
        for (const Expr &e : s.exprs)
            found.read(reads_of(e));
        return found;
    }

    StorageUses provide(const StmtNode &s) {
        StorageUses found = expressions(s);
        found.forget(s.name);
        found.written.insert(s.name);
        for (const Expr &e : s.exprs)
            if (e.defined())
                found.work += cost(e);
        return found;
    }

    StorageUses branch(const StmtNode &s) {
        StorageUses found = expressions(s), then = visit(s.then_case()),
                    otherwise = visit(s.else_case());
        then.under(s.condition());
        otherwise.under(make_not(s.condition()));
        found.add(std::move(then));
        found.add(std::move(otherwise));
        return found;
    }

    StorageUses loop(const StmtNode &s) {
        bool lanes = s.kind == LoopKind::Vectorized;
        vectorized_ += lanes;
        StorageUses found = visit(s.body());
        vectorized_ -= lanes;
        found.change([&](const Expr &when) { return without_variable(when, s.name); });
        int64_t extent = 0;
        bool known = as_const_int(s.extent(), &extent);
        if (!known || extent < 1) {
            Expr runs = make_binary(Op::GT, s.extent(), make_int(s.extent().type(), 0));
            found.change([&](const Expr &when) {
                return loads_or_calls(when) ? guarded(runs, when) : when;
            });
        }
        constexpr double some = 16;
        found.work *= known ? static_cast<double>(std::max<int64_t>(extent, 0)) : some;
        found.add(expressions(s));
        return found;
    }

    StorageUses let(const StmtNode &s) {
        StorageUses found = visit(s.body());
        found.change([&](const Expr &when) {
            return uses_var(when, s.name) ? limited(substitute(s.name, s.value(), when)) : when;
        });
        found.add(expressions(s));
        return found;
    }

    StorageUses produce(const StmtNode &s) {
        StorageUses found = visit(s.body());
        found.forget(s.name);
        bool alone = std::all_of(found.written.begin(), found.written.end(),
                                 [&](const std::string &name) { return name == s.name; });
        found.written.insert(s.name);  // an extern stage has no Provide
        if (vectorized_ > 0 || !alone)
            candidates_.erase(s.name);
        work_[s.name] += found.work;
        if (candidates_.count(s.name)) {
            variables_.insert(used_name(s.name));
            found.under(make_variable(Bool(), used_name(s.name)));
        }
        return found;
    }

    StorageUses storage(const StmtNode &s) {
        StorageUses found;
        for (const Stmt &part : s.stmts)
            found.add(visit(part));
        const std::string used_here = used_name(s.name);
        Expr condition = condition_of(s.name, found);
        if (!is_always(condition))
            conditions_.emplace_back(s.name, condition);
        found.change([&](const Expr &when) {
            Expr now =
                uses_var(when, used_here) ? simplify(substitute(used_here, condition, when)) : when;
            return weakened(now, [&](const ExprNode &n) {
                return n.op == Op::Call && n.call_kind == CallKind::Func && n.name == s.name;
            });
        });
        found.forget(s.name);
        found.written.erase(s.name);
        found.add(expressions(s));
        return found;
    }

    /// When the Func is used, if that is worth a test; else always.
    Expr condition_of(const std::string &name, const StorageUses &found) {
        auto when = found.sometimes.find(name);
        if (vectorized_ > 0 || !candidates_.count(name) || found.any.count(name) ||
            when == found.sometimes.end())
            return always();
        Expr condition = weakened(when->second, [&](const ExprNode &n) {
            return n.op == Op::Call && n.call_kind == CallKind::Func && found.written.count(n.name);
        });
        condition = simplify(condition);
        return cost(condition) > work_[name] ? always() : condition;
    }

    static Expr without_variable(const Expr &when, const std::string &name) {
        return weakened(when,
                        [&](const ExprNode &n) { return n.op == Op::Variable && n.name == name; });
    }

    std::set<std::string> candidates_;
    std::vector<std::pair<std::string, Expr>> conditions_;  ///< of what is stored inside first
    std::set<std::string> variables_;                       ///< f.used
    std::map<std::string, double> work_;                    ///< of one production, or several
    int vectorized_ = 0;                                    ///< loops around
};

class Skip : public Mutator {
  public:
    explicit Skip(const std::map<std::string, Expr> &used) : used_(used) {}

    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        Stmt now = Mutator::mutate(s);
        auto found = used_.find(s->name);
        if (found == used_.end())
            return now;
        const std::string name = used_name(s->name);
        const Expr used = make_variable(Bool(), name);
        switch (s->op) {
        case StmtOp::Realize:
            return make_let(name, found->second, now);
        case StmtOp::Memoize: {
            std::vector<Expr> exprs = now->exprs;
            exprs[1] = used;
            return make_let(name, found->second, with_children(now, exprs, now->stmts));
        }
        case StmtOp::Produce:
            return with_children(now, {}, {make_if(used, now->body())});
        default:
            return now;
        }
    }

  private:
    const std::map<std::string, Expr> &used_;
};

}  // namespace

Stmt skip_stages(const Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule) {
    FindUses find(graph, schedule);
    find.visit(s);
    std::map<std::string, Expr> used = find.used();
    return used.empty() ? s : Skip(used).mutate(s);
}

}  // namespace Pipe::lower
