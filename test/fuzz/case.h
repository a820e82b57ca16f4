#pragma once
// One case: a random algorithm under a random schedule, run and compared with the reference.

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/schedule.h"

namespace Pipe::fuzz {

struct Result {
    enum Kind : char {
        Passed = 'P',
        Refused = 'R',    ///< CompileError: allowed if rare
        Discarded = 'D',  ///< too large to be worth it
        Slow = 'T',       ///< compiled, and still ran when its time was over
        Wrong = 'W',      ///< other pixels than the reference's
        Error = 'E',      ///< an exception that has no business here
        Crashed = 'C',
    };
    Kind kind = Passed;
    std::string message;

    bool failed() const { return kind == Wrong || kind == Error || kind == Crashed; }
};

/// Whether what was compiled runs at the moment: such a case may be in order, but too much work.
extern volatile std::sig_atomic_t case_runs;

/// Runs a case in this process. `say` is given the case as C++-like text before it is run.
Result run_case(Choices &choices, Rules rules, const std::function<void(const std::string &)> &say);

}  // namespace Pipe::fuzz
