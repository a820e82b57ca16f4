#include "apps/bench/variant.h"

#include "apps/bench/pinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

namespace bench {

bool was_sampled(const Variant &variant) {
    return variant.failure.empty() && !variant.times_ms.empty();
}

const Variant *find_sampled(const std::vector<Variant> &variants, const std::string &name) {
    for (const Variant &v : variants) {
        if (v.name == name && was_sampled(v))
            return &v;
    }
    return nullptr;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double minimum(const std::vector<double> &values) {
    return *std::min_element(values.begin(), values.end());
}

namespace {

/// Milliseconds of one run: the mean of a number of runs without pauses.
double time_of(const Variant &variant, int runs) {
    using namespace std::chrono;
    const auto start = steady_clock::now();
    for (int i = 0; i < runs; ++i)
        variant.run();
    return duration<double, std::milli>(steady_clock::now() - start).count() / runs;
}

/// One sample: milliseconds of one run.
double take_sample(const Variant &variant) {
    // Waits until the threads of the previous variant, which may belong to another pool, stop
    // spinning: those of libgomp after 3 to 8 ms.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const double first = time_of(variant, 1);
    // Faster variants are dominated by waking threads and by cache misses caused by the previous
    // variants: they are repeated, as in actual use.
    constexpr double shortest_ms = 5;
    return first >= shortest_ms
               ? first
               : time_of(variant, int(std::ceil(shortest_ms / std::max(first, 1e-3))));
}

}  // namespace

void check(std::vector<Variant> &variants, const Pipe::Buffer<> &output, double tolerance,
           const std::function<void(int)> &progress) {
    std::optional<Pipe::Buffer<>> expected;
    double largest = 0;
    for (size_t i = 0; i < variants.size(); ++i) {
        Variant &v = variants[i];
        if (!v.failure.empty())
            continue;
        progress(int(i));
        // a NaN or the largest integer: detects elements that a variant does not write
        std::memset(output.data(), 0xff, output.size_in_bytes());
        try {
            v.run();
        } catch (const std::exception &error) {
            v.failure = error.what();
            continue;
        }
        if (!expected) {
            expected = output.copy();
            largest = apps::max_abs(*expected);
        }
        v.max_abs_diff = apps::max_abs_difference(*expected, output);
        if (v.max_abs_diff <= tolerance * largest)
            continue;
        const std::string text =
            fmt::format("differs by up to {:.3g} of {:.3g}", v.max_abs_diff, largest);
        (v.ours ? v.failure : v.note) = text;
    }
}

void sample(std::vector<Variant> &variants, int samples, double budget_s,
            const std::function<void(int)> &progress) {
    std::vector<int> rounds(variants.size(), 0);
    progress(0);
    for (size_t i = 0; i < variants.size(); ++i) {
        if (!variants[i].failure.empty())
            continue;
        take_sample(variants[i]);
        rounds[i] = std::clamp(int(budget_s * 1000 / take_sample(variants[i])), 3, samples);
    }
    const Pinned pinned;  // by now, the threads of all variants exist
    // every round in a different order, so that no variant always follows the same one
    std::vector<size_t> order(variants.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::mt19937 shuffler;
    for (int round = 0; round < samples; ++round) {
        progress(round + 1);
        std::shuffle(order.begin(), order.end(), shuffler);
        for (size_t i : order) {
            const int64_t n = rounds[i];
            const bool due = (round + 1) * n / samples != round * n / samples;
            if (due)
                variants[i].times_ms.push_back(take_sample(variants[i]));
        }
    }
}

}  // namespace bench
