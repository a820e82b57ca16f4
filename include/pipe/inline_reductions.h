#pragma once
// Reductions inside an expression.

#include <source_location>
#include <string>

#include <pipe/expr.h>
#include <pipe/rdom.h>
#include <pipe/tuple.h>

namespace Pipe {

class Func;

/// Names the Func that a reduction defines: a new Func of this name, or an undefined Func of the
/// user, which can then be scheduled. Without a name, reports name it after the Func whose
/// definition has the reduction: "mean_sum".
class ReductionFunc {
  public:
    ReductionFunc(const char *name) : name_(name) {}
    ReductionFunc(const std::string &name) : name_(name) {}
    ReductionFunc(const Func &func) : func_(&func) {}

    const std::string &name() const { return name_; }
    const Func *func() const { return func_; }  ///< null: a new one

  private:
    std::string name_;
    const Func *func_ = nullptr;
};

/// Each function defines a Func of the free Vars of `e` that combines `e` over the RDom whose RVars
/// it uses, and returns that Func's value. CompileError if `e` uses no RVar, or RVars of several
/// RDoms. The overloads that take the RDom treat RVars of other RDoms as free. Sums and products
/// have the type of `e`: cast `e` if that type is too narrow.
Expr sum(const Expr &e, const ReductionFunc &into = "sum",
         SourceLocation where = std::source_location::current());
Expr sum(const RDom &r, const Expr &e, const ReductionFunc &into = "sum",
         SourceLocation where = std::source_location::current());
/// As sum, with each addition clamped to the range of the type (saturating_add).
Expr saturating_sum(const Expr &e, const ReductionFunc &into = "saturating_sum",
                    SourceLocation where = std::source_location::current());
Expr saturating_sum(const RDom &r, const Expr &e, const ReductionFunc &into = "saturating_sum",
                    SourceLocation where = std::source_location::current());
Expr product(const Expr &e, const ReductionFunc &into = "product",
             SourceLocation where = std::source_location::current());
Expr product(const RDom &r, const Expr &e, const ReductionFunc &into = "product",
             SourceLocation where = std::source_location::current());
/// For an empty domain: the smallest value of the type.
Expr maximum(const Expr &e, const ReductionFunc &into = "maximum",
             SourceLocation where = std::source_location::current());
Expr maximum(const RDom &r, const Expr &e, const ReductionFunc &into = "maximum",
             SourceLocation where = std::source_location::current());
/// For an empty domain: the largest value of the type.
Expr minimum(const Expr &e, const ReductionFunc &into = "minimum",
             SourceLocation where = std::source_location::current());
Expr minimum(const RDom &r, const Expr &e, const ReductionFunc &into = "minimum",
             SourceLocation where = std::source_location::current());
/// The first point of the RDom at which `e` is largest (smallest), as one int32 per dimension,
/// followed by that value.
Tuple argmax(const Expr &e, const ReductionFunc &into = "argmax",
             SourceLocation where = std::source_location::current());
Tuple argmax(const RDom &r, const Expr &e, const ReductionFunc &into = "argmax",
             SourceLocation where = std::source_location::current());
Tuple argmin(const Expr &e, const ReductionFunc &into = "argmin",
             SourceLocation where = std::source_location::current());
Tuple argmin(const RDom &r, const Expr &e, const ReductionFunc &into = "argmin",
             SourceLocation where = std::source_location::current());

}  // namespace Pipe
