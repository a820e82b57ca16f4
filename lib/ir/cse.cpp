#include "ir/cse.h"

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/computed.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/lets.h"
#include "ir/scope.h"
#include "ir/shared.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::ir {
namespace {

using Id = int;
constexpr Id none = -1;

/// Gives equal expressions the same number. The number of a node is larger than those of its
/// operands.
class Numbering {
  public:
    struct Entry {
        Expr head;  ///< everything but the operands
        std::vector<Id> operands;
    };

    Id number(const Expr &e) {
        if (!e.defined())
            return none;
        if (e->op == Op::Variable)
            if (const Id *value = lets_.find(e->name))
                return *value;
        if (is_shared(e)) {
            auto found = done_.find(e.get());
            if (found != done_.end())
                return found->second;
        }
        Id id = e->op == Op::Let ? number_let(e) : number_node(e);
        if (is_shared(e))
            done_.emplace(e.get(), id);
        return id;
    }

    const Entry &operator[](Id id) const { return entries_[id]; }

  private:
    Id number_let(const Expr &e) {
        Id value = number(e->value());
        decltype(done_) outer;  // the same node can have another meaning inside
        outer.swap(done_);
        ScopedBinding<Id> binding(lets_, e->name, value);
        Id body = number(e->body());
        outer.swap(done_);
        return body;
    }

    Id number_node(const Expr &e) {
        std::vector<Id> operands;
        operands.reserve(e->args.size());
        size_t h = hash_without_children(e);
        for (const Expr &arg : e->args) {
            operands.push_back(number(arg));
            h = hash_combine(h, static_cast<size_t>(operands.back()));
        }
        auto [candidate, last] = by_hash_.equal_range(h);
        for (; candidate != last; ++candidate) {
            const Entry &entry = entries_[candidate->second];
            if (entry.operands == operands && same_head(e, entry.head))
                return candidate->second;
        }
        Id id = static_cast<Id>(entries_.size());
        entries_.push_back({e, std::move(operands)});
        by_hash_.emplace(h, id);
        return id;
    }

    std::vector<Entry> entries_;
    std::unordered_multimap<size_t, Id> by_hash_;
    std::unordered_map<const ExprNode *, Id> done_;
    Scope<Id> lets_;
};

bool is_if_then_else(const Expr &head) {
    return is_intrinsic(*head.get(), intrinsic::if_then_else);
}

/// Rebuilds numbered expressions with lets.
class Builder {
  public:
    struct Named {
        std::string name;
        Expr value;
    };

    Builder(const Numbering &numbers, std::set<std::string> taken)
        : numbers_(numbers), taken_(std::move(taken)) {}

    /// The expressions with these numbers; shared subexpressions go to `lets`, in order of
    /// definition.
    std::vector<Expr> build(const std::vector<Id> &roots, std::vector<Named> *lets) {
        std::unordered_map<Id, int> uses;
        count_uses(roots, &uses);
        std::map<Id, int> ordered(uses.begin(), uses.end());
        std::vector<Id> named_here;
        for (const auto &[id, count] : ordered) {
            if (count < 2 || is_cheap(id))
                continue;
            Expr value = expr(id);
            std::string name = fresh_name();
            built_[id] = make_variable(value.type(), name);
            named_here.push_back(id);
            lets->push_back({name, value});
        }
        std::vector<Expr> result;
        for (Id root : roots)
            result.push_back(root == none ? Expr() : expr(root));
        for (Id id : named_here)
            built_.erase(id);
        return result;
    }

  private:
    /// Counts the uses of what is computed unconditionally, which includes what both arms of an
    /// if_then_else compute. Other uses in its arms are counted for such values, too, but do not
    /// make a value unconditional.
    void count_uses(const std::vector<Id> &roots, std::unordered_map<Id, int> *uses) {
        std::vector<Id> work, arms;
        std::function<void(Id)> use = [&](Id id) {
            if (id == none || built_.count(id))
                return;
            int count = ++(*uses)[id];
            if (count == 1)
                work.push_back(id);
            // A second copy of an expression that stays in place is a second use of its operands.
            if (count == 2 && is_cheap(id))
                for (Id operand : numbers_[id].operands)
                    use(operand);
        };
        for (Id root : roots)
            use(root);
        while (!work.empty()) {
            const auto &[head, operands] = numbers_[work.back()];
            work.pop_back();
            bool is_branch = is_if_then_else(head);
            for (size_t i = 0; i < operands.size(); i++) {
                if (is_branch && i > 0)
                    arms.push_back(operands[i]);
                else
                    use(operands[i]);
            }
            if (is_branch) {
                for (Id id : computed_in_both_arms(operands)) {
                    use(id);
                    use(id);
                }
            }
        }
        std::unordered_set<Id> visited;
        while (!arms.empty()) {
            Id id = arms.back();
            arms.pop_back();
            if (id == none || built_.count(id))
                continue;
            auto found = uses->find(id);
            if (found != uses->end()) {
                found->second++;
            } else if (visited.insert(id).second) {
                const auto &operands = numbers_[id].operands;
                arms.insert(arms.end(), operands.begin(), operands.end());
            }
        }
    }

    /// The maximal values that both arms of an if_then_else compute.
    std::vector<Id> computed_in_both_arms(const std::vector<Id> &branch) const {
        auto operands_of = [&](Id id, auto &&visit) {
            const auto &[head, operands] = numbers_[id];
            size_t computed = is_if_then_else(head) ? 1 : operands.size();
            for (size_t i = 0; i < computed; i++)
                if (operands[i] != none && !built_.count(operands[i]))
                    visit(operands[i]);
        };
        bool named =
            built_.count(branch[1]) || built_.count(branch[2]);  // neither is computed again
        return named ? std::vector<Id>() : computed_in_both(branch[1], branch[2], operands_of);
    }

    Expr expr(Id id) {
        auto named = built_.find(id);
        if (named != built_.end())
            return named->second;
        const auto &[head, operands] = numbers_[id];
        if (operands.empty())
            return head;
        std::vector<Expr> args;
        args.reserve(operands.size());
        bool changed = false, is_branch = is_if_then_else(head);
        for (size_t i = 0; i < operands.size(); i++) {
            if (operands[i] == none)
                args.emplace_back();
            else
                args.push_back(is_branch && i > 0 ? arm(operands[i]) : expr(operands[i]));
            changed |= !args.back().same_as(head->args[i]);
        }
        return changed ? with_args(head, std::move(args)) : head;
    }

    Expr arm(Id id) {
        std::vector<Named> lets;
        Expr body = build({id}, &lets)[0];
        for (auto let = lets.rbegin(); let != lets.rend(); ++let)
            body = make_let(let->name, let->value, body);
        return body;
    }

    bool is_leaf(Id id) const {
        const Expr &head = numbers_[id].head;
        return head->op == Op::Variable || head->op == Op::StringImm || is_constant(head);
    }

    bool is_cheap(Id id) const {
        const auto &[head, operands] = numbers_[id];
        switch (head->op) {
        case Op::Ramp:
        case Op::Broadcast:
            return true;
        case Op::Cast:
        case Op::Not:
            return is_cheap(operands[0]);
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
            return is_leaf(operands[0]) && is_leaf(operands[1]);
        case Op::Call:  // intrinsics that mark their operand are matched around it
            return head->call_kind == CallKind::Intrinsic && head->name == intrinsic::likely;
        default:
            return is_leaf(id);
        }
    }

    std::string fresh_name() {
        std::string name;
        do
            name = "t" + std::to_string(next_name_++);
        while (taken_.count(name));
        return name;
    }

    const Numbering &numbers_;
    std::set<std::string> taken_;
    int next_name_ = 0;
    std::unordered_map<Id, Expr> built_;  ///< the values that have names here
};

/// Replaces `exprs`; returns what they share.
std::vector<Builder::Named> share(std::vector<Expr> *exprs) {
    Numbering numbers;
    std::vector<Id> roots;
    std::set<std::string> taken;
    for (const Expr &e : *exprs) {
        if (!e.defined()) {
            roots.push_back(none);
            continue;
        }
        if (has_side_effect(e))
            return {};
        roots.push_back(numbers.number(e));
        taken.merge(free_vars(e));
    }
    std::vector<Builder::Named> lets;
    *exprs = Builder(numbers, std::move(taken)).build(roots, &lets);
    return lets;
}

Stmt share_store(const Stmt &s) {
    if (s->atomic)  // nothing that it reads may be read before it
        return s;
    std::vector<Expr> exprs = s->exprs;
    const Expr &predicate = exprs[s->op == StmtOp::Provide ? 0 : 2];
    if (predicate.defined()) {
        for (Expr &e : exprs)
            e = cse(e);
        return with_children(s, std::move(exprs), {});
    }
    auto lets = share(&exprs);
    Stmt result = with_children(s, std::move(exprs), {});
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        result = make_let(let->name, let->value, result);
    return result;
}

}  // namespace

Expr cse(const Expr &e) {
    if (!e.defined() || e->args.empty())
        return e;
    std::vector<Expr> exprs{e};
    auto lets = share(&exprs);
    Expr result = exprs[0];
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        result = make_let(let->name, let->value, result);
    return result;
}

Stmt cse(const Stmt &s) {
    if (!s.defined())
        return s;
    if (s->op == StmtOp::Provide || s->op == StmtOp::Store)
        return share_store(s);
    bool is_let = s->op == StmtOp::Let;
    return map_children(
        s, [&](const Expr &e) { return is_let ? cse(e) : e; },
        [](const Stmt &c) { return cse(c); });
}

}  // namespace Pipe::ir
