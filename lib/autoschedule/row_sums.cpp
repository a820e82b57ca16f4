#include "autoschedule/row_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autoschedule/block_order.h"
#include "autoschedule/group_model.h"
#include "support/integers.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

double lines_of(const Access &load, const Machine &machine) {
    const Coordinate &x = load.coords[0];
    if (x.iterator == 0 && x.num > 1)
        return 1.5 * double(x.num);
    const bool begins_anywhere = x.iterator == 0 && x.distance != poly::Range::point(0);
    return begins_anywhere ? 1 + machine.vector_bytes / 64.0 : 1;
}

namespace {

/// Whether the operand's elements lie together while the RVar advances, or are the same.
bool lies_along(const Access &load, int rvar, bool *moves) {
    for (size_t d = 0; d < load.coords.size(); d++) {
        const Coordinate &c = load.coords[d];
        const bool depends = c.reductions >> rvar & 1;
        if (depends && !(d == 0 && c.follows == rvar))
            return false;
        *moves |= depends;
    }
    return true;
}

/// Vector instructions per term of a sum along an RVar, times the bytes of a register.
double bytes_per_term(const StageCost &cost) {
    if (cost.terms_per_sum == 1)
        return cost.arithmetic.total();
    double operands = cost.arithmetic.total() - cost.own.total();
    for (const Work &work : cost.narrow_work)
        operands += work.arithmetic.total();
    const double narrow = cost.terms_per_sum == 2 ? 2 : 1;  // bytes
    return operands +
           2 * narrow;  // an instruction that adds terms up, and one that adds these sums
}

/// Lanes along an RVar: whole registers of what is added up, or less if there are not so many. 0: too few.
int64_t lanes_of_sums(const Node &node, const StageCost &cost, size_t rvar,
                      const Machine &machine) {
    const int64_t bytes = cost.terms_per_sum == 8 ? 1 : cost.terms_per_sum == 2 ? 2 : node.widest;
    const int64_t most = machine.vector_bytes / bytes, extent = cost.rvars[rvar];
    if (double(extent) >= least_iterations * double(most))
        return most;
    int64_t lanes = most;
    while (lanes > 0 && (extent % lanes != 0 || cost.repeats < least_iterations * double(lanes)))
        lanes /= 2;
    const bool fills = lanes * bytes >= 16;
    return fills ? lanes : 0;
}

/// The sums of rows along an RVar: as many vectors and rows that wait for one another as little as may be, and load
/// together what they share.
class RowSums {
  public:
    /// \param tuple  the lanes are combined one after the other (lower/private_accumulators.h)
    RowSums(int rvar, const StageCost &cost, std::vector<const Access *> loads, int64_t lanes,
            bool tuple, const Machine &machine)
        : rvar_(rvar), cost_(cost), loads_(std::move(loads)), lanes_(lanes), tuple_(tuple),
          machine_(machine) {}

    RegisterBlock best(const std::vector<int64_t> &extents) const {
        constexpr double worth_rows = 0.8;
        RegisterBlock best;
        for (int64_t vectors : {1, 2, 4})
            if (const RegisterBlock b = block(vectors, -1, 1);
                vectors == 1 ||
                (double(vectors * lanes_) <= extent() && b.clocks < 0.9 * best.clocks))
                best = b;
        const double alone = best.clocks;
        for (int d = 0; d < static_cast<int>(extents.size()); d++)
            for (int64_t rows : {2, 4, 8})
                if (const RegisterBlock b = block(1, d, rows);
                    extents[size_t(d)] >= rows && share(d) && b.clocks < worth_rows * alone &&
                    b.clocks < 0.95 * best.clocks)
                    best = b;
        return best;
    }

  private:
    int rvar_;
    const StageCost &cost_;
    std::vector<const Access *> loads_;  // that move along the RVar
    int64_t lanes_;
    bool tuple_;
    const Machine &machine_;

    double extent() const { return double(cost_.rvars[size_t(rvar_)]); }

    /// Whether rows along the dimension load something together.
    bool share(int dim) const {
        return std::any_of(loads_.begin(), loads_.end(),
                           [&](const Access *load) { return !depends_on(*load, dim); });
    }

    RegisterBlock block(int64_t vectors, int dim, int64_t rows) const {
        RegisterBlock b;
        b.lanes = lanes_, b.vectors = vectors, b.rvar = rvar_, b.rows_dim = dim, b.rows = rows;
        const double n = double(vectors), m = double(rows), all = n * double(lanes_);
        double loads = 0;
        for (const Access *load : loads_)
            loads += n * lines_of(*load, machine_) * (dim >= 0 && !depends_on(*load, dim) ? 1 : m);
        const double arithmetic =
            m * all * bytes_per_term(cost_) / machine_.vector_bytes / machine_.arithmetic_rate;
        const double steps =
            std::max(sum_latency,
                     overlapped(arithmetic, loads / machine_.load_rate, 0.1) + loop_clocks) *
            std::ceil(extent() / all) * (cost_.repeats / extent());
        const double combine = m * sum_latency * (tuple_ ? all : n + std::log2(double(lanes_)));
        b.clocks = (steps + combine) / cost_.repeats / m;
        return b;
    }
};

}  // namespace

std::optional<RegisterBlock> row_sums(const Node &node, size_t stage,
                                      const std::vector<int64_t> &extents, const Machine &machine,
                                      int cores) {
    const StageCost &cost = node.stages[stage];
    if (stage == 0 || machine.vector_bytes / node.widest < 2 || !cost.loops_over_all() ||
        !(cost.regroups || (cost.regroups_fast && machine.fast_math)))
        return std::nullopt;
    std::optional<RegisterBlock> best;
    // (The vectors' RVar becomes the innermost.)
    const size_t candidates = cost.in_order ? 1 : cost.rvars.size();
    for (int r = 0; r < static_cast<int>(candidates); r++) {
        const int64_t lanes = lanes_of_sums(node, cost, size_t(r), machine);
        std::vector<const Access *> moving;
        bool possible = lanes > 0;
        for (const Access &load : cost.loads) {
            if (load.func == node.id)
                continue;
            bool this_moves = false;
            possible = possible && lies_along(load, r, &this_moves);
            if (this_moves)
                moving.push_back(&load);
        }
        if (!possible || moving.empty())
            continue;
        RegisterBlock block =
            RowSums(r, cost, std::move(moving), lanes, node.bytes > node.widest, machine)
                .best(extents);
        for (int d = 0; d < node.dims(); d++)
            block.loops.push_back(d);
        const int64_t tasks = extents.empty() ? 1
                              : block.rows_dim < 0
                                  ? extents.back()
                                  : ceil_div(extents[size_t(block.rows_dim)], block.rows);
        if (node.points() > few_points)  // else it is parallel over its RVars
            block.clocks *= double(ceil_div(tasks, int64_t(cores)) * cores) / double(tasks);
        if (!best || block.clocks < best->clocks)
            best = block;
    }
    return best;
}

}  // namespace Pipe::autoschedule
