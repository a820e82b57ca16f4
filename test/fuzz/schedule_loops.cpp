// Directives on the loops of one stage.
#include <algorithm>

#include "fuzz/scheduler.h"
#include "schedule/print.h"

namespace Pipe::fuzz {

LoopVar new_loop(const std::string &name, bool reduction) {
    return reduction ? LoopVar{"RVar(\"" + name + "\")", RVar(name), true}
                     : LoopVar{"Var(\"" + name + "\")", Var(name), false};
}

const StageInfo &Scheduler::stage_info() const {
    return source(func_).stages[static_cast<size_t>(stage_)];
}

void Scheduler::stage_directives(int i, int stage) {
    func_ = i;
    stage_ = stage;
    loops_ = &plan(i).stages[static_cast<size_t>(stage)].loops;
    parallel_ = blended_ = false;
    if (stage > 0 && stage_info().combines && c_.chance(35)) {
        apply([this](Stage update, const std::string &n) {
            say(n + ".atomic();");
            update.atomic();
        });
    }
    int count = c_.below(6);
    for (int n = 0; n < count; n++)
        one_directive();
    gpu_loops();
    if (!plan(i).hosts && !shares_elements() && c_.chance(30))
        specialize();
    partition();
}

std::vector<size_t> Scheduler::serial_loops(bool pure_only) const {
    std::vector<size_t> result;
    for (size_t l = 0; l < loops_->size(); l++) {
        const Loop &loop = (*loops_)[l];
        if (loop.kind == LoopKind::Serial && !(pure_only && loop.var.reduction))
            result.push_back(l);
    }
    return result;
}

bool Scheduler::has_vector() const {
    return std::any_of(loops_->begin(), loops_->end(),
                       [](const Loop &loop) { return loop.kind == LoopKind::Vectorized; });
}

/// Whether iterations of a loop that is no longer serial combine into the same elements.
bool Scheduler::shares_elements() const {
    return std::any_of(loops_->begin(), loops_->end(), [](const Loop &loop) {
        return loop.var.reduction && loop.kind != LoopKind::Serial &&
               loop.kind != LoopKind::Unrolled;
    });
}

void Scheduler::one_directive() {
    // (A stage with specializations gets no accumulators of its own.)
    bool any_order = stage_info().combines && !plan(func_).specialized && c_.chance(50);
    std::vector<size_t> all = serial_loops(false), pure = serial_loops(!any_order);
    switch (c_.below(11)) {
    case 0:
    case 1:
        if (!all.empty()) {
            size_t loop = c_.of(all);
            split(loop, c_.of<int>({2, 4, 3, 8, 5, 16, 1}));
        }
        return;
    case 2:
    case 3:
        return vectorize(pure);
    case 4:
        return unroll(all);
    case 5:
    case 6:
        if (!pure.empty() && !blended_ && !in_kernel(func_) && !stage_is_kernel()) {
            mark(c_.of(pure), LoopKind::Parallel);
            parallel_ = true;
        }
        return;
    case 7:
    case 8:
        if (!stage_is_kernel() || c_.chance(10))
            reorder();
        return;
    case 9:
        return fuse();
    default:
        return rename();
    }
}

void Scheduler::vectorize(const std::vector<size_t> &loops) {
    bool second = has_vector();  // the outer one makes copies
    if (loops.empty() || (second && !c_.chance(20)))
        return;
    size_t loop = c_.of(loops);
    int extent = (*loops_)[loop].extent;
    bool as_it_is = extent >= 2 && extent <= (second ? 4 : 16) && c_.chance(60);
    if (as_it_is || split(loop, second ? c_.of<int>({2, 3, 4}) : c_.of<int>({4, 8, 2, 16})))
        mark(loop, LoopKind::Vectorized);
}

void Scheduler::unroll(const std::vector<size_t> &loops) {
    if (loops.empty())
        return;
    size_t loop = c_.of(loops);
    int extent = (*loops_)[loop].extent;
    bool as_it_is = extent >= 1 && extent <= 8;
    if (as_it_is || split(loop, c_.of<int>({2, 3, 4})))
        mark(loop, LoopKind::Unrolled);
}

void Scheduler::mark(size_t index, LoopKind kind) {
    Loop &loop = (*loops_)[index];
    loop.kind = kind;
    VarOrRVar var = loop.var.loop;
    std::string text = std::string(".") + schedules::to_string(kind) + "(" + loop.var.text + ");";
    apply([this, text, var, kind](Stage s, const std::string &n) {
        say(n + text);
        switch (kind) {
        case LoopKind::Vectorized:
            s.vectorize(var);
            return;
        case LoopKind::Unrolled:
            s.unroll(var);
            return;
        case LoopKind::Parallel:
            s.parallel(var);
            return;
        case LoopKind::GPUBlock:
            s.gpu_blocks(var);
            return;
        case LoopKind::GPUThread:
            s.gpu_threads(var);
            return;
        case LoopKind::GPULane:
            s.gpu_lanes(var);
            return;
        case LoopKind::Serial:
            return;
        }
    });
}

/// A random order in which RVars keep theirs, unless any gives the same; rarely one that may have to be
/// refused.
void Scheduler::reorder() {
    std::vector<Loop> loops = *loops_;
    if (loops.size() < 2)
        return;
    for (size_t l = loops.size(); l-- > 1;)
        std::swap(loops[l], loops[l - static_cast<size_t>(c_.below(static_cast<int>(l) + 1))]);
    std::vector<Loop> reductions;
    for (const Loop &loop : *loops_) {
        if (loop.var.reduction)
            reductions.push_back(loop);
    }
    size_t next = 0;
    const bool any_order = stage_info().combines || (reductions.size() > 1 && c_.chance(30));
    for (Loop &loop : loops) {
        if (loop.var.reduction && !any_order)
            loop = reductions[next++];
    }
    std::vector<VarOrRVar> order;
    std::string text;
    for (const Loop &loop : loops) {
        order.push_back(loop.var.loop);
        text += (text.empty() ? "" : ", ") + loop.var.text;
    }
    apply([this, text, order](Stage s, const std::string &n) {
        say(n + ".reorder(" + text + ");");
        s.reorder(order);
    });
    *loops_ = loops;
}

/// Two neighboring loops of one kind.
void Scheduler::fuse() {
    if (info_.bound_sizes)
        return;  // a tail of the fused loop could ask for more than was promised
    if (loops_->size() < 2)
        return;
    auto l = static_cast<size_t>(c_.below(static_cast<int>(loops_->size()) - 1));
    Loop inner = (*loops_)[l], outer = (*loops_)[l + 1];
    bool serial = inner.kind == LoopKind::Serial && outer.kind == LoopKind::Serial;
    if (!serial || inner.var.reduction != outer.var.reduction)
        return;
    Loop fused{new_loop(fresh(), inner.var.reduction),
               LoopKind::Serial,
               -1,
               inner.extent * outer.extent,
               1,
               false};
    std::string text =
        ".fuse(" + inner.var.text + ", " + outer.var.text + ", " + fused.var.text + ");";
    apply([this, text, inner, outer, fused](Stage s, const std::string &n) {
        say(n + text);
        s.fuse(inner.var.loop, outer.var.loop, fused.var.loop);
    });
    (*loops_)[l] = fused;
    loops_->erase(loops_->begin() + static_cast<long>(l) + 1);
}

void Scheduler::rename() {
    std::vector<size_t> serial = serial_loops(false);
    if (serial.empty())
        return;
    Loop &loop = (*loops_)[c_.of(serial)];
    LoopVar old = loop.var;
    loop.var = new_loop(fresh(), old.reduction);
    std::string text = ".rename(" + old.text + ", " + loop.var.text + ");";
    VarOrRVar now = loop.var.loop;
    apply([this, text, old, now](Stage s, const std::string &n) {
        say(n + text);
        s.rename(old.loop, now);
    });
}

void Scheduler::apply(const Directive &directive) {
    if (special_)
        return directive(*special_, special_name_);
    plan(func_).stages[static_cast<size_t>(stage_)].replay.push_back(directive);
    directive(stage_of(func_, stage_), name_of(func_, stage_));
}

/// Further directives for some values of the Param, and then others for the rest.
void Scheduler::specialize() {
    plan(func_).specialized = true;
    std::vector<Loop> *loops = loops_;
    bool parallel = parallel_, blended = blended_;
    Stage outer = stage_of(func_, stage_);
    std::string name = name_of(func_, stage_);
    int depth = c_.between(1, 2);
    std::vector<Loop> branch_loops = *loops;
    for (int level = 0; level < depth; level++) {
        int limit = 3 * (level + 1);
        Stage branch = outer.specialize(Expr(a_.param) > limit);
        special_name_ = "branch" + std::to_string(names_++);
        say("Stage " + special_name_ + " = " + name + ".specialize(p > " + std::to_string(limit) +
            ");");
        special_ = &branch;
        loops_ = &branch_loops;
        int count = c_.below(4);
        for (int n = 0; n < count; n++)
            one_directive();
        gpu_loops();
        special_ = nullptr;
        outer = branch;
        name = special_name_;
    }
    loops_ = loops;
    parallel_ = parallel;
    blended_ = blended;
    int count = c_.below(3);
    for (int n = 0; n < count; n++)
        one_directive();
    if (!c_.chance(25))
        return;
    Stage all = stage_of(func_, stage_);
    all.specialize(Expr(a_.param) <= 3);
    all.specialize_fail("some condition holds");
    name = name_of(func_, stage_);
    say(name + ".specialize(p <= 3); " + name + ".specialize_fail(\"some condition holds\");");
}

}  // namespace Pipe::fuzz
