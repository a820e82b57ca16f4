#pragma once
// The loops of a pipeline as an HTML page.

#include <string>

namespace Pipe::driver {

/// One page that needs nothing else: `loops` (statements as ir/print.h writes them), colored by
/// kind, where everything with a body folds; beside it the schedule as C++.
std::string loops_page(const std::string &title, const std::string &loops,
                       const std::string &schedule);

}  // namespace Pipe::driver
