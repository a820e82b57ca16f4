// The output of the benchmark: a table for the screen and JSON.
#pragma once

#include "apps/bench/ceilings.h"
#include "apps/bench/variant.h"

#include <nlohmann/json_fwd.hpp>

namespace bench {

/// All measurements of one application at one size.
struct AppResult {
    const apps::App *app;
    apps::Size size;
    int64_t bytes;  ///< input + output: the minimum memory traffic
    std::vector<Variant> variants;
    double copy_ms = 0;  ///< to copy this many bytes, sampled between the variants
    double fma_ms = 0;   ///< to do the same arithmetic in registers, likewise; 0: not counted
    double halide_jit_ms = -1;  ///< to compile the hand schedule; negative: unknown
};

/// A performance requirement, and the measured value.
struct Figure {
    std::string name;
    double value;
    std::string unit;
    double limit;  ///< the requirement is value <= limit
};

/// Median of the fastest variant of a peer; 0 if there is none.
double best_peer_ms(const AppResult &result);
/// The fastest of Halide's autoschedulers; null if none was measured.
const Variant *best_halide_autoscheduler(const AppResult &result);

/// The time to copy the minimum memory traffic divided by the variant's time: the fraction of the
/// copy bandwidth of the memory level from which the data streams.
double bandwidth_fraction(const AppResult &r, const Variant &v);
/// The time of the algorithm's arithmetic (without redundancy) at the FMA peak divided by the
/// variant's time; 0 if it is not counted.
double fma_fraction(const AppResult &r, const Variant &v);

/// The name of the processor.
std::string processor();

/// The permissions of each variant for floating-point arithmetic, as text.
std::string floating_point_flags();

void print_ceilings(const Ceilings &ceilings);
void print_result(const AppResult &result, const Ceilings &ceilings);
void print_figures(const std::vector<Figure> &figures);

nlohmann::json to_json(const Ceilings &ceilings, const std::vector<std::string> &peers,
                       const std::vector<AppResult> &results, const std::vector<Figure> &figures);

}  // namespace bench
