#include "jit/runtime/gpu/rows.h"

namespace Pipe::runtime {

RowPlan plan_rows(std::vector<Step> steps, int64_t element_bytes, int64_t gap) {
    RowPlan plan;
    for (Step &s : steps) {
        if (s.extent <= 0)
            return {};
        if (s.stride < 0) {
            plan.low += s.stride * (s.extent - 1);
            s.stride = -s.stride;
        }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step &a, const Step &b) { return a.stride < b.stride; });
    plan.row_bytes = element_bytes;
    for (const Step &s : steps) {
        if (s.extent == 1 || s.stride == 0)
            continue;
        if (plan.around.empty() && s.stride <= plan.row_bytes + gap)
            plan.row_bytes += s.stride * (s.extent - 1);  // the rows touch or overlap, or nearly do
        else
            plan.around.push_back(s);
    }
    return plan;
}

}  // namespace Pipe::runtime
