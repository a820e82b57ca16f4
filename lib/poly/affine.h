#pragma once
// Expr -> isl. Internal to poly/: includes isl.

#include <functional>
#include <optional>
#include <string>

#include <isl/cpp.h>

#include "poly/range.h"

namespace Pipe::poly {

/// Thrown if an expression is not piecewise quasi-affine, or too large.
struct NotAffine {};

/// { Stage[i] -> [value] }
isl::pw_aff number(const isl::space &space, int64_t value);

/// Converts expressions to piecewise quasi-affine functions on one space. Supports +, -,
/// multiplication by constants, floor division and modulo by positive constants, min, max and
/// select on affine conditions.
class Affine {
  public:
    /// The value of a variable; nothing if unknown.
    using Lookup = std::function<std::optional<isl::pw_aff>(const std::string &)>;

    /// \param space { Stage[i] }
    /// \param names names with a single value count as constants; must outlive this object
    Affine(isl::space space, const Environment &names, Lookup lookup)
        : space_(std::move(space)), names_(names), lookup_(std::move(lookup)) {}

    isl::pw_aff value(const Expr &e);       // { Stage[i] -> [x] }
    isl::set where(const Expr &condition);  // { Stage[i] }

  private:
    isl::pw_aff call(const Expr &e);
    isl::pw_aff select(const Expr &e);
    std::optional<int64_t> constant(const Expr &e) const;

    isl::space space_;
    const Environment &names_;
    Lookup lookup_;
    int steps_ = 0;  // number of visited nodes
};

}  // namespace Pipe::poly
