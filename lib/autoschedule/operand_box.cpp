#include "autoschedule/operand_box.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace Pipe::autoschedule {

using support::cache::line_bytes, support::cache::page_bytes;

double elements_of(const RegisterBlock &block, const poly::Coordinate &c, const Covered &covered,
                   int rvar, int64_t left_out) {
    const double most = double(c.range.size());
    if (!c.distance.bounded())
        return most;
    int64_t spread = c.distance.size();
    if (c.iterator >= 0)
        spread +=
            std::abs(c.num) * (block.size(c.iterator) * covered.blocks[size_t(c.iterator)] - 1);
    if (c.follows == rvar)
        spread -= left_out;
    return std::min(most, double((std::max<int64_t>(spread, 1) - 1) / c.den + 1));
}

std::vector<int> packed_order(const poly::Access &load, size_t rvars) {
    auto rank = [&](int d) -> size_t {
        if (d == 0)
            return 0;
        for (size_t r = 0; r < rvars; r++)
            if (load.coords[size_t(d)].reductions >> r & 1)
                return r + 1;
        return rvars + 1;
    };
    std::vector<int> order(load.coords.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return order;
}

OperandBox::OperandBox(int bytes_of_element)
    : element_(bytes_of_element), run_(bytes_of_element), distance_(bytes_of_element) {}

void OperandBox::add(double count, double held) {
    if (whole_) {
        run_ *= count;
    } else if (count > 1) {
        steps_.add(distance_, count);
        runs_ *= count;
    }
    whole_ = whole_ && count == held;
    distance_ *= held;
}

OperandBytes OperandBox::bytes() const {
    const double most = distance_ + line_bytes;
    const double lines =
        std::min(runs_ * support::cache::in_lines(0, run_, element_, steps_), most);
    // Prefetchers load pairs of lines.
    constexpr double pair = 2 * line_bytes;
    const double moved = runs_ > 1 ? std::min(most, runs_ * pair * std::ceil(run_ / pair)) : lines;
    double span = run_;
    for (const auto &[distance, count] : steps_)
        span += distance * (count - 1);
    const double pages = std::min(runs_ * (1 + run_ / page_bytes), span / page_bytes + 1);
    return {std::max(moved, lines), lines / support::cache::share_of_sets(run_, steps_), pages,
            runs_};
}

}  // namespace Pipe::autoschedule
