#pragma once
// Halide::Tools::benchmark, for programs written for Halide.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace Pipe::Tools {

/// A point of time, and the seconds between two.
inline std::chrono::steady_clock::time_point benchmark_now() {
    return std::chrono::steady_clock::now();
}
inline double benchmark_duration_seconds(std::chrono::steady_clock::time_point start,
                                         std::chrono::steady_clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

/// Seconds of one call of `op`: the best of `samples` runs of `iterations` calls each.
inline double benchmark(uint64_t samples, uint64_t iterations, const std::function<void()> &op) {
    double best = std::numeric_limits<double>::infinity();
    for (uint64_t sample = 0; sample < samples; sample++) {
        auto start = benchmark_now();
        for (uint64_t i = 0; i < iterations; i++)
            op();
        double taken = benchmark_duration_seconds(start, benchmark_now());
        best = std::min(best, taken / static_cast<double>(iterations));
    }
    return best;
}

struct BenchmarkConfig {
    double min_time = 0.1;  ///< seconds to measure for, at least
    double max_time = 0.4;  ///< and at most, if the best times differ by more than `accuracy`
    uint64_t max_iters_per_sample = 1000000;
    double accuracy = 0.03;
};

struct BenchmarkResult {
    double wall_time = 0;     ///< seconds of one call, the best
    uint64_t samples = 0;     ///< that were taken
    uint64_t iterations = 0;  ///< calls altogether
    double accuracy = 0;      ///< by how much the third best sample is worse than the best

    operator double() const { return wall_time; }
};

/// The same with as many samples as it takes for the three best ones to agree.
inline BenchmarkResult benchmark(const std::function<void()> &op,
                                 const BenchmarkConfig &config = {}) {
    constexpr int samples_at_least = 3;
    BenchmarkResult result;
    double once = benchmark(1, 1, op);
    double wanted = config.min_time / samples_at_least / std::max(once, 1e-9);
    auto iterations = static_cast<uint64_t>(
        std::clamp(wanted, 1.0, static_cast<double>(config.max_iters_per_sample)));
    std::vector<double> times;
    double total = 0;
    do {
        times.push_back(benchmark(1, iterations, op));
        total += times.back() * static_cast<double>(iterations);
        std::sort(times.begin(), times.end());
        if (times.size() >= samples_at_least)
            result.accuracy = times[samples_at_least - 1] / times[0] - 1;
    } while (times.size() < samples_at_least || total < config.min_time ||
             (total < config.max_time && result.accuracy > config.accuracy));
    result.wall_time = times[0];
    result.samples = times.size();
    result.iterations = times.size() * iterations;
    return result;
}

}  // namespace Pipe::Tools
