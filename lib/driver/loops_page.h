#pragma once
// The loop nest of a pipeline as an HTML page.

#include <string>

namespace Pipe::driver {

/// Indented text as nested elements that fold, colored by kind.
std::string folding_blocks(const std::string &text);

/// A self-contained page: `loops` (statements in the format of ir/print.h), colored by kind, with
/// folding bodies; beside it the schedule as C++.
std::string loops_page(const std::string &title, const std::string &loops,
                       const std::string &schedule);

}  // namespace Pipe::driver
