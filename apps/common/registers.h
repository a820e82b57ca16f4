// The vectors and blocks of sums of a hand schedule, from the registers of the target.
#pragma once

#include "apps/common/dsl.h"

#include <algorithm>

namespace apps {

/// Sixteen on x86 without AVX-512, else thirty-two.
inline int vector_registers(const dsl::Target &target) {
    const bool sixteen =
        target.arch == dsl::Target::X86 && !target.has_feature(dsl::Target::AVX512);
    return sixteen ? 16 : 32;
}

/// Lanes of a vector that covers whole lines of the cache. Non-temporal stores wait in a few buffers (4 to 12 by
/// processor) until their lines are complete; where more rows than that are stored in turn, incomplete
/// lines have to be written, which takes several times as long.
inline int line_vector_size(const dsl::Target &target, const dsl::Type &type) {
    constexpr int line_bytes = 64;
    return std::max(target.natural_vector_size(type), line_bytes / type.bytes());
}

/// The sums of a product of matrices or a convolution that stay in registers: each step multiplies
/// `vectors` vectors by `values` values, which are broadcast, and adds all products to their sums. What
/// there is less of is held in registers, too, and what there is more of is loaded one after the other.
struct RegisterBlock {
    int vectors, values;

    int sums() const { return vectors * values; }
    int loads() const { return vectors + values; }
    int registers() const { return sums() + std::min(vectors, values) + 1; }
    /// Whether the loop over the values belongs inside of the loop over the vectors.
    bool holds_values() const { return values < vectors; }

    /// The time of a step, in multiplications. Two units that take four cycles for one each need eight
    /// sums that do not wait for each other, and a few more where something is late. Loads have
    /// units of their own, but do delay some.
    double time() const { return std::max(sums(), 10) + loads() / 4.0; }
};

/// The block that takes the least time, of those that divide `vectors` vectors without rest and
/// cover `values` values with as few steps beyond the end as may be.
inline RegisterBlock register_block(const dsl::Target &target, int vectors, int values) {
    // Each value has an address of its own, in one of sixteen general registers.
    constexpr int most_values = 8;
    RegisterBlock best{1, 1};
    double best_time = 0;
    for (int v = 1; v <= vectors; ++v) {
        for (int n = 1; n <= std::min(values, most_values); ++n) {
            const RegisterBlock block{v, n};
            const double blocks = double(vectors) / v * ((values + n - 1) / n);
            if (vectors % v != 0 || block.registers() > vector_registers(target))
                continue;
            const double time = blocks * block.time();
            if (best_time == 0 || time < best_time) {
                best = block;
                best_time = time;
            }
        }
    }
    return best;
}

}  // namespace apps
