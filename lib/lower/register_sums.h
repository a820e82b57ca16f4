#pragma once
// register_sums: accumulators of blocked reductions.
//
// An update whose innermost loops are a block of pure loops (unrolled or vectorized), inside loops
// over RVars, loads and stores every element of the block in each iteration of the RVars: LLVM
// cannot keep them in registers, because it cannot prove that rows of the block, whose stride is
// known only at run time, do not overlap. Here they become a small separate array:
//
//     for r:                               allocate sums[6]
//       unrolled yi:                       unrolled yi, vectorized xi: sums[yi, xi] = f(x, y)
//         vectorized xi:             =>    for r:
//           f(x, y) += ...                   unrolled yi, vectorized xi: sums[yi, xi] += ...
//                                          unrolled yi, vectorized xi: f(x, y) = sums[yi, xi]
//
// Neither the order of the additions nor the results change. If the update is the first one and the pure definition is
// a formula, the sums start from it: the loops of the pure definition are not needed then. A block may also run twice at
// a point then, so that the last one of a guarded split may shift inwards instead of testing every point in the loops
// over RVars; only where the extent is less than a block, it keeps its guards.

#include <optional>

#include "lower/innermost.h"

namespace Pipe::lower {

struct RegisterSums {
    size_t outermost = 0;  ///< the first loop over RVars, outermost first
    size_t block = 0;      ///< the first loop of the block
    size_t terms =
        0;  ///< the first loop inside of the block: over RVars, whose lanes are added to one sum
    int64_t elements = 1;  ///< of the block
    std::vector<std::string> arrays;  ///< one per value of the Func
    ir::Stmt load, update, store;     ///< innermost statements of the three nests
    bool starts =
        false;  ///< `load` evaluates the pure definition, which nothing else has to compute
    std::vector<bool> kept_inside;  ///< of each transform: a guarded split that may shift inwards
};

/// Nothing if the stage has no such block, or one that cannot be transformed. `provide`: the
/// innermost statement of the nest.
std::optional<RegisterSums> register_sums(const region::RegionPlan &plan, const Nest &nest,
                                          const ir::Stmt &provide);

}  // namespace Pipe::lower
