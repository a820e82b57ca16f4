// Directives that nobody has asked whether they are legal: the library has to.
#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

/// A loop of any stage, at times one that another directive took away.
Scheduler::AnyLoop Scheduler::any_loop(int func) {
    const int stage = c_.below(static_cast<int>(source(func).stages.size()));
    const auto s = static_cast<size_t>(stage);
    std::vector<LoopVar> loops;
    if (s < plan(func).stages.size()) {
        for (const Loop &loop : plan(func).stages[s].loops)
            loops.push_back(loop.var);
    }
    if (loops.empty() || c_.chance(5))
        loops = source(func).stages[s].loops;
    return {func, stage, loops.empty() ? new_loop("nowhere", false) : c_.of(loops)};
}

int Scheduler::any_func() {
    std::vector<int> funcs;
    for (int i = 0; i < static_cast<int>(a_.sources.size()); i++) {
        if (!source(i).is_image && !source(i).stages.empty())
            funcs.push_back(i);
    }
    return c_.of(funcs);
}

void Scheduler::any_directive() {
    const int i = any_func();
    switch (c_.below(4)) {
    case 0:
        return any_level(i);
    case 1:
        return any_storage(i);
    default:
        return any_of_loops(any_loop(i));
    }
}

void Scheduler::any_level(int i) {
    Func &f = source(i).func;
    const AnyLoop at = any_loop(any_func());
    const Stage stage = stage_of(at.func, at.stage);
    const std::string place = name_of(at.func, at.stage) + ", " + at.var.text;
    auto tell = [&](const std::string &text) { say(source(i).name + "." + text + ";"); };
    switch (c_.below(8)) {
    case 0:
        tell("compute_root()");
        f.compute_root();
        return;
    case 1:
        tell("compute_inline()");
        f.compute_inline();
        return;
    case 2:
        tell("store_root()");
        f.store_root();
        return;
    case 3:
        tell("store_at(" + place + ")");
        f.store_at(stage, at.var.loop);
        return;
    case 4:
        tell("hoist_storage(" + place + ")");
        f.hoist_storage(stage, at.var.loop);
        return;
    case 5:
        tell("async()");
        f.async();
        return;
    default:
        tell("compute_at(" + place + ")");
        f.compute_at(stage, at.var.loop);
        return;
    }
}

void Scheduler::any_storage(int i) {
    Func &f = source(i).func;
    const std::string var = c_.of(source(i).vars), other = c_.of(source(i).vars);
    const int n = c_.of<int>({1, 2, 3, 4, 8, 16, 30}), low = c_.between(-4, 12);
    const std::string number = std::to_string(n);
    auto tell = [&](const std::string &text) { say(source(i).name + "." + text + ";"); };
    switch (c_.below(12)) {
    case 0: {
        const bool forward = c_.chance(70);
        tell("fold_storage(" + var + ", " + number + (forward ? ")" : ", false)"));
        f.fold_storage(Var(var), n, forward);
        return;
    }
    case 1:
        tell("ring_buffer(" + number + ")");
        f.ring_buffer(n);
        return;
    case 2:
        tell("memoize()");
        f.memoize();
        return;
    case 3:
        tell("reorder_storage(" + var + ", " + other + ")");
        f.reorder_storage(Var(var), Var(other));
        return;
    case 4:
        tell("bound_storage(" + var + ", " + number + ")");
        f.bound_storage(Var(var), n);
        return;
    case 5:
        tell("align_storage(" + var + ", " + number + ")");
        f.align_storage(Var(var), n);
        return;
    case 6:
        tell("bound(" + var + ", " + std::to_string(low) + ", " + number + ")");
        f.bound(Var(var), low, n);
        return;
    case 7:
        tell("bound_extent(" + var + ", " + number + ")");
        f.bound_extent(Var(var), n);
        return;
    case 8:
        tell("align_bounds(" + var + ", " + number + ", " + std::to_string(low) + ")");
        f.align_bounds(Var(var), n, low);
        return;
    case 9:
        tell("align_extent(" + var + ", " + number + ")");
        f.align_extent(Var(var), n);
        return;
    case 10: {
        const bool stack = c_.chance(50);
        tell(stack ? "store_in(MemoryType::Stack)" : "store_in(MemoryType::Register)");
        f.store_in(stack ? MemoryType::Stack : MemoryType::Register);
        return;
    }
    default:
        tell("set_estimate(" + var + ", " + std::to_string(low) + ", " + number + ")");
        f.set_estimate(Var(var), low, n);
        return;
    }
}

void Scheduler::any_of_loops(const AnyLoop &loop) {
    Stage s = stage_of(loop.func, loop.stage);
    const AnyLoop other = any_loop(loop.func);
    const VarOrRVar var = loop.var.loop;
    const LoopVar a = new_loop(fresh(), loop.var.reduction), b = new_loop(fresh(), a.reduction);
    const Tail &tail = c_.of(tails);
    const int n = c_.of<int>({2, 3, 4, 8, 16, 1, 0});
    auto tell = [&](const std::string &text) {
        say(name_of(loop.func, loop.stage) + "." + text + ";");
    };
    const std::string of_tail =
        ", " + std::to_string(n) + ", TailStrategy::" + std::string(tail.name) + ")";
    switch (c_.below(14)) {
    case 0:
    case 1:
        tell("split(" + loop.var.text + ", " + a.text + ", " + b.text + of_tail);
        s.split(var, a.loop, b.loop, n, tail.strategy);
        return;
    case 2:
        tell("vectorize(" + loop.var.text + of_tail);
        s.vectorize(var, n, tail.strategy);
        return;
    case 3:
        tell("vectorize(" + loop.var.text + ")");
        s.vectorize(var);
        return;
    case 4:
        tell("unroll(" + loop.var.text + of_tail);
        s.unroll(var, n, tail.strategy);
        return;
    case 5:
    case 6:
        tell("parallel(" + loop.var.text + ")");
        s.parallel(var);
        return;
    case 7:
    case 8:
        tell("reorder(" + loop.var.text + ", " + other.var.text + ")");
        s.reorder({var, other.var.loop});
        return;
    case 9:
        tell("fuse(" + loop.var.text + ", " + other.var.text + ", " + a.text + ")");
        s.fuse(var, other.var.loop, a.loop);
        return;
    case 10:
        tell("atomic()");
        s.atomic();
        return;
    case 11: {
        const AnyLoop with = any_loop(any_func());
        tell("compute_with(" + name_of(with.func, with.stage) + ", " + with.var.text + ")");
        s.compute_with(stage_of(with.func, with.stage), with.var.loop);
        return;
    }
    case 12:
        tell("always_partition(" + loop.var.text + ")");
        s.always_partition(var);
        return;
    default: {
        const AnyLoop what = any_loop(any_func());
        tell("prefetch(" + source(what.func).name + ", " + loop.var.text + ", " + other.var.text +
             ", " + std::to_string(n) + ")");
        s.prefetch(source(what.func).func, var, other.var.loop, n);
        return;
    }
    }
}

}  // namespace Pipe::fuzz
