#include "graph/check_device.h"

#include <fmt/format.h>

#include "schedule/print.h"

namespace Pipe::graph {
namespace {

using schedules::StageSchedule;

class DeviceCheck {
  public:
    DeviceCheck(const FuncNode &func, const Target &target) : func_(func), target_(target) {}

    void loops(size_t stage, const StageSchedule &s) const {
        for (const schedules::Dim &d : s.dims)
            if (is_gpu(d.kind))
                refuse(stage, fmt::format("{}({})", schedules::to_string(d.kind), d.name));
        if (s.single_thread_device)
            refuse(stage, "gpu_single_thread");
        for (const schedules::Specialization &special : s.specializations)
            loops(stage, special.schedule);
    }

    void memory(MemoryType memory) const {
        if (memory > MemoryType::Register)
            reject_directive(func_, 0,
                             fmt::format("store_in(MemoryType::{})", schedules::to_string(memory)),
                             fmt::format("the target {} has no such memory. Use Auto, Heap, Stack "
                                         "or Register.",
                                         target_.to_string()));
    }

  private:
    const FuncNode &func_;
    const Target &target_;

    [[noreturn]] void refuse(size_t stage, const std::string &directive) const {
        reject_directive(
            func_, stage, directive,
            fmt::format(
                "the target {} is a CPU, and Pipe does not generate code for GPUs yet. Give this "
                "directive only if target.has_gpu_feature(), and otherwise parallel() and "
                "vectorize().",
                target_.to_string()));
    }
};

}  // namespace

void check_device(const Graph &graph, const schedules::Schedule &schedule, const Target &target) {
    for (const FuncNode &f : graph.funcs) {
        const DeviceCheck check(f, target);
        const schedules::FuncSchedule &s = schedule[f.id];
        for (size_t stage = 0; stage < s.stages.size(); stage++)
            check.loops(stage, s.stages[stage]);
        check.memory(s.memory);
    }
}

}  // namespace Pipe::graph
