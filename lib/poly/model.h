#pragma once
// The polyhedral model of a graph for given sizes: domains and access maps of every stage.

#include <string>
#include <vector>

#include "graph/graph.h"
#include "poly/access.h"
#include "poly/solver.h"

namespace Pipe::poly {

/// The iteration domain and the accesses of one stage.
struct StageModel {
    std::vector<Iterator>
        iterators;              ///< pure ones (in the order of the Func's arguments), then RVars
    int pure = 0;               ///< the number of pure ones
    std::vector<Access> loads;  ///< each element once, however often it occurs in the expressions

    /// Number of iterations; Range::infinite if unknown.
    int64_t points() const;
    int64_t points_per_pure_point() const;  ///< iterations of the RVars
};

/// One Func: its needed region and its stages.
struct FuncModel {
    std::vector<Range> box;  ///< needed region, per dimension; unbounded if unknown
    std::vector<StageModel> stages;

    bool bounded() const;
    int64_t elements() const;  ///< of the box; Range::infinite if unbounded
};

struct Model {
    std::vector<FuncModel> funcs;            ///< indexed by FuncId
    std::vector<std::vector<Range>> images;  ///< region that is read, indexed as Graph::images
    int inexact = 0;  ///< number of coordinates that were not affine: interval arithmetic was used
    int exhausted = 0;  ///< of these, the number for which isl's quota was exhausted
};

/// The sizes on which the model depends.
struct ModelInput {
    std::vector<std::vector<Range>> outputs;  ///< requested region of each of Graph::outputs
    Environment names;                        ///< "<image>.extent.<d>", scalars
    unsigned long max_operations = 100000;    ///< isl's quota for one coordinate
};

Model model(const graph::Graph &graph, const ModelInput &input);

}  // namespace Pipe::poly
