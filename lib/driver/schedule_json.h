#pragma once
// The parts of a schedule file as JSON.

#include "driver/expr_json.h"
#include "driver/schedule_file.h"

namespace Pipe::driver {

Json schedule_to_json(const language::PortableSchedule &schedule);
language::PortableSchedule schedule_from_json(const Json &json);

/// Indented, with short lists on one line.
std::string pretty(const Json &json);

std::string hex(uint64_t value);
uint64_t from_hex(const Json &json);

}  // namespace Pipe::driver
