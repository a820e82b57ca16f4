#pragma once
// Parts of a pipeline with one output each, and what a tile of the output needs of their members.

#include <cstdint>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

/// Nodes: the output first, consumers before their producers. All but the output are read by members
/// only.
using Segment = std::vector<int>;

/// Whether the node can be computed inside of the loops of a consumer. Scans and scatters would be
/// computed as a whole there.
bool is_fusible(const Node &node);

/// The segments whose outputs are `roots` (per node), what is not fusible, and what several segments
/// read; each as large as possible; producers first. Inlined nodes are in none.
std::vector<Segment> segments_of(const StageGraph &graph, const std::vector<bool> &roots);

/// The plan of a segment of one node, chosen with Pipe's own model: for reductions, scans and
/// scatters, which none of the papers tiles.
Plan plan_alone(const StageGraph &graph, const Machine &machine, const Segment &segment);

/// Whether the output has tiles: it is pure and has loops.
inline bool has_tiles(const Node &output) {
    return !output.has_updates() && output.dims() > 0;
}

/// A segment as seen from its output's iterations.
class TileView {
  public:
    TileView(const StageGraph &graph, Segment members);

    const StageGraph &graph() const { return graph_; }
    const Segment &members() const { return members_; }
    size_t size() const { return members_.size(); }
    const Node &node(size_t m) const { return graph_.nodes[static_cast<size_t>(members_[m])]; }
    const Node &output() const { return node(0); }
    /// Index of the member, or -1.
    int member(int node) const;

    /// What an iteration of the output needs of member m, per dimension of m.
    const std::vector<poly::Coordinate> &region(size_t m) const { return alignment_.region[m]; }
    /// The same of the elements that member m reads of its i-th buffer.
    const std::vector<poly::Coordinate> &read_region(size_t m, size_t i) const {
        return reads_[m][i];
    }
    /// The dimension of the output that dimension d of member m moves with, or -1.
    int moves_with(size_t m, size_t d) const;
    /// Whether some dimension of member m moves with a dimension of the output, or with `dim`.
    bool moves(size_t m) const;
    bool moves(size_t m, int dim) const;
    /// Whether a window of member m can slide along `dim`: the loop moves it in one dimension only.
    bool slides(size_t m, int dim) const;

    /// The region of a tile in the middle of the output. \param sizes of the tile, per dimension
    std::vector<int64_t> extents(const std::vector<poly::Coordinate> &region,
                                 const std::vector<int64_t> &sizes) const;
    /// The product of these extents, from dimension `first` on.
    double elements(const std::vector<poly::Coordinate> &region, const std::vector<int64_t> &sizes,
                    size_t first = 0) const;
    /// The points of member m in the regions of all tiles together, relative to those that are needed.
    double recomputation(size_t m, const std::vector<int64_t> &sizes) const;

  private:
    int64_t extent(const poly::Coordinate &c, const std::vector<int64_t> &sizes) const;

    const StageGraph &graph_;
    Segment members_;
    poly::Alignment alignment_;
    std::vector<std::vector<std::vector<poly::Coordinate>>> reads_;  // per member and buffer
};

}  // namespace Pipe::autoschedule
