#pragma once
// The polyhedral model of a graph: domains and access maps of every stage, for given sizes.

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
    int pure = 0;               ///< how many of them are pure
    std::vector<Access> loads;  ///< each element once, however often the expressions name it

    /// Iterations; Range::infinite where unknown.
    int64_t points() const;
    int64_t points_per_pure_point() const;  ///< iterations of the RVars
};

/// One Func: what is needed of it, and its stages.
struct FuncModel {
    std::vector<Range> box;  ///< needed region, per dimension; unbounded where unknown
    std::vector<StageModel> stages;

    bool bounded() const;
    int64_t elements() const;  ///< of the box; Range::infinite where unbounded
};

struct Model {
    std::vector<FuncModel> funcs;            ///< indexed by FuncId
    std::vector<std::vector<Range>> images;  ///< region that is read, indexed as Graph::images
    int inexact = 0;    ///< coordinates that were not affine: interval arithmetic took over
    int exhausted = 0;  ///< of these, how many because isl's quota ran out
};

/// What `model` needs to know of the sizes.
struct ModelInput {
    std::vector<std::vector<Range>> outputs;  ///< region asked of each of Graph::outputs
    Environment names;                        ///< "<image>.extent.<d>", scalars
    unsigned long max_operations = 100000;    ///< isl's quota for one coordinate
};

Model model(const graph::Graph &graph, const ModelInput &input);

}  // namespace Pipe::poly
