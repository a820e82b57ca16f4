// What the benchmark says: a table for the screen and JSON for machines.
#pragma once

#include "apps/bench/ceilings.h"
#include "apps/bench/variant.h"

#include <nlohmann/json_fwd.hpp>

namespace bench {

/// All that was measured of one application at one size.
struct AppResult {
    const apps::App *app;
    apps::Size size;
    int64_t bytes;  ///< input + output: what must move at least
    std::vector<Variant> variants;
    double copy_ms = 0;         ///< to copy so many bytes, sampled between the variants
    double fma_ms = 0;          ///< to do as much arithmetic in registers, likewise; 0: not counted
    double halide_jit_ms = -1;  ///< to compile the hand schedule; negative: not known
};

/// A figure that the project has promised, and what it came to.
struct Figure {
    std::string name;
    double value;
    std::string unit;
    double limit;  ///< the promise is value <= limit
};

/// Median of the fastest variant that is not ours; 0 where there is none.
double best_peer_ms(const AppResult &result);
/// The fastest of Halide's autoschedulers; null where none was sampled.
const Variant *best_halide_autoscheduler(const AppResult &result);

/// The time to copy as many bytes as must move, over the variant's: the share of the copy bandwidth
/// of the level that they stream from, whichever that is.
double bandwidth_fraction(const AppResult &r, const Variant &v);
/// The time to do the algorithm's arithmetic (nothing counted twice) at the FMA peak, over the variant's;
/// 0 where it is not counted.
double fma_fraction(const AppResult &r, const Variant &v);

/// What the processor calls itself.
std::string processor();

/// What each variant may do to floating point arithmetic, for people.
std::string floating_point_flags();

void print_ceilings(const Ceilings &ceilings);
void print_result(const AppResult &result, const Ceilings &ceilings);
void print_figures(const std::vector<Figure> &figures);

nlohmann::json to_json(const Ceilings &ceilings, const std::vector<std::string> &peers,
                       const std::vector<AppResult> &results, const std::vector<Figure> &figures);

}  // namespace bench
