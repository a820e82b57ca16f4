#include "autoschedule/block_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "autoschedule/imbalance.h"
#include "autoschedule/operand_box.h"
#include "support/integers.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

/// Where the time is less than this, relative to that with all operands in the L1 cache, parts, tiles and copies are not
/// worth their loops.
constexpr double worth_parts = 1.1;
constexpr double worth_a_loop = 0.99, worth_packing = 0.96;  ///< of the cost without
constexpr double near_pages = 48, page_clocks = 7;           ///< of the first level of the TLB
constexpr double apart_clocks =
    0.7;  ///< of each piece from beyond the L1 cache that lies apart from the one before
constexpr double copy_clocks = 100;  ///< to begin one copy: its memory and its bounds
constexpr double part_clocks =
    20;  ///< a loop over RVars ends, which the processor does not foresee
constexpr double guarded_block = 4;  ///< the time of one that is not whole, relative to others
constexpr double too_large =
    2;  ///< the cost of a tile, times that of the best, beyond which none is larger
constexpr size_t most_loops = 5;

/// One loop around the block: over its iterations along a dimension, or (-1) over parts of the RVar.
struct BlockLoop {
    int dim = -1;
    int64_t trips = 1;
    size_t place = 0;  // among all loops, those of one iteration as well
};

struct Nest {
    std::array<BlockLoop, 2 * most_loops + 1> loops;
    size_t size = 0, all = 0;

    void add(BlockLoop loop) {
        loop.place = all++;
        if (loop.trips > 1)
            loops[size++] = loop;
    }
};

class BlockOrder {
  public:
    BlockOrder(RegisterBlock &block, const BlockedStage &stage)
        : block_(block), stage_(stage), rvar_(static_cast<int>(stage.stage.rvars.size()) - 1),
          iterations_(stage.stage.repeats) {
        for (int64_t extent : stage.extents)
            iterations_ *= double(extent);
        for (int d = 0; d < stage.node.dims(); d++)
            if (stage.stage.loops_over[size_t(d)])
                block_.loops.push_back(d);
    }

    void run() {
        if (block_.loops.size() > most_loops || stage_.extents.size() > most_block_dims)
            return;
        RegisterBlock best = best_order();
        if (cost(best) > worth_parts * least_cost()) {
            take(best, best_tiles(best), worth_a_loop);
            for (const Access *load : stage_.packable) {
                packs_ = load;
                packed_order_ = packed_order(*load, stage_.stage.rvars.size());
                const RegisterBlock packed = best_order();
                take(best, packed, worth_packing);
                take(best, best_tiles(packed), worth_packing);
            }
        }
        block_ = best;
        const double copies = best.packed ? best.packed->clocks / iterations_ : 0;
        block_.clocks = (clocks(best) + copies) * imbalance(best);
        block_.steps = best.part > 0 && stage_.stage.rvars.size() == 1 ? 1 : best.steps;
    }

  private:
    RegisterBlock &block_;
    const BlockedStage &stage_;
    const int rvar_;     // the outermost one
    double iterations_;  // of all points

    const Access *packs_ = nullptr;  // the operand that is copied
    std::vector<int> packed_order_;  // of the copy's dimensions
    Covered held_;                   // by one copy

    int64_t trips(int dim) const { return ceil_div(stage_.extents[size_t(dim)], block_.size(dim)); }
    int64_t all_of_rvar() const { return stage_.stage.rvars[size_t(rvar_)]; }

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
        const double others = stage_.stage.repeats / double(all_of_rvar());
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
    Nest nest(const RegisterBlock &b) const {
        Nest nest;
        for (int d : b.loops)
            nest.add({d, b.part == 0 ? trips(d) : b.tile[size_t(d)]});
        if (b.part == 0)
            return nest;
        nest.add({-1, ceil_div(all_of_rvar(), b.part)});
        for (int d : b.tiles)
            nest.add({d, ceil_div(trips(d), b.tile[size_t(d)])});
        return nest;
    }

    Covered one_block(const RegisterBlock &b) const {
        Covered covered;
        covered.blocks.fill(1);
        covered.part = b.part == 0 ? all_of_rvar() : b.part;
        return covered;
    }

    /// Of the operands, if nothing is read again.
    double bytes_once() const {
        Covered all;
        all.blocks.fill(1);
        all.part = all_of_rvar();
        for (int d : block_.loops)
            all.blocks[size_t(d)] = trips(d);
        return all_bytes(all, false).moved;
    }

    bool is_moved(const Access &load, const BlockLoop &loop) const {
        if (loop.dim >= 0)
            return depends_on(load, loop.dim);
        return std::any_of(load.coords.begin(), load.coords.end(),
                           [&](const Coordinate &c) { return c.reductions >> rvar_ & 1; });
    }

    double elements(const Coordinate &c, const Covered &covered) const {
        return elements_of(block_, c, covered, rvar_, all_of_rvar() - covered.part);
    }

    /// What so many blocks and iterations read of an operand as it is given: its buffer holds no more than
    /// what is read in all.
    OperandBytes bytes_given(const Access &load, const Covered &covered) const {
        OperandBox box(load.bytes);
        for (const Coordinate &c : load.coords)
            box.add(elements(c, covered), double(c.range.size()));
        return box.bytes();
    }

    /// The same of an operand, or of its copy.
    OperandBytes bytes(const Access &load, const Covered &covered) const {
        if (&load != packs_)
            return bytes_given(load, covered);
        OperandBox box(load.bytes);
        for (int d : packed_order_) {
            const Coordinate &c = load.coords[size_t(d)];
            const double held = elements(c, held_);
            box.add(std::min(held, elements(c, covered)),
                    d == packed_order_[0] ? row_of_copy() : held);
        }
        return box.bytes();
    }

    double row_of_copy() const {
        return support::cache::row_in_all_sets(
            elements(packs_->coords[size_t(packed_order_[0])], held_), packs_->bytes);
    }

    double sum_bytes(const Covered &covered) const {
        double result = stage_.node.bytes;
        for (size_t d = 0; d < stage_.extents.size(); d++)
            result *= double(std::min(stage_.extents[d], block_.size(int(d)) * covered.blocks[d]));
        return result;
    }

    /// What is read by `covered`, with the sums if they are not kept in registers.
    OperandBytes all_bytes(const Covered &covered, bool with_sums) const {
        const double sums = with_sums ? sum_bytes(covered) : 0;
        OperandBytes all{sums, sums};
        for (const Access *load : stage_.operands) {
            const OperandBytes mine = bytes(*load, covered);
            all.moved += mine.moved, all.occupied += mine.occupied;
        }
        return all;
    }

    void advance(const BlockLoop &loop, Covered &covered) const {
        if (loop.dim >= 0)
            covered.blocks[size_t(loop.dim)] *= loop.trips;
        else
            covered.part = std::min(all_of_rvar(), covered.part * loop.trips);
    }

    /// Per iteration of a block, for operands that come from beyond the L1 cache, or are on more pages than the processor
    /// keeps the addresses of.
    double near_clocks(RegisterBlock &b, const Nest &nest) const {
        const Covered block = one_block(b);
        const double iterations = stage_.stage.repeats / double(all_of_rvar()) * double(block.part);
        const size_t fits = loops_within_l1(block, nest);
        double from_l2 = 0, pages = 0, apart = 0;
        for (const Access *load : stage_.operands) {
            const double mine = from_l2_per_block(*load, block, nest, fits);
            from_l2 += mine;
            const OperandBytes one = bytes(*load, block);
            if (one.pieces > 1)
                apart += one.pieces * std::min(1.0, mine / one.moved);
            if (is_on_small_pages(*load))
                pages += bytes(*load, block).pages;
        }
        b.apart_clocks = apart * apart_clocks / iterations;
        return (from_l2 / stage_.machine.l2_rate + (pages > near_pages ? pages * page_clocks : 0)) /
               iterations;
    }

    /// Large memory of Funcs is on large pages (jit/runtime/arena.cpp).
    bool is_on_small_pages(const Access &load) const {
        constexpr double large_page = 2 << 20;
        return &load == packs_ ? bytes(load, held_).moved < large_page : load.image >= 0;
    }

    /// How many of the loops, innermost first, find in the L1 cache what their iteration before this one read; one
    /// more than there are if all that the loops read stays there.
    size_t loops_within_l1(Covered covered, const Nest &nest) const {
        const double most = usable_l1 * double(stage_.machine.l1_bytes);
        size_t count = 0;
        for (; all_bytes(covered, false).occupied <= most; count++) {
            if (count == nest.size)
                return nest.size + 1;
            advance(nest.loops[count], covered);
        }
        return count;
    }

    /// What of an operand does not stay in the L1 cache, where so many loops find what they read before.
    double from_l2_per_block(const Access &load, Covered covered, const Nest &nest,
                             size_t fits) const {
        double blocks = 1;
        for (size_t i = 0; i < nest.size && (i < fits || is_moved(load, nest.loops[i])); i++) {
            advance(nest.loops[i], covered);
            blocks *= double(nest.loops[i].trips);
        }
        return fits > nest.size ? 0 : bytes(load, covered).moved / blocks;
    }

    /// Bytes from beyond the L2 cache: data that fits there while the inner loops run is read once for them,
    /// and again for each iteration of an outer loop that needs other data.
    double traffic(const RegisterBlock &b, const Nest &nest) const {
        const double cache = usable_l2 * static_cast<double>(stage_.machine.l2_bytes);
        const auto &loops = nest.loops;
        const size_t count = nest.size;
        Covered covered = one_block(b);
        size_t inside = 0;
        for (; inside < count; inside++) {
            Covered more = covered;
            advance(loops[inside], more);
            if (all_bytes(more, b.part > 0).occupied > cache)
                break;
            covered = more;
        }
        double total = 0;
        auto add = [&](auto &&size, auto &&moved) {
            Covered seen = covered;
            double again = 1;
            bool stays = size(seen).occupied <= cache;
            for (size_t i = inside; i < count; i++) {
                if (!moved(loops[i]) && stays)
                    continue;  // it is still there
                stays = false;
                if (moved(loops[i]) && i == inside)  // of windows that overlap, what is new
                    advance(loops[i], seen);
                else
                    again *= double(loops[i].trips);
            }
            total += size(seen).moved * again;
        };
        for (const Access *load : stage_.operands)
            if (load != packs_ || !copy_fits())
                add([&](const Covered &c) { return bytes(*load, c); },
                    [&](const BlockLoop &loop) { return is_moved(*load, loop); });
        if (b.part > 0)
            add(
                [&](const Covered &c) {
                    return OperandBytes{2 * sum_bytes(c), sum_bytes(c)};
                },
                [](const BlockLoop &loop) { return loop.dim >= 0; });
        return total;
    }

    /// Whether a copy stays in the L2 cache.
    bool copy_fits() const {
        return bytes(*packs_, held_).moved <= usable_l2 * double(stage_.machine.l2_bytes);
    }

    /// Of all copies that are made inside of loop `at`, or (if there are not so many) where the stage begins: what they
    /// take, and move from and to beyond the L2 cache.
    void add_copies(RegisterBlock &b, const Nest &nest, size_t at) {
        double copies = 1, rows = 1;
        for (size_t i = at; i < nest.size; i++)
            copies *= double(nest.loops[i].trips);
        const double row = elements(packs_->coords[0], held_);
        for (size_t d = 1; d < packs_->coords.size(); d++)
            rows *= elements(packs_->coords[d], held_);
        const Machine &m = stage_.machine;
        const double vectors = std::ceil(row * packs_->bytes / m.vector_bytes);
        const double per_row = m.row_overhead + vectors * (1 / m.load_rate + 1 / m.store_rate);
        const double padded = row_of_copy();
        b.packed = PackedOperand{static_cast<size_t>(packs_ - stage_.stage.loads.data()),
                                 at < nest.size ? nest.loops[at].place : nest.all, packed_order_,
                                 padded > row ? static_cast<int64_t>(padded) : 0,
                                 copies * (rows * per_row + copy_clocks)};
        b.far_bytes += copies * bytes_given(*packs_, held_).moved;
        if (!copy_fits())
            b.far_bytes += copies * bytes(*packs_, held_).moved;
    }

    /// With the best loop for the copies, if there are any; infinite where none is possible.
    double evaluate(RegisterBlock &b) {
        const Nest loops = nest(b);
        b.packed.reset();
        if (!packs_) {
            b.near_clocks = near_clocks(b, loops);
            b.far_bytes = traffic(b, loops);
            return cost(b);
        }
        const double most = usable_l3 * double(stage_.machine.l3_bytes) / stage_.machine.cores;
        double least = std::numeric_limits<double>::infinity();
        RegisterBlock best = b;
        held_ = one_block(b);
        for (size_t i = 0; i < loops.size; i++) {
            advance(loops.loops[i], held_);
            // Inside of the outermost loop, which cores may share, or around all loops of one core.
            const bool is_last = i + 1 == loops.size;
            if (is_moved(*packs_, loops.loops[i]) ||
                (is_last ? stage_.cores > 1 : !is_moved(*packs_, loops.loops[i + 1])))
                continue;
            if (bytes(*packs_, held_).moved > most)
                break;
            b.near_clocks = near_clocks(b, loops);
            b.far_bytes = traffic(b, loops);
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
        const int64_t most = std::min(parts_of(stage_.stage).most, all_of_rvar() / 2);
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
    return std::any_of(load.coords.begin(), load.coords.end(),
                       [&](const Coordinate &c) { return poly::uses(c) >> dim & 1; });
}

Parts parts_of(const StageCost &stage) {
    constexpr int64_t least = 64, most = 256;
    int64_t others = 1;
    for (size_t r = 0; r + 1 < stage.rvars.size(); r++)
        others = std::clamp<int64_t>(others * stage.rvars[r], 1, most);
    return {ceil_div(least, others), most / others};
}

void order_loops(RegisterBlock &block, const BlockedStage &stage) {
    BlockOrder(block, stage).run();
}

}  // namespace Pipe::autoschedule
