// One step of a pyramid, down or up, in one dimension. Pyramids are made of one Func per step, so
// that a schedule can place each.
#pragma once

#include "apps/common/dsl.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace apps {

/// One Func per level: "name_0", "name_1", ...
inline std::vector<dsl::Func> level_funcs(const std::string &name, int levels) {
    std::vector<dsl::Func> funcs;
    for (int l = 0; l < levels; ++l)
        funcs.emplace_back(name + "_" + std::to_string(l));
    return funcs;
}

/// `f` at `args`, with dimension d at another coordinate.
inline dsl::Expr moved(const dsl::Func &f, const std::vector<dsl::Var> &args, int d,
                       const dsl::Expr &coordinate) {
    std::vector<dsl::Expr> at(args.begin(), args.end());
    at[size_t(d)] = coordinate;
    return f(at);
}

/// Half the resolution: Σ weights[i]·f(2·v + first + i) / divisor, v the coordinate in dimension d.
inline dsl::Expr down(const dsl::Func &f, const std::vector<dsl::Var> &args, int d, int first,
                      std::initializer_list<int> weights, int divisor) {
    dsl::Expr sum;
    int at = first;
    for (int weight : weights) {
        const dsl::Expr sample = moved(f, args, d, 2 * args[size_t(d)] + at++);
        const dsl::Expr term = weight == 1 ? sample : float(weight) * sample;
        sum = sum.defined() ? sum + term : term;
    }
    return sum * (1.0f / float(divisor));
}

/// The kernels of the papers' pyramids.
inline dsl::Expr down_121(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    return down(f, args, d, -1, {1, 2, 1}, 4);
}
inline dsl::Expr down_1331(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    return down(f, args, d, -1, {1, 3, 3, 1}, 8);
}
inline dsl::Expr down_14641(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    return down(f, args, d, -2, {1, 4, 6, 4, 1}, 16);
}

/// Twice the resolution: even coordinates copy, odd ones are the mean of their neighbors.
inline dsl::Expr up_linear(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    const dsl::Expr v = args[size_t(d)];
    return (moved(f, args, d, v / 2) + moved(f, args, d, (v + 1) / 2)) / 2;
}

/// Twice the resolution: 3/4 of the nearest and 1/4 of the next nearest sample.
inline dsl::Expr up_31(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    const dsl::Expr v = args[size_t(d)];
    return 0.75f * moved(f, args, d, v / 2) + 0.25f * moved(f, args, d, v / 2 - 1 + 2 * (v % 2));
}

/// Twice the resolution: the transpose of down_14641, doubled.
inline dsl::Expr up_14641(const dsl::Func &f, const std::vector<dsl::Var> &args, int d) {
    const dsl::Expr v = args[size_t(d)];
    const dsl::Expr before = moved(f, args, d, v / 2 - 1), here = moved(f, args, d, v / 2),
                    after = moved(f, args, d, v / 2 + 1);
    return dsl::select(v % 2 == 0, (before + 6.0f * here + after) * (1.0f / 8),
                       (here + after) * 0.5f);
}

}  // namespace apps
