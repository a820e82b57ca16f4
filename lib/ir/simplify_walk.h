#pragma once
// The simplifier's walk over expressions. (Internal to ir/; the interface is simplify.h.)

#include <optional>
#include <utility>

#include "ir/constant_bounds.h"
#include "ir/facts.h"
#include "ir/lets.h"
#include "ir/rules.h"
#include "ir/scope.h"
#include "ir/shared.h"

namespace Pipe::ir {

/// Bottom-up, each node once. Requires that no binding shadows another (lets.h).
class ExprSimplifier {
  public:
    ExprSimplifier(const Facts &outer, const LetUses &uses)
        : facts_(&outer), rules_(facts_), uses_(uses) {}

    Expr simplify(const Expr &e);

  protected:
    /// Runs f with `name` bound to `value`: substituted, or kept as a variable with known bounds.
    /// Returns true if it was substituted, so that the binding is superfluous.
    template <typename F>
    bool with_let(const std::string &name, const Expr &value, bool replace, F &&f) {
        Memo outer;
        std::swap(outer, done_);
        size_t mark = facts_.mark();
        if (replace) {
            ScopedBinding<Expr> binding(replacements_, name, value);
            f();
        } else {
            define(name, value);
            // Sums of arbitrary data are not rewritten.
            std::optional<ScopedBinding<Expr>> binding;
            if (has_no_overflow(value.type()) && !is_index(value))
                binding.emplace(replacements_, name, make_param(value.type(), name));
            f();
        }
        facts_.rewind(mark);
        std::swap(outer, done_);
        return replace;
    }

    /// Runs f with additional facts, added by `learn`.
    template <typename L, typename F> void with_facts(L &&learn, F &&f) {
        Memo outer;
        std::swap(outer, done_);
        size_t mark = facts_.mark();
        learn();
        f();
        facts_.rewind(mark);
        std::swap(outer, done_);
    }

    /// Whether to substitute the value of a let for its uses. `uses`: their number.
    bool is_worth_replacing(const Expr &value, int uses, bool may_move_loads) const;
    int uses_of(const void *let) const;

    Facts facts_;
    Rules rules_;

  private:
    Expr rewrite(const Expr &e);
    Expr rewrite_sum(const Expr &e);
    Expr rewrite_operands(const Expr &e);
    Expr rewrite_let(const Expr &e);
    Expr apply(const Expr &e, const std::vector<Expr> &args);
    void define(const std::string &name, const Expr &value);

    const LetUses &uses_;
    Scope<Expr> replacements_;
    Memo done_;  ///< shared nodes that are already simplified
};

}  // namespace Pipe::ir
