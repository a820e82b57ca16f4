#include "autoschedule/gpu/gpu_group.h"

#include <algorithm>

#include "autoschedule/gpu/kernel_model.h"
#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

namespace {

/// A block, and where each member is computed.
struct Choice {
    Block block;
    std::vector<Level> levels;
    Cost cost;
};

class KernelChoice {
  public:
    explicit KernelChoice(const KernelModel &model) : model_(model) {}

    std::optional<Plan> best() {
        for (const Block &b : coarse_blocks(model_.extents(), model_.has_sums()))
            consider_block(b);
        if (!best_)
            return std::nullopt;
        for (double before = 0; best_->cost.total != before;) {
            before = best_->cost.total;
            const Block from = best_->block;
            for (const Block &b : blocks_near(from, model_.extents(), model_.has_sums()))
                consider_block(b);
        }
        for (size_t m = 1; m < model_.size(); m++)  // each member once more, by itself
            for (Level level : {Level::Tile, Level::Block, Level::Thread}) {
                Choice other = *best_;
                other.levels[m] = level;
                if (level != best_->levels[m])
                    consider(std::move(other));
            }
        return model_.plan(BlockTiles(best_->block), best_->levels, best_->cost);
    }

  private:
    void consider_block(const Block &b) {
        for (const std::vector<Level> &levels : usual_levels(b))
            consider({b, levels, {}});
    }

    void consider(Choice choice) {
        const BlockTiles tiles(choice.block);
        if (!model_.is_legal(tiles, choice.levels))
            return;
        std::optional<Cost> cost = model_.evaluate(tiles, choice.levels);
        if (!cost || (best_ && best_->cost.total <= cost->total))
            return;
        choice.cost = *cost;
        best_ = std::move(choice);
    }

    /// Sums with the loops of the output or of each thread, and all others in shared memory, or all that can be in
    /// registers there.
    std::vector<std::vector<Level>> usual_levels(const Block &b) const {
        const BlockTiles tiles(b);
        std::vector<std::vector<Level>> all;
        for (Level sums : {Level::Thread, Level::Block}) {
            std::vector<Level> levels(model_.size(), Level::Tile);
            bool has_sums = false;
            for (size_t m = 1; m < levels.size(); m++)
                if (model_.is_sum(m)) {
                    levels[m] = sums;
                    has_sums = true;
                }
            all.push_back(levels);
            for (size_t m = 1; m < levels.size(); m++) {
                std::vector<Level> more = levels;
                more[m] = Level::Thread;
                if (levels[m] == Level::Tile && model_.is_legal(tiles, more))
                    levels = std::move(more);
            }
            if (levels != all.back())
                all.push_back(std::move(levels));
            if (!has_sums)
                break;
        }
        return all;
    }

    const KernelModel &model_;
    std::optional<Choice> best_;
};

/// Within a kernel, the threads of a block run along the first dimension of each stage. Of a dimension without a loop, the
/// block computes all.
bool may_be_member(const Node &node) {
    return node.dims() > 0 && std::all_of(node.stages.begin(), node.stages.end(), [](const StageCost &stage) {
        return stage.loops_over[0] && stage.threads == Threads::Points;
    });
}

}  // namespace

std::optional<Plan> plan_kernel(const StageGraph &graph, const Machine &machine,
                                std::vector<int> members) {
    constexpr size_t most_in_kernel = 11;  // as the largest hand schedule that was measured has
    const int output = *std::max_element(members.begin(), members.end());
    const bool has_updates = graph.nodes[static_cast<size_t>(output)].has_updates();
    const bool is_value = graph.nodes[static_cast<size_t>(output)].dims() == 0;
    if (members.size() > most_in_kernel || !is_group(graph, members) ||
        (members.size() > 1 && (has_updates || is_value)))
        return std::nullopt;
    for (int m : members)
        if (m != output && !may_be_member(graph.nodes[static_cast<size_t>(m)]))
            return std::nullopt;
    const KernelModel model(graph, *machine.gpu, std::move(members));
    return model.is_known() ? KernelChoice(model).best() : std::nullopt;
}

}  // namespace Pipe::autoschedule
