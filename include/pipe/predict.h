#pragma once
// Prediction: how long a pipeline would run, by a model of the machine.

#include <string>
#include <vector>

namespace Pipe {

/// The predicted time of one Func, all of its stages together, in milliseconds of elapsed time.
struct PredictedStage {
    std::string func;
    /// Of the whole Func. The terms below overlap in part, so that this is less than their sum.
    double milliseconds = 0;
    double arithmetic = 0;  ///< instructions, with data in the L1 cache
    double l2 = 0, l3 = 0;  ///< transfers from and to these caches
    double dram = 0;        ///< transfers from and to memory
    double overhead = 0;    ///< loops, parallel tasks, allocations
};

/// The result of Pipeline::predict().
struct Prediction {
    double milliseconds = 0;  ///< of one run, when it has run before
    /// The Funcs that have loops of their own, in the order in which they are computed first.
    std::vector<PredictedStage> stages;
    /// What the model does not know of this pipeline: C functions, for example.
    std::vector<std::string> notes;

    /// All stages as a table.
    std::string to_string() const;
};

}  // namespace Pipe
