#pragma once
// Runs cases in child processes, so that a crash ends a case and not the test; makes failing ones
// small.

#include <string>
#include <vector>

#include "fuzz/case.h"

namespace Pipe::fuzz {

struct Report {
    Result result;
    std::string text;               ///< the case as C++-like text
    std::vector<uint32_t> choices;  ///< empty where the case did not end by itself
};

/// One case from its seed, or played back.
Report run_alone(uint64_t seed, Rules rules);
Report run_alone(const std::vector<uint32_t> &choices, Rules rules);

/// The cases of the seeds first .. first + count - 1, in one child as long as none crashes.
std::vector<Result> run_batch(uint64_t first, int count, Rules rules);

/// A case that fails in the same way and is as small as could be found by some hundred trials.
Report minimized(const Report &failed, Rules rules);

}  // namespace Pipe::fuzz
