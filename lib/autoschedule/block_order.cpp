#include "autoschedule/block_order.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autoschedule/block_traffic.h"
#include "autoschedule/imbalance.h"
#include "support/integers.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

/// Where the time is less than this, relative to that with all operands in the L1 cache, parts, tiles and copies are not
/// worth their loops.
constexpr double worth_parts = 1.1;
constexpr double worth_a_loop = 0.99, worth_packing = 0.96;  ///< of the cost without
constexpr double copy_clocks = 100;  ///< to begin one copy: its memory and its bounds
constexpr double part_clocks =
    20;  ///< a loop over RVars ends, which the processor does not foresee
constexpr double guarded_block = 4;  ///< the time of one that is not whole, relative to others
constexpr double too_large =
    2;  ///< the cost of a tile, times that of the best, beyond which none is larger

class BlockOrder {
  public:
    BlockOrder(RegisterBlock &block, const BlockedStage &stage)
        : block_(block), stage_(stage), traffic_(block, stage, copy_),
          iterations_(stage.stage.repeats) {
        for (int64_t extent : stage.extents)
            iterations_ *= double(extent);
        for (int d = 0; d < stage.node.dims(); d++)
            if (stage.stage.loops_over[size_t(d)])
                block_.loops.push_back(d);
    }

    double run() {
        if (block_.loops.size() > most_block_loops || stage_.extents.size() > most_block_dims)
            return iterations_ * block_.clocks;
        RegisterBlock best = best_order();
        if (cost(best) > worth_parts * least_cost()) {
            take(best, best_tiles(best), worth_a_loop);
            for (const Access *load : stage_.packable) {
                copy_.operand = load;
                copy_.order = packed_order(*load, stage_.stage.rvars.size());
                const RegisterBlock packed = best_order();
                take(best, packed, worth_packing);
                take(best, best_tiles(packed), worth_packing);
            }
        }
        block_ = best;
        const double copies = best.packed ? best.packed->clocks / iterations_ : 0;
        block_.imbalance = imbalance(best);
        block_.clocks = (clocks(best) + copies) * block_.imbalance;
        block_.steps = best.part > 0 && stage_.stage.rvars.size() == 1 ? 1 : best.steps;
        return cost(best);
    }

  private:
    RegisterBlock &block_;
    const BlockedStage &stage_;
    OperandCopy copy_;
    const BlockTraffic traffic_;
    double iterations_;  // of all points

    int64_t trips(int dim) const { return ceil_div(stage_.extents[size_t(dim)], block_.size(dim)); }

    /// Of the iterations of the outermost loop.
    double imbalance(const RegisterBlock &b) const {
        const int d = b.part == 0 ? b.loops.back() : b.tiles.back();
        const int64_t tasks = b.part == 0 ? trips(d) : ceil_div(trips(d), b.tile[size_t(d)]);
        return autoschedule::imbalance(tasks, stage_.cores, stage_.stage.busiest[size_t(d)]);
    }

    void take(RegisterBlock &best, const RegisterBlock &other, double worth) const {
        if (cost(other) < worth * cost(best))
            best = other;
    }

    /// Of one iteration of the RVars and point, with loading and storing the sums after each part.
    double clocks(const RegisterBlock &b) const {
        const double core = block_clocks(b, b.near_clocks);
        if (b.part == 0)
            return core;
        const double others = stage_.stage.repeats / double(traffic_.all_of_rvar());
        const double sums = double(b.vectors * b.rows);
        const Machine &m = stage_.machine;
        const double per_vector = 1 / m.load_rate + 1 / m.store_rate + part_clocks / sums;
        return core * guarded(b) +
               per_vector / double(b.lanes) / std::max(1.0, double(b.part) * others);
    }

    /// Blocks of parts do not shift inwards at the end of a dimension (lower/register_sums.h): the last one has its guards
    /// inside of the loops over RVars.
    double guarded(const RegisterBlock &b) const {
        double factor = 1;
        for (int d : b.loops)
            if (stage_.extents[size_t(d)] % b.size(d) != 0)
                factor *= 1 + (guarded_block - 1) / double(trips(d));
        return factor;
    }

    double cost(const RegisterBlock &b) const {
        return (iterations_ * clocks(b) + (b.packed ? b.packed->clocks : 0) +
                b.far_bytes / stage_.machine.l3_rate) *
               imbalance(b);
    }

    /// If all operands came from the L1 cache, and into it once.
    double least_cost() const {
        return iterations_ * block_clocks(block_, 0) + bytes_once() / stage_.machine.l3_rate;
    }

    /// The loops around the block, innermost first.
    BlockNest nest(const RegisterBlock &b) const {
        BlockNest nest;
        for (int d : b.loops)
            nest.add({d, b.part == 0 ? trips(d) : b.tile[size_t(d)]});
        if (b.part == 0)
            return nest;
        nest.add({-1, ceil_div(traffic_.all_of_rvar(), b.part)});
        for (int d : b.tiles)
            nest.add({d, ceil_div(trips(d), b.tile[size_t(d)])});
        return nest;
    }

    /// Of the operands, if nothing is read again.
    double bytes_once() const {
        Covered all;
        all.blocks.fill(1);
        all.part = traffic_.all_of_rvar();
        for (int d : block_.loops)
            all.blocks[size_t(d)] = trips(d);
        return traffic_.all_bytes(all, false).moved;
    }

    /// Of all copies that are made inside of loop `at`, or (if there are not so many) where the stage begins: what they
    /// take, and move from and to beyond the L2 cache.
    void add_copies(RegisterBlock &b, const BlockNest &nest, size_t at) {
        double copies = 1, rows = 1;
        for (size_t i = at; i < nest.size; i++)
            copies *= double(nest.loops[i].trips);
        const double row = traffic_.elements(copy_.operand->coords[0], copy_.held);
        for (size_t d = 1; d < copy_.operand->coords.size(); d++)
            rows *= traffic_.elements(copy_.operand->coords[d], copy_.held);
        const Machine &m = stage_.machine;
        const double vectors = std::ceil(row * copy_.operand->bytes / m.vector_bytes);
        const double per_row = m.row_overhead + vectors * (1 / m.load_rate + 1 / m.store_rate);
        const double padded = traffic_.row_of_copy();
        b.packed = PackedOperand{static_cast<size_t>(copy_.operand - stage_.stage.loads.data()),
                                 at < nest.size ? nest.loops[at].place : nest.all, copy_.order,
                                 padded > row ? static_cast<int64_t>(padded) : 0,
                                 copies * (rows * per_row + copy_clocks)};
        b.far_bytes += copies * traffic_.bytes_given(*copy_.operand, copy_.held).moved;
        if (!traffic_.copy_fits())
            b.far_bytes += copies * traffic_.bytes(*copy_.operand, copy_.held).moved;
    }

    void set_traffic(RegisterBlock &b, const BlockNest &loops) const {
        const NearClocks clocks = traffic_.near_clocks(b, loops);
        b.near_clocks = clocks.near;
        b.apart_clocks = clocks.apart;
        b.far_bytes = traffic_.far_bytes(b, loops);
    }

    /// With the best loop for the copies, if there are any; infinite where none is possible.
    double evaluate(RegisterBlock &b) {
        const BlockNest loops = nest(b);
        b.packed.reset();
        if (!copy_.operand) {
            set_traffic(b, loops);
            return cost(b);
        }
        const double most = usable_l3 * double(stage_.machine.l3_bytes) / stage_.machine.cores;
        double least = std::numeric_limits<double>::infinity();
        RegisterBlock best = b;
        copy_.held = traffic_.one_block(b);
        for (size_t i = 0; i < loops.size; i++) {
            traffic_.advance(loops.loops[i], copy_.held);
            // Inside of the outermost loop, which cores may share, or around all loops of one core.
            const bool is_last = i + 1 == loops.size;
            if (traffic_.is_moved(*copy_.operand, loops.loops[i]) ||
                (is_last ? stage_.cores > 1
                         : !traffic_.is_moved(*copy_.operand, loops.loops[i + 1])))
                continue;
            if (traffic_.bytes(*copy_.operand, copy_.held).moved > most)
                break;
            set_traffic(b, loops);
            add_copies(b, loops, i + 1);
            if (const double now = cost(b); now < least)
                best = b, least = now;
        }
        b = best;
        if (!b.packed)
            b.far_bytes = least;
        return least;
    }

    /// Without parts and tiles.
    RegisterBlock best_order() {
        RegisterBlock best = block_, b = block_;
        double least = std::numeric_limits<double>::infinity();
        best.far_bytes = least;
        std::vector<int> order = block_.loops;
        do {
            b.loops = order;
            if (const double now = evaluate(b); now < 0.99 * least)
                least = now, best = b;
        } while (std::next_permutation(order.begin(), order.end()));
        return best;
    }

    /// With parts and tiles.
    RegisterBlock best_tiles(const RegisterBlock &whole) {
        RegisterBlock best = whole;
        double least = std::numeric_limits<double>::infinity();
        if (block_.unrolled == stage_.stage.rvars.size())
            return best;
        const int64_t most = std::min(parts_of(stage_.stage).most, traffic_.all_of_rvar() / 2);
        for (int64_t part = parts_of(stage_.stage).least; part <= most; part *= 2) {
            RegisterBlock b = whole;
            b.part = part;
            b.tile.assign(stage_.extents.size(), 1);
            b.tiles = whole.loops;
            if (const double now = grow(b); now < 0.99 * least)
                best = b, least = now;
        }
        return best;
    }

    /// The best of the tiles on the way to the largest ones, of which each step doubles the dimension that suits
    /// best: two small dimensions help together only.
    double grow(RegisterBlock &b) {
        RegisterBlock best = b;
        double least = evaluate(best), now = least;
        for (int next = 0; next >= 0 && now <= too_large * least;) {
            next = -1;
            for (int d : b.loops) {
                const int64_t before = b.tile[size_t(d)];
                b.tile[size_t(d)] = std::min(2 * before, trips(d));
                const double grown = b.tile[size_t(d)] > before ? evaluate(b) : 0;
                if (b.tile[size_t(d)] > before && (next < 0 || grown < now))
                    next = d, now = grown;
                b.tile[size_t(d)] = before;
            }
            if (next < 0)
                break;
            b.tile[size_t(next)] = std::min(2 * b.tile[size_t(next)], trips(next));
            if (now < least)
                evaluate(b), best = b, least = now;
        }
        b = best;
        return evaluate(b);
    }
};

}  // namespace

bool depends_on(const Access &load, int dim) {
    return poly::uses(load) >> dim & 1;
}

Parts parts_of(const StageCost &stage) {
    constexpr int64_t least = 64, most = 256;
    int64_t others = 1;
    for (size_t r = 0; r + 1 < stage.rvars.size(); r++)
        others = std::clamp<int64_t>(others * stage.rvars[r], 1, most);
    return {ceil_div(least, others), most / others};
}

double order_loops(RegisterBlock &block, const BlockedStage &stage) {
    return BlockOrder(block, stage).run();
}

}  // namespace Pipe::autoschedule
