#pragma once
// Form: what is known of a number at one place of a loop nest, without running the loops.

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace Pipe::predict {

/// A set of loops has one bit per depth; the last bit stands for all deeper loops.
inline uint64_t loop_bit(int depth) {
    return uint64_t(1) << (depth < 63 ? depth : 63);
}

/// How a number changes with the iterations of one loop: it takes `distinct` values that are `step`
/// apart. (x % 4 takes four values, again and again; x / 2 half as many as the loop has iterations.)
struct Term {
    int loop = 0;  ///< depth of the loop: 0 is the outermost
    double step = 0;
    double distinct = 1;
};

/// A number as a function of the loops around it: an index, a bound, or a condition (0 or 1).
struct Form {
    double value = 0;                 ///< in the middle iteration of all loops; of the first lane
    double mean = 0;                  ///< over all iterations
    std::array<float, 64> samples{};  ///< in some of them, spread evenly over all loops
    std::vector<Term> terms;          ///< by depth
    double lane_step = 0;             ///< from one vector lane to the next
    bool even = true;                 ///< the same step between all neighboring lanes
    bool linear = true;               ///< a sum of multiples of the loop variables

    /// It depends on data: `value` is a guess within [lo, hi], and the loops are those in whose iterations
    /// it may differ (bit `depth`).
    bool data = false;
    double lo = -std::numeric_limits<double>::infinity(),
           hi = std::numeric_limits<double>::infinity();
    uint64_t loops = 0;

    static Form constant(double value);
    /// The counter of a loop: 0 in its first iteration.
    static Form counter(int depth, double trips);
    /// A number between lo and hi that depends on data, and differs in iterations of these loops; the same in all
    /// lanes.
    static Form unknown(double lo, double hi, uint64_t loops);

    bool is_constant() const { return terms.empty() && lane_step == 0 && even && !data; }
    const Term *find(int loop) const;
    /// All loops that it depends on, as bits.
    uint64_t depends_on() const;
    /// The innermost loop that it depends on; -1: none.
    int depth() const;
    double mean_of_samples() const;
};

Form sum(const Form &a, const Form &b, double factor);
Form product(const Form &a, const Form &b);
/// Floor division of integers, or exact division.
Form quotient(const Form &a, const Form &b, bool integers);
Form remainder(const Form &a, const Form &b);
Form smaller(const Form &a, const Form &b);
Form larger(const Form &a, const Form &b);
Form select(const Form &condition, const Form &t, const Form &f);
/// The next smaller integer. \param unit  the numbers are multiples of this fraction; 0: of none
Form rounded(Form a, double unit);

/// Whether a < b (or a <= b for integers, as b + 1): `mean` is the share of iterations.
Form less(const Form &a, const Form &b);
Form equals(const Form &a, const Form &b);
Form both(const Form &a, const Form &b);
Form negation(const Form &a);

}  // namespace Pipe::predict
