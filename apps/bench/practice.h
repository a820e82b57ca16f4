// The pipelines of apps/practice: the autoscheduler against C++ loops.
#pragma once

#include "apps/bench/report.h"
#include "apps/bench/variant.h"
#include "apps/practice/practice.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// The samples of one pipeline: "loops" and "auto".
struct PracticeResult {
    const practice::Practice *practice;
    std::vector<Variant> variants;

    const Variant &loops() const { return variants[0]; }
    const Variant &automatic() const { return variants[1]; }
    /// Whether both ran, and their outputs agree.
    bool good() const { return was_sampled(loops()) && was_sampled(automatic()); }
    /// Median of auto / median of loops. Requires good().
    double ratio() const;
};

/// Runs both variants in turn, as `sample` does, and compares their outputs.
PracticeResult measure_practice(const practice::Practice &practice, int threads, int samples,
                                double budget_s,
                                const std::function<void(const std::string &)> &progress);

void print_practice_header(int threads);
void print_practice(const PracticeResult &result);

/// The geometric mean of the ratios and the largest one; none without good results.
std::vector<Figure> practice_figures(const std::vector<PracticeResult> &results);

nlohmann::json practice_to_json(int threads, const std::vector<PracticeResult> &results);

}  // namespace bench
