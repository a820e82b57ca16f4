#include "autoschedule/register_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "autoschedule/block_order.h"
#include "autoschedule/group_model.h"
#include "autoschedule/imbalance.h"
#include "autoschedule/operand_box.h"
#include "autoschedule/row_sums.h"
#include "support/cache_lines.h"
#include "support/integers.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr int64_t most_vectors = 8, most_rows = 8;
constexpr int64_t most_phases = 8;
constexpr int64_t most_apart = 4;  ///< elements of a load, for which dense vectors are shuffled

/// The lanes of a vector along dimension 0 are neighbors in memory, or all read the same element.
bool loads_as_vector(const Access &load, double lanes) {
    const Lanes where = lanes_of(load, lanes);
    if (where != Lanes::Steps)
        return where == Lanes::Same;
    const Coordinate &x = load.coords[0];
    return x.iterator < 0 || (x.num >= 1 && x.num <= most_apart && x.den == 1);
}

/// The period along dimension 0 of a stage's loads, if a vector does not consist of whole ones; else 1. (Where it
/// does, lower/phases.h divides the vector.)
int64_t period_of(const StageCost &stage, int64_t lanes) {
    int64_t period = 1;
    for (const Access &load : stage.loads)
        for (const Coordinate &c : load.coords) {
            const int64_t mine = c.iterator == 0                                    ? c.den
                                 : c.iterator < 0 && c.may_use == 1 && c.period > 0 ? c.period
                                                                                    : 1;
            period = std::min(std::lcm(period, mine), most_phases + 1);
        }
    return period <= most_phases && lanes % period != 0 ? period : 1;
}

/// The load as every `period`-th point along dimension 0 sees it.
Access in_phase(Access load, int64_t period) {
    for (Coordinate &c : load.coords) {
        if (c.iterator == 0) {
            const int64_t common = std::gcd(c.num * period, c.den);
            c.num = c.num * period / common;
            c.den /= common;
        } else if (c.iterator < 0 && c.may_use == 1 && c.period > 0 && period % c.period == 0) {
            c.may_use = 0;
        }
    }
    return load;
}

/// Of which two iterations at a time are added up by one instruction: the innermost one with an even number, of a sum of
/// such products; -1: none.
int paired_rvar(const StageCost &stage) {
    if (stage.terms_per_sum != 2 || !stage.regroups)
        return -1;
    for (size_t r = 0; r < stage.rvars.size(); r++)
        if (stage.rvars[r] % 2 == 0)
            return static_cast<int>(r);
    return -1;
}

class BlockSearch {
  public:
    BlockSearch(const Node &node, const StageCost &stage, const std::vector<int64_t> &extents,
                const Machine &machine, int cores)
        : node_(node), stage_(stage), extents_(extents), machine_(machine), cores_(cores),
          lanes_(std::max<int64_t>(1, machine.vector_bytes / node.widest)) {
        phases_ = period_of(stage, lanes_);
        pair_ = paired_rvar(stage);
        for (const Access &load : stage.loads)
            if (load.func != node.id)
                operands_.push_back({&load, in_phase(load, phases_)});
    }

    std::optional<RegisterBlock> run() {
        if (stage_.repeats < least_iterations || extents_.empty() || !stage_.loops_over[0] ||
            extents_[0] < lanes_ * phases_ || lanes_ < 2 ||
            !std::all_of(operands_.begin(), operands_.end(), [&](const Operand &load) {
                return loads_as_vector(load.in_phase, double(lanes_));
            }))
            return std::nullopt;
        for (int64_t vectors = phases_; vectors <= (phases_ > 1 ? phases_ : most_vectors);
             vectors++) {
            consider(vectors, -1, 1);
            for (int dim = 1; dim < node_.dims(); dim++)
                for (int64_t rows = 2; rows <= std::min(most_rows, extents_[size_t(dim)]); rows++)
                    if (stage_.loops_over[static_cast<size_t>(dim)])
                        consider(vectors, dim, rows);
        }
        return in_best_order();
    }

  private:
    struct Operand {
        const Access *load;
        Access in_phase;
    };
    struct Found {
        RegisterBlock block;
        double clocks = 0;  // with the idle time of cores
    };

    /// The best block with its loops. Where these cost much (guards of parts, if its size does not divide the extents, or
    /// operands from beyond the caches), one that is nearly as good alone may be better. It has to be also if all cores got
    /// equal shares: small blocks, of which there are many, would win by that alone, and load more.
    std::optional<RegisterBlock> in_best_order() {
        constexpr double much = 1.5, nearly = 1.1, better = 0.95;
        constexpr size_t most_tried = 6;  // each takes as long as the first one
        if (found_.empty())
            return std::nullopt;
        const BlockedStage stage{node_, stage_, extents_, loads(), packable(), machine_, cores_};
        RegisterBlock best = found_[first_].block;
        double least = order_loops(best, stage), points = stage_.repeats;
        for (int64_t extent : extents_)
            points *= double(extent);
        if (least < much * points * found_[first_].clocks)
            return best;
        std::swap(found_[0], found_[first_]);
        std::stable_sort(found_.begin() + 1, found_.end(),
                         [](const Found &a, const Found &b) { return a.clocks < b.clocks; });
        for (size_t i = 1; i < std::min(found_.size(), most_tried) &&
                           found_[i].clocks < nearly * found_[0].clocks;
             i++) {
            RegisterBlock block = found_[i].block;
            const double cost = order_loops(block, stage);
            if (cost < better * least &&
                block.clocks / block.imbalance < best.clocks / best.imbalance)
                best = block, least = cost;
        }
        return best;
    }

    /// Vectors of an operand that the vectors of a block along dimension 0 take.
    double along_0(const Operand &load, int64_t vectors) const {
        const double all = static_cast<double>(vectors);
        if (depends_on(load.in_phase, 0))
            return all * lines_of(load.in_phase, machine_);
        return depends_on(*load.load, 0) ? all : 1;
    }

    /// Registers for sums, for what is held while the loop over the rows or the vectors runs, and one temporary
    /// operand.
    int64_t registers(const RegisterBlock &b) const {
        int64_t held = 0;
        for (const auto &[load, in_phase] : operands_) {
            const bool in_rows = b.rows_dim > 0 && depends_on(*load, b.rows_dim);
            const bool in_vectors = depends_on(*load, 0);
            if (in_rows != in_vectors && in_rows == b.holds_rows)
                held += b.holds_rows ? b.rows : b.vectors;
        }
        const bool uses_again = (b.holds_rows ? b.vectors : b.rows) > 1;
        return b.vectors * b.rows * per_vector() + (uses_again ? held : 1) + 1;
    }

    /// Registers of one vector of points: one per element of a tuple, or part of one where it is narrow.
    int64_t per_vector() const { return ceil_div(int64_t(node_.bytes), int64_t(node_.widest)); }

    void consider(int64_t vectors, int dim, int64_t rows) {
        RegisterBlock b;
        b.lanes = lanes_, b.vectors = vectors, b.rows_dim = dim, b.rows = rows;
        b.by_phase = phases_ > 1;
        if (registers(b) > machine_.vector_registers) {
            b.holds_rows = !b.by_phase;
            if (registers(b) > machine_.vector_registers)
                return;
        }
        b.pair = b.by_phase ? -1 : pair_;
        if (b.pair < 0) {
            b.unrolled = unrolled_loops(stage_, vectors * rows).rvars;
            b.steps = b.unrolled > 0 ? 1 : unrolled_steps(stage_, vectors * rows);
        }
        b.clocks = clocks(b);
        found_.push_back({b, b.clocks * least_imbalance(b)});
        if (found_.back().clocks < 0.99 * found_[first_].clocks)
            first_ = found_.size() - 1;
    }

    /// Of all vectors of a block. Its rows share the values that are the same in all of them.
    /// \param own  of the stage's own expressions
    Arithmetic work(const RegisterBlock &b, const std::vector<Work> &own) const {
        Arithmetic all;
        auto add = [&](const Arithmetic &each, bool in_vectors, bool in_rows) {
            all.add(each, double(in_vectors ? b.vectors : 1) * double(in_rows ? b.rows : 1));
        };
        const auto rows_bit = b.rows_dim > 0 ? uint64_t{1} << b.rows_dim : 0;
        for (const Work &work : own)
            add(work.arithmetic, (work.variables & 1) != 0, (work.variables & rows_bit) != 0);
        for (const Evaluated &value : stage_.evaluated)
            add(value.arithmetic, depends_on(value.at, 0),
                b.rows_dim > 0 && depends_on(value.at, b.rows_dim));
        return all;
    }

    /// Of one iteration, in vector instructions.
    double instructions(const RegisterBlock &b) const {
        const double per_byte = double(lanes_) / machine_.vector_bytes;
        if (b.pair < 0)
            return work(b, stage_.own_work).total() * per_byte;
        // Two iterations: a product and a sum per vector. What two vectors hold is interleaved before.
        constexpr double interleaved = 3, repeated = 1;
        double pairs = 2 * double(b.vectors * b.rows);
        for (const Operand &load : operands_) {
            const bool in_rows = b.rows_dim > 0 && depends_on(*load.load, b.rows_dim);
            pairs += double(in_rows ? b.rows : 1) *
                     (depends_on(load.in_phase, 0) ? interleaved * double(b.vectors) : repeated);
        }
        return work(b, stage_.narrow_work).total() * per_byte + pairs / 2;
    }

    /// Bytes that are moved for what so many blocks along dimension `dim` read of an operand in all iterations of the
    /// RVars.
    static double bytes_of_blocks(const RegisterBlock &b, const Access &load, int dim,
                                  int64_t blocks) {
        Covered covered;
        covered.blocks.fill(1);
        covered.blocks[size_t(dim)] = blocks;
        OperandBox box(load.bytes);
        for (const Coordinate &c : load.coords)
            box.add(elements_of(b, c, covered, -1, 0), double(c.range.size()));
        return box.bytes().moved;
    }

    /// Per iteration of the RVars, what does not stay in the L1 cache, if the lines of an operand are in different sets
    /// of it: with the innermost loop over blocks that is best.
    double streamed_bytes(const RegisterBlock &b) const {
        if (node_.dims() > static_cast<int>(most_block_dims))
            return 0;
        double least = std::numeric_limits<double>::infinity();
        for (int d = 0; d < node_.dims(); d++)
            if (stage_.loops_over[size_t(d)])
                least = std::min(least, streamed_along(b, d));
        return least / stage_.repeats;
    }

    /// In one block, if the loop over blocks along `dim` is innermost: what other blocks along it do not read, or what
    /// does not stay in the L1 cache until they do.
    double streamed_along(const RegisterBlock &b, int dim) const {
        const double in_part =
            std::min(1.0, double(parts_of(stage_).most) / double(stage_.rvars.back()));
        const double most = usable_l1 * double(machine_.l1_bytes);
        double all = 0, bytes = 0;
        for (const Operand &operand : operands_)
            all += in_part * bytes_of_blocks(b, *operand.load, dim, 1);
        for (const Operand &operand : operands_) {
            const double one = bytes_of_blocks(b, *operand.load, dim, 1);
            const double held =
                depends_on(*operand.load, dim)
                    ? all + in_part * (bytes_of_blocks(b, *operand.load, dim, trips(b, dim)) - one)
                    : all;
            if (held > most)
                bytes += one;
        }
        return bytes;
    }

    double clocks(RegisterBlock &b) const {
        double loads = 0;
        // Without a loop over RVars, what is the same along dimension 0 is loaded before the loop over it.
        const bool whole = b.unrolled == stage_.rvars.size();
        for (const Operand &load : operands_)
            loads +=
                whole && !depends_on(load.in_phase, 0)
                    ? 0
                    : along_0(load, b.vectors) *
                          double(b.rows_dim > 0 && depends_on(*load.load, b.rows_dim) ? b.rows : 1);
        const double arithmetic = instructions(b) / machine_.arithmetic_rate;
        // Without a loop, the processor overlaps the sums of several blocks.
        const double waits = whole ? sum_latency / 4 : sum_latency;
        const double loop =
            loop_clocks / double(b.steps) / unrolled_loops(stage_, b.vectors * b.rows).iterations;
        b.core = std::max(waits, overlapped(arithmetic, loads / machine_.load_rate, 0.1) + loop);
        b.whole = 1;
        for (int d = 0; d < node_.dims(); d++) {  // the last block of a dimension is partial
            const int64_t extent = extents_[size_t(d)], size = b.size(d);
            b.whole *= double(extent) / double(ceil_div(extent, size) * size);
        }
        return block_clocks(b, streamed_bytes(b) / machine_.l2_rate);
    }

    /// With the loop outermost that suits the cores best.
    double least_imbalance(const RegisterBlock &b) const {
        double least = cores_;
        for (int d = 0; d < node_.dims(); d++)
            if (stage_.loops_over[size_t(d)])
                least = std::min(least, imbalance(trips(b, d), cores_, stage_.busiest[size_t(d)]));
        return least;
    }

    int64_t trips(const RegisterBlock &b, int dim) const {
        return ceil_div(extents_[size_t(dim)], b.size(dim));
    }

    std::vector<const Access *> loads() const {
        std::vector<const Access *> result;
        for (const Operand &operand : operands_)
            result.push_back(operand.load);
        return result;
    }

    /// Operands that in() could copy: of which this definition itself reads one element at a time, as vectors.
    std::vector<const Access *> packable() const {
        std::vector<const Access *> result;
        auto reads = [&](const Access &operand) {
            long count = 0;
            for (const StageCost &stage : node_.stages)
                count +=
                    std::count_if(stage.loads.begin(), stage.loads.end(),
                                  [&](const Access &load) { return load.same_buffer(operand); });
            return count;
        };
        for (const auto &[load, in_phase] : operands_) {
            const bool bounded =
                std::all_of(load->coords.begin(), load->coords.end(),
                            [](const Coordinate &c) { return c.distance.bounded(); });
            if (phases_ == 1 && bounded && load->replaceable && load->coords.size() > 1 &&
                load->coords[0].iterator == 0 && load->coords[0].num == 1 &&
                load->coords[0].den == 1 && reads(*load) == 1)
                result.push_back(load);
        }
        return result;
    }

    const Node &node_;
    const StageCost &stage_;
    const std::vector<int64_t> &extents_;
    const Machine &machine_;
    int cores_;
    int64_t lanes_, phases_ = 1;
    int pair_ = -1;
    std::vector<Operand> operands_;  // without the sums themselves
    std::vector<Found> found_;
    size_t first_ = 0;  // the best of them
};

/// Instructions of one iteration of the RVars.
double body_of(const StageCost &stage, int64_t copies) {
    return static_cast<double>(copies) * (stage.arithmetic.count + double(stage.loads.size()));
}

}  // namespace

double block_clocks(const RegisterBlock &b, double near_clocks) {
    return (overlapped(b.core, near_clocks, 0.15) + b.apart_clocks) /
           (double(b.vectors * b.rows * b.lanes) * b.whole);
}

int64_t unrolled_steps(const StageCost &stage, int64_t copies) {
    constexpr int64_t most = 4, least_repeats = 4;
    if (stage.rvars.empty() || stage.constant_rvars > 0)
        return 1;
    int64_t steps = 1;
    while (steps < most && double(2 * steps) * body_of(stage, copies) <= most_unrolled &&
           2 * steps * least_repeats <= stage.rvars[0])
        steps *= 2;
    return steps;
}

UnrolledLoops unrolled_loops(const StageCost &stage, int64_t copies) {
    UnrolledLoops result;
    const double body = body_of(stage, copies);
    while (result.rvars < stage.constant_rvars) {
        const double iterations = result.iterations * double(stage.rvars[result.rvars]);
        if (iterations * body > most_unrolled)
            break;
        result.iterations = iterations;
        result.rvars++;
    }
    return result;
}

namespace {

double bytes_of(const Access &load) {
    double bytes = load.bytes;
    for (const Coordinate &c : load.coords)
        bytes *= double(c.range.size());
    return bytes;
}

/// Whether the innermost RVar of a sum goes over rows of an operand that the caches do not hold.
bool sums_large_rows(const StageCost &stage, double cache_bytes) {
    return !stage.is_scan &&
           std::any_of(stage.loads.begin(), stage.loads.end(), [&](const Access &load) {
               auto goes_over = [](const Coordinate &c) { return (c.reductions & 1) != 0; };
               return !load.coords.empty() && load.coords[0].iterator == 0 &&
                      load.coords[0].num == 1 && load.coords[0].den == 1 &&
                      !goes_over(load.coords[0]) &&
                      std::any_of(load.coords.begin() + 1, load.coords.end(), goes_over) &&
                      bytes_of(load) > cache_bytes;
           });
}

}  // namespace

int64_t strip_of_rows(const Node &node, size_t stage, const std::vector<int64_t> &extents,
                      const Machine &machine, int cores) {
    const StageCost &cost = node.stages[stage];
    constexpr int64_t few_vectors = 4;
    if (cost.rvars.empty() || extents.empty() || !cost.loops_over[0])
        return 0;
    if (cores == 1)
        return cost.is_scan && extents[0] * node.widest >= few_vectors * machine.vector_bytes
                   ? extents[0]
                   : 0;
    // Pieces of rows on pages of their own take long if the rows come from beyond the L2 cache.
    constexpr int64_t least_bytes = support::cache::page_bytes / 2,
                      most_bytes = 2 * support::cache::page_bytes;
    const double cache_bytes = double(machine.l2_bytes) * cores;
    const bool is_large = cost.is_scan ? node.points() * node.bytes > cache_bytes
                                       : sums_large_rows(cost, cache_bytes);
    bool is_plane = true;
    for (size_t d = 1; d < extents.size(); d++)
        is_plane &= !cost.loops_over[d] || extents[d] == 1;
    if (!is_large || !is_plane)
        return 0;
    const int64_t bytes = extents[0] * node.widest;
    const int64_t strips = cores * ceil_div(bytes, cores * most_bytes);
    const int64_t lanes = machine.vector_bytes / node.widest;
    const int64_t strip = ceil_div(ceil_div(extents[0], strips), lanes) * lanes;
    return strip * node.widest >= least_bytes ? strip : 0;
}

std::optional<RegisterBlock> register_block(const Node &node, size_t stage,
                                            const std::vector<int64_t> &extents,
                                            const Machine &machine, int cores) {
    const StageCost &cost = node.stages[stage];
    if (stage == 0 || (cost.scatters && !cost.has_vectors()) ||
        strip_of_rows(node, stage, extents, machine, cores) > 0)
        return std::nullopt;
    return BlockSearch(node, cost, extents, machine, cores).run();
}

std::optional<RegisterBlock> reduction_block(const Node &node, size_t stage,
                                             const std::vector<int64_t> &extents,
                                             const Machine &machine, int cores) {
    const auto block = register_block(node, stage, extents, machine, cores);
    if (block && node.stages[stage].terms_per_sum == 1)
        return block;
    const auto sums = row_sums(node, stage, extents, machine, cores);
    return block && !(sums && sums->clocks < block->clocks) ? block : sums;
}

}  // namespace Pipe::autoschedule
