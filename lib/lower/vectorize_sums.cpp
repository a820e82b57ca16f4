#include "lower/vectorize_sums.h"

#include <optional>
#include <vector>

#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "lower/lanes.h"
#include "lower/update.h"
#include "lower/vectorize_exprs.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr int64_t most_lanes = 1024;

/// The two loops and what is inside, without the Lets between.
class NestedLoops {
  public:
    /// Whether the loops are of the form above.
    bool read(const Stmt &outer) {
        outer_ = outer;
        Stmt s = inside(outer->body());
        if (s->op != StmtOp::For || s->kind != LoopKind::Vectorized)
            return false;
        inner_ = s;
        s = inside(s->body());
        if (s->op != StmtOp::Store || s->atomic || s->predicate().defined() ||
            !as_const_int(simplify(outer->extent()), &elements_) ||
            !as_const_int(simplify(plain(inner_->extent())), &terms_) || elements_ < 2 ||
            terms_ < 2 || elements_ > most_lanes / terms_)
            return false;
        update_ = as_update(s);
        store_ = s;
        return update_ && adds_to_one_element();
    }

    Stmt vectorized() const {
        const Expr index = per_element(store_->index());
        int64_t stride = 0;
        if (index->op != Op::Ramp || !as_const_int(index->stride(), &stride) || stride == 0)
            return Stmt();
        const int all = static_cast<int>(elements_ * terms_), sums = static_cast<int>(elements_);
        Lanes lanes{lane(), int32(0), all};
        lanes.set_ramp(lane(), make_ramp(int32(0), int32(1), all));
        Expr active, uniform;
        if (condition_.defined()) {
            const Expr condition = per_term(condition_);
            lanes.enclosing.push_back({StmtOp::If, "", condition});
            const Expr mask = ExprVectorizer(lanes).vec(condition);
            (mask.type().is_vector() ? active : uniform) = mask;
            lanes.mask = active;
        }
        Expr terms = widen(ExprVectorizer(lanes).vec(per_term(update_->value)), all);
        if (active.defined())
            terms = make_select(active, terms, identity(update_->op, terms.type()));
        const Expr sum = make_vector_reduce(update_->op, terms, sums);
        const Expr stored = active.defined() ? make_vector_reduce(Op::Or, active, sums) : Expr();
        const Expr old =
            make_load(update_->old.type().with_lanes(sums), store_->name, index, stored);
        const Expr value = make_binary(update_->subtract ? Op::Sub : update_->op, old, sum);
        const Stmt result = make_store(store_->name, index, value, stored);
        return uniform.defined() ? make_if(uniform, result) : result;
    }

  private:
    std::string lane() const { return outer_->name + ".lane"; }

    /// Whether the terms do not say where they are stored, and neither read what is stored nor do anything else.
    bool adds_to_one_element() const {
        const Expr term = plain(update_->value);
        auto has_effect = [](const Expr &e) { return e.defined() && has_side_effect(e); };
        return !uses_var(plain(store_->index()), inner_->name) &&
               !buffers_read(term).count(store_->name) && !has_effect(term) &&
               !has_effect(condition_) &&
               !(condition_.defined() && buffers_read(condition_).count(store_->name));
    }

    /// What is inside of Lets and conditions, which are noted.
    Stmt inside(Stmt s) {
        for (;; s = s->op == StmtOp::Let ? s->body() : s->then_case()) {
            if (s->op == StmtOp::Let)
                lets_.emplace_back(s->name, s->value());
            else if (s->op == StmtOp::If && !s->else_case().defined())
                condition_ = both(condition_, plain(s->condition()));
            else
                return s;
        }
    }

    /// Without names of Lets.
    Expr plain(Expr e) const {
        for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
            e = substitute(let->first, let->second, e);
        return e;
    }

    Expr per_term(const Expr &e) const {
        const Expr w = make_variable(Int(32), lane());
        const Expr terms = int32(static_cast<int32_t>(terms_));
        Facts facts;
        facts.bound(lane(), {0, elements_ * terms_ - 1});
        return simplify(substitute({{outer_->name, add(outer_->min(), div(w, terms))},
                                    {inner_->name, add(plain(inner_->min()), mod(w, terms))}},
                                   plain(e)),
                        facts);
    }

    Expr per_element(const Expr &e) const {
        const int sums = static_cast<int>(elements_);
        Lanes lanes{outer_->name, outer_->min(), sums};
        lanes.set_ramp(outer_->name, make_ramp(outer_->min(), int32(1), sums));
        return widen(ExprVectorizer(lanes).vec(simplify(plain(e))), sums);
    }

    Stmt outer_, inner_, store_;
    int64_t elements_ = 0, terms_ = 0;
    std::optional<Update> update_;
    std::vector<std::pair<std::string, Expr>> lets_;  // outermost first
    Expr condition_;
};

}  // namespace

Stmt vectorize_sums(const Stmt &outer) {
    NestedLoops loops;
    return loops.read(outer) ? loops.vectorized() : Stmt();
}

}  // namespace Pipe::lower
