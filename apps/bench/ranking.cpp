#include "apps/bench/ranking.h"

#include "apps/bench/figures.h"
#include "apps/bench/mutate_schedule.h"
#include "apps/common/random_schedule.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <omp.h>
#include <pipe/pipe.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The processor time of this process, which other processes disturb less than elapsed time.
double processor_ms() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

/// Pipelines of one application on the same data.
class Ranker {
  public:
    Ranker(const apps::App &app, const RankingOptions &options,
           const std::function<void(const std::string &)> &progress)
        : app_(app), options_(options), progress_(progress), target_(Pipe::get_host_target()) {
        target_.set_feature(Pipe::Target::FastMath);
    }

    Ranking run() {
        omp_set_num_threads(options_.threads);
        ranking_.app = app_.name;
        choose_size();
        data_ = make_data(app_, ranking_.size);
        known_schedules();
        random_schedules();
        measure();
        evaluate();
        return std::move(ranking_);
    }

  private:
    struct Candidate {
        std::unique_ptr<apps::Program> program;
        std::optional<Pipe::Pipeline> pipeline;
        RankedSchedule result;
        std::string source;  ///< of the schedule
        int repeats = 1;
    };
    using Schedule = std::function<void(Candidate &)>;

    const apps::App &app_;
    const RankingOptions &options_;
    const std::function<void(const std::string &)> &progress_;
    Pipe::Target target_;
    Ranking ranking_;
    Data data_;
    std::vector<Candidate> candidates_;
    std::optional<Pipe::Buffer<>> expected_;

    Candidate make(const std::string &name) const {
        Candidate c;
        c.program = app_.make();
        c.pipeline.emplace(c.program->output());
        c.result.name = name;
        return c;
    }

    void choose_size() {
        ranking_.size = app_.size;
        for (bool smaller = true; smaller;) {
            Candidate c = make("hand");
            c.program->schedule_by_hand(target_);
            apps::set_inputs(*c.program, apps::make_inputs(app_, *c.program, ranking_.size));
            const Pipe::Buffer<> output = apps::make_output(app_, *c.program, ranking_.size);
            c.pipeline->predict(output, target_);
            const auto start = Clock::now();
            const double ms = c.pipeline->predict(output, target_).milliseconds;
            ranking_.predict_ms = milliseconds_since(start);
            smaller =
                ms > options_.hand_ms && std::min(ranking_.size.width, ranking_.size.height) >= 256;
            if (smaller)
                ranking_.size = {ranking_.size.width / 2, ranking_.size.height / 2};
        }
    }

    /// Predicts, compiles and runs it once. Returns false if it is not legal.
    bool add(const std::string &name, const Schedule &schedule) {
        if (!options_.show.empty() && options_.show != name)
            return true;
        progress_(fmt::format("{}: {}", app_.name, name));
        Candidate c = make(name);
        try {
            apps::set_inputs(*c.program, data_.inputs);
            schedule(c);
            if (is_known(c))
                return false;
            const auto start = Clock::now();
            const Pipe::Prediction prediction = c.pipeline->predict(data_.output, target_);
            c.result.predicted_ms = prediction.milliseconds;
            if (!options_.show.empty())
                fmt::print("{}\n{}", c.pipeline->schedule_source(), prediction.to_string());
            constexpr double llvm_over_lowering = 8;
            if (llvm_over_lowering * milliseconds_since(start) > 1000 * options_.compile_budget_s)
                c.result.failure = "takes long to compile";
            else if (c.result.predicted_ms > 4 * options_.slowest_ms)
                c.result.failure = "predicted to be slow";
            else
                try_out(c);
        } catch (const Pipe::CompileError &) {
            return false;
        } catch (const Pipe::Error &error) {
            c.result.failure = error.what();
        }
        candidates_.push_back(std::move(c));
        return candidates_.back().result.failure.empty();
    }

    bool is_known(Candidate &c) {
        c.source = c.pipeline->schedule_source();
        return std::any_of(candidates_.begin(), candidates_.end(),
                           [&](const Candidate &other) { return other.source == c.source; });
    }

    void try_out(Candidate &c) {
        std::memset(data_.output.data(), 0xff, data_.output.size_in_bytes());
        c.pipeline->realize(data_.output, target_);
        if (!expected_)
            expected_ = data_.output.copy();
        const double limit = app_.tolerance * apps::max_abs(*expected_);
        const double difference = apps::max_abs_difference(*expected_, data_.output);
        c.result.measured_ms = time_of(c, 1);
        constexpr double shortest_ms = 2;
        c.repeats = int(std::clamp(std::ceil(shortest_ms / c.result.measured_ms), 1.0, 1000.0));
        if (!(difference <= limit))
            c.result.failure =
                fmt::format("wrong by {:.3g} of {:.3g}", difference, apps::max_abs(*expected_));
        else if (c.result.measured_ms > options_.slowest_ms)
            c.result.failure = "slow";
    }

    double time_of(Candidate &c, int runs) {
        const auto start = Clock::now();
        const double busy = processor_ms();
        for (int i = 0; i < runs; i++)
            c.pipeline->realize(data_.output, target_);
        return (options_.threads == 1 ? processor_ms() - busy : milliseconds_since(start)) / runs;
    }

    void known_schedules() {
        add("hand", [&](Candidate &c) { c.program->schedule_by_hand(target_); });
        add("naive", [&](Candidate &c) { c.program->schedule_naively(); });
        for (auto strategy : Pipe::AutoscheduleOptions::strategies) {
            Pipe::AutoscheduleOptions options;
            const bool is_default = strategy == options.strategy;
            options.strategy = strategy;
            add(is_default ? "auto" : Pipe::to_string(strategy),
                [&, options](Candidate &c) { c.pipeline->autoschedule(target_, options); });
        }
    }

    void random_schedules() {
        int legal = 0;
        for (uint64_t seed = 1; legal < options_.random && seed <= uint64_t(4 * options_.random);
             seed++) {
            const uint64_t kind = seed % 4;
            const std::string name = fmt::format("{} {}",
                                                 kind < 2    ? "random"
                                                 : kind == 2 ? "like hand"
                                                             : "like auto",
                                                 seed);
            legal += add(name, [&](Candidate &c) {
                if (kind < 2)
                    return apps::schedule_at_random(*c.program, *c.pipeline, target_,
                                                    apps::Taste::Plausible, seed);
                if (kind == 2) {
                    c.program->schedule_by_hand(target_);
                } else {
                    c.pipeline->autoschedule(target_);
                    c.pipeline->compile_jit(sizes(), target_);
                }
                mutate_schedule(*c.pipeline, seed);
            });
        }
    }

    Pipe::Sizes sizes() const {
        Pipe::Sizes result;
        for (int d = 0; d < data_.output.dimensions(); d++)
            result.extents.push_back(data_.output.dim(d).extent());
        return result;
    }

    /// Interleaved; what else the machine does disturbs minima least.
    void measure() {
        for (int round = 0; round < options_.rounds; round++) {
            progress_(fmt::format("{}: round {} of {}", app_.name, round + 1, options_.rounds));
            for (Candidate &c : candidates_)
                if (c.result.failure.empty() && (c.result.measured_ms < 30 || round < 3))
                    c.result.measured_ms = std::min(c.result.measured_ms, time_of(c, c.repeats));
        }
    }

    void evaluate() {
        std::vector<const RankedSchedule *> good;
        for (const Candidate &c : candidates_) {
            ranking_.schedules.push_back(c.result);
            if (c.result.failure.empty())
                good.push_back(&c.result);
        }
        if (good.empty())
            return;
        constexpr double equal = 1.03;
        double concordant = 0, pairs = 0;
        for (size_t i = 0; i < good.size(); i++)
            for (size_t j = 0; j < i; j++) {
                const double measured = good[i]->measured_ms / good[j]->measured_ms;
                const double predicted = good[i]->predicted_ms - good[j]->predicted_ms;
                if (measured < equal && measured > 1 / equal)
                    continue;
                pairs++;
                concordant += predicted == 0 ? 0 : (predicted > 0) == (measured > 1) ? 1 : -1;
            }
        ranking_.tau = pairs > 0 ? concordant / pairs : 1;
        auto by = [&](double RankedSchedule::*field) {
            return *std::min_element(good.begin(), good.end(),
                                     [&](auto *a, auto *b) { return a->*field < b->*field; });
        };
        ranking_.regret = by(&RankedSchedule::predicted_ms)->measured_ms /
                          by(&RankedSchedule::measured_ms)->measured_ms;
    }
};

double median_of(const std::vector<Ranking> &rankings, double Ranking::*field) {
    std::vector<double> values;
    for (const Ranking &r : rankings)
        values.push_back(r.*field);
    return values.empty() ? 0 : median(values);
}

}  // namespace

Ranking rank(const apps::App &app, const RankingOptions &options,
             const std::function<void(const std::string &)> &progress) {
    Ranking ranking = Ranker(app.reduced ? *app.reduced : app, options, progress).run();
    ranking.app = app.name;
    return ranking;
}

void print_ranking(const Ranking &r) {
    std::vector<RankedSchedule> rows = r.schedules;
    std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
        return std::pair(!a.failure.empty(), a.measured_ms) <
               std::pair(!b.failure.empty(), b.measured_ms);
    });
    fmt::print("\n{}, {} x {}\n{:>12} {:>12} {:>7}  schedule\n", r.app, r.size.width, r.size.height,
               "measured ms", "predicted ms", "ratio");
    for (const RankedSchedule &s : rows) {
        if (s.failure.empty())
            fmt::print("{:>12.4g} {:>12.4g} {:>7.2f}  {}\n", s.measured_ms, s.predicted_ms,
                       s.predicted_ms / s.measured_ms, s.name);
        else
            fmt::print("{:>12} {:>12.4g} {:>7}  {}: {}\n", "-", s.predicted_ms, "", s.name,
                       s.failure);
    }
    fmt::print("tau {:.2f}, regret {:.2f}, predict() {:.1f} ms\n", r.tau, r.regret, r.predict_ms);
}

void print_summary(const std::vector<Ranking> &rankings) {
    fmt::print("\n{:>6} {:>7} {:>11}  application\n", "tau", "regret", "predict ms");
    for (const Ranking &r : rankings)
        fmt::print("{:>6.2f} {:>7.2f} {:>11.1f}  {}\n", r.tau, r.regret, r.predict_ms, r.app);
    fmt::print("{:>6.2f} {:>7.2f} {:>11.1f}  median\n", median_of(rankings, &Ranking::tau),
               median_of(rankings, &Ranking::regret), median_of(rankings, &Ranking::predict_ms));
}

nlohmann::json to_json(const std::vector<Ranking> &rankings) {
    nlohmann::json json = nlohmann::json::array();
    for (const Ranking &r : rankings) {
        nlohmann::json rows = nlohmann::json::array();
        for (const RankedSchedule &s : r.schedules) {
            nlohmann::json row{{"name", s.name}, {"predicted_ms", s.predicted_ms}};
            if (s.failure.empty())
                row["measured_ms"] = s.measured_ms;
            else
                row["failure"] = s.failure;
            rows.push_back(std::move(row));
        }
        json.push_back({{"app", r.app},
                        {"width", r.size.width},
                        {"height", r.size.height},
                        {"tau", r.tau},
                        {"regret", r.regret},
                        {"predict_ms", r.predict_ms},
                        {"schedules", std::move(rows)}});
    }
    return json;
}

}  // namespace bench
