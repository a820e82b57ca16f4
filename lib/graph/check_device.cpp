#include "graph/check_device.h"

#include <algorithm>

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
                device(stage, d.device,
                       fmt::format("{}({})", schedules::to_string(d.kind), d.name));
        if (s.single_thread_device)
            device(stage, *s.single_thread_device, "gpu_single_thread");
        for (const schedules::Specialization &special : s.specializations)
            loops(stage, special.schedule);
    }

    void memory(MemoryType memory) const {
        const bool shared = memory == MemoryType::GPUShared && target_.has_cuda();
        if (memory > MemoryType::Register && !shared)
            reject_directive(func_, 0,
                             fmt::format("store_in(MemoryType::{})", schedules::to_string(memory)),
                             fmt::format("the target {} has no such memory. Use Auto, Heap, Stack{} "
                                         "or Register.",
                                         target_.to_string(), target_.has_cuda() ? ", GPUShared" : ""));
    }

    /// copy_to_device(), copy_to_host(): by loops of the host.
    void copy(const schedules::FuncSchedule &s) const {
        if (s.copied_to == schedules::CopiedTo::Unspecified)
            return;
        const std::string directive = schedules::to_string(s.copied_to);
        device(0, DeviceAPI::Default_GPU, directive);
        if (!is_copy())
            reject_directive(func_, 0, directive,
                             "it must be a copy of one Func or Buffer, each element from the same "
                             "place, like the Func "
                             "that in() returns. Give the directive to such a copy.");
        for (const schedules::Dim &d : s.stages[0].dims)
            if (is_gpu(d.kind))
                reject_directive(func_, 0, directive,
                                 fmt::format("the host makes the copy, but {}({}) makes it a "
                                             "kernel. Leave one of the two out.",
                                             schedules::to_string(d.kind), d.name));
    }

  private:
    const FuncNode &func_;
    const Target &target_;

    bool is_copy() const {
        if (func_.stages.size() != 1 || func_.stages[0].values.size() != 1)
            return false;
        const Expr &value = func_.stages[0].values[0];
        const bool loads = value->op == ir::Op::Call && (value->call_kind == ir::CallKind::Func ||
                                                         value->call_kind == ir::CallKind::Image);
        return loads && std::equal(value->args.begin(), value->args.end(), func_.args.begin(),
                                   func_.args.end(), [](const Expr &e, const std::string &arg) {
                                       return e->op == ir::Op::Variable && e->name == arg;
                                   });
    }

    void device(size_t stage, DeviceAPI api, const std::string &directive) const {
        if (!target_.has_cuda())
            reject_directive(func_, stage, directive,
                             fmt::format("the target {} is a CPU. Give this directive only if "
                                         "target.has_gpu_feature(), and otherwise parallel() and vectorize(); or "
                                         "compile for Target(\"host-cuda\"), or, to run kernels on a CPU, for "
                                         "Target(\"host-cuda_emulator\").",
                                         target_.to_string()));
        if (!target_.supports_device_api(api))
            reject_directive(func_, stage, directive,
                             fmt::format("kernels are made for DeviceAPI::CUDA, not for {}. Leave the DeviceAPI out.",
                                         schedules::to_string(api)));
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
        check.copy(s);
    }
}

}  // namespace Pipe::graph
