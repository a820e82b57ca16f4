#pragma once
// Alignment and scaling of a group of stages: every stage's region as a function of one stage's tile.

#include <vector>

#include "poly/access.h"

namespace Pipe::poly {

/// Member `consumer` reads member `producer`. Members are numbered consumers first; 0 is the stage
/// for which the group is computed. The access is in the consumer's dimensions.
struct GroupEdge {
    int producer = 0, consumer = 0;
    const Access *access = nullptr;
};

/// region[m][d]: dimension d of member m as a function of the iterators of member 0; the hull over
/// all paths of reads from 0 to m. Its distance is the overlap of adjacent tiles.
struct Alignment {
    /// Every dependence has a constant distance once all dimensions are aligned and scaled
    /// (Jangda 2020, section 2.2 and Algorithm 2, line 2: constantDependenceVectors).
    bool constant = true;
    std::vector<std::vector<Coordinate>> region;
};

/// \param dims number of dimensions of each member; a member that no edge reads gets no region
/// \param edges topologically sorted: edges into a consumer come before those that start from it
Alignment align(const std::vector<int> &dims, const std::vector<GroupEdge> &edges);

/// Widens `a` to contain `b`. Returns false, with an unknown distance, if the two have different
/// slopes.
bool merge(Coordinate &a, const Coordinate &b);

}  // namespace Pipe::poly
