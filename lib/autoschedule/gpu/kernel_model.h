#pragma once
// The cost of a group of Funcs as one kernel, for a given block: the model behind the choice of blocks (gpu_group.h).
//
// Each block of threads computes a tile of the group's output. Each member is computed either by the block before it, in
// shared memory, the part that the tile needs; or by each thread for itself, in registers, the part that its points need;
// or, of sums, with the loops of the output, all points of a thread at once. Points of one thread share what they load.
// The time of that work: gpu_cost.h.

#include <optional>
#include <vector>

#include "autoschedule/gpu/gpu_block.h"
#include "autoschedule/gpu/gpu_cost.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

class KernelModel {
  public:
    /// \param nodes any order; must be a valid group
    KernelModel(const StageGraph &graph, const GPU &gpu, std::vector<int> nodes);

    /// Whether the regions of all members are known for each tile; else it cannot be one kernel.
    bool is_known() const { return is_known_; }
    /// Of members; 0 is the output.
    size_t size() const { return nodes_.size(); }
    const std::vector<int64_t> &extents() const { return node(0).extents; }
    /// A member that updates one point of its own for each point of the output: its threads keep the sums.
    bool is_sum(size_t m) const;
    bool has_sums() const;
    bool is_legal(const BlockTiles &b, const std::vector<Level> &levels) const;
    /// Nothing where shared memory does not suffice.
    std::optional<Cost> evaluate(const BlockTiles &b, const std::vector<Level> &levels) const;
    Plan plan(const BlockTiles &b, const std::vector<Level> &levels, const Cost &cost) const;

  private:
    using Coordinates = std::vector<poly::Coordinate>;

    /// Loads of one buffer whose coordinates differ by constants.
    struct Window {
        poly::Access hull;
        double loads = 0;  ///< per iteration
    };
    /// What each iteration of the pure loops of a stage does.
    struct StageWork {
        std::vector<Window> windows;
        double instructions = 0;
    };
    /// A buffer that the group reads.
    struct External {
        std::vector<Window>
            windows;  ///< as functions of the output's tile; loads: for each of its points
        double bytes = 1, size = 0;  ///< of an element, and of all that is read
        bool in_l2 = false;
    };
    /// How the threads of a block go through a stage.
    struct Steps {
        double passes = 1;  ///< of each thread, one after the other
        /// That a thread computes in each, per dimension of the member: next to each other, or as columns apart.
        std::vector<int64_t> points;
        int columns = -1;  ///< the dimension of these
        double count() const;
    };

    const Node &node(size_t m) const { return graph_.nodes[static_cast<size_t>(nodes_[m])]; }
    int member(int node) const;
    bool reads(size_t reader, size_t m) const;
    void align();
    void collect_externals();
    static void add_to(std::vector<Window> &windows, const poly::Access &load, double loads);
    External external_of(const poly::Access &load) const;

    std::vector<double> region_of(size_t m, const std::vector<int64_t> &tile) const;
    double points_of(size_t m, const std::vector<int64_t> &tile) const;
    double kept(size_t m, Level level, const BlockTiles &b) const;
    Steps steps_of(size_t m, size_t stage, const BlockTiles &b, Level level) const;
    void steps_of_tile(size_t m, size_t stage, const BlockTiles &b, Steps &steps) const;
    void add_columns(size_t m, const BlockTiles &b, Steps &steps) const;
    int64_t rows_of_member(size_t m, const BlockTiles &b) const;
    int lane_dim(size_t m, Level level, const BlockTiles &b) const;

    KernelWork work_of_group(const BlockTiles &b, const std::vector<Level> &levels) const;
    KernelWork work_of_update(size_t stage, const Block &output) const;
    void share_by_parts(size_t s, double points, KernelWork &work) const;
    static double loads_of(const Window &window, const Steps &steps);
    /// What a thread does for a stage: waits for loads from global memory, one after the other, and loads at a time.
    struct Loads {
        double waits = 0, at_once = 0;
    };
    struct Waits;
    Loads add_stage(size_t m, size_t stage, const BlockTiles &b, const std::vector<Level> &levels,
                    KernelWork &work) const;
    static void share_by_rvars(const StageCost &stage, double computed, double points,
                               KernelWork &work);
    void add_traffic(const BlockTiles &b, KernelWork &work) const;
    double bytes_of_tile(const External &e, const BlockTiles &b) const;

    const StageGraph &graph_;
    const GPU &gpu_;
    std::vector<int> nodes_;  ///< output first
    poly::Alignment alignment_;
    std::vector<External> externals_;
    std::vector<std::vector<StageWork>> work_;  ///< per member and stage
    std::vector<std::vector<bool>>
        is_whole_;  ///< dimensions of which each tile has all: an update has no loop over them, or they are short
    bool is_known_ = true;
};

}  // namespace Pipe::autoschedule
