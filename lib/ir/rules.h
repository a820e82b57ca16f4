#pragma once
// The local rules of the simplifier: constructors that return the simplest known form. Their
// operands are already simplified; nothing below them is visited again. (Internal to ir/; the walks
// are in simplify_expr.cpp and simplify_stmt.cpp.)

#include "ir/facts.h"
#include "ir/linear.h"

namespace Pipe::ir {

class Rules {
  public:
    explicit Rules(const Facts &facts) : facts_(facts) {}

    Expr binary(Op op, const Expr &a, const Expr &b);
    Expr logical_not(const Expr &a);
    Expr select(const Expr &condition, const Expr &t, const Expr &f);
    Expr cast(Type type, const Expr &a);
    Expr ramp(const Expr &base, const Expr &stride, int lanes);
    Expr broadcast(const Expr &value, int lanes);
    Expr vector_reduce(const Expr &e, const Expr &value);
    Expr interleave(const std::vector<Expr> &values);
    Expr load(const Expr &e, const Expr &index, const Expr &predicate);
    /// `e` with the arguments `args`.
    Expr call(const Expr &e, const std::vector<Expr> &args);
    /// The simplest expression for a sum of int32 or int64.
    Expr sum(const Linear &sum);

    /// The value of a comparison if the interval decides it; else undefined.
    Expr decided(const ConstantInterval &difference, Op op);
    ConstantInterval bounds(const Expr &e) const;

  private:
    Expr add(Op op, const Expr &a, const Expr &b);
    Expr add_wrapping(Op op, const Expr &a, const Expr &b);
    Expr multiply(const Expr &a, const Expr &b);
    Expr divide(const Expr &a, const Expr &b);
    Expr divide_by(const Expr &a, int64_t divisor);
    Expr divide_quotient(const Linear &dividend, int64_t divisor);
    Expr remainder(const Expr &a, const Expr &b);
    Expr remainder_by(const Expr &a, int64_t divisor);
    Expr remainder_of(Linear sum, int64_t divisor);
    struct Divided;
    static std::optional<Divided> as_divided(const Expr &atom);
    bool join_quotients(Linear *sum);
    bool join_quotient(Linear *sum, const Divided &d, int64_t coefficient);
    bool join_remainder(Linear *sum, const Divided &d, int64_t coefficient);
    ConstantInterval usual_bounds(const Linear &sum) const;
    bool fits(const Linear &sum, int64_t factor = 1) const;

    Expr min_max(Op op, const Expr &a, const Expr &b);
    Expr min_max_nested(Op op, const Expr &a, const Expr &b);
    Expr min_max_of_sums(Op op, const Expr &a, const Expr &b);
    bool decide_min_max(Op op, const Expr &a, const Expr &b, Expr *result);

    Expr comparison(Op op, const Expr &a, const Expr &b);
    Expr compare_sums(Op op, const Expr &a, const Expr &b);
    Expr write_comparison(Op op, Linear left, Linear right, int64_t m, const Expr &plain);
    Expr compare_quotient(Op op, const Linear &left, const Linear &right);
    Expr logical(Op op, const Expr &a, const Expr &b);
    Expr combine_comparisons(Op op, const Expr &a, const Expr &b);
    Expr select_bool(const Expr &condition, const Expr &t, const Expr &f);

    Expr lanes(Op op, const Expr &a, const Expr &b);
    Expr lanes_of_ramp(Op op, const Expr &a, const Expr &b);
    Expr sum_of_lanes(const Linear &sum);
    Expr widen(Type type, const Expr &a);

    const Facts &facts_;
};

/// x without surrounding markers such as likely(), which do not change its value.
Expr strip_likely(const Expr &e);
/// Whether a term may have any value of its type.
bool has_data(const Linear &sum);

}  // namespace Pipe::ir
