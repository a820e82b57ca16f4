// Random pipelines under random legal schedules give the pixels of the reference evaluator; and with
// directives that need not be legal they do so too, or are refused.
//
//   PIPE_FUZZ_SEED=7 PIPE_FUZZ_CASES=1 test_fuzz   runs the case that was reported with seed 7 again
//   PIPE_FUZZ_CASES=5000                           hunts longer
//   PIPE_FUZZ_MODE=manual|auto|mixed|gpu           one kind of schedule only (gpu: in the emulator,
//   PIPE_FUZZ_TARGET=host-cuda                     or where this says)
//   PIPE_FUZZ_MODE=DPFusion                        autoscheduled by one strategy only
//   PIPE_FUZZ_HERE=1                               the case of PIPE_FUZZ_SEED in this process (debugger)
//   PIPE_FUZZ_SHOW=1                               prints the cases, and why some were refused

#include <iostream>
#include <map>

#include <catch2/catch_test_macros.hpp>

#include "fuzz/runner.h"
#include "fuzz/seeds.h"
#include "support/env.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

/// What depends on which task is faster does not fail each time.
constexpr int tries = 10;

std::string report_failure(uint64_t seed, Rules rules, const Result &first) {
    Report report = run_alone(seed, rules);
    for (int i = 1; i < tries && !report.result.failed(); i++)
        report = run_alone(seed, rules);
    std::string text = "case PIPE_FUZZ_SEED=" + std::to_string(seed) +
                       " PIPE_FUZZ_CASES=1 failed\n" + first.message + "\n" + report.text;
    if (!report.result.failed())
        return text + "(it does not fail when it runs alone, " + std::to_string(tries) +
               " times)\n";
    Report small = minimized(report, rules);
    return text + "minimized:\n" + small.result.message + "\n" + small.text;
}

constexpr int batch_size = 50, cases_per_progress = 500;

/// How each of them ended, counted. Failures are reported, and are failures of the test.
std::map<char, int> run_cases(Rules rules, uint64_t first, int cases) {
    bool show = support::env_int("PIPE_FUZZ_SHOW", 0) != 0;
    std::cout << "fuzz: PIPE_FUZZ_SEED=" << first << " PIPE_FUZZ_CASES=" << cases << std::endl;
    std::map<char, int> count;
    int failures = 0;
    for (int done = 0; done < cases; done += batch_size) {
        if (done > 0 && done % cases_per_progress == 0)
            std::cout << "fuzz: " << done << " of " << cases << ", failures: " << failures
                      << std::endl;
        uint64_t batch = first + static_cast<uint64_t>(done);
        std::vector<Result> results = run_batch(batch, std::min(batch_size, cases - done), rules);
        for (size_t i = 0; i < results.size(); i++) {
            count[results[i].kind]++;
            if (show && (cases == 1 || results[i].kind == Result::Refused)) {
                std::cout << run_alone(batch + i, rules).text << results[i].kind << " " << batch + i
                          << " " << results[i].message << std::endl;
            }
            if (results[i].kind == Result::Slow)
                std::cout << "fuzz: PIPE_FUZZ_SEED=" << batch + i << " " << results[i].message
                          << std::endl;
            if (!results[i].failed())
                continue;
            // The first failures are made small; the rest is only counted.
            if (++failures <= 3) {
                UNSCOPED_INFO(report_failure(batch + i, rules, results[i]));
            } else {
                UNSCOPED_INFO("PIPE_FUZZ_SEED=" << batch + i << ": " << results[i].message);
            }
        }
    }
    for (auto [kind, n] : count)
        std::cout << "fuzz: " << kind << " " << n << std::endl;
    CHECK(failures == 0);
    // Much work in small tasks, or an endless loop: the seeds are worth a look.
    CHECK(count[Result::Slow] <= 1 + cases / 1000);
    return count;
}

/// The one case of the seed, in this process.
void run_here(Rules rules, uint64_t seed) {
    Choices choices(seed);
    Result result = run_case(choices, rules, [](const std::string &text) { std::cout << text; });
    INFO(result.message);
    CHECK_FALSE(result.failed());
}

}  // namespace

TEST_CASE("random pipelines under random legal schedules equal the reference", "[fuzz]") {
    Seeds all = seeds();
    if (support::env_int("PIPE_FUZZ_HERE", 0))
        return run_here(Rules::Legal, all.first);
    std::map<char, int> count = run_cases(Rules::Legal, all.first, all.count);
    // A refusal is right where a directive breaks a rule that the generator does not know: kernels have more of them.
    const int most = support::env("PIPE_FUZZ_MODE") == "gpu" ? 4 : 5;
    if (all.count >= usual_pipelines)
        CHECK(count[Result::Refused] * most < all.count);
}

TEST_CASE("random directives, legal or not, give the reference's pixels or a reason", "[fuzz]") {
    Seeds all = seeds();
    if (support::env_int("PIPE_FUZZ_HERE", 0))
        return run_here(Rules::None, all.first);
    std::map<char, int> count = run_cases(Rules::None, all.first, all.count);
    if (all.count >= 50) {
        CHECK(count[Result::Refused] * 10 > all.count);
        CHECK(count[Result::Passed] * 10 > all.count);
    }
}
