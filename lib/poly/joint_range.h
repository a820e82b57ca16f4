#pragma once
// The range of an index over several variables, if a condition relates them or a variable occurs in
// the index more than once: there, intervals lose precision that integer sets keep.

#include <string>
#include <vector>

#include "poly/range.h"

namespace Pipe::poly {

/// Variables and their ranges. All other names are unknown numbers (parameters).
struct JointDomain {
    struct Variable {
        std::string name;
        Expr min, max;  ///< both included; undefined = unbounded
    };
    std::vector<Variable> variables;
    std::vector<Expr> conditions;  ///< each is <= 0
};

/// The range of `index` over the domain, and over all values of the unknown numbers. Unbounded if
/// something is not quasi-affine, if there are more than 6 minima, maxima and selects, or if the quota is exhausted.
Range joint_range(const Expr &index, const JointDomain &domain);

}  // namespace Pipe::poly
