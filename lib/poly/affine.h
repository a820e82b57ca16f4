#pragma once
// Expr -> isl. For poly's own files only: it includes isl.

#include <functional>
#include <optional>
#include <string>

#include <isl/cpp.h>

#include "poly/range.h"

namespace Pipe::poly {

/// Thrown where an expression is not piecewise quasi-affine, or too large to be worth the time.
struct NotAffine {};

/// { Stage[i] -> [value] }
isl::pw_aff number(const isl::space &space, int64_t value);

/// Turns the expressions of one question into piecewise quasi-affine functions on one space.
/// Understands +, -, multiplication by constants, floor division and modulo by positive constants,
/// min, max and select on affine conditions.
class Affine {
  public:
    /// What a variable is; nothing for what is unknown.
    using Lookup = std::function<std::optional<isl::pw_aff>(const std::string &)>;

    /// \param space { Stage[i] }
    /// \param names names that have one value here count as constants; must outlive this
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
    int steps_ = 0;  // nodes looked at
};

}  // namespace Pipe::poly
