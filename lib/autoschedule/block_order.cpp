#include "autoschedule/block_order.h"

#include <algorithm>
#include <array>
#include <limits>

#include "support/integers.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr double usable_cache = 0.75;  ///< the rest is for data that streams through
/// Where less of the time is for data that is read from beyond the cache again, parts and tiles are not worth their loops.
constexpr double worth_parts = 0.1;
constexpr int64_t least_part = 64,
                  most_part = 256;  ///< iterations between loading and storing the sums
constexpr double part_clocks =
    20;  ///< a loop over RVars ends, which the processor does not foresee
constexpr double too_large =
    2;  ///< the cost of a tile, times that of the best, beyond which none is larger
constexpr size_t most_loops = 5, most_dims = 8;

/// Blocks along each dimension, and iterations of the outermost RVar.
struct Covered {
    std::array<int64_t, most_dims> blocks;
    int64_t part = 1;
};

/// One loop around the block: over its iterations along a dimension, or (-1) over parts of the RVar.
struct BlockLoop {
    int dim = -1;
    int64_t trips = 1;
};

struct Nest {
    std::array<BlockLoop, 2 * most_loops + 1> loops;
    size_t size = 0;

    void add(BlockLoop loop) {
        if (loop.trips > 1)
            loops[size++] = loop;
    }
};

class BlockOrder {
  public:
    BlockOrder(RegisterBlock &block, const BlockedStage &stage)
        : block_(block), stage_(stage), rvar_(static_cast<int>(stage.stage.rvars.size()) - 1),
          work_(block.clocks * stage.stage.repeats) {
        for (int64_t extent : stage.extents)
            work_ *= double(extent);
        for (int d = 0; d < stage.node.dims(); d++)
            if (stage.stage.loops_over[size_t(d)])
                block_.loops.push_back(d);
    }

    void run() {
        if (block_.loops.size() > most_loops || stage_.extents.size() > most_dims)
            return;
        RegisterBlock best = best_order();
        if ((best.far_bytes - bytes_once()) / stage_.machine.l3_rate > worth_parts * work_)
            best = best_tiles(best);
        block_ = best;
        block_.clocks = clocks(best) * imbalance(outermost_trips(best), stage_.cores);
    }

  private:
    RegisterBlock &block_;
    const BlockedStage &stage_;
    const int rvar_;  // the outermost one
    double work_;     // clocks without traffic

    int64_t trips(int dim) const { return ceil_div(stage_.extents[size_t(dim)], block_.size(dim)); }

    int64_t outermost_trips(const RegisterBlock &b) const {
        if (b.part == 0)
            return trips(b.loops.back());
        return ceil_div(trips(b.tiles.back()), b.tile[size_t(b.tiles.back())]);
    }

    /// Of one iteration of the RVars and point, with loading and storing the sums after each part.
    double clocks(const RegisterBlock &b) const {
        if (b.part == 0)
            return b.clocks;
        const double others = stage_.stage.repeats / double(stage_.stage.rvars[size_t(rvar_)]);
        const double sums = double(b.vectors * b.rows);
        const Machine &m = stage_.machine;
        const double per_vector = 1 / m.load_rate + 1 / m.store_rate + part_clocks / sums;
        return b.clocks + per_vector / double(b.lanes) / std::max(1.0, double(b.part) * others);
    }

    double cost(const RegisterBlock &b) const {
        return (work_ * clocks(b) / b.clocks + b.far_bytes / stage_.machine.l3_rate) *
               imbalance(outermost_trips(b), stage_.cores);
    }

    /// The loops around the block, innermost first.
    Nest nest(const RegisterBlock &b) const {
        Nest nest;
        for (int d : b.loops)
            nest.add({d, b.part == 0 ? trips(d) : b.tile[size_t(d)]});
        if (b.part == 0)
            return nest;
        nest.add({-1, ceil_div(stage_.stage.rvars[size_t(rvar_)], b.part)});
        for (int d : b.tiles)
            nest.add({d, ceil_div(trips(d), b.tile[size_t(d)])});
        return nest;
    }

    /// Of the operands, if nothing is read again.
    double bytes_once() const {
        Covered all;
        all.blocks.fill(1);
        all.part = stage_.stage.rvars[size_t(rvar_)];
        for (int d : block_.loops)
            all.blocks[size_t(d)] = trips(d);
        return all_bytes(all, false);
    }

    bool is_moved(const Access &load, const BlockLoop &loop) const {
        if (loop.dim >= 0)
            return depends_on(load, loop.dim);
        return std::any_of(load.coords.begin(), load.coords.end(),
                           [&](const Coordinate &c) { return c.reductions >> rvar_ & 1; });
    }

    /// Bytes of an operand that so many blocks and iterations read.
    double bytes(const Access &load, const Covered &covered) const {
        double elements = 1;
        for (const Coordinate &c : load.coords) {
            const double most = double(c.range.size());
            if (!c.distance.bounded()) {
                elements *= most;
                continue;
            }
            int64_t spread = c.distance.size();
            if (c.iterator >= 0)
                spread += std::abs(c.num) *
                          (block_.size(c.iterator) * covered.blocks[size_t(c.iterator)] - 1);
            if (c.follows == rvar_)
                spread -= stage_.stage.rvars[size_t(rvar_)] - covered.part;
            elements *= std::min(most, double((std::max<int64_t>(spread, 1) - 1) / c.den + 1));
        }
        return elements * load.bytes;
    }

    double sum_bytes(const Covered &covered) const {
        double result = stage_.node.bytes;
        for (size_t d = 0; d < stage_.extents.size(); d++)
            result *= double(std::min(stage_.extents[d], block_.size(int(d)) * covered.blocks[d]));
        return result;
    }

    /// What is read by `covered`, with the sums if they are not kept in registers.
    double all_bytes(const Covered &covered, bool with_sums) const {
        double sum = with_sums ? sum_bytes(covered) : 0;
        for (const Access *load : stage_.operands)
            sum += bytes(*load, covered);
        return sum;
    }

    void advance(const BlockLoop &loop, Covered &covered) const {
        if (loop.dim >= 0)
            covered.blocks[size_t(loop.dim)] *= loop.trips;
        else
            covered.part = std::min(stage_.stage.rvars[size_t(rvar_)], covered.part * loop.trips);
    }

    /// Bytes from beyond the L2 cache: data that fits there while the inner loops run is read once for them,
    /// and again for each iteration of an outer loop that needs other data.
    double traffic(const RegisterBlock &b) const {
        const double cache = usable_cache * static_cast<double>(stage_.machine.l2_bytes);
        const auto [loops, count] = nest(b);
        Covered covered;
        covered.blocks.fill(1);
        covered.part = b.part == 0 ? stage_.stage.rvars[size_t(rvar_)] : b.part;
        size_t inside = 0;
        for (; inside < count; inside++) {
            Covered more = covered;
            advance(loops[inside], more);
            if (all_bytes(more, b.part > 0) > cache)
                break;
            covered = more;
        }
        double total = 0;
        auto add = [&](auto &&size, auto &&moved) {
            Covered seen = covered;
            double again = 1;
            bool stays = size(seen) <= cache;
            for (size_t i = inside; i < count; i++) {
                if (!moved(loops[i]) && stays)
                    continue;  // it is still there
                stays = false;
                if (moved(loops[i]) && i == inside)  // of windows that overlap, what is new
                    advance(loops[i], seen);
                else
                    again *= double(loops[i].trips);
            }
            total += size(seen) * again;
        };
        for (const Access *load : stage_.operands)
            add([&](const Covered &c) { return bytes(*load, c); },
                [&](const BlockLoop &loop) { return is_moved(*load, loop); });
        if (b.part > 0)
            add([&](const Covered &c) { return 2 * sum_bytes(c); },
                [](const BlockLoop &loop) { return loop.dim >= 0; });
        return total;
    }

    /// Without parts and tiles.
    RegisterBlock best_order() const {
        RegisterBlock best = block_, b = block_;
        double least = std::numeric_limits<double>::infinity();
        std::vector<int> order = block_.loops;
        do {
            b.loops = order;
            b.far_bytes = traffic(b);
            if (const double now = cost(b); now < 0.99 * least)
                least = now, best = b;
        } while (std::next_permutation(order.begin(), order.end()));
        return best;
    }

    double evaluate(RegisterBlock &b) const {
        b.far_bytes = traffic(b);
        return cost(b);
    }

    /// With parts and tiles where they are better.
    RegisterBlock best_tiles(const RegisterBlock &whole) const {
        RegisterBlock best = whole;
        double least = cost(whole);
        if (block_.unrolled == stage_.stage.rvars.size())
            return best;
        const int64_t most = std::min(most_part, stage_.stage.rvars[size_t(rvar_)] / 2);
        for (int64_t part = least_part; part <= most; part *= 2) {
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
    double grow(RegisterBlock &b) const {
        RegisterBlock best = b;
        double least = evaluate(best), now = least;
        for (int next = 0; next >= 0 && now < too_large * least;) {
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
                best = b, least = now;
        }
        b = best;
        return evaluate(b);
    }
};

}  // namespace

bool depends_on(const Access &load, int dim) {
    return std::any_of(load.coords.begin(), load.coords.end(), [&](const Coordinate &c) {
        return c.iterator == dim || (c.iterator < 0 && (c.may_use >> dim & 1));
    });
}

double imbalance(int64_t tasks, int cores) {
    return double(ceil_div(tasks, int64_t(cores)) * cores) / double(tasks);
}

void order_loops(RegisterBlock &block, const BlockedStage &stage) {
    BlockOrder(block, stage).run();
}

}  // namespace Pipe::autoschedule
