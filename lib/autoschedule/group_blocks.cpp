// The register blocks of a group's sums (register_block.h), and sums that the output takes from there.

#include <algorithm>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

using poly::Coordinate;

/// The extent of a member along dimension `d` that is computed at a time.
int64_t GroupModel::step_extent(size_t member, size_t d, const Tiling &t) const {
    const int64_t whole = graph_.nodes[static_cast<size_t>(nodes_[member])].extents[d];
    const Coordinate &c = alignment_.region[member][d];
    if (c.iterator < 0 || !c.distance.bounded())
        return whole;
    const bool row_wise =
        member > 0 ? levels_of(t)[member] == Level::Row : reading_ > 0 && t.row_dim >= 0;
    const bool row = row_wise && t.is_in_rows(c.iterator);
    double size = width(c, c.steady, row ? t.step() : t.size[size_t(c.iterator)]);
    if (row && c.num >= 1 && c.den == 1)  // what was kept of earlier rows is not computed again
        size = std::min(size, double(c.num * t.step()));
    return std::min(whole, static_cast<int64_t>(size));
}

std::vector<int64_t> GroupModel::step_extents(size_t member, const Tiling &t) const {
    std::vector<int64_t> result;
    for (size_t d = 0; d < alignment_.region[member].size(); d++)
        result.push_back(step_extent(member, d, t));
    return result;
}

const std::optional<RegisterBlock> &GroupModel::block_of(size_t member, size_t stage,
                                                         const std::vector<int64_t> &extents,
                                                         size_t together) const {
    const Node &node = graph_.nodes[static_cast<size_t>(nodes_[member])];
    Machine machine = machine_;
    machine.vector_registers /= static_cast<int>(together);
    return memory_->blocks.block(node, stage, extents, machine,
                                 is_tiled(member, stage) ? 1 : machine_.cores);
}

/// The block of an update under this tiling.
const std::optional<RegisterBlock> &GroupModel::block_under(size_t member, const Blocked &update,
                                                            const Tiling &t) const {
    const bool in_block = levels_of(t)[member] == Level::Block;
    return block_of(member, update.stage,
                    is_tiled(member, update.stage)
                        ? step_extents(member, t)
                        : graph_.nodes[static_cast<size_t>(nodes_[member])].extents,
                    in_block ? sums_.size() : 1);
}

/// Parts of rows of a member or an external buffer that are misses, because register blocks whose RVars move over rows read more
/// rows at a time than the prefetchers follow.
double GroupModel::unforeseen_parts(size_t buffer, const Tiling &t) const {
    const Region &read = regions_[buffer];
    double parts = 0;
    for (size_t m = 0; m < members_.size(); m++) {
        if (std::none_of(members_[m].reads.begin(), members_[m].reads.end(),
                         [&](const Read &r) { return r.buffer == static_cast<int>(buffer); }))
            continue;
        const double rows = (read.tile / read.row) / (regions_[m].tile / regions_[m].row);
        for (const Blocked &update : members_[m].blocked)
            if (const auto &block = block_under(m, update, t);
                block && block->is_of_points() &&
                rows * double(block->rows) > machine_.prefetched_rows)
                parts = std::max(parts, read.total / double(block->size(0)));
    }
    return parts;
}

/// Clocks per point of the updates in register blocks; their memory traffic from beyond L2 is added
/// to that of the member.
double GroupModel::add_blocks(size_t member, const Tiling &t, double padded) const {
    const std::vector<Blocked> &all = members_[member].blocked;
    if (all.empty())
        return 0;
    double clocks = 0;
    const bool row_wise = member == 0 || levels_of(t)[member] == Level::Row;
    for (const Blocked &update : all) {
        const bool tiled = is_tiled(member, update.stage);
        const double steps = !tiled ? 1 : row_wise ? steps_ : tiles_;
        const auto &block = block_under(member, update, t);
        clocks += update.repeats * (block ? block->clocks : padded * update.plain_clocks);
        if (block)
            work_[member].block_bytes += block->far_bytes * steps;
    }
    return clocks;
}

/// Whether the output can be computed in the register blocks of this member: it alone reads its sums, each of them
/// at the point that it computes.
bool GroupModel::is_sum_of_output(size_t member) const {
    const Node &node = graph_.nodes[static_cast<size_t>(nodes_[member])];
    const auto &region = alignment_.region[member];
    if (reading_ != 0 || node.stages.size() != 2 || !members_[member].starts ||
        members_[member].blocked.size() != 1 || region.size() != extents().size())
        return false;
    for (size_t d = 0; d < region.size(); d++) {
        const Coordinate &c = region[d];
        if (c.iterator != static_cast<int>(d) || c.num != 1 || c.den != 1 || !c.distance.is_point())
            return false;
    }
    return std::none_of(members_.begin() + 1, members_.end(), [&](const Member &reader) {
        return std::any_of(reader.reads.begin(), reader.reads.end(), [&](const Read &read) {
            return read.buffer == static_cast<int>(member);
        });
    });
}

/// The members that can be at Level::Block, and what a point of the output takes then.
void GroupModel::find_sums() {
    for (size_t m = 1; m < members_.size(); m++)
        if (is_sum_of_output(m))
            sums_.push_back(m);
    if (sums_.empty())
        return;
    sums_levels_ = levels(-1);
    const Node &out = graph_.nodes[static_cast<size_t>(nodes_[0])];
    StageCost from_registers = out.stages[0];
    for (size_t m : sums_) {
        sums_levels_[m] = Level::Block;
        auto &loads = from_registers.loads;
        const int sum = nodes_[m];
        loads.erase(
            std::remove_if(loads.begin(), loads.end(),
                           [&](const auto &load) { return static_cast<int>(load.func) == sum; }),
            loads.end());
    }
    clocks_from_registers_ =
        members_[0].clocks - clocks_of(out.stages[0], out) + clocks_of(from_registers, out);
}

/// Of the first of these members: the others take the same.
const std::optional<RegisterBlock> &GroupModel::block_of_sums(const Tiling &t) const {
    return block_of(sums_[0], 1, step_extents(sums_[0], t), sums_.size());
}

bool GroupModel::has_block(const Tiling &t) const {
    return std::all_of(sums_.begin(), sums_.end(), [&](size_t m) {
        const auto &block = block_of(m, 1, step_extents(m, t), sums_.size());
        return block && block->is_of_points() && !block->by_phase && block->part == 0 &&
               (!block->packed || sums_.size() == 1);
    });
}

/// The register block, and the order of the loops around it.
void GroupModel::set_block(const Tiling &t, Plan &plan) const {
    const RegisterBlock &block = *block_of_sums(t);
    for (int d = 0; d < static_cast<int>(extents().size()); d++)
        plan.register_block.push_back(block.size(d));
    plan.inner = block.loops;
    for (int d = 0; d < static_cast<int>(extents().size()); d++)
        if (std::find(plan.inner.begin(), plan.inner.end(), d) == plan.inner.end())
            plan.inner.push_back(d);
    for (size_t m : sums_)
        plan.extents[m] = plan.register_block;
    if (sums_.size() == 1)
        plan.packed = block.packed;
}

}  // namespace Pipe::autoschedule
