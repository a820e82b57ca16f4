// How well Pipeline::predict() ranks schedules: predicted and measured times of many schedules of each application.
#pragma once

#include "apps/common/registry.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bench {

struct RankedSchedule {
    std::string name;  ///< "hand", "naive", "auto", a strategy, or how a random one was made
    double predicted_ms = 0, measured_ms = 0;
    std::string failure;  ///< why it was left out; empty if it was measured
};

struct Ranking {
    std::string app;
    apps::Size size;
    std::vector<RankedSchedule> schedules;
    double tau = 0;     ///< Kendall's, of the pairs whose measured times differ by more than 3 %
    double regret = 1;  ///< measured time of the schedule predicted best / best measured time
    double predict_ms = 0;  ///< time of one predict() of the hand schedule
};

struct RankingOptions {
    std::string
        show;  ///< a schedule of which source and prediction are printed, alone; empty: all are compared
    int random = 40;           ///< legal random schedules, at most
    int rounds = 15;           ///< of measurements; the minimum counts
    int threads = 1;           ///< 1: times are processor times
    double slowest_ms = 2000;  ///< slower ones are left out
    double hand_ms =
        20;  ///< sizes are halved until the hand schedule is predicted to take no longer
    double compile_budget_s =
        60;  ///< for one schedule: those predicted to take longer are left out
};

Ranking rank(const apps::App &app, const RankingOptions &options,
             const std::function<void(const std::string &)> &progress);

void print_ranking(const Ranking &ranking);
/// The medians over all applications.
void print_summary(const std::vector<Ranking> &rankings);
nlohmann::json to_json(const std::vector<Ranking> &rankings);

}  // namespace bench
