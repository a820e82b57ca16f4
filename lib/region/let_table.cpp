#include "region/let_table.h"

#include <functional>

#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::region {

using namespace ir;

Expr LetTable::bind(const Level &level, const std::string &name, const Expr &value) {
    constexpr size_t few = 6;
    Linear sum = Linear::from_expr(simplify(value));
    Linear named = Linear::from_constant(sum.type, sum.constant);
    for (const Linear::Term &term : sum.terms) {
        bool variable = term.atom->op == Op::Variable;
        Expr atom = variable ? term.atom : let_of(level, name, term.atom);
        named.add(Linear::from_expr(atom), term.coefficient);
    }
    Expr result = named.to_expr();
    return named.terms.size() <= few ? result : let_of(level, name, result);
}

Expr LetTable::let_of(const Level &level, const std::string &name, const Expr &value) {
    auto [known, is_new] = names_[level].emplace(value, name);
    if (is_new) {
        while (values_.count(known->second))
            known->second += "'";
        lets_[level].emplace_back(known->second, value);
        define(known->second, value);
    }
    return make_variable(Int(32), known->second);
}

void LetTable::bind_query(const Level &level, const std::string &name, const Expr &value) {
    lets_[level].emplace_back(name, value);
    LetDependencies &all = dependencies_[name] = dependencies(value);
    all.from_query = true;
}

void LetTable::define(const std::string &name, const Expr &value) {
    int order = static_cast<int>(values_.size());
    values_.emplace(name, std::pair(value, order));
    LetDependencies &all = dependencies_[name] = dependencies(value);
    all.slides |= steady_values_.count(name) != 0;
}

void LetTable::define_steady(const std::string &name, const Expr &value) {
    steady_values_[name] = value;
}

LetDependencies LetTable::dependencies(const Expr &e) const {
    LetDependencies all;
    walk(e, [&](const Expr &node) {
        if (node->op != Op::Variable)
            return true;
        auto let = dependencies_.find(node->name);
        if (let == dependencies_.end()) {
            all.variables.insert(node->name);
            return true;
        }
        all.variables.insert(let->second.variables.begin(), let->second.variables.end());
        all.slides |= let->second.slides;
        all.from_query |= let->second.from_query;
        return true;
    });
    return all;
}

namespace {

class Expander : public GraphMutator {
  public:
    using Values = std::map<std::string, std::pair<Expr, int>>;
    using Choice = std::function<bool(const std::string &)>;
    Expander(const Values &values, const std::map<std::string, Expr> &first, Choice stays = nullptr)
        : values_(values), first_(first), stays_(std::move(stays)) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op != Op::Variable)
            return GraphMutator::rewrite(e);
        auto known = expanded_.find(e->name);
        if (known != expanded_.end())
            return known->second;
        auto preferred = first_.find(e->name);
        auto let = stays_ && stays_(e->name) ? values_.end() : values_.find(e->name);
        Expr value = preferred != first_.end() ? mutate(preferred->second)
                     : let != values_.end()    ? mutate(let->second.first)
                                               : e;
        return expanded_[e->name] = value;
    }

  private:
    const Values &values_;
    const std::map<std::string, Expr> &first_;
    Choice stays_;
    std::map<std::string, Expr> expanded_;
};

const std::map<std::string, Expr> no_values;
const Expander::Values no_lets;

}  // namespace

Expr LetTable::expand(const Expr &e) const {
    return Expander(values_, no_values).mutate(e);
}

bool LetTable::moves_with(const Expr &e, const Level &loop) const {
    return dependencies(e).variables.count(loop) != 0;
}

Expr LetTable::expand_along(const Expr &e, const Level &loop) const {
    auto stays = [&](const std::string &name) {
        auto let = dependencies_.find(name);
        return let != dependencies_.end() && !let->second.variables.count(loop);
    };
    return Expander(values_, no_values, stays).mutate(e);
}

void LetTable::define_widest(const std::string &name, const Expr &value) {
    widest_values_[name] = value;
}

Expr LetTable::expand_widest(const Expr &e) const {
    return Expander(no_lets, widest_values_).mutate(e);
}

Expr LetTable::expand_steady(const Expr &e) const {
    return Expander(values_, steady_values_).mutate(e);
}

bool LetTable::uses_lets_of(const Expr &e, const Level &level) const {
    auto lets = lets_.find(level);
    if (lets == lets_.end())
        return false;
    for (const auto &[name, value] : lets->second)
        if (uses_var(e, name))
            return true;
    return false;
}

std::pair<Expr, int> LetTable::value_of(const std::string &name) const {
    auto found = values_.find(name);
    return found == values_.end() ? std::pair(Expr(), 0) : found->second;
}

}  // namespace Pipe::region
