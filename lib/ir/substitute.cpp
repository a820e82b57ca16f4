#include "ir/substitute.h"

#include <unordered_set>

#include "ir/shared.h"
#include "ir/visit.h"

namespace Pipe::ir {
namespace {

using Names = std::set<std::string>;

/// Calls `found` with the name of each free variable (at least once each), until it returns true.
template <typename F> class FreeVariables {
  public:
    explicit FreeVariables(F &found) : found_(found) {}

    bool search(const Expr &e) {
        if (e->op == Op::Variable)
            return !bound_.count(e->name) && found_(e->name);
        if (is_shared(e)) {
            if (!visited_.insert(e.get()).second)
                return false;
            visits_.push_back(e.get());
        }
        if (!binds_variable(e)) {
            for (const Expr &arg : e->args)
                if (arg.defined() && search(arg))
                    return true;
            return false;
        }
        return search(e->value()) || search_under(e->name, e->body());
    }

    bool search(const Stmt &s) {
        for (const Expr &e : s->exprs)
            if (e.defined() && search(e))
                return true;
        for (const Stmt &child : s->stmts)
            if (child.defined() &&
                (binds_variable(s) ? search_under(s->name, child) : search(child)))
                return true;
        return false;
    }

  private:
    /// Searches `body`, in which `name` is bound. Nodes visited outside need not be visited again
    /// inside, where more names are bound, but not vice versa.
    template <typename Node> bool search_under(const std::string &name, const Node &body) {
        bool is_new = bound_.insert(name).second;
        size_t outer_visits = visits_.size();
        bool result = search(body);
        for (; visits_.size() > outer_visits; visits_.pop_back())
            visited_.erase(visits_.back());
        if (is_new)
            bound_.erase(name);
        return result;
    }

    F &found_;
    Names bound_;
    std::unordered_set<const ExprNode *> visited_;
    std::vector<const ExprNode *> visits_;  ///< the contents of visited_, in order
};

template <typename Node, typename F> bool find_free(const Node &node, F found) {
    return node.defined() && FreeVariables<F>(found).search(node);
}

template <typename Node> Names collect_free(const Node &node) {
    Names names;
    find_free(node, [&](const std::string &name) { return names.insert(name), false; });
    return names;
}

class Substituter {
  public:
    explicit Substituter(std::map<std::string, Expr> values) : values_(std::move(values)) {
        for (const auto &[name, value] : values_)
            captured_.merge(free_vars(value));
    }

    Expr apply(const Expr &e) {
        if (e->op == Op::Variable) {
            auto found = values_.find(e->name);
            return found == values_.end() ? e : found->second;
        }
        return is_shared(e) ? done_(e, [&] { return rewrite(e); }) : rewrite(e);
    }

    Stmt apply(const Stmt &s) {
        if (!binds_variable(s))
            return map_children(
                s, [this](const Expr &c) { return apply(c); },
                [this](const Stmt &c) { return apply(c); });
        bool is_loop = s->op == StmtOp::For;
        std::string name = s->name;
        std::vector<Expr> exprs;
        for (const Expr &e : s->exprs)
            exprs.push_back(apply(e));
        Type type = is_loop ? exprs[0].type() : s->initial().type();
        Stmt body = s->body().defined() ? apply_under(name, type, s->body()) : Stmt();
        if (name == s->name)
            return same_exprs(exprs, s->exprs) && body.same_as(s->body())
                       ? s
                       : with_children(s, std::move(exprs), {body});
        return is_loop ? make_for(name, exprs[0], exprs[1], s->kind, body, s->partition, s->origin)
                       : make_let(name, exprs[0], body);
    }

  private:
    Expr rewrite(const Expr &e) {
        if (!binds_variable(e))
            return map_children(e, [this](const Expr &c) { return apply(c); });
        std::string name = e->name;
        Expr value = apply(e->value());
        Expr body = apply_under(name, e->value().type(), e->body());
        if (name == e->name && value.same_as(e->value()) && body.same_as(e->body()))
            return e;
        return make_let(name, value, body);
    }

    /// The body of a binding of `name`, which is renamed if it would capture a variable.
    template <typename Node> Node apply_under(std::string &name, Type type, const Node &body) {
        bool hides = values_.count(name) != 0, captures = captured_.count(name) != 0;
        if (!hides && !captures)
            return apply(body);
        std::map<std::string, Expr> inner = values_;
        inner.erase(name);
        Names hidden;
        for (const auto &entry : inner)
            hidden.insert(entry.first);
        if (!uses_any_var(body, hidden))
            return body;
        if (captures) {
            std::string old = name;
            while (captured_.count(name) || inner.count(name) || uses_var(body, name))
                name += '_';
            inner[old] = make_variable(type, name);
        }
        return Substituter(std::move(inner)).apply(body);
    }

    static bool same_exprs(const std::vector<Expr> &a, const std::vector<Expr> &b) {
        for (size_t i = 0; i < a.size(); i++)
            if (!a[i].same_as(b[i]))
                return false;
        return true;
    }

    std::map<std::string, Expr> values_;
    Names captured_;  ///< free in the values
    Memo done_;
};

}  // namespace

Expr substitute(const std::map<std::string, Expr> &values, const Expr &e) {
    return e.defined() && !values.empty() ? Substituter(values).apply(e) : e;
}

Stmt substitute(const std::map<std::string, Expr> &values, const Stmt &s) {
    return s.defined() && !values.empty() ? Substituter(values).apply(s) : s;
}

Expr substitute(const std::string &name, const Expr &value, const Expr &e) {
    return substitute(std::map<std::string, Expr>{{name, value}}, e);
}

Stmt substitute(const std::string &name, const Expr &value, const Stmt &s) {
    return substitute(std::map<std::string, Expr>{{name, value}}, s);
}

bool uses_any_var(const Expr &e, const Names &names) {
    return find_free(e, [&](const std::string &name) { return names.count(name) != 0; });
}

bool uses_any_var(const Stmt &s, const Names &names) {
    return find_free(s, [&](const std::string &name) { return names.count(name) != 0; });
}

bool uses_var(const Expr &e, const std::string &name) {
    return find_free(e, [&](const std::string &found) { return found == name; });
}

bool uses_var(const Stmt &s, const std::string &name) {
    return find_free(s, [&](const std::string &found) { return found == name; });
}

Names free_vars(const Expr &e) {
    return collect_free(e);
}
Names free_vars(const Stmt &s) {
    return collect_free(s);
}

}  // namespace Pipe::ir
