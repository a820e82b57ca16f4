#pragma once
// Linear normal form of integer expressions: a constant plus a sum of coefficient * atom, where an
// atom is anything that is not itself a sum. Equal sums have equal forms, whatever the order in
// which they were written down.
//
// For int32 and int64, and vectors of them. Overflow is taken not to happen (see expr_node.h); the
// rewritings hold modulo 2^bits too, comparisons and division do not.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::ir {

/// True for the types whose overflow is undefined: int32, int64 and vectors of them.
inline bool has_no_overflow(Type type) {
    return type.is_int() && type.bits() >= 32;
}

struct Linear {
    struct Term {
        Expr atom;
        int64_t coefficient = 0;
    };

    Type type;
    int64_t constant = 0;
    std::vector<Term> terms;  ///< ordered by compare(atom); no coefficient is 0; no atom twice

    /// Sums, differences and products with a constant are taken apart; the rest is atoms. The
    /// expression need not be simplified. Its type must be int32 or int64.
    static Linear from_expr(const Expr &e);
    static Linear from_constant(Type type, int64_t value) { return {type, value, {}}; }

    bool is_constant() const { return terms.empty(); }
    /// The coefficient of the atom; 0 if it does not occur.
    int64_t coefficient(const Expr &atom) const;

    /// *this += factor * other. False, and nothing changed, if a number leaves int64.
    bool add(const Linear &other, int64_t factor = 1);
    bool scale(int64_t factor);

    /// Whether all numbers fit the type, so that to_expr can write them down.
    bool representable() const;
    /// Terms of one coefficient are bracketed: (x + y)*8 + z - w + 3. Needs representable().
    Expr to_expr() const;
};

/// a - b, if that is the same number for all values of the variables.
std::optional<int64_t> constant_difference(const Expr &a, const Expr &b);

/// True if a <= b (a < b) follows from the linear forms alone. False means "not proven".
bool prove_le(const Expr &a, const Expr &b);
bool prove_lt(const Expr &a, const Expr &b);

/// Collects terms, in any order and any number of times, into a Linear.
class LinearBuilder {
  public:
    explicit LinearBuilder(Type type) { sum_.type = type; }

    /// Adds factor * e, taking sums apart.
    void add(const Expr &e, int64_t factor = 1);
    /// Adds factor * e as one term, whatever e is.
    void add_atom(const Expr &e, int64_t factor) { sum_.terms.push_back({e, factor}); }
    /// One step of add(): if the term is a constant, takes it; if it is a sum, pushes its operands
    /// on `parts`, the left one last; else answers false.
    bool take_apart(const Linear::Term &t, std::vector<Linear::Term> *parts);

    /// False if a number left int64: what was collected is then of no use.
    bool finish(Linear *result);

  private:
    Linear sum_;
    bool overflow_ = false;
    int steps_ = 0;
};

}  // namespace Pipe::ir
