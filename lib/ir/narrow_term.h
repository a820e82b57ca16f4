#pragma once
// Terms of sums of which processors add up neighboring lanes by one instruction, since they are narrower than the sum.
//
//     sum of T(absd(a, b)), or of T(a)    a, b: uint8; T: any wider integer     8 lanes (psadbw)
//     sum of T(a) * T(b), or of T(a)      a, b fit into int16; T: 32 bits       2 lanes (pmaddwd)

#include <functional>
#include <optional>

#include "ir/constant_bounds.h"
#include "ir/expr_node.h"
#include <pipe/target.h>

namespace Pipe::ir {

struct NarrowTerm {
    Expr a, b;                ///< both of uint8, or of int16, with as many lanes as the term
    bool is_product = false;  ///< a * b, else |a - b|

    int lanes_per_sum() const { return is_product ? 2 : 8; }
    /// Whether the target has an instruction for sums of so many neighboring lanes each.
    bool has_instruction(const Target &target, int lanes) const;
};

/// Nothing if the term is not of one of these forms.
/// \param range  of an integer
std::optional<NarrowTerm> narrow_term(
    const Expr &term, const std::function<ConstantInterval(const Expr &)> &range =
                          [](const Expr &e) { return constant_bounds(e); });

}  // namespace Pipe::ir
