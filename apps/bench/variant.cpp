#include "apps/bench/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

namespace bench {

bool is_ours(const Variant &v) {
    return v.name == "naive" || v.name == "hand" || v.name == "auto";
}

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

/// Milliseconds of one run. The pause before it lets the threads of the variant before, which may
/// belong to another pool, stop looking for work.
double time_once(const Variant &variant) {
    using namespace std::chrono;
    std::this_thread::sleep_for(milliseconds(2));
    const auto start = steady_clock::now();
    variant.run();
    return duration<double, std::milli>(steady_clock::now() - start).count();
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
        // a NaN or the largest integer: what a variant leaves out must not be found there
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
        (is_ours(v) ? v.failure : v.note) = text;
    }
}

void sample(std::vector<Variant> &variants, int samples, double budget_s,
            const std::function<void(int)> &progress) {
    std::vector<int> rounds(variants.size(), 0);
    progress(0);
    for (size_t i = 0; i < variants.size(); ++i) {
        if (!variants[i].failure.empty())
            continue;
        time_once(variants[i]);
        rounds[i] = std::clamp(int(budget_s * 1000 / time_once(variants[i])), 3, samples);
    }
    // every round in another order, so that nobody always runs after the same neighbour
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
                variants[i].times_ms.push_back(time_once(variants[i]));
        }
    }
}

}  // namespace bench
