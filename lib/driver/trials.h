#pragma once
// The schedules that tune() compares, and their measurements.

#include <memory>
#include <string>
#include <vector>

#include "driver/compiled.h"
#include "driver/schedule_file.h"
#include <pipe/tune.h>

namespace Pipe::driver {

struct Trial {
    ScheduleFile::Candidate info;
    language::PortableSchedule portable;
    std::shared_ptr<Compiled> compiled;  ///< once it has run in this process
    int repeats = 1;                     ///< runs per sample
    bool wrong = false;

    bool measured() const { return !info.times_ms.empty(); }
    /// It can still become the fastest.
    bool is_left() const { return compiled && info.dropped.empty(); }
    double median_ms() const;
    double min_ms() const;
    TuneCandidate candidate() const;
};

/// The fastest that was not dropped, by its minimum, which other work of the machine disturbs least; null if
/// none has run.
const Trial *best_of(const std::vector<Trial> &trials);

}  // namespace Pipe::driver
