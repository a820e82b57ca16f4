#pragma once
// The file that keeps a schedule between processes: JSON, described in docs/tuning.md.

#include <cstdint>
#include <string>
#include <vector>

#include "language/portable.h"
#include <pipe/target.h>

namespace Pipe::driver {

struct ScheduleFile {
    /// A schedule that tune() tried.
    struct Candidate {
        uint64_t key = 0;  ///< schedule_key()
        std::string name;
        double predicted_ms = 0;
        std::vector<double> times_ms;  ///< all samples
        std::string dropped;           ///< why it was not measured further; "" if it was
    };

    language::Algorithm algorithm;  ///< signatures and outputs only
    language::PortableSchedule schedule;
    Target target;
    std::vector<std::vector<int64_t>> sizes;  ///< of the output Buffers; empty: unknown
    std::string machine;                      ///< where the times were measured
    std::vector<Candidate> candidates;
};

/// The same for equal schedules, in every process.
uint64_t schedule_key(const language::PortableSchedule &schedule);

/// RuntimeError if the file cannot be written. What was there before remains until the new one is
/// complete.
void write_schedule_file(const std::string &path, const ScheduleFile &file);

/// RuntimeError if the file cannot be read; CompileError, with the line, if it is not JSON, and if it
/// is not a schedule file of this version.
ScheduleFile read_schedule_file(const std::string &path);

/// CompileError if the file is for another algorithm: names what differs.
void check_algorithm(const std::string &path, const ScheduleFile &file,
                     const language::Algorithm &here);
/// CompileError if this processor lacks features of the target: names them.
void check_target(const std::string &path, const ScheduleFile &file);

}  // namespace Pipe::driver
