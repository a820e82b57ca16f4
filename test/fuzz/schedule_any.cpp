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
        if (mode_ == Mode::GPU && c_.chance(50))
            return any_of_gpu(any_loop(i));
        return any_of_loops(any_loop(i));
    }
}

/// One of these, told before it is given: it may throw.
void Scheduler::give_one(const std::string &name, const std::vector<NamedDirective> &directives) {
    const NamedDirective &one = c_.of(directives);
    say(name + "." + one.text + ";");
    one.give();
}

void Scheduler::any_level(int i) {
    Func &f = source(i).func;
    const AnyLoop at = any_loop(any_func());
    const Stage stage = stage_of(at.func, at.stage);
    const VarOrRVar loop = at.var.loop;
    const std::string place = "(" + name_of(at.func, at.stage) + ", " + at.var.text + ")";
    give_one(source(i).name, {{"compute_at" + place, [&] { f.compute_at(stage, loop); }},
                              {"store_at" + place, [&] { f.store_at(stage, loop); }},
                              {"hoist_storage" + place, [&] { f.hoist_storage(stage, loop); }},
                              {"compute_root()", [&] { f.compute_root(); }},
                              {"store_root()", [&] { f.store_root(); }},
                              {"compute_inline()", [&] { f.compute_inline(); }},
                              {"unroll_updates()", [&] { f.unroll_updates(); }},
                              {"async()", [&] { f.async(); }}});
}

void Scheduler::any_storage(int i) {
    Func &f = source(i).func;
    const Var var(c_.of(source(i).vars)), other(c_.of(source(i).vars));
    const int n = c_.of<int>({1, 2, 3, 4, 8, 16, 30}), low = c_.between(-4, 12);
    const std::string of_n = "(" + var.name() + ", " + std::to_string(n) + ")";
    const std::string at_low =
        "(" + var.name() + ", " + std::to_string(low) + ", " + std::to_string(n) + ")";
    give_one(source(i).name,
             {{"fold_storage" + of_n, [&] { f.fold_storage(var, n); }},
              {"fold_storage(" + var.name() + ", " + std::to_string(n) + ", false)",
               [&] { f.fold_storage(var, n, false); }},
              {"bound_storage" + of_n, [&] { f.bound_storage(var, n); }},
              {"align_storage" + of_n, [&] { f.align_storage(var, n); }},
              {"bound_extent" + of_n, [&] { f.bound_extent(var, n); }},
              {"align_extent" + of_n, [&] { f.align_extent(var, n); }},
              {"bound" + at_low, [&] { f.bound(var, low, n); }},
              {"set_estimate" + at_low, [&] { f.set_estimate(var, low, n); }},
              {"align_bounds(" + var.name() + ", " + std::to_string(n) + ", " +
                   std::to_string(low) + ")",
               [&] { f.align_bounds(var, n, low); }},
              {"reorder_storage(" + var.name() + ", " + other.name() + ")",
               [&] { f.reorder_storage(var, other); }},
              {"ring_buffer(" + std::to_string(n) + ")", [&] { f.ring_buffer(n); }},
              {"memoize()", [&] { f.memoize(); }},
              {"store_in(MemoryType::Stack)", [&] { f.store_in(MemoryType::Stack); }},
              {"store_in(MemoryType::Register)", [&] { f.store_in(MemoryType::Register); }}});
}

void Scheduler::any_of_loops(const AnyLoop &loop) {
    Stage s = stage_of(loop.func, loop.stage);
    const AnyLoop other = any_loop(loop.func), elsewhere = any_loop(any_func());
    const VarOrRVar var = loop.var.loop, second = other.var.loop;
    const LoopVar a = new_loop(fresh(), loop.var.reduction), b = new_loop(fresh(), a.reduction);
    const Tail &tail = c_.of(tails);
    const int n = c_.of<int>({2, 3, 4, 8, 16, 1, 0});
    const std::string &name = loop.var.text, in_n = ", " + std::to_string(n);
    const std::string of_tail = in_n + ", TailStrategy::" + tail.name + ")";
    const std::string both = name + ", " + other.var.text;
    give_one(
        name_of(loop.func, loop.stage),
        {{"split(" + name + ", " + a.text + ", " + b.text + of_tail,
          [&] { s.split(var, a.loop, b.loop, n, tail.strategy); }},
         {"vectorize(" + name + of_tail, [&] { s.vectorize(var, n, tail.strategy); }},
         {"vectorize(" + name + ")", [&] { s.vectorize(var); }},
         {"unroll(" + name + of_tail, [&] { s.unroll(var, n, tail.strategy); }},
         {"parallel(" + name + ")", [&] { s.parallel(var); }},
         {"reorder(" + both + ")",
          [&] {
              s.reorder({var, second});
          }},
         {"fuse(" + both + ", " + a.text + ")", [&] { s.fuse(var, second, a.loop); }},
         {"atomic()", [&] { s.atomic(); }},
         {"always_partition(" + name + ")", [&] { s.always_partition(var); }},
         {"compute_with(" + name_of(elsewhere.func, elsewhere.stage) + ", " + elsewhere.var.text +
              ")",
          [&] { s.compute_with(stage_of(elsewhere.func, elsewhere.stage), elsewhere.var.loop); }},
         {"prefetch(" + source(elsewhere.func).name + ", " + both + in_n + ")",
          [&] { s.prefetch(source(elsewhere.func).func, var, second, n); }}});
}

}  // namespace Pipe::fuzz
