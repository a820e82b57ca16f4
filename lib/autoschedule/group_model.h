#pragma once
// The cost of fusing a group of Funcs: which tiles, and how long it takes.

#include <optional>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

/// How tiles are laid: candidate of the search.
struct Tiling {
    std::vector<int64_t> size;  ///< per dimension of the output, 1 .. extent
    int row_dim = -1;           ///< as in Plan
};

/// One group under consideration. Built once per group; evaluates many tilings.
///
/// The four terms of dp-fusion's equation (2) are all here, but in one unit, clocks, so that they need
/// no weights: live-in/live-out data (far_memory), cleanup tiles (imbalance), overlap (the redundant
/// points in arithmetic) and unequal extents (every member's own points are counted).
class GroupModel {
  public:
    /// \param members any order; must be a valid group (see is_group)
    GroupModel(const StageGraph &graph, const Machine &machine, std::vector<int> members);

    /// Whether all dependences inside the group are constant after alignment and scaling.
    bool constant() const { return alignment_.constant; }

    Cost evaluate(const Tiling &tiling) const;
    /// The best tiling among the candidates. \param coarse fewer candidates, for large pipelines
    Plan best(bool coarse) const;

    /// Tile sizes as dp-fusion Algorithm 2 (ComputeTileSizes): the tile's buffers fill `cache_bytes`,
    /// and dimensions with more reuse get longer.
    std::vector<int64_t> fill_cache(int64_t cache_bytes, int64_t innermost) const;

  private:
    struct Read {           // member reads buffer
        int buffer = 0;     // member, or number of members + index of external buffer
        double rows = 1;    // distinct rows that one point of the reader touches
        int bytes = 1;
    };
    struct Member {
        double clocks = 0;     // of one point, vectorised
        double lanes = 1;
        double bytes = 1;      // of one point
        bool updates = false;
        std::vector<Read> reads;
    };
    struct External {
        std::vector<poly::Coordinate> region;
        bool aligned = true;   // region is known as a function of the tile
        double bytes = 1;      // of one element
        double size = 0;       // bytes of the whole region that is read
        double rate = 1;       // bytes per clock at which it streams in
        int func = -1;         // or an image
        int image = -1;
    };
    struct Footprint;

    void add_member(const Node &node);
    int external(const poly::Access &load);
    double clocks_per_point(const Node &node) const;
    double far_rate(double bytes) const;
    std::vector<Level> levels(const Tiling &tiling) const;
    Footprint footprint(const Tiling &tiling) const;
    void add_compute(const Tiling &tiling, const Footprint &f, Cost &cost) const;
    void add_near_memory(const Tiling &tiling, const Footprint &f, Cost &cost) const;
    void add_far_memory(const Tiling &tiling, const Footprint &f, Cost &cost) const;
    void finish(const Tiling &tiling, const Footprint &f, Cost &cost) const;
    std::vector<Tiling> candidates(bool coarse) const;
    std::vector<int64_t> sizes_of_rows(int64_t extent, bool coarse) const;
    std::vector<int64_t> sizes_of_columns(bool coarse) const;
    std::vector<double> reuse() const;

    const StageGraph &graph_;
    const Machine &machine_;
    std::vector<int> nodes_;  // members, output first
    std::vector<Member> members_;
    std::vector<External> externals_;
    poly::Alignment alignment_;
    double root_bytes_ = 0;
};

/// One output whose value alone is needed outside; every other member is free and read by members only.
bool is_group(const StageGraph &graph, const std::vector<int> &members);

/// Cost and best tiles of a group: dp-fusion Algorithm 2. Nothing where the dependences are not
/// constant (infinite cost).
std::optional<Plan> plan_group(const StageGraph &graph, const Machine &machine,
                               std::vector<int> members, bool coarse);

}  // namespace Pipe::autoschedule
