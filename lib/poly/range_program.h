#pragma once
// RangeProgram: integer expressions compiled for many evaluations.

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "poly/range.h"

namespace Pipe::poly {

/// Expressions over named variables as one list of steps: sums with constant coefficients, minima, maxima,
/// products, quotients, remainders and choices. A part that occurs several times is one step.
///
/// An evaluation takes the variables' ranges and gives the range of each expression, as range_of() does:
/// never too small, and exact where every variable has a single value. It allocates no memory. If a variable
/// has no value (its range is empty), neither has what depends on it.
///
///     RangeProgram program;
///     program.define("left", tile * 8);           // the value of a name
///     RangeProgram::Slot end = program.add(left + 7);
///     program.set(program.find("tile"), Range::point(3));
///     program.evaluate();
///     program[end];                               // 31
class RangeProgram {
  public:
    /// Where the range of a variable or of an expression is found.
    using Slot = int;

    /// What a name stands for in all expressions; the value may use names that are defined later. A name that
    /// is not defined when an expression uses it is a variable.
    void define(const std::string &name, const Expr &value) { definitions_.emplace(name, value); }
    /// Throws InternalError if an expression has used the name before.
    void define(const std::string &name, Slot value);

    /// A variable that expressions do not name. It may have any value until it is set.
    Slot new_variable(const Range &initial = {});
    /// An integer or bool expression.
    Slot add(const Expr &e);
    /// The values of `value` from the smallest of `min` to the largest of `max`.
    Slot clip(Slot value, Slot min, Slot max) { return step(Kind::Clip, value, min, max); }

    struct Term {
        Slot slot;
        int64_t coefficient;
    };
    /// From here on, the sum of the two terms lies in [0, extent) wherever it is part of an expression. The
    /// second coefficient is 1.
    void limit_sum(const Term &a, const Term &b, Slot extent);

    /// The slot of a variable or of a defined name; -1 if no expression uses it.
    Slot find(const std::string &name) const;

    /// \param variable  what find() or new_variable() gave
    void set(Slot variable, const Range &range) { values_[static_cast<size_t>(variable)] = range; }
    void evaluate();
    const Range &operator[](Slot slot) const { return values_[static_cast<size_t>(slot)]; }

    /// Whether an expression has a part that may have any value whatever is set: floats, what depends on data,
    /// and operations that have no step here.
    bool has_unknown() const { return has_unknown_; }

    /// For statistics.
    size_t steps() const { return steps_.size(); }

  private:
    enum class Kind : uint8_t {
        Sum,       // constant + the terms a .. b - 1
        Product,   // a * b
        Quotient,  // a / b
        Remainder,
        Min,
        Max,
        IsNegative,  // a < 0: 0 or 1
        IsZero,
        Select,  // a ? b : c
        Clip,    // a between b and c
        Fit,     // a in an integer type of c bits, signed if b is 1
    };
    struct Step {
        Kind kind;
        Slot target, a, b, c;
        int64_t constant;
    };
    struct LimitedSum {
        Term a, b;
        Slot value;
    };
    /// Everything that distinguishes a step from others.
    using Key = std::vector<int64_t>;

    Slot constant(const Range &value);
    Slot step(Kind kind, Slot a, Slot b = -1, Slot c = -1);
    Slot push(const Key &key, Step step);
    Slot sum(int64_t constant, const std::vector<Term> &terms);
    Slot index(const Expr &e);
    void replace_limited(std::vector<Term> &terms) const;
    Slot node(const Expr &e);
    Slot variable(const Expr &e);
    Slot binary(const Expr &e);
    Slot difference(Slot a, Slot b, int64_t factor, int64_t more);
    Slot comparison(const Expr &e);
    Slot negation(Slot condition);
    Slot cast(const Expr &e);
    Slot call(const Expr &e);
    Slot unknown(Type type);
    Slot fit(Slot value, Type type);
    Range result(const Step &s) const;
    Range sum_of(const Step &s) const;

    std::vector<Range> values_;  // by slot
    std::vector<Step> steps_;    // each uses slots of earlier ones
    std::vector<Term> terms_;
    std::vector<LimitedSum> limited_;
    std::unordered_map<std::string, Expr> definitions_;
    std::unordered_map<std::string, Slot> variables_;
    std::map<Key, Slot> known_;
    bool has_unknown_ = false;
    /// By node; the expressions are kept, so that no other node takes the address.
    std::unordered_map<const ir::ExprNode *, std::pair<Expr, Slot>> done_;
};

}  // namespace Pipe::poly
