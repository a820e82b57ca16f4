// A variant: one way to compute an application, and its measurements.
#pragma once

#include "apps/common/arrays.h"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// The data that all variants of an application, ours and the peers', read and write: dense planar
/// memory.
struct Data {
    std::vector<Pipe::Buffer<>> inputs;
    Pipe::Buffer<> output;
};

struct Variant {
    std::string name;
    bool ours = false;          ///< Pipe's, not a peer's
    std::string failure;        ///< why it cannot be run; empty if it can
    std::function<void()> run;  ///< computes the whole output; throws on failure

    double schedule_ms = -1, lower_ms = -1, llvm_ms = -1;  ///< negative: unknown
    std::string note;
    std::vector<double> times_ms;  ///< filled by `sample`
    double max_abs_diff = -1;      ///< to the first variant; negative: unknown
};

/// Whether a variant of this name is requested.
using Wanted = std::function<bool(const std::string &)>;

/// Whether it has samples.
bool was_sampled(const Variant &variant);

/// The variant of this name; null if there is none or it was not sampled.
const Variant *find_sampled(const std::vector<Variant> &variants, const std::string &name);

/// Order statistics of a variant's samples. Requires at least one sample.
double median(std::vector<double> values);
double minimum(const std::vector<double> &values);

/// Runs every variant once and compares its result in `output`, which all of them write, with that
/// of the first one. A variant that throws is marked as failed, and so is one of ours that differs
/// by more than `tolerance` times the largest value. For a peer that differs, `note` says so: some
/// round differently.
void check(std::vector<Variant> &variants, const Pipe::Buffer<> &output, double tolerance,
           const std::function<void(int)> &progress);

/// Samples all variants that have not failed, one sample of each per round, `samples` rounds. A
/// sample is one run; for variants that take less than 5 ms, the mean of several runs, after a
/// warm-up run. Slow variants have fewer samples, spread over all rounds, so that none takes much
/// more than `budget_s` seconds. `progress` is called before each round with its number.
void sample(std::vector<Variant> &variants, int samples, double budget_s,
            const std::function<void(int)> &progress);

}  // namespace bench
