#include "autoschedule/gpu/gpu_apply.h"

#include <algorithm>

#include "autoschedule/gpu/gpu_block.h"
#include "autoschedule/gpu/reduction_threads.h"
#include "autoschedule/new_loops.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using schedules::Dim;
using schedules::FuncSchedule;
using schedules::LoopLevel;
using schedules::StageSchedule;

namespace {

constexpr size_t most_block_loops = 3;

/// The loops of one stage as those of a kernel.
class KernelLoops {
  public:
    KernelLoops(const FuncNode &func, StageSchedule &schedule)
        : schedule_(schedule), loops_(schedule, func) {
        for (const Dim &d : schedule.dims)
            if (d.is_reduction)
                reductions_.push_back(d.name);
        rvars_ = reductions_;
    }

    /// A dimension of which a thread computes this tile, point by point or unrolled. (It may be all of the dimension. But the
    /// shared memory of a block must not grow with it: the schedule is used for other sizes, too.)
    void add_in_thread(const std::string &var, int64_t tile, bool unrolled) {
        auto [block, inner] = split(var, "_b", "_i", tile);
        blocks_.push_back(gpu(block, LoopKind::GPUBlock));
        if (unrolled)
            add_point(inner);
        else
            in_thread_.push_back({inner, LoopKind::Serial, false});
    }

    /// A dimension of which a block computes this tile, and `threads` points at once. Each thread's points lie together, or,
    /// as columns, as many apart as there are threads.
    void add(const std::string &var, int64_t tile, int64_t threads, bool columns) {
        if (tile == 1) {
            blocks_.push_back(gpu(var, LoopKind::GPUBlock));
            return;
        }
        auto [block, inner] = split(var, "_b", "_i", tile);
        blocks_.push_back(gpu(block, LoopKind::GPUBlock));
        add_threads(inner, tile, threads, columns);
    }
    /// The same of what is computed inside of a block's loop: all of it is one tile.
    void add_threads(const std::string &var, int64_t tile, int64_t threads, bool columns) {
        std::string lane = var;
        if (tile > threads && columns) {
            auto [column, thread] = split(var, "_c", "_t", threads);
            columns_.push_back({column, LoopKind::Unrolled, false});
            lane = thread;
        } else if (tile > threads) {
            auto [thread, point] = split(var, "_t", "_p", tile / threads);
            points_.push_back({point, LoopKind::Unrolled, false});
            lane = thread;
        }
        threads_.push_back(gpu(lane, LoopKind::GPUThread));
    }
    /// A dimension of which each thread computes all points at once.
    void add_point(const std::string &var) { points_.push_back({var, LoopKind::Unrolled, false}); }

    /// A reduction of which all iterations update the same elements, atomically.
    void add_atomic_reduction() {
        auto [block, inner] = split(reductions_[0], "_b", "_i", atomic_line);
        threads_.push_back(gpu(inner, LoopKind::GPUThread, true));
        blocks_.push_back(gpu(block, LoopKind::GPUBlock, true));
        for (size_t i = 1; i < reductions_.size(); i++)
            blocks_.push_back(gpu(reductions_[i], LoopKind::GPUBlock, true));
        reductions_.clear();
        for (const Dim &d : schedule_.dims)
            if (!d.is_reduction)
                blocks_.push_back(gpu(d.name, LoopKind::GPUBlock));
        schedule_.atomic = true;
    }

    /// A long reduction. The parts of more than a warp's threads, or of many blocks, are combined in two steps: they are two
    /// loops.
    void add_parts(const FuncNode &func, const Node &node, const StageCost &stage,
                   const ReductionThreads &t) {
        std::vector<Dim> along_points;
        for (size_t d = 0; d < func.args.size(); d++) {
            const int64_t threads = d == 0 ? t.point_threads : 1;
            if (threads > 1) {
                auto [block, thread] = split(func.args[d], "_b", "_t", threads);
                along_points.push_back(gpu(thread, LoopKind::GPUThread));
                blocks_.push_back(gpu(block, LoopKind::GPUBlock));
            } else if (node.extents[d] > 1 || blocks_.empty()) {
                blocks_.push_back(gpu(func.args[d], LoopKind::GPUBlock));
            } else {
                in_thread_.push_back({func.args[d], LoopKind::Serial, false});
            }
        }
        while (blocks_.size() + 2 > most_block_loops && blocks_.size() > 1)
            fuse_outermost_blocks();
        if (t.lanes_along_points)
            append(threads_, along_points);
        const std::string thread_rvar = rvars_[static_cast<size_t>(t.thread_rvar)];
        if (t.block_rvar >= 0)
            add_blocks_of_rvar(rvars_[static_cast<size_t>(t.block_rvar)],
                               stage.rvars[static_cast<size_t>(t.block_rvar)],
                               t.block_rvar == t.thread_rvar ? t.rvar_threads : 1, t.rvar_blocks);
        add_threads_of_rvar(t.block_rvar == t.thread_rvar ? inside_blocks_ : thread_rvar,
                            t.rvar_threads);
        if (!t.lanes_along_points)
            append(threads_, along_points);
        int64_t steps = stage.rvars[0];  // of a thread
        if (t.thread_rvar == 0)
            steps /= t.rvar_threads;
        if (t.block_rvar == 0)
            steps /= t.rvar_blocks;
        for (const int64_t at_once : {8, 4})
            if (steps >= 2 * at_once && unrolled_reduction_.empty())
                unroll_reduction(at_once);
    }

    /// The cells of a scatter: each is computed by one thread, one iteration after the other.
    void add_cells(const Cells &cells, int64_t threads) {
        std::string cell = cells.rvar;
        if (cells.size > 1) {
            auto [outer, inner] = split(cells.rvar, "_o", "_i", cells.size);
            std::replace(reductions_.begin(), reductions_.end(), cells.rvar, inner);
            cell = outer;
        } else {
            std::erase(reductions_, cell);
        }
        if (threads > 1) {
            auto [block, thread] = split(cell, "_b", "_t", threads);
            threads_.push_back(gpu(thread, LoopKind::GPUThread, true));
            cell = block;
        }
        blocks_.push_back(gpu(cell, LoopKind::GPUBlock, true));
    }
    /// Of long reductions, several iterations at a time: a thread waits for their loads together. (Those of guarded tails have
    /// no branches: lower/register_sums.h keeps the sum where the guard does not hold.)
    void unroll_reduction(const std::vector<int64_t> &extents) {
        constexpr int64_t at_once = 4, few = 8;
        if (!reductions_.empty() && !extents.empty() && extents[0] >= few)
            unroll_reduction(at_once);
    }
    void unroll_reduction(int64_t at_once) {
        auto [outer, inner] = split(reductions_[0], "_o", "_u", at_once);
        reductions_[0] = outer;
        unrolled_reduction_ = inner;
    }

    void finish() {
        while (blocks_.size() > most_block_loops)
            fuse_outermost_blocks();
        // Sums over reductions are kept for all points of a thread at once.
        std::vector<Dim> dims = points_;
        if (!reductions_.empty())
            append(dims, columns_);
        if (!unrolled_reduction_.empty())
            dims.push_back({unrolled_reduction_, LoopKind::Unrolled, true});
        for (const std::string &r : reductions_)
            dims.push_back({r, LoopKind::Serial, true});
        append(dims, in_thread_);
        if (reductions_.empty())
            append(dims, columns_);
        append(dims, threads_);
        append(dims, blocks_);
        schedule_.dims = std::move(dims);
    }

    const std::string &innermost_block() const { return blocks_[0].name; }
    /// The loop around what a thread computes at a time.
    const std::string &innermost_serial() const {
        for (const std::vector<Dim> *loops : {&in_thread_, &columns_})
            if (!loops->empty())
                return loops->front().name;
        return threads_[0].name;
    }

  private:
    /// Auto: a tile at the end is shifted inwards, so that no thread tests anything.
    std::pair<std::string, std::string> split(const std::string &var, const char *outer,
                                              const char *inner, int64_t factor) {
        return loops_.split(var, outer, inner, factor, TailStrategy::Auto);
    }

    /// Replaces a reduction of each thread by what is left of it.
    void replace_reduction(const std::string &old, const std::string &now) {
        std::replace(reductions_.begin(), reductions_.end(), old, now);
    }

    void add_blocks_of_rvar(const std::string &rvar, int64_t extent, int64_t threads,
                            int64_t blocks) {
        constexpr int64_t in_one_step = 32, inner = 16;
        const int64_t each = (extent + blocks - 1) / blocks;
        auto [block, rest] = split(rvar, "_b", "_i", (each + threads - 1) / threads * threads);
        replace_reduction(rvar, rest);
        inside_blocks_ = rest;
        if (blocks > in_one_step) {
            auto [outer, within] = split(block, "_o", "_w", inner);
            blocks_.push_back(gpu(within, LoopKind::GPUBlock, true));
            block = outer;
        }
        blocks_.push_back(gpu(block, LoopKind::GPUBlock, true));
    }

    /// Next to each other, so that what they load is.
    void add_threads_of_rvar(const std::string &rvar, int64_t threads) {
        if (threads == 1)
            return;
        auto [rest, thread] = split(rvar, "_s", "_t", threads);
        replace_reduction(rvar, rest);
        if (threads > usual_width) {
            auto [outer, lane] = split(thread, "_u", "_l", usual_width);
            threads_.push_back(gpu(lane, LoopKind::GPUThread, true));
            thread = outer;
        }
        threads_.push_back(gpu(thread, LoopKind::GPUThread, true));
    }

    static Dim gpu(const std::string &name, LoopKind kind, bool is_reduction = false) {
        return {name, kind, is_reduction, Partition::Auto, DeviceAPI::Default_GPU};
    }
    static void append(std::vector<Dim> &to, const std::vector<Dim> &more) {
        to.insert(to.end(), more.begin(), more.end());
    }

    void fuse_outermost_blocks() {
        const std::string outer = blocks_.back().name;
        blocks_.pop_back();
        blocks_.back().name = loops_.fuse(blocks_.back().name, outer);
    }

    StageSchedule &schedule_;
    NewLoops loops_;
    std::vector<Dim> points_, in_thread_, columns_, threads_, blocks_;  ///< innermost first
    std::vector<std::string> reductions_;                               ///< of each thread
    std::vector<std::string> rvars_;  ///< as in the definition, innermost first
    std::string inside_blocks_;  ///< what is left of an RVar that blocks divide
    std::string unrolled_reduction_;                                    ///< inside of them; or ""
};

struct KernelLevels {
    LoopLevel block, thread;
};

LoopLevel level_at(FuncId func, const std::string &var) {
    return {LoopLevel::Kind::At, func, 0, var};
}

/// The planned tile of the output, or, where a stage has loops over other dimensions, one of its own.
void add_points(const Plan &plan, const Node &node, const FuncNode &func, size_t s,
                KernelLoops &loops) {
    const std::vector<bool> &loops_over = node.stages[s].loops_over;
    const Block b =
        block_of_stage(block_of(node.extents, plan.tile, plan.threads), node.extents, loops_over);
    for (size_t d = 0; d < node.extents.size(); d++) {
        if (!loops_over[d])
            continue;
        if (d == b.x || d == b.y || b.points[d] == 1)
            loops.add(func.args[d], b.tile(d), b.threads[d], d == b.x);
        else
            loops.add_in_thread(func.args[d], b.points[d], b.at_once(d) > 1);
    }
}

/// Threads along the first dimension, where that is a long pure loop, and along cells.
void add_cells_and_points(const Node &node, const FuncNode &func, const StageCost &stage,
                          KernelLoops &loops) {
    const bool along_points = stage.loops_over[0] && node.extents[0] >= usual_width;
    if (along_points)
        loops.add(func.args[0], usual_width, usual_width, false);
    const std::vector<int64_t> threads =
        along_points ? std::vector<int64_t>{usual_height} : std::vector{usual_width, usual_height};
    for (size_t i = 0; i < stage.cells.size(); i++)
        loops.add_cells(stage.cells[i], i < threads.size() ? threads[i] : 1);
    for (size_t d = along_points ? 1 : 0; d < node.extents.size(); d++)
        if (stage.loops_over[d])
            loops.add_in_thread(func.args[d], node.extents[d], node.extents[d] <= most_at_once);
}

/// One stage of the output as a kernel.
KernelLevels apply_stage(const Plan &plan, const Node &node, const FuncNode &func, size_t s,
                         const GPU &gpu, StageSchedule &schedule) {
    const StageCost &stage = node.stages[s];
    if (func.args.empty() && stage.rvars.empty()) {
        schedule.single_thread_device = DeviceAPI::Default_GPU;
        return {};
    }
    KernelLoops loops(func, schedule);
    switch (stage.threads) {
    case Threads::Parts:
        loops.add_parts(func, node, stage, reduction_threads(node, stage, gpu.multiprocessors));
        break;
    case Threads::Atomic:
        loops.add_atomic_reduction();
        break;
    case Threads::Cells:
        add_cells_and_points(node, func, stage, loops);
        break;
    case Threads::Points:
        add_points(plan, node, func, s, loops);
    }
    loops.finish();
    if (s > 0)
        return {};
    return {level_at(func.id, loops.innermost_block()),
            level_at(func.id, loops.innermost_serial())};
}

/// The pure loops and the reductions of a stage, innermost first.
struct LoopsOfStage {
    explicit LoopsOfStage(const StageSchedule &schedule) {
        for (const Dim &d : schedule.dims)
            (d.is_reduction ? reductions : pure).push_back(d);
    }
    std::vector<Dim> reductions, pure;
};

/// A member of a block: its first two loops over threads, of which each computes so many rows; inside of them the others
/// and the reductions.
void apply_member(StageSchedule &schedule, const FuncNode &func, int64_t rows) {
    const LoopsOfStage loops(schedule);
    std::vector<Dim> pure = loops.pure, dims;
    if (rows > 1 && pure.size() > 1) {
        auto [thread, row] =
            NewLoops(schedule, func).split(pure[1].name, "_t", "_p", rows, TailStrategy::Auto);
        pure[1].name = thread;
        dims.push_back({row, LoopKind::Unrolled, false});
    }
    const size_t count = std::min<size_t>(2, pure.size());
    dims.insert(dims.end(), loops.reductions.begin(), loops.reductions.end());
    dims.insert(dims.end(), pure.begin() + static_cast<long>(count), pure.end());
    for (size_t i = 0; i < count; i++)
        dims.push_back(
            {pure[i].name, LoopKind::GPUThread, false, Partition::Auto, DeviceAPI::Default_GPU});
    schedule.dims = std::move(dims);
}

/// A stage of a member of a block of which each thread computes the points that it reads itself: its loops are those of
/// the output.
void apply_own_points(const Plan &plan, size_t m, const Node &output, const StageCost &stage,
                      StageSchedule &schedule, const FuncNode &func) {
    const std::vector<size_t> threads = thread_dimensions(output.extents);
    KernelLoops loops(func, schedule);
    for (size_t d = 0; d < func.args.size(); d++) {
        const int follows = plan.follows[m][d];
        const auto of = std::find(threads.begin(), threads.end(), static_cast<size_t>(follows));
        if (follows < 0 || of == threads.end())
            loops.add_point(func.args[d]);
        else
            loops.add_threads(func.args[d], plan.tile[*of], plan.threads[*of],
                              of == threads.begin());
    }
    loops.unroll_reduction(stage.rvars);
    loops.finish();
}

/// A member of a thread: all points at once, so that each is in a register, inside of the reductions.
void apply_member_of_thread(StageSchedule &schedule) {
    const LoopsOfStage loops(schedule);
    std::vector<Dim> dims = loops.pure;
    for (Dim &d : dims)
        d.kind = LoopKind::Unrolled;
    dims.insert(dims.end(), loops.reductions.begin(), loops.reductions.end());
    schedule.dims = std::move(dims);
}

}  // namespace

void apply_kernel(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
                  const GPU &gpu, schedules::Schedule &schedule) {
    const Node &output = nodes.nodes[static_cast<size_t>(plan.output())];
    FuncSchedule &f = schedule[output.id];
    if (output.role == Role::Free || f.compute.inlined()) {
        f.compute.kind = LoopLevel::Kind::Root;
        if (f.store.inlined())
            f.store.kind = LoopLevel::Kind::Root;
    }
    KernelLevels levels;
    for (size_t s = 0; s < output.stages.size(); s++) {
        if (f.stages[s].touched)
            continue;
        const KernelLevels own = apply_stage(plan, output, graph[output.id], s, gpu, f.stages[s]);
        if (s == 0)
            levels = own;
    }
    for (size_t m = 1; m < plan.members.size(); m++) {
        const Node &node = nodes.nodes[static_cast<size_t>(plan.members[m])];
        FuncSchedule &member = schedule[node.id];
        const bool in_thread = plan.levels[m] == Level::Thread;
        member.compute = member.store = in_thread ? levels.thread : levels.block;
        for (size_t i = 0; i < member.stages.size(); i++) {
            StageSchedule &stage = member.stages[i];
            if (stage.touched)
                continue;
            if (in_thread)
                apply_member_of_thread(stage);
            else if (plan.levels[m] == Level::Block)
                apply_own_points(plan, m, output, node.stages[i], stage, graph[node.id]);
            else
                apply_member(stage, graph[node.id], plan.rows[m].count);
        }
    }
}

}  // namespace Pipe::autoschedule
