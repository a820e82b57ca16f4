#pragma once
// What values an index takes while several variables range together, where a condition ties them to
// each other or a variable stands in the index more than once: there intervals lose what the integer
// set keeps.

#include <string>
#include <vector>

#include "poly/range.h"

namespace Pipe::poly {

/// Variables and where they range. All names that are no variables here are unknown numbers.
struct JointDomain {
    struct Variable {
        std::string name;
        Expr min, max;  ///< both included; undefined = unbounded
    };
    std::vector<Variable> variables;
    std::vector<Expr> conditions;  ///< each is <= 0
};

/// The range of `index` over the domain, and over all values of the unknown numbers. Unbounded where
/// something is not quasi-affine, or where the quota is exhausted.
Range joint_range(const Expr &index, const JointDomain &domain);

}  // namespace Pipe::poly
