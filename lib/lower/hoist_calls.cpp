#include "lower/hoist_calls.h"

#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/extern_functions.h"
#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

bool is_pure_c_function(const ExprNode &e) {
    return e.op == Op::Call && e.call_kind == CallKind::PureExtern && e.index == users_function &&
           e.type.is_scalar() && !e.type.is_handle();
}

/// The names that a loop's body gives a meaning, and the buffers that it changes.
std::set<std::string> changed_in(const std::string &variable, const Stmt &body) {
    std::set<std::string> names{variable};
    std::unordered_set<const ExprNode *> seen;
    walk(
        body,
        [&](const Stmt &s) {
            names.insert(s->name);
            for (size_t i = 0; s->op == StmtOp::Memoize && i < s->types.size(); i++)
                names.insert(buffer_of_memoize(*s.get(), i));
            return true;
        },
        [&](const Expr &e) {
            if (e->op == Op::Let)
                names.insert(e->name);
            return seen.insert(e.get()).second;
        });
    return names;
}

/// A call that stands before a loop; `runs`: where its value is used, or undefined for everywhere.
struct Hoisted {
    std::string name;
    Expr call, runs;

    Expr value() const {
        if (!runs.defined())
            return call;
        return make_call(call.type(), intrinsic::if_then_else,
                         {runs, call, make_const(call.type(), 0)}, CallKind::Intrinsic);
    }
};
using AllHoisted = std::map<std::string, Hoisted>;

/// Takes out of a loop's body what does not change in it.
class TakeInvariants : public GraphMutator {
  public:
    TakeInvariants(std::set<std::string> changed, AllHoisted &all, int &count)
        : changed_(std::move(changed)), all_(all), count_(count) {}

    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        switch (s->op) {
        case StmtOp::If:
        case StmtOp::Memoize:
        case StmtOp::Fork:
            return s;
        case StmtOp::Let:
            if (auto known = all_.find(s->name); known != all_.end())
                return hoisted_before(known->second, s);
            if (Expr value = substitute(known_, s->value()); is_invariant(value))
                known_[s->name] = value;
            return Mutator::mutate(s);
        default:
            return Mutator::mutate(s);
        }
    }

    std::vector<Hoisted> taken;

  protected:
    Expr rewrite(const Expr &e) override {
        if (is_intrinsic(*e.get(), intrinsic::if_then_else)) {
            std::vector<Expr> args = e->args;
            args[0] = GraphMutator::mutate(args[0]);
            return make_call(e.type(), e->name, std::move(args), CallKind::Intrinsic);
        }
        if (!is_pure_c_function(*e.get()) || !is_invariant(e))
            return GraphMutator::rewrite(e);
        return take(e, Expr());
    }

  private:
    /// A call that has left a loop inside. Where it stays, calls in its arguments may still leave.
    Stmt hoisted_before(Hoisted &hoisted, const Stmt &let) {
        if (!is_invariant(hoisted.call)) {
            hoisted.call = Mutator::mutate(hoisted.call);
            return make_let(let->name, hoisted.value(), mutate(let->body()));
        }
        Expr runs = hoisted.runs.defined() ? substitute(known_, hoisted.runs) : Expr();
        Expr value = take(hoisted.call, runs.defined() && is_invariant(runs) ? runs : Expr());
        all_.erase(let->name);
        return make_let(let->name, value, mutate(let->body()));
    }

    Expr take(const Expr &call, const Expr &runs) {
        auto [place, is_new] = places_.try_emplace(call, taken.size());
        if (is_new)
            taken.push_back({"hoisted." + call->name + "." + std::to_string(count_++), call, runs});
        Hoisted &hoisted = taken[place->second];
        if (!is_new && hoisted.runs.defined())
            hoisted.runs = runs.defined() ? make_binary(Op::Or, hoisted.runs, runs) : Expr();
        return make_variable(call.type(), hoisted.name);
    }

    bool is_invariant(const Expr &e) const {
        return !contains(e, [&](const ExprNode &n) {
            const bool impure = n.op == Op::Call && n.call_kind == CallKind::Extern;
            const bool named = n.op == Op::Variable || n.op == Op::Load || n.op == Op::Let;
            return impure || (named && changed_.count(n.name));
        });
    }

    std::set<std::string> changed_;
    AllHoisted &all_;
    int &count_;                         ///< of the names that were made
    std::map<std::string, Expr> known_;  ///< lets of the body that do not change
    std::map<Expr, size_t, ExprLess> places_;
};

class HoistCalls : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        if (s->op != StmtOp::For)
            return Mutator::mutate(s);
        Stmt body = mutate(s->body());
        TakeInvariants take(changed_in(s->name, body), all_, count_);
        body = take.mutate(body);
        Stmt result = with_children(s, s->exprs, {body});
        for (size_t i = take.taken.size(); i-- > 0;) {
            Hoisted &hoisted = take.taken[i];
            hoisted.runs = unless_empty(s->extent(), hoisted.runs);
            result = make_let(hoisted.name, hoisted.value(), result);
            all_[hoisted.name] = hoisted;
        }
        return result;
    }

  private:
    /// Where both the loop and what is inside of it runs.
    static Expr unless_empty(const Expr &extent, const Expr &inside) {
        int64_t known = 0;
        if (as_const_int(extent, &known) && known > 0)
            return inside;
        Expr runs = make_binary(Op::GT, extent, make_int(extent.type(), 0));
        return inside.defined() ? make_binary(Op::And, runs, inside) : runs;
    }

    AllHoisted all_;
    int count_ = 0;
};

}  // namespace

Stmt hoist_calls(const Stmt &s) {
    bool any = false;
    std::unordered_set<const ExprNode *> seen;
    walk(
        s, [&](const Stmt &) { return !any; },
        [&](const Expr &e) {
            any |= is_pure_c_function(*e.get());
            return !any && seen.insert(e.get()).second;
        });
    return any ? HoistCalls().mutate(s) : s;
}

}  // namespace Pipe::lower
