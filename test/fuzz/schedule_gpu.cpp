// Kernels: which loops run over blocks and threads, what is computed inside of them, and where that is stored.
#include <algorithm>

#include "fuzz/scheduler.h"
#include "schedule/print.h"

namespace Pipe::fuzz {

namespace {

bool is_thread(LoopKind kind) {
    return kind == LoopKind::GPUThread || kind == LoopKind::GPULane;
}

template <typename Levels, typename Test> bool any_kind(const Levels &path, Test &&test) {
    return std::any_of(path.begin(), path.end(),
                       [&](const Level &level) { return test(level.loop.kind); });
}

}  // namespace

bool Scheduler::in_kernel(int i) const {
    return any_kind(plan(i).path, is_gpu);
}

bool Scheduler::in_thread(int i) const {
    return any_kind(plan(i).path, is_thread);
}

/// Whether the stage that directives are made for has loops on the GPU.
bool Scheduler::stage_is_kernel() const {
    return loops_ && std::any_of(loops_->begin(), loops_->end(),
                                 [](const Loop &loop) { return is_gpu(loop.kind); });
}

/// How many of the loops around all uses can be around the computation, the innermost place first: none inside of a
/// vectorized one; in kernels, mostly none with other loops over blocks, or threads, inside of it. C functions run on the
/// host, and so does what they read.
std::vector<size_t> Scheduler::depths_for(int i, const Path &common) const {
    const bool on_host = source(i).is_extern || read_as_whole(i);
    const bool any_place = c_.chance(mode_ == Mode::GPU ? 4 : 0);
    std::vector<size_t> depths;
    for (size_t depth = 1; depth <= common.size(); depth++) {
        const LoopKind kind = common[depth - 1].loop.kind;
        if (kind == LoopKind::Vectorized || (on_host && is_gpu(kind)))
            break;
        const Path inside(common.begin() + static_cast<long>(depth), common.end());
        const Path outside(common.begin(), common.begin() + static_cast<long>(depth));
        auto is_block = [](LoopKind k) { return k == LoopKind::GPUBlock; };
        const bool between = (any_kind(outside, is_block) && any_kind(inside, is_block)) ||
                             (any_kind(outside, is_thread) && any_kind(inside, is_thread));
        if (!between || any_place)
            depths.insert(depths.begin(), depth);
    }
    return depths;
}

/// Of a stage on the host: a kernel, mostly. Of one in a kernel: loops over threads.
void Scheduler::gpu_loops() {
    if (mode_ != Mode::GPU || stage_is_kernel() || source(func_).is_extern)
        return;
    if (in_thread(func_) ? c_.chance(98) : !c_.chance(80))
        return;
    if (in_kernel(func_))
        make_threads();
    else
        make_kernel();
}

/// Up to so many of the loops, the first ones most likely.
std::vector<size_t> Scheduler::some(std::vector<size_t> loops, int most) {
    std::vector<size_t> result;
    for (int n = c_.between(0, most); n > 0 && !loops.empty(); n--) {
        const auto at =
            static_cast<size_t>(c_.chance(60) ? 0 : c_.below(static_cast<int>(loops.size())));
        result.push_back(loops[at]);
        loops.erase(loops.begin() + static_cast<long>(at));
    }
    return result;
}

void Scheduler::make_kernel() {
    const bool any_order = stage_info().combines && !plan(func_).specialized && c_.chance(50);
    for (int n = c_.between(0, 3); n > 0; n--) {
        std::vector<size_t> loops = serial_loops(!any_order);
        if (loops.empty())
            break;
        const size_t loop = c_.of(loops);
        split(loop, c_.of<int>({4, 8, 2, 16, 3, 5, 1, 7}));
    }
    // The inner loops of splits become threads, and the others blocks, more often than the other way round.
    std::vector<size_t> threads, blocks, pure = serial_loops(!any_order);
    for (size_t loop : pure)
        if ((*loops_)[loop].extent > 0)
            threads.push_back(loop);
    for (size_t loop : pure)
        if ((*loops_)[loop].extent == 0)
            threads.push_back(loop);
    threads = some(threads, 3);
    for (size_t loop : pure)
        if (std::find(threads.begin(), threads.end(), loop) == threads.end())
            blocks.insert(blocks.begin(), loop);
    blocks = some(blocks, 3);
    if (blocks.empty() && !c_.chance(10))
        return;
    reorder_for_gpu({threads, blocks});
}

void Scheduler::make_threads() {
    const bool any_order = stage_info().combines && !plan(func_).specialized && c_.chance(50);
    if (std::vector<size_t> loops = serial_loops(!any_order); !loops.empty() && c_.chance(30))
        split(c_.of(loops), c_.of<int>({4, 8, 2, 3, 16}));
    reorder_for_gpu({some(serial_loops(!any_order), 3)});
}

/// Makes the loops of each group neighbors, from inside out, and marks them: a group over threads, and one over blocks.
/// Other loops go inside of, between or outside of the groups.
bool Scheduler::reorder_for_gpu(const std::vector<std::vector<size_t>> &groups) {
    std::vector<int> place(loops_->size(), -1);
    for (size_t g = 0; g < groups.size(); g++)
        for (size_t loop : groups[g])
            place[loop] = 2 * static_cast<int>(g) + 1;
    for (size_t l = 0; l < place.size(); l++) {
        const LoopKind kind = (*loops_)[l].kind;
        if (place[l] >= 0)
            continue;
        place[l] = kind == LoopKind::Parallel ? 2 * static_cast<int>(groups.size())
                   : kind != LoopKind::Serial && c_.chance(90)
                       ? 0
                       : 2 * c_.below(static_cast<int>(groups.size()) + 1);
    }
    std::vector<size_t> order(loops_->size());
    for (size_t l = 0; l < order.size(); l++)
        order[l] = l;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return place[a] < place[b]; });
    std::vector<Loop> before = *loops_;
    std::vector<size_t> reductions;
    for (size_t l = 0; l < before.size(); l++)
        if (before[l].var.reduction)
            reductions.push_back(l);
    const bool keeps =
        stage_info().combines || std::none_of(order.begin(), order.end(), [&](size_t l) {
            return before[l].var.reduction && place[l] % 2 == 1;
        });
    size_t next = 0;
    std::vector<VarOrRVar> vars;
    std::string text;
    for (size_t &l : order) {
        if (before[l].var.reduction && keeps && !stage_info().combines)
            l = reductions[next++];
        vars.push_back(before[l].var.loop);
        text += (text.empty() ? "" : ", ") + before[l].var.text;
    }
    if (vars.size() > 1) {
        apply([this, text, vars](Stage s, const std::string &n) {
            say(n + ".reorder(" + text + ");");
            s.reorder(vars);
        });
        for (size_t l = 0; l < order.size(); l++)
            (*loops_)[l] = before[order[l]];
    }
    bool marked = false;
    for (size_t l = 0; l < order.size(); l++) {
        if (place[order[l]] % 2 == 0)
            continue;
        const bool last = groups.size() == 2 && place[order[l]] == 3;
        mark(l, last            ? LoopKind::GPUBlock
                : c_.chance(96) ? LoopKind::GPUThread
                                : LoopKind::GPULane);
        marked = true;
    }
    return marked;
}

/// What is shared by a block, and what a thread has for itself.
void Scheduler::gpu_memory(int i) {
    using enum MemoryType;
    const bool any = c_.chance(4);
    std::vector<MemoryType> types =
        in_thread(i) ? std::vector{Auto, Stack, Register} : std::vector{Auto, GPUShared, Heap};
    if (any)
        types = {Stack, Register, GPUShared, Heap};
    const MemoryType memory = c_.of(types);
    if (memory == Auto)
        return;
    source(i).func.store_in(memory);
    say(source(i).name + ".store_in(MemoryType::" + schedules::to_string(memory) + ");");
}

void Scheduler::any_of_gpu(const AnyLoop &loop) {
    Stage s = stage_of(loop.func, loop.stage);
    const AnyLoop other = any_loop(loop.func);
    const VarOrRVar var = loop.var.loop, second = other.var.loop;
    const LoopVar a = new_loop(fresh(), loop.var.reduction);
    const std::string &name = loop.var.text, both = name + ", " + other.var.text;
    const Tail &tail = c_.of(tails);
    const int n = c_.of<int>({2, 3, 4, 8, 16, 1, 1025});
    Func &f = source(loop.func).func;
    give_one(name_of(loop.func, loop.stage),
             {{"gpu_threads(" + name + ")", [&] { s.gpu_threads(var); }},
              {"gpu_blocks(" + name + ")", [&] { s.gpu_blocks(var); }},
              {"gpu_lanes(" + name + ")", [&] { s.gpu_lanes(var); }},
              {"gpu(" + both + ")", [&] { s.gpu(var, second); }},
              {"gpu_tile(" + name + ", " + a.text + ", " + std::to_string(n) +
                   ", TailStrategy::" + tail.name + ")",
               [&] { s.gpu_tile(var, a.loop, n, tail.strategy); }},
              {"gpu_single_thread()", [&] { s.gpu_single_thread(); }},
              {"store_in(MemoryType::GPUShared)", [&] { f.store_in(MemoryType::GPUShared); }}});
}

}  // namespace Pipe::fuzz
