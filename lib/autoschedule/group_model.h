#pragma once
// The cost model of a fused group of Funcs, with the choice of tile sizes.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "autoschedule/block_cache.h"
#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/register_block.h"
#include "autoschedule/row_sharing.h"
#include "autoschedule/stage_graph.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

/// A candidate tiling of the search.
struct Tiling {
    std::vector<int64_t> size;  ///< per dimension of the output, 1 .. extent
    int row_dim = -1;           ///< as in Plan
    int64_t block = 1;          ///< as in Plan
    int64_t inner = 1;          ///< rows of inner tiles; 1: none, a step is one block
    int unrolled = -1;          ///< as in Plan; it is whole
    bool by_block =
        false;  ///< sums that only the output reads are at Level::Block; without row_dim
    /// Row members are of one row each: the loop over rows is inside of those over the other points, as in memory.
    bool single_rows = false;

    /// Whether Row members are computed for a few points of this dimension at a time.
    bool is_in_rows(int dim) const {
        return row_dim >= 0 && (dim == row_dim || (single_rows && dim > 0));
    }
    int64_t step() const { return std::max(block, inner); }  ///< as in Plan
};

/// Clocks of two overlapping activities, if the fraction `serial` of the shorter one cannot be
/// hidden behind the longer one.
inline double overlapped(double a, double b, double serial) {
    return std::max(a, b) + serial * std::min(a, b);
}

/// Data and work of a tiling, in bytes, with the sizes of the members' and external elements.
struct Volumes {
    double live_in = 0, live_out = 0;  ///< of the whole group
    double tile = 0;                   ///< computed for one tile, including the overlap
    double overlap = 0;                ///< of that, what adjacent tiles compute, too
    double overlap_points = 0;         ///< the same in elements
};

/// Of the groups of one search.
struct SearchMemory {
    BlockCache blocks;
    long tilings = 0;  ///< that were evaluated, times the members of their groups

    /// As so many of these. To find a block takes as long as many tilings.
    long work() const { return tilings + 200 * blocks.size(); }
};

/// A candidate group. Constructed once per group; evaluates many tilings.
///
/// Contains the four terms of Jangda 2020, equation (2), all in clocks, so that they need no
/// weights: live-in/live-out data (far_memory), cleanup tiles (imbalance), overlap (the redundant
/// points in arithmetic) and unequal extents (every member's own points are counted).
class GroupModel {
  public:
    /// \param members any order; must be a valid group (see is_group)
    GroupModel(const StageGraph &graph, const Machine &machine, std::vector<int> members,
               std::shared_ptr<SearchMemory> memory = std::make_shared<SearchMemory>());

    /// Infinite where an update that jumps (a scan, a histogram) would need more than one tile.
    Cost evaluate(const Tiling &tiling) const;
    /// The best tiling among the candidates, if one is possible. \param coarse fewer candidates, for large
    /// pipelines
    std::optional<Plan> best(bool coarse) const;
    /// The plan of one tiling; nothing where that is not possible.
    std::optional<Plan> plan_of(const Tiling &tiling) const;

    /// The tile whose buffers fill `cache_bytes` (tile_sizes.h).
    std::vector<int64_t> fill_cache(int64_t cache_bytes, int64_t innermost) const;

    /// Of the output.
    const std::vector<int64_t> &extents() const {
        return graph_.nodes[static_cast<size_t>(nodes_[0])].extents;
    }
    /// What an iteration computes of each member, as a function of what it computes of the output.
    const poly::Alignment &alignment() const { return alignment_; }
    /// What one tile takes, and what all of them do, by the definitions of Jangda 2020, section 4.
    Volumes volumes(const std::vector<int64_t> &tile) const;
    /// Every dependence inside of the group has a constant distance in each dimension that is tiled
    /// (constantDependenceVectors).
    bool has_constant_dependences() const;
    /// Standard deviation of the members' extents along each dimension of the output, summed.
    double deviation_of_extents() const;
    /// Lets members share loops that load the same elements (Jangda 2020, section 5.3): those that are
    /// computed over equal regions at the same level, with the same vectors, independently of each
    /// other, and read overlapping windows of a buffer.
    void share_loops(Plan &plan) const;
    /// Of the whole regions of all members.
    double buffer_bytes() const;

  private:
    struct Read {         // member reads buffer
        int buffer = 0;   // member, or number of members + index of external buffer
        double rows = 1;  // distinct rows that one point of the reader touches
        int bytes = 1;
        std::vector<double> rows_besides;  // as in Reads
        uint64_t uses = 0;                 // the dimensions of the reader that it may depend on
    };
    struct Blocked {  // an update that may be computed in register blocks
        size_t stage = 0;
        double repeats = 1, plain_clocks = 0;  // of one iteration without blocks
    };
    struct Jumping {  // an update without a loop over each dimension
        size_t stage = 0;
        double clocks = 0;    // of one iteration of its pure loops
        double in_lanes = 0;  // the same with as many side by side as a vector has lanes
    };
    struct Member {
        double clocks = 0;             // of one point, vectorized
        double update_clocks = 0;      // elapsed, of the output's updates that jump
        std::vector<Jumping> jumping;  // of the others
        double lanes = 1;
        double bytes = 1;  // of one point
        bool starts =
            false;  // with the first update: the pure definition has no loops worth counting
        std::vector<Blocked> blocked;
        std::vector<Read> reads;
        std::vector<Rows>
            together;  // rows or channels that make a point cheaper, the cheapest first
    };
    /// Where buffers lie: bytes per clock of one core, and the clocks until the first of them come.
    struct Far {
        double rate = 1, start = 0;
    };
    struct External {
        std::vector<poly::Coordinate> region;
        double bytes = 1;  // of one element
        double size = 0;   // bytes of the whole region that is read
        Far from;          // where it streams in from
        int func = -1;     // or an image
        int image = -1;
    };
    /// Size of the region of a member or external buffer under one tiling, in elements.
    struct Region {
        std::vector<double> widths;  // for one tile, per dimension
        double tile = 1;             // for one tile
        double row = 1;              // of its innermost dimension
        double run = 1;    // of a contiguous run in memory: a row, or a plane if rows are complete
        double total = 1;  // summed over all tiles
        double fold = 1;  // of a sliding-window buffer after folding: complete rows, a power of two
        double again = 1;    // number of passes over it, made by tile loops that it is invariant to
        bool swept = false;  // whether other data are accessed between two passes
    };

    /// Of a member over all tiles, in clocks: what may go on at the same time.
    struct Activity {
        double arithmetic = 0, near = 0, far = 0, overhead = 0;
        double block_bytes = 0;  // that register blocks read from beyond L2
        Activity &operator+=(const Activity &other) {
            arithmetic += other.arithmetic, near += other.near, far += other.far;
            overhead += other.overhead;
            return *this;
        }
    };

    int member_index(int node) const;
    void add_member(const Node &node);
    int external(const poly::Access &load);
    void add_clocks(const Node &node, Member &member) const;
    double clocks_of(const StageCost &stage, const Node &node, const Rows &rows = {}) const;
    double clocks_of_jump(const StageCost &stage, const Node &node) const;
    Rows rows_of(size_t member, const Tiling &t) const;
    std::vector<Rows> cheaper_rows(size_t member) const;
    double clocks_together(size_t member, const Rows &rows, const Tiling &t) const;
    Rows rows_in_block(size_t member, const Tiling &t) const;
    double rows_read(const Read &read, size_t reader, int loop) const;
    int row_loop(size_t member, const Tiling &t) const;
    bool is_transposed(size_t member, const Tiling &t) const;
    double transposition_clocks(size_t member) const;
    double clocks_in_rows(size_t member, const Rows &rows) const;
    double cores_of(const StageCost &stage, const Node &node) const;
    Far far(double bytes) const;
    bool streams() const;
    std::vector<Level> levels(int row_dim) const;
    const std::vector<Level> &levels_of(const Tiling &t) const {
        return t.by_block ? sums_levels_ : levels_[static_cast<size_t>(t.row_dim + 1)];
    }

    struct Span {
        double tile = 1, sum = 1;
    };
    /// The region moves with the tile along the coordinate's iterator; else it is always the same.
    static bool moves(const poly::Coordinate &c) { return c.iterator >= 0 && c.distance.bounded(); }
    const std::vector<int64_t> &mins() const {
        return graph_.nodes[static_cast<size_t>(nodes_[0])].mins;
    }
    double width(const poly::Coordinate &c, const poly::Range &distance, int64_t tile) const;
    /// Elements of one coordinate while its iterator takes `tile` values.
    double width(const poly::Coordinate &c, int64_t tile) const { return width(c, c.steady, tile); }
    Span span(const poly::Coordinate &c, const Tiling &t) const;
    double swept(size_t member, const StageCost &stage, const Tiling &t) const;
    size_t outermost_loop() const;
    bool jumps_stay_whole(const Tiling &t) const;

    // Steps of evaluate(); measure() fills the scratch members that the others read.
    bool read_together(size_t a, size_t b) const;
    std::vector<int> depths() const;
    void measure(const std::vector<poly::Coordinate> &coords, const Tiling &t, Region &r) const;
    void measure(const Tiling &tiling) const;
    int64_t step_extent(size_t member, size_t d, const Tiling &t) const;
    /// The extents of a member that are computed at a time, per dimension.
    std::vector<int64_t> step_extents(size_t member, const Tiling &t) const;
    /// Of the output's stages, all but the one that reads the other members have loops of their own.
    bool is_tiled(size_t member, size_t stage) const { return member > 0 || stage == reading_; }
    /// `together`: members whose sums are in registers at the same time.
    const std::optional<RegisterBlock> &block_of(size_t member, size_t stage,
                                                 const std::vector<int64_t> &extents,
                                                 size_t together) const;
    bool is_sum_of_output(size_t member) const;
    void find_sums();
    const std::optional<RegisterBlock> &block_of_sums(const Tiling &t) const;
    bool has_block(const Tiling &t) const;
    void set_block(const Tiling &t, Plan &plan) const;
    const std::optional<RegisterBlock> &block_under(size_t member, const Blocked &update,
                                                    const Tiling &t) const;
    double unforeseen_parts(size_t buffer, const Tiling &t) const;
    double add_blocks(size_t member, const Tiling &t, double padded) const;
    void add_compute(const Tiling &tiling, Cost &cost) const;
    double held(size_t member, const Tiling &t) const;
    double input_rows() const;
    bool is_read_again(size_t external, size_t member, const Tiling &t, double l1) const;
    double near_bytes(size_t member, const Tiling &t, double l1, bool scratch_in_l1) const;
    Far beyond_l2(double bytes) const;
    void add_near_memory(const Tiling &tiling, Cost &cost) const;
    size_t first_reader(size_t external) const;
    void add_inputs(const Tiling &t, Cost &cost) const;
    void add_far_memory(const Tiling &t, Cost &cost) const;
    bool restarts(const std::vector<poly::Coordinate> &region, const Tiling &t) const;
    double passing(const std::vector<Level> &levels) const;
    double parts_of_rows(const Region &r, double bytes) const;
    bool sees_next_step() const;
    double starts(const Region &r, const External &input, const Tiling &t) const;
    double busiest() const;
    double clocks_of_phases(const Tiling &t) const;
    void finish(const Tiling &t, Cost &cost) const;

    struct Choice {
        Tiling tiling;
        Cost cost;
        bool found = false;
    };
    void improve(Choice &best, const Tiling &t) const;
    void vary(Choice &best, size_t dim, const std::vector<int64_t> &sizes) const;
    Choice descend(Tiling start, int row_dim, bool coarse) const;
    void vary_others(Choice &best, bool coarse) const;
    Choice strips(bool coarse) const;
    std::vector<int64_t> sizes_of_blocks(int row_dim) const;
    void vary_block(Choice &best, int row_dim) const;
    void vary_tile_of_blocks(Choice &best, int row_dim, bool coarse) const;
    void unroll_short(Choice &best, int row_dim) const;
    std::optional<Plan> make_plan(const Choice &choice) const;
    int row_dimension() const;
    bool members_are_of_rows() const;
    std::vector<int> row_dimensions() const;
    std::vector<int64_t> sizes_of_rows(int64_t extent, bool coarse) const;
    bool has_whole_dimension() const;
    std::vector<int64_t> sizes_of_columns(bool coarse) const;
    std::vector<std::vector<int64_t>> sizes_of_others(int row_dim) const;
    std::vector<double> reuse() const;

    const StageGraph &graph_;
    const Machine &machine_;
    std::vector<int> nodes_;  // members, output first
    std::shared_ptr<SearchMemory> memory_;
    size_t reading_ = 0;  // reading_stage()
    std::vector<Member> members_;
    std::vector<External> externals_;
    poly::Alignment alignment_;
    std::vector<std::vector<Level>> levels_;  // per row_dim + 1
    double root_bytes_ = 0;
    std::vector<size_t> sums_;          // the members that can be at Level::Block
    std::vector<Level> sums_levels_;    // if they are there
    double clocks_from_registers_ = 0;  // of a point of the output then

    mutable std::map<std::tuple<size_t, int, int64_t>, double> clocks_;  // clocks_in_rows()

    // Scratch of evaluate().
    mutable std::vector<Region> regions_;   // members, then externals
    mutable std::vector<Rows> rows_;        // per member
    mutable std::vector<double> counts_;    // tiles per dimension
    mutable std::vector<Activity> work_;    // per member
    mutable size_t outermost_ = 0;          // loop over tiles
    mutable double tiles_ = 1, steps_ = 1;  // steps of the row loop, over all tiles
};

constexpr double worth_unrolling_channels = 0.995;  ///< of the time
constexpr double worth_unrolling = 0.97;  ///< of the time: more code, and it has to be compiled

/// Maximum number of Funcs per group. Fusing more gains little, and the bounds of the first Func in
/// a long chain become large expressions.
constexpr size_t most_members = 16;

/// The stage of the output, whose loops the tiles of the group are, that reads other members; -1 where
/// several do, or one without a loop over each dimension or of few points, which is parallel over its RVars.
int reading_stage(const Node &output, const std::vector<int> &members);

/// A group has one member, the output, that is used outside; every other member is free and read by
/// members only, of the output in one stage.
bool is_group(const StageGraph &graph, const std::vector<int> &members);

/// Cost and best tiles of a group: Jangda 2020, Algorithm 2. A dependence that is not constant needs the
/// whole of what is known of its dimension, for every tile. Nothing where the group is not possible.
std::optional<Plan>
plan_group(const StageGraph &graph, const Machine &machine, std::vector<int> members, bool coarse,
           const std::shared_ptr<SearchMemory> &memory = std::make_shared<SearchMemory>());

}  // namespace Pipe::autoschedule
