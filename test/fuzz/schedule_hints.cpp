// What changes no result: which loops are partitioned, what is prefetched.
#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

void Scheduler::partition() {
    if (loops_->empty() || !c_.chance(12))
        return;
    const Loop &loop = c_.of(*loops_);
    bool gone = loop.kind == LoopKind::Vectorized || loop.kind == LoopKind::Unrolled;
    Partition policy = gone || c_.chance(90) ? Partition::Never : Partition::Always;
    VarOrRVar var = loop.var.loop;
    std::string text = std::string(policy == Partition::Never ? ".never" : ".always") +
                       "_partition(" + loop.var.text + ");";
    apply([this, text, var, policy](Stage st, const std::string &n) {
        say(n + text);
        st.partition(var, policy);
    });
}

/// One of the images and Funcs at root that the stage reads.
void Scheduler::prefetch(int i, int stage) {
    const Source &s = source(i);
    const Plan &p = plan(i);
    const std::vector<Loop> &loops = p.stages[static_cast<size_t>(stage)].loops;
    if (p.inlined || loops.empty() || s.reads_through_another || !c_.chance(8))
        return;
    std::vector<int> known;
    for (const Access &access : s.stages[static_cast<size_t>(stage)].accesses) {
        if (source(access.source).is_image || plan(access.source).at_root)
            known.push_back(access.source);
    }
    if (known.empty() || s.boundary)
        return;
    const Source &of = source(c_.of(known));
    auto count = static_cast<int>(loops.size());
    auto at = static_cast<size_t>(c_.below(count));
    size_t from = at + static_cast<size_t>(c_.below(count - static_cast<int>(at)));
    const LoopVar &a = loops[at].var, &f = loops[from].var;
    auto strategy = c_.of<PrefetchBoundStrategy>({PrefetchBoundStrategy::Clamp,
                                                  PrefetchBoundStrategy::GuardWithIf,
                                                  PrefetchBoundStrategy::NonFaulting});
    int offset = c_.between(0, 4);
    say(name_of(i, stage) + ".prefetch(" + of.name + ", " + a.text + ", " + f.text + ", " +
        std::to_string(offset) + ");");
    if (of.is_image)
        stage_of(i, stage).prefetch(of.image, a.loop, f.loop, offset, strategy);
    else
        stage_of(i, stage).prefetch(of.func, a.loop, f.loop, offset, strategy);
}

}  // namespace Pipe::fuzz
