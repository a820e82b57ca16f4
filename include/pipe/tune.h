#pragma once
// Options and results of Pipeline::tune().

#include <functional>
#include <string>
#include <vector>

#include <pipe/autoschedule.h>
#include <pipe/target.h>

namespace Pipe {

/// A schedule that tune() tries.
struct TuneCandidate {
    /// "hand": the directives given to the Funcs; "auto": what autoschedule() chooses; the others say
    /// how they differ from that, or which AutoscheduleOptions::Strategy chose them.
    std::string name;
    double predicted_ms = 0;  ///< by Pipeline::predict; 0: it was not compiled, or not predicted
    /// Of one run, over all samples; 0 if it has not run.
    double median_ms = 0, min_ms = 0;
    int samples = 0;
    /// Why it was not measured further: it is slower, its result differs, or it does not compile. ""
    /// for those that were measured to the end, or until the time was up.
    std::string dropped;
    bool wrong = false;  ///< it was dropped because its result differs
};

/// The state after each trial and each round of measurements.
struct TuneProgress {
    double seconds = 0;     ///< since the beginning
    int tried = 0, of = 0;  ///< candidates compiled and run so far, of this many
    int round = 0;  ///< round of timing, from 1; 0 while candidates are still being compiled
    int left = 0;   ///< candidates not dropped yet
    TuneCandidate latest;   ///< the one just tried; in the measurements, the best
    TuneCandidate best;     ///< so far; name "" if none has run yet
};

struct TuneOptions {
    /// What to compile for; the default is the target of autoschedule(), else get_host_target(). GPUs
    /// are not supported yet.
    Target target = {};
    /// Passed to the cost model.
    AutoscheduleOptions autoschedule = {};
    /// Ends after this many seconds with the best schedule found so far. A compilation that has begun
    /// is completed.
    double seconds = 60;
    /// Number of the cost model's schedules to try, at most. The directives given by hand are one
    /// more.
    int candidates = 32;
    /// Runs of each of the fastest candidates that are timed. (Runs of less than 1 ms are repeated.)
    int samples = 21;
    /// The model's schedules keep the directives given by hand, as autoschedule() does. Otherwise they
    /// ignore them, except bounds, estimates, traces and memoize().
    bool keep_directives = false;
    /// Largest difference of floating-point results from those of the first candidate, relative to the
    /// largest magnitude in the Buffer. Integers must be equal.
    double tolerance = 1e-4;
    /// The schedule file. If it exists, its measurements are not repeated; it is written while tuning
    /// and at the end. "": none.
    std::string file = {};
    /// Called often. If it returns true, tuning ends with the best schedule found so far.
    std::function<bool()> stop = {};
    std::function<void(const TuneProgress &)> progress = {};
};

struct TuneResult {
    /// The fastest first, by their minima, which other work of the machine disturbs least; those that
    /// were dropped at the end.
    std::vector<TuneCandidate> candidates;
    bool complete = false;  ///< not ended early by the time limit or by `stop`
    double seconds = 0;

    /// The one that is applied now.
    const TuneCandidate &best() const { return candidates.at(0); }
    /// All candidates as a table.
    std::string table() const;
};

}  // namespace Pipe
