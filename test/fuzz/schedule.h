#pragma once
// Random schedules.

#include <string>
#include <vector>

#include "fuzz/algorithm.h"

namespace Pipe::fuzz {

/// GPU: as Manual, with kernels. AutoGPU: as Auto, for a GPU.
enum class Mode { Manual, Auto, AutoWithDirectives, GPU, AutoGPU };
inline bool is_for_gpu(Mode mode) { return mode == Mode::GPU || mode == Mode::AutoGPU; }

/// None: at the end there are directives that need not be legal.
enum class Rules { Legal, None };

/// What the schedule demands of the outputs' buffers, and what it may compute beyond what is asked.
struct ScheduleInfo {
    std::vector<std::vector<Slack>> slack;               ///< per source and dimension
    std::vector<std::vector<int>> min_extent, multiple;  ///< outputs; per source and dimension
    bool bound_sizes = false;                            ///< only the first sizes may be used
    bool memoizes = false;                               ///< a second call finds some in the cache
    std::vector<std::string> text;
};

/// Gives directives to the Funcs, and so makes new ones: clones and wrappers. `sizes`: the boxes of
/// the outputs, which `bound` may promise; they are enlarged to what the tail strategies need.
ScheduleInfo give_schedule(Algorithm &algorithm, Mode mode, Rules rules, std::vector<Box> &sizes,
                           Choices &choices);

/// Enlarges boxes of the outputs to what the schedule needs of them.
void fit_sizes(const Algorithm &algorithm, const ScheduleInfo &info, std::vector<Box> &sizes);

}  // namespace Pipe::fuzz
