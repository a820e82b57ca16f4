// The published schedulers (AutoscheduleOptions::Strategy) beside Pipe's own, on the applications.
#pragma once

#include "apps/bench/report.h"
#include "apps/bench/variant.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Limits of the number of stages in a group for which the paper counts; the first: none.
constexpr std::array<int, 4> group_limits = {0, 32, 16, 8};

/// Groups that a dynamic program enumerates, per limit; negative: not counted.
struct Enumerated {
    int stages = 0;
    std::array<long, group_limits.size()> groups = {-1, -1, -1, -1};
    std::string table;  ///< of Jangda 2020; empty: counted here
};

/// One schedule of an application.
struct PapersRow {
    Variant variant;
    int groups = 0;
    std::string largest_tile;  ///< sizes of the tiles of the group with most stages
    size_t largest = 0;        ///< its stages that are not inlined
    std::vector<std::string> all_tiles;
    long evaluated = 0;     ///< groups, by the search
    double search_ms = -1;  ///< negative: not searched
};

struct PapersResult {
    const apps::App *app;
    apps::Size size;
    Enumerated paper, as_paper, ours;  ///< as_paper: on Pipe's graph of the application
    std::vector<PapersRow> rows;  ///< the hand schedule, every strategy, DPFusion without its parts

    bool good() const;
};

/// The applications of Jangda 2020, Tables 1 and 9.
bool is_in_papers(const apps::App &app);

struct PapersOptions {
    int threads, samples;
    double budget_s;
    std::function<void(const std::string &)> progress;
};

PapersResult measure_papers(const apps::App &app, apps::Size size, const PapersOptions &options);

void print_papers(const PapersResult &result);
nlohmann::json papers_to_json(const std::vector<PapersResult> &results);

}  // namespace bench
