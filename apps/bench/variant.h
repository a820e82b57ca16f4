// One way to compute an application, and what is measured of it.
#pragma once

#include "apps/common/arrays.h"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What all variants of an application, ours and the peers', read and write: dense planar memory.
struct Data {
    std::vector<Pipe::Buffer<>> inputs;
    Pipe::Buffer<> output;
};

struct Variant {
    std::string name;
    std::string failure;        ///< why it cannot be run; empty when it can
    std::function<void()> run;  ///< computes the whole output; throws on failure

    double schedule_ms = -1, lower_ms = -1, llvm_ms = -1;  ///< negative: not known
    std::string note;
    std::vector<double> times_ms;  ///< filled by `sample`
    double max_abs_diff = -1;      ///< to the first variant; negative: not known
};

/// Whether a variant of this name is to be measured.
using Wanted = std::function<bool(const std::string &)>;

/// Pipe's, not a peer's.
bool is_ours(const Variant &variant);

/// Whether there are samples of it.
bool was_sampled(const Variant &variant);

/// The variant of this name; null where there is none or it was not sampled.
const Variant *find_sampled(const std::vector<Variant> &variants, const std::string &name);

/// Order statistics of a variant's samples. Precondition: there is one.
double median(std::vector<double> values);
double minimum(const std::vector<double> &values);

/// Runs every variant once and compares what it wrote to `output`, where all of them write, with
/// what the first one wrote. One that throws is marked as failed, and one of ours that differs by more
/// than `tolerance` times the largest value. Of a peer that does, `note` says so: some round otherwise.
void check(std::vector<Variant> &variants, const Pipe::Buffer<> &output, double tolerance,
           const std::function<void(int)> &progress);

/// Samples all variants that have not failed, one sample of each in every round, `samples` rounds. A
/// sample is one run; of what takes less than 5 ms, the mean of runs that take about as long together,
/// after one that does not count. Slow ones take fewer samples, spread over all rounds: none gets much
/// more than `budget_s` seconds. `progress` is called before each round with its number.
void sample(std::vector<Variant> &variants, int samples, double budget_s,
            const std::function<void(int)> &progress);

}  // namespace bench
