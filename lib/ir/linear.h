#pragma once
// Linear normal form of integer expressions: a constant plus a sum of coefficient * atom, where an
// atom is anything that is not itself a sum. Equal sums have equal forms, independent of the order
// of their terms.
//
// For int32 and int64, and vectors of them, assuming that they do not overflow (see expr_node.h);
// the rewritings are also valid modulo 2^bits, comparisons and division are not.

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

    /// Expands sums, differences and products with a constant; everything else is an atom. The
    /// expression need not be simplified. Its type must be int32 or int64.
    static Linear from_expr(const Expr &e);
    static Linear from_constant(Type type, int64_t value) { return {type, value, {}}; }

    bool is_constant() const { return terms.empty(); }
    /// The coefficient of the atom; 0 if absent.
    int64_t coefficient(const Expr &atom) const;

    /// *this += factor * other. Returns false, without a change, on overflow of int64.
    bool add(const Linear &other, int64_t factor = 1);
    bool scale(int64_t factor);

    /// Whether all numbers fit the type, as to_expr requires.
    bool representable() const;
    /// Groups terms with the same coefficient: (x + y)*8 + z - w + 3. Requires representable().
    Expr to_expr() const;
};

/// a - b, if it is constant.
std::optional<int64_t> constant_difference(const Expr &a, const Expr &b);

/// The same for vectors, of all lanes: what broadcasts hold is compared, and what is widened, as in
/// int64x8(i + broadcast(a, 8)) + broadcast(b, 8).
std::optional<int64_t> constant_difference_of_lanes(const Expr &a, const Expr &b);

/// True if a <= b (a < b) follows from the linear forms alone. False means "not proven".
bool prove_le(const Expr &a, const Expr &b);
bool prove_lt(const Expr &a, const Expr &b);

/// Collects terms, in any order and with repetitions, into a Linear.
class LinearBuilder {
  public:
    explicit LinearBuilder(Type type) { sum_.type = type; }

    /// Adds factor * e, expanding sums.
    void add(const Expr &e, int64_t factor = 1);
    /// Adds factor * e as one term, whatever e is.
    void add_atom(const Expr &e, int64_t factor) { sum_.terms.push_back({e, factor}); }
    /// One step of add(): adds a constant term; or pushes the operands of a sum on `parts`, the
    /// left one last; otherwise returns false.
    bool take_apart(const Linear::Term &t, std::vector<Linear::Term> *parts);

    /// Returns false if a number overflowed int64: the result is then invalid.
    bool finish(Linear *result);

  private:
    Linear sum_;
    bool overflow_ = false;
    int steps_ = 0;
};

}  // namespace Pipe::ir
