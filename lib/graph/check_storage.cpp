#include "graph/check_storage.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "graph/check_loops.h"
#include "schedule/print.h"

namespace Pipe::graph {

using schedules::Dim;
using schedules::FuncSchedule;
using schedules::StageSchedule;

namespace {

/// A directive on a Func's own storage; "" if there is none. The storage of an output may have
/// an order, which realize(sizes) follows.
std::string storage_directive(const FuncSchedule &s, bool is_output) {
    if (!s.folds.empty())
        return fmt::format("fold_storage({})", s.folds[0].var);
    if (!s.storage_order.empty() && !is_output)
        return "reorder_storage";
    if (!s.storage_dims.empty())
        return fmt::format("{}({})",
                           s.storage_dims[0].bound.defined() ? "bound_storage" : "align_storage",
                           s.storage_dims[0].var);
    if (s.memory != MemoryType::Auto)
        return fmt::format("store_in(MemoryType::{})", schedules::to_string(s.memory));
    if (!s.hoist.inlined())
        return "hoist_storage";
    if (s.copied_to != schedules::CopiedTo::Unspecified && !is_output)
        return schedules::to_string(s.copied_to);
    if (s.ring_buffer.defined())
        return "ring_buffer";
    if (s.memoize)
        return "memoize";
    return s.async ? "async" : "";
}

/// In the schedule itself or in one of its specializations.
bool is_vectorized(const StageSchedule &stage) {
    return std::any_of(stage.dims.begin(), stage.dims.end(),
                       [](const Dim &d) { return d.kind == LoopKind::Vectorized; }) ||
           std::any_of(
               stage.specializations.begin(), stage.specializations.end(),
               [](const schedules::Specialization &s) { return is_vectorized(s.schedule); });
}

bool is_vectorized(const FuncSchedule &func) {
    return std::any_of(func.stages.begin(), func.stages.end(),
                       [](const StageSchedule &s) { return is_vectorized(s); });
}

}  // namespace

void check_has_storage(const FuncNode &f, const FuncSchedule &s) {
    if (!is_computed(f) && s.compute.inlined() && !s.store.inlined())
        reject_directive(f, 0, "store_at or store_root",
                         "it is inlined, so it has no storage. Give it compute_at() too.");
    if (std::string directive = storage_directive(s, f.is_output); !directive.empty()) {
        if (!is_computed(f) && s.compute.inlined())
            reject_directive(
                f, 0, directive,
                "it is inlined, so it has no storage. Give it compute_root() or compute_at().");
        if (f.is_output)
            reject_directive(f, 0, directive,
                             "it is an output of the pipeline, whose memory belongs to the caller. "
                             "Leave the directive out; declare the layout of that memory with "
                             "output_buffer().");
    }
    if (std::string directive = loop_directive(f, s);
        !is_computed(f) && s.compute.inlined() && !directive.empty())
        reject_directive(f, 0, directive,
                         "it is inlined, so it has no loops. Give it compute_root() or "
                         "compute_at(), or leave the directive out.");
    if (s.nontemporal_loads && f.is_output && f.consumers.empty() && !f.has_updates())
        reject_directive(f, 0, "load_nontemporal",
                         "it is an output that no other Func reads. Leave the directive out.");
    if (s.ring_buffer.defined() && s.hoist.inlined())
        reject_directive(f, 0, "ring_buffer",
                         "successive iterations use its copies in turn, so the memory must outlive "
                         "each of them. Give it hoist_storage() too.");
}

void check_nontemporal(const Graph &graph, const FuncNode &f, const schedules::Schedule &schedule) {
    const FuncSchedule &s = schedule[f.id];
    if (s.nontemporal_stores && is_computed(f) && !is_vectorized(s))
        reject_directive(f, 0, "store_nontemporal",
                         "none of its loops is vectorized, and only whole vectors can be stored "
                         "non-temporally. Give it vectorize(), or leave the directive out.");
    bool read_by_vectors =
        is_vectorized(s) ||
        std::any_of(f.consumers.begin(), f.consumers.end(), [&](FuncId consumer) {
            return !is_computed(graph[consumer]) || is_vectorized(schedule[consumer]);
        });
    if (s.nontemporal_loads && !f.consumers.empty() && !read_by_vectors)
        reject_directive(
            f, 0, "load_nontemporal",
            "no loop that reads it is vectorized, and only whole vectors can be loaded "
            "non-temporally. Vectorize its consumer, or leave the directive out.");
}

}  // namespace Pipe::graph
