#include "ir/lets.h"

#include <set>
#include <unordered_set>

#include "ir/shared.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::ir {
namespace {

class UseCounter {
  public:
    UseCounter(LetUses &result, const Facts &facts) : result_(result), facts_(facts) {}

    /// Whether the expression contains a Let.
    bool count(const Expr &e) {
        if (e->op == Op::Variable) {
            if (const void *const *binder = binders_.find(e->name))
                result_.uses[*binder]++;
            else
                free_.insert(e->name);
            return false;
        }
        if (is_shared(e) && visited_.count(e.get()))
            return false;
        bool has_let = e->op == Op::Let;
        if (has_let) {
            count(e->value());
            count_under(e->name, e.get(), e->body());
        } else {
            for (const Expr &arg : e->args)
                if (arg.defined())
                    has_let |= count(arg);
        }
        // Expressions that contain a Let are visited at every use, because the names around it
        // matter.
        if (!has_let && is_shared(e))
            visited_.insert(e.get());
        return has_let;
    }

    bool count(const Stmt &s) {
        for (const Expr &e : s->exprs)
            if (e.defined())
                count(e);
        for (const Stmt &child : s->stmts) {
            if (!child.defined())
                continue;
            if (binds_variable(s))
                count_under(s->name, s.get(), child);
            else
                count(child);
        }
        return true;
    }

    void finish() {
        for (const std::string &name : bound_)
            result_.has_shadowing |= free_.count(name) != 0 || facts_.mentions(name);
    }

  private:
    /// Nodes visited outside the binding are counted again inside.
    template <typename Node>
    void count_under(const std::string &name, const void *binder, const Node &body) {
        result_.has_lets = true;
        result_.has_shadowing |= binders_.contains(name);
        bound_.insert(name);
        std::unordered_set<const ExprNode *> outer;
        outer.swap(visited_);
        ScopedBinding<const void *> binding(binders_, name, binder);
        count(body);
        visited_.swap(outer);
    }

    LetUses &result_;
    const Facts &facts_;
    Scope<const void *> binders_;
    std::set<std::string> bound_, free_;
    std::unordered_set<const ExprNode *> visited_;
};

template <typename Node> LetUses count_uses(const Node &node, const Facts &facts) {
    LetUses result;
    UseCounter counter(result, facts);
    counter.count(node);
    counter.finish();
    return result;
}

class Renamer : public Mutator {
  public:
    Renamer(std::set<std::string> taken, const Facts &facts)
        : taken_(std::move(taken)), facts_(facts) {}

    Expr mutate(const Expr &e) override {
        if (e->op == Op::Variable) {
            const std::string *name = names_.find(e->name);
            return name && *name != e->name ? make_variable(e.type(), *name, e->referent) : e;
        }
        return is_shared(e) ? done_(e, [&] { return rename(e); }) : rename(e);
    }

    Stmt mutate(const Stmt &s) override {
        if (!binds_variable(s))
            return Mutator::mutate(s);
        Expr first = mutate(s->initial());
        Expr extent = s->op == StmtOp::For ? mutate(s->extent()) : Expr();
        std::string name = s->name;
        Stmt body = s->body().defined() ? mutate_under(&name, s->body()) : Stmt();
        return s->op == StmtOp::For
                   ? make_for(name, first, extent, s->kind, body, s->partition, s->origin)
                   : make_let(name, first, body);
    }

  private:
    Expr rename(const Expr &e) {
        if (e->op != Op::Let)
            return Mutator::mutate(e);
        Expr value = mutate(e->value());
        std::string name = e->name;
        Expr body = mutate_under(&name, e->body());
        return make_let(name, value, body);
    }

    /// A node can be rewritten differently outside and inside of a binding.
    template <typename Node> Node mutate_under(std::string *name, const Node &body) {
        std::string old = *name;
        for (int i = 1; taken_.count(*name) || facts_.mentions(*name); i++)
            *name = old + "_" + std::to_string(i);
        bool is_new = taken_.insert(*name).second;
        ScopedBinding<std::string> binding(names_, old, *name);
        Memo outer;
        std::swap(outer, done_);
        Node result = mutate(body);
        std::swap(outer, done_);
        if (is_new)
            taken_.erase(*name);
        return result;
    }

    Scope<std::string> names_;
    std::set<std::string> taken_;  ///< free in the program, or bound around here
    const Facts &facts_;
    Memo done_;
};

class DeadLets {
  public:
    Expr drop(const Expr &e) {
        if (e->op == Op::Variable)
            used_.insert(e->name);
        if (e->args.empty())
            return e;
        return is_shared(e) ? done_(e, [&] { return rewrite(e); }) : rewrite(e);
    }

    Stmt drop(const Stmt &s) {
        if (!binds_variable(s))
            return map_children(
                s, [this](const Expr &c) { return drop(c); },
                [this](const Stmt &c) { return drop(c); });
        bool used = false;
        Stmt body = s->body().defined() ? drop_under(s->name, s->body(), &used) : Stmt();
        if (s->op == StmtOp::Let && !used && !has_side_effect(s->value()))
            return body;
        return map_children(
            s, [this](const Expr &c) { return drop(c); }, [&](const Stmt &) { return body; });
    }

  private:
    Expr rewrite(const Expr &e) {
        return e->op == Op::Let ? drop_let(e)
                                : map_children(e, [this](const Expr &c) { return drop(c); });
    }

    Expr drop_let(const Expr &e) {
        bool used = false;
        Expr body = drop_under(e->name, e->body(), &used);
        if (!used && !has_side_effect(e->value()))
            return body;
        Expr value = drop(e->value());
        bool same = value.same_as(e->value()) && body.same_as(e->body());
        return same ? e : make_let(e->name, value, body);
    }

    /// Results for shared nodes outside a binding do not apply inside.
    template <typename Node>
    Node drop_under(const std::string &name, const Node &body, bool *used) {
        Memo outer;
        std::swap(outer, done_);
        bool used_outside = used_.erase(name) != 0;
        Node result = drop(body);
        *used = used_.erase(name) != 0;
        if (used_outside)
            used_.insert(name);
        std::swap(outer, done_);
        return result;
    }

    std::unordered_set<std::string> used_;
    Memo done_;
};

}  // namespace

LetUses count_let_uses(const Expr &e, const Facts &facts) {
    return count_uses(e, facts);
}
LetUses count_let_uses(const Stmt &s, const Facts &facts) {
    return count_uses(s, facts);
}

Expr without_shadowing(const Expr &e, const Facts &facts) {
    return Renamer(free_vars(e), facts).mutate(e);
}

Stmt without_shadowing(const Stmt &s, const Facts &facts) {
    return Renamer(free_vars(s), facts).mutate(s);
}

bool has_side_effect(const Expr &e) {
    return e.defined() && contains(e, [](const ExprNode &node) {
               return node.op == Op::Call && node.call_kind == CallKind::Extern;
           });
}

Expr without_dead_lets(const Expr &e) {
    return e.defined() ? DeadLets().drop(e) : e;
}
Stmt without_dead_lets(const Stmt &s) {
    return s.defined() ? DeadLets().drop(s) : s;
}

}  // namespace Pipe::ir
