#include "fuzz/schedule.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace Pipe::fuzz {
namespace {

/// One loop of a stage, as the directives so far have made it.
struct Loop {
    LoopVar var;
    LoopKind kind = LoopKind::Serial;
    int dim = -1;       ///< the pure variable that it is part of; -1: an RVar's, or fused
    int extent = 0;     ///< where it is a known constant
    int covers = 1;     ///< iterations of the pure variable that one iteration covers
    bool whole = true;  ///< no split yet: all of the variable
    bool masked = false;  ///< from a split whose masks speak of it
};

/// A place where a Func can be computed: just inside a loop of a stage of a consumer.
struct Level {
    int func, stage;
    Loop loop;
};
using Path = std::vector<Level>;  // outermost first

struct Plan {
    bool scheduled = false;
    bool inlined = false;
    bool hosts = true;  ///< others may be computed inside its loops
    bool at_root = false;
    bool fused = false;
    Path path;                             ///< the loops around it
    std::vector<Path> uses;                ///< inlined: the loops around each use
    std::vector<std::vector<Loop>> loops;  ///< per stage, innermost first
    std::vector<std::function<void(Stage, const std::string &)>> replay;  ///< of stage 0
};

struct Tail {
    TailStrategy strategy;
    const char *name;
};
const Tail tails[] = {
    {TailStrategy::Auto, "Auto"},
    {TailStrategy::GuardWithIf, "GuardWithIf"},
    {TailStrategy::ShiftInwards, "ShiftInwards"},
    {TailStrategy::RoundUp, "RoundUp"},
    {TailStrategy::Predicate, "Predicate"},
    {TailStrategy::PredicateStores, "PredicateStores"},
    {TailStrategy::PredicateLoads, "PredicateLoads"},
    {TailStrategy::ShiftInwardsAndBlend, "ShiftInwardsAndBlend"},
    {TailStrategy::RoundUpAndBlend, "RoundUpAndBlend"},
};

bool blends(TailStrategy tail) {
    return tail == TailStrategy::ShiftInwardsAndBlend || tail == TailStrategy::RoundUpAndBlend;
}
bool masks(TailStrategy tail) {
    return tail == TailStrategy::PredicateLoads || tail == TailStrategy::PredicateStores;
}
/// May ask for a larger output: a multiple of the factor. (An update reads what it goes beyond.)
bool rounds_up(TailStrategy tail, int stage) {
    return tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend ||
           tail == TailStrategy::PredicateLoads ||
           (tail == TailStrategy::PredicateStores && stage > 0);
}
/// May ask for a larger output: at least the factor.
bool shifts_back(TailStrategy tail, int stage) {
    return tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend ||
           (tail == TailStrategy::Auto && stage == 0);
}

class Scheduler {
  public:
    Scheduler(Algorithm &algorithm, Mode mode, std::vector<Box> &sizes, Choices &choices)
        : a_(algorithm), mode_(mode), sizes_(sizes), c_(choices), plans_(a_.sources.size()) {
        for (const Source &s : a_.sources) {
            auto n = static_cast<size_t>(s.dimensions);
            info_.slack.emplace_back(n, 0);
            info_.min_extent.emplace_back(n, 1);
            info_.multiple.emplace_back(n, 1);
        }
    }
    ScheduleInfo run();

  private:
    void schedule_func(int i);
    std::vector<Path> uses_of(int i) const;
    Path common_path(const std::vector<Path> &uses) const;
    void choose_level(int i);
    void compute_at(int i, const Path &path);
    bool try_compute_with(int i);
    bool depends(int later, int earlier) const;
    void bound_dims(int i);
    void memory(int i);
    void hints();
    void wrap(int i);
    void stage_directives(int i, int stage);
    void one_directive();
    void specialize(int i);

    bool split(size_t loop, int factor, const Tail &tail);
    bool tail_is_legal(const Loop &loop, int factor, TailStrategy tail);
    const Tail &pick_tail(const Loop &loop, int factor);
    void note_needs(const Loop &loop, int factor, TailStrategy tail);
    void reorder();
    void fuse();
    void mark(size_t loop, LoopKind kind);
    void apply(std::function<void(Stage, const std::string &)> directive);
    void say(const std::string &text) { info_.text.push_back(text); }
    std::string fresh() { return "v" + std::to_string(names_++); }
    std::vector<size_t> serial_loops(bool pure_only) const;

    Algorithm &a_;
    Mode mode_;
    std::vector<Box> &sizes_;
    Choices &c_;
    std::vector<Plan> plans_;
    ScheduleInfo info_;
    int names_ = 0;

    // The stage that directives are made for.
    int func_ = 0, stage_ = 0;
    std::vector<Loop> *loops_ = nullptr;
    bool parallel_ = false, blended_ = false;
};

ScheduleInfo Scheduler::run() {
    for (size_t i = a_.sources.size(); i-- > 0;) {
        if (!a_.sources[i].is_image)
            schedule_func(static_cast<int>(i));
    }
    fit_sizes(a_, info_, sizes_);
    return std::move(info_);
}

std::vector<Path> Scheduler::uses_of(int i) const {
    std::vector<Path> result;
    for (size_t j = static_cast<size_t>(i) + 1; j < plans_.size(); j++) {
        const Plan &plan = plans_[j];
        if (!plan.scheduled)
            continue;
        for (size_t k = 0; k < a_.sources[j].stages.size(); k++) {
            const auto &accesses = a_.sources[j].stages[k].accesses;
            bool reads = std::any_of(accesses.begin(), accesses.end(),
                                     [&](const Access &access) { return access.source == i; });
            if (!reads)
                continue;
            if (plan.inlined) {
                result.insert(result.end(), plan.uses.begin(), plan.uses.end());
                continue;
            }
            Path path = plan.path;
            for (size_t l = plan.loops[k].size(); plan.hosts && l-- > 0;)
                path.push_back({static_cast<int>(j), static_cast<int>(k), plan.loops[k][l]});
            result.push_back(path);
        }
    }
    return result;
}

Path Scheduler::common_path(const std::vector<Path> &uses) const {
    Path path = uses.at(0);
    for (const Path &use : uses) {
        size_t n = 0;
        while (n < path.size() && n < use.size() && path[n].func == use[n].func &&
               path[n].stage == use[n].stage && path[n].loop.var.text == use[n].loop.var.text)
            n++;
        path.erase(path.begin() + static_cast<long>(n), path.end());
    }
    return path;
}

bool Scheduler::depends(int later, int earlier) const {
    if (later == earlier)
        return true;
    for (const StageInfo &stage : a_.sources[static_cast<size_t>(later)].stages) {
        for (const Access &access : stage.accesses) {
            if (access.source >= earlier && depends(access.source, earlier))
                return true;
        }
    }
    return false;
}

void Scheduler::schedule_func(int i) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    Plan &plan = plans_[index];
    plan.uses = s.output ? std::vector<Path>{Path()} : uses_of(i);
    if (plan.uses.empty())
        return;  // nobody needs it
    plan.scheduled = true;
    plan.hosts = !c_.chance(20);
    for (const StageInfo &stage : s.stages) {
        plan.loops.emplace_back();
        for (size_t l = 0; l < stage.loops.size(); l++) {
            auto name = std::find(s.vars.begin(), s.vars.end(), stage.loops[l].loop.name);
            int dim = stage.loops[l].reduction ? -1 : static_cast<int>(name - s.vars.begin());
            plan.loops.back().push_back({stage.loops[l], LoopKind::Serial, dim});
        }
    }
    if (mode_ == Mode::Auto) {
        plan.hosts = false;
        return;
    }
    if (try_compute_with(i))
        return;
    choose_level(i);
    if (plan.inlined || (mode_ == Mode::AutoWithDirectives && !c_.chance(40)))
        return;
    if (s.output)
        bound_dims(i);
    else if (plan.at_root && c_.chance(15))
        wrap(i);
    else
        memory(i);
    for (size_t k = 0; k < s.stages.size(); k++)
        stage_directives(i, static_cast<int>(k));
    if (!plan.hosts && !plan.fused && c_.chance(20))
        specialize(i);
    if (!s.output && s.dimensions > 1 && c_.chance(10)) {
        s.func.reorder_storage(Var(s.vars[1]), Var(s.vars[0]));
        say(s.name + ".reorder_storage(" + s.vars[1] + ", " + s.vars[0] + ");");
    }
}

void Scheduler::choose_level(int i) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    Plan &plan = plans_[index];
    if (s.output) {
        plan.at_root = true;
        return;
    }
    Path common = common_path(plan.uses);
    bool has_updates = s.stages.size() > 1;
    int kind = c_.below(mode_ == Mode::Manual ? 10 : 20);
    if (kind < 3 || kind >= 10) {  // no directive: inlined, or computed where it is used
        plan.inlined = !has_updates;
        plan.path = common;
    } else if (kind < 6) {
        s.func.compute_root();
        say(s.name + ".compute_root();");
        plan.at_root = true;
        if (c_.chance(6)) {
            plan.fused = true;  // a task of its own shares no loops
            s.func.async();
            say(s.name + ".async();");
        }
    } else {
        compute_at(i, common);
    }
}

void Scheduler::compute_at(int i, const Path &common) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    Plan &plan = plans_[index];
    auto stage_of = [&](const Level &level) {
        const Func &f = a_.sources[static_cast<size_t>(level.func)].func;
        return level.stage == 0 ? Stage(f) : f.update(level.stage - 1);
    };
    auto name_of = [&](const Level &level) {
        std::string text = a_.sources[static_cast<size_t>(level.func)].name;
        if (level.stage > 0)
            text += ".update(" + std::to_string(level.stage - 1) + ")";
        return text + ", " + level.loop.var.text;
    };
    size_t depth = 0;
    for (size_t n = 0; n < common.size(); n++) {
        if (common[n].loop.kind == LoopKind::Vectorized)
            break;
        depth = n + 1;
    }
    if (depth == 0) {
        s.func.compute_root();
        say(s.name + ".compute_root();");
        plan.at_root = true;
        return;
    }
    depth = depth - static_cast<size_t>(c_.below(static_cast<int>(depth)));
    const Level &level = common[depth - 1];
    s.func.compute_at(stage_of(level), level.loop.var.loop);
    say(s.name + ".compute_at(" + name_of(level) + ");");
    plan.path.assign(common.begin(), common.begin() + static_cast<long>(depth));

    size_t outermost = depth;  // of the storage: no parallel loop may lie between
    while (outermost > 0 && common[outermost - 1].loop.kind != LoopKind::Parallel)
        outermost--;
    size_t store = depth;
    if (outermost < depth && c_.chance(50)) {
        store = depth - static_cast<size_t>(c_.between(1, static_cast<int>(depth - outermost)));
        if (store == 0) {
            s.func.store_root();
            say(s.name + ".store_root();");
        } else {
            s.func.store_at(stage_of(common[store - 1]), common[store - 1].loop.var.loop);
            say(s.name + ".store_at(" + name_of(common[store - 1]) + ");");
        }
    }
    bool hoisted = outermost < store && c_.chance(20);
    if (hoisted) {
        size_t hoist =
            store - static_cast<size_t>(c_.between(1, static_cast<int>(store - outermost)));
        if (hoist == 0) {
            s.func.hoist_storage_root();
            say(s.name + ".hoist_storage_root();");
        } else {
            s.func.hoist_storage(stage_of(common[hoist - 1]), common[hoist - 1].loop.var.loop);
            say(s.name + ".hoist_storage(" + name_of(common[hoist - 1]) + ");");
        }
        if (store == depth && c_.chance(60)) {
            int copies = c_.between(1, 4);
            s.func.ring_buffer(copies);
            say(s.name + ".ring_buffer(" + std::to_string(copies) + ");");
        }
    }
    if (c_.chance(hoisted ? 50 : 8)) {
        s.func.async();
        say(s.name + ".async();");
    }
}

/// Shares the loops of a later Func that is at root, hosts nothing and neither needs nor feeds
/// this.
bool Scheduler::try_compute_with(int i) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    Plan &plan = plans_[index];
    if (plan.hosts || s.stages.size() > 1 || mode_ != Mode::Manual || !c_.chance(50))
        return false;
    for (size_t j = index + 1; j < plans_.size(); j++) {
        Plan &other = plans_[j];
        const Source &o = a_.sources[j];
        if (!other.at_root || other.hosts || other.fused || o.vars != s.vars ||
            o.stages.size() > 1 || depends(static_cast<int>(j), i))
            continue;
        if (!s.output) {
            s.func.compute_root();
            say(s.name + ".compute_root();");
        }
        for (const auto &directive : other.replay)
            directive(Stage(s.func), s.name);
        auto shared = static_cast<size_t>(c_.below(static_cast<int>(other.loops[0].size())));
        const Loop &loop = other.loops[0][shared];
        LoopAlignments align;
        std::string text;
        for (size_t l = shared; l < other.loops[0].size() && c_.chance(50); l++) {
            bool start = c_.chance(50);
            const auto &var = other.loops[0][l].var;
            align.emplace_back(var.loop, start ? LoopAlignStrategy::AlignStart
                                               : LoopAlignStrategy::AlignEnd);
            text += std::string(text.empty() ? "" : ", ") + "{" + var.text +
                    ", LoopAlignStrategy::" + (start ? "AlignStart}" : "AlignEnd}");
        }
        s.func.compute_with(o.func, loop.var.loop, align);
        say(s.name + ".compute_with(" + o.name + ", " + loop.var.text + ", LoopAlignments{" + text +
            "});");
        plan.loops = other.loops;
        plan.at_root = plan.fused = other.fused = true;
        info_.slack[index] = info_.slack[j];
        info_.min_extent[index] = info_.min_extent[j];
        info_.multiple[index] = info_.multiple[j];
        return true;
    }
    return false;
}

/// All that read the Func read a copy of what it has stored.
void Scheduler::wrap(int i) {
    Source &s = a_.sources[static_cast<size_t>(i)];
    Func wrapper = s.func.in();
    wrapper.compute_root();
    std::string text = s.name + ".in().compute_root()";
    if (c_.chance(50)) {
        wrapper.vectorize(wrapper.args()[0], 4, TailStrategy::GuardWithIf);
        text += ".vectorize(" + s.vars[0] + ", 4, TailStrategy::GuardWithIf)";
    }
    say(text + ";");
}

void Scheduler::bound_dims(int i) {
    auto index = static_cast<size_t>(i);
    if (!uses_of(i).empty() || !c_.chance(12))
        return;
    Source &s = a_.sources[index];
    auto output = static_cast<size_t>(std::find(a_.outputs.begin(), a_.outputs.end(), i) -
                                      a_.outputs.begin());
    auto d = static_cast<size_t>(c_.below(s.dimensions));
    Interval range = sizes_[output][d];
    if (d < s.touched.size())
        range.include(s.touched[d]);
    s.func.bound(Var(s.vars[d]), range.low, range.extent());
    say(s.name + ".bound(" + s.vars[d] + ", " + std::to_string(range.low) + ", " +
        std::to_string(range.extent()) + ");");
    info_.bound_sizes = true;
    // What is promised must stay true: no tail strategy may ask for a larger output there.
    for (std::vector<Loop> &loops : plans_[index].loops) {
        for (Loop &loop : loops) {
            if (loop.dim == static_cast<int>(d))
                loop.extent = range.extent();
        }
    }
}

void Scheduler::stage_directives(int i, int stage) {
    func_ = i;
    stage_ = stage;
    loops_ = &plans_[static_cast<size_t>(i)].loops[static_cast<size_t>(stage)];
    parallel_ = blended_ = false;
    const Source &s = a_.sources[static_cast<size_t>(i)];
    if (s.stages[static_cast<size_t>(stage)].adds && c_.chance(30)) {
        apply([this](Stage update, const std::string &n) {
            say(n + ".atomic();");
            update.atomic();
        });
    }
    int count = c_.below(6);
    for (int n = 0; n < count; n++)
        one_directive();
    hints();
}

/// What changes no result: which loops are partitioned, what is prefetched.
void Scheduler::hints() {
    const Source &s = a_.sources[static_cast<size_t>(func_)];
    if (loops_->empty())
        return;
    auto pick = [&] { return static_cast<size_t>(c_.below(static_cast<int>(loops_->size()))); };
    if (c_.chance(12)) {
        const Loop &loop = (*loops_)[pick()];
        bool gone = loop.kind == LoopKind::Vectorized || loop.kind == LoopKind::Unrolled;
        Partition policy = gone || c_.chance(50) ? Partition::Never : Partition::Always;
        VarOrRVar var = loop.var.loop;
        std::string text = std::string(policy == Partition::Never ? ".never" : ".always") +
                           "_partition(" + loop.var.text + ");";
        apply([this, text, var, policy](Stage st, const std::string &n) {
            say(n + text);
            st.partition(var, policy);
        });
    }
    if (!c_.chance(8))
        return;
    for (const Access &access : s.stages[static_cast<size_t>(stage_)].accesses) {
        const Source &image = a_.sources[static_cast<size_t>(access.source)];
        if (!image.is_image)
            continue;
        size_t at = pick(), from = at + static_cast<size_t>(c_.below(
                                            static_cast<int>(loops_->size() - at)));
        const Loop &a = (*loops_)[at], &f = (*loops_)[from];
        auto strategy = c_.of<PrefetchBoundStrategy>({PrefetchBoundStrategy::Clamp,
                                                      PrefetchBoundStrategy::GuardWithIf,
                                                      PrefetchBoundStrategy::NonFaulting});
        int offset = c_.between(0, 4);
        std::string text = ".prefetch(" + image.name + ", " + a.var.text + ", " + f.var.text +
                           ", " + std::to_string(offset) + ");";
        say(s.name + (stage_ ? ".update(" + std::to_string(stage_ - 1) + ")" : "") + text);
        Stage st = stage_ ? s.func.update(stage_ - 1) : Stage(s.func);
        st.prefetch(image.image, a.var.loop, f.var.loop, offset, strategy);
        return;
    }
}

/// Where and how the elements of a computed Func lie, and how many are computed.
void Scheduler::memory(int i) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    if (s.dimensions == 0)
        return;
    auto d = static_cast<size_t>(c_.below(s.dimensions));
    std::string var = s.vars[d];
    int n = c_.of<int>({2, 8, 3, 16, 5});
    auto tell = [&](const std::string &text) { say(s.name + "." + text + ";"); };
    std::string number = std::to_string(n);
    switch (c_.below(14)) {
    case 0:
        s.func.align_storage(Var(var), n);
        return tell("align_storage(" + var + ", " + number + ")");
    case 1:
        s.func.align_extent(Var(var), n);
        info_.slack[index][d] += n;
        return tell("align_extent(" + var + ", " + number + ")");
    case 2: {
        int remainder = c_.below(n);
        s.func.align_bounds(Var(var), n, remainder);
        info_.slack[index][d] += 2 * n;
        return tell("align_bounds(" + var + ", " + number + ", " + std::to_string(remainder) +
                    ")");
    }
    case 3:
        s.func.store_in(MemoryType::Heap);
        return tell("store_in(MemoryType::Heap)");
    case 4:
        s.func.store_nontemporal();
        return tell("store_nontemporal()");
    case 5:
        if (!c_.chance(30))
            return;
        s.func.fold_storage(Var(var), 2 * n);
        return tell("fold_storage(" + var + ", " + std::to_string(2 * n) + ")");
    default:
        return;
    }
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

void Scheduler::one_directive() {
    const StageInfo &info =
        a_.sources[static_cast<size_t>(func_)].stages[static_cast<size_t>(stage_)];
    bool any_order = info.combines && c_.chance(50);
    std::vector<size_t> all = serial_loops(false), pure = serial_loops(!any_order);
    auto has_vector = std::any_of(loops_->begin(), loops_->end(), [](const Loop &loop) {
        return loop.kind == LoopKind::Vectorized;
    });
    int kind = c_.below(10);
    if (kind == 0 || kind == 1) {
        if (all.empty())
            return;
        size_t loop = c_.of(all);
        int factor = c_.of<int>({2, 4, 3, 8, 5, 16, 1});
        split(loop, factor, pick_tail((*loops_)[loop], factor));
    } else if (kind == 2 || kind == 3) {
        if (pure.empty() || has_vector)
            return;
        size_t loop = c_.of(pure);
        int extent = (*loops_)[loop].extent;
        if (extent >= 2 && extent <= 16 && c_.chance(60)) {
            mark(loop, LoopKind::Vectorized);
        } else {
            int lanes = c_.of<int>({4, 8, 2, 16});
            if (split(loop, lanes, pick_tail((*loops_)[loop], lanes)))
                mark(loop, LoopKind::Vectorized);
        }
    } else if (kind == 4) {
        if (all.empty())
            return;
        size_t loop = c_.of(all);
        int extent = (*loops_)[loop].extent;
        if (extent >= 1 && extent <= 8) {
            mark(loop, LoopKind::Unrolled);
        } else {
            int times = c_.of<int>({2, 3, 4});
            if (split(loop, times, pick_tail((*loops_)[loop], times)))
                mark(loop, LoopKind::Unrolled);
        }
    } else if (kind == 5 || kind == 6) {
        if (pure.empty() || blended_)
            return;
        mark(c_.of(pure), LoopKind::Parallel);
        parallel_ = true;
    } else if (kind == 7 || kind == 8) {
        reorder();
    } else {
        fuse();
    }
}

/// Whether the strategy keeps the algorithm's meaning here and the output's buffer can be made to
/// fit.
bool Scheduler::tail_is_legal(const Loop &loop, int factor, TailStrategy tail) {
    bool update = stage_ > 0, output = a_.sources[static_cast<size_t>(func_)].output;
    bool divides = loop.extent > 0 && loop.extent % factor == 0;
    bool shifts = shifts_back(tail, stage_), rounds = rounds_up(tail, stage_);
    if (loop.var.reduction)
        return tail == TailStrategy::Auto || tail == TailStrategy::GuardWithIf ||
               tail == TailStrategy::Predicate;
    if (loop.masked)
        return false;
    if (blends(tail) && parallel_)
        return false;
    if (update && tail == TailStrategy::ShiftInwards)
        return false;
    if (loop.dim < 0)
        return !rounds && !(output && shifts && loop.extent && loop.extent < factor);
    if (!output)
        return true;
    if (shifts)
        return loop.extent == 0 || loop.extent >= factor;
    if (rounds)
        return divides || (loop.whole && loop.extent == 0);
    return true;
}

const Tail &Scheduler::pick_tail(const Loop &loop, int factor) {
    std::vector<const Tail *> legal;
    for (const Tail &tail : tails) {
        if (tail_is_legal(loop, factor, tail.strategy))
            legal.push_back(&tail);
    }
    if (legal.empty())
        return tails[0];  // split() refuses
    return *(c_.chance(50) ? c_.of(legal) : legal[0]);
}

/// False where no strategy is legal. The inner loop takes the place of the old one, the outer one
/// the place around it.
bool Scheduler::split(size_t index, int factor, const Tail &tail) {
    Loop old = (*loops_)[index];
    if (!tail_is_legal(old, factor, tail.strategy))
        return false;
    std::string outer = fresh(), inner = fresh();
    auto name = [&](const std::string &n) {
        return old.var.reduction ? LoopVar{"RVar(\"" + n + "\")", RVar(n), true}
                                 : LoopVar{"Var(\"" + n + "\")", Var(n), false};
    };
    Loop outer_loop{name(outer),
                    LoopKind::Serial,
                    old.dim,
                    old.extent > 0 ? (old.extent + factor - 1) / factor : 0,
                    old.covers * factor,
                    false};
    Loop inner_loop{name(inner), LoopKind::Serial, old.dim, factor, old.covers, false};
    outer_loop.masked = inner_loop.masked = masks(tail.strategy);
    note_needs(old, factor, tail.strategy);
    std::string text = ".split(" + old.var.text + ", " + outer_loop.var.text + ", " +
                       inner_loop.var.text + ", " + std::to_string(factor) +
                       ", TailStrategy::" + tail.name + ");";
    TailStrategy strategy = tail.strategy;
    apply(
        [this, text, old, outer_loop, inner_loop, factor, strategy](Stage s, const std::string &n) {
            say(n + text);
            s.split(old.var.loop, outer_loop.var.loop, inner_loop.var.loop, factor, strategy);
        });
    (*loops_)[index] = inner_loop;
    loops_->insert(loops_->begin() + static_cast<long>(index) + 1, outer_loop);
    return true;
}

void Scheduler::note_needs(const Loop &loop, int factor, TailStrategy tail) {
    auto f = static_cast<size_t>(func_);
    blended_ |= blends(tail);
    int reach = loop.covers * factor;
    if (loop.dim < 0) {
        if (loop.var.reduction)
            return;
        for (size_t d = 0; d < info_.slack[f].size(); d++) {  // fused: of any of its parts
            info_.slack[f][d] += reach;
            info_.min_extent[f][d] = std::max(info_.min_extent[f][d], factor);
        }
        return;
    }
    auto d = static_cast<size_t>(loop.dim);
    info_.slack[f][d] += reach;
    if (loop.extent > 0)
        return;  // tail_is_legal has seen to it
    if (shifts_back(tail, stage_))
        info_.min_extent[f][d] = std::max(info_.min_extent[f][d], reach);
    if (rounds_up(tail, stage_))
        info_.multiple[f][d] = std::lcm(info_.multiple[f][d], reach);
}

void Scheduler::mark(size_t index, LoopKind kind) {
    Loop &loop = (*loops_)[index];
    loop.kind = kind;
    VarOrRVar var = loop.var.loop;
    const char *what = kind == LoopKind::Vectorized ? "vectorize"
                       : kind == LoopKind::Unrolled ? "unroll"
                                                    : "parallel";
    std::string text = std::string(".") + what + "(" + loop.var.text + ");";
    apply([this, text, var, kind](Stage s, const std::string &n) {
        say(n + text);
        if (kind == LoopKind::Vectorized)
            s.vectorize(var);
        if (kind == LoopKind::Unrolled)
            s.unroll(var);
        if (kind == LoopKind::Parallel)
            s.parallel(var);
    });
}

/// A random order in which RVars keep theirs.
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
    for (Loop &loop : loops) {
        if (loop.var.reduction)
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

/// Two neighbouring loops of one kind.
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
    std::string name = fresh();
    Loop fused{inner.var.reduction ? LoopVar{"RVar(\"" + name + "\")", RVar(name), true}
                                   : LoopVar{"Var(\"" + name + "\")", Var(name), false},
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

void Scheduler::apply(std::function<void(Stage, const std::string &)> directive) {
    auto f = static_cast<size_t>(func_);
    const Source &s = a_.sources[f];
    if (stage_ == 0) {
        plans_[f].replay.push_back(directive);
        directive(Stage(s.func), s.name);
    } else {
        directive(s.func.update(stage_ - 1),
                  s.name + ".update(" + std::to_string(stage_ - 1) + ")");
    }
}

void Scheduler::specialize(int i) {
    auto index = static_cast<size_t>(i);
    Source &s = a_.sources[index];
    Stage special = s.func.specialize(Expr(a_.param) > 3);
    std::string text = s.name + ".specialize(p > 3)";
    std::vector<Loop> loops = plans_[index].loops[0];
    loops_ = &loops;
    func_ = i;
    stage_ = 0;
    std::vector<size_t> serial = serial_loops(true);
    bool has_vector = std::any_of(loops.begin(), loops.end(), [](const Loop &loop) {
        return loop.kind == LoopKind::Vectorized;
    });
    if (!serial.empty()) {
        const Loop &loop = loops[c_.of(serial)];
        if (has_vector || c_.chance(50)) {
            special.parallel(loop.var.loop);
            text += ".parallel(" + loop.var.text + ")";
        } else {
            special.vectorize(loop.var.loop, 4, TailStrategy::GuardWithIf);
            text += ".vectorize(" + loop.var.text + ", 4, TailStrategy::GuardWithIf)";
        }
    }
    if (c_.chance(40)) {
        special.specialize(Expr(a_.param) > 6);
        text += ".specialize(p > 6)";
    }
    if (s.stages.size() > 1 && c_.chance(40)) {
        s.func.update(0).specialize(Expr(a_.param) > 3);
        say(s.name + ".update(0).specialize(p > 3);");
    }
    say(text + ";");
}

}  // namespace

ScheduleInfo give_schedule(Algorithm &algorithm, Mode mode, std::vector<Box> &sizes,
                           Choices &choices) {
    return Scheduler(algorithm, mode, sizes, choices).run();
}

void fit_sizes(const Algorithm &algorithm, const ScheduleInfo &info, std::vector<Box> &sizes) {
    std::vector<Box> before, needed;
    do {  // what is read of one output may grow with another
        before = sizes;
        required_boxes(algorithm, sizes, info.slack, &needed);
        for (size_t i = 0; i < sizes.size(); i++) {
            auto source = static_cast<size_t>(algorithm.outputs[i]);
            for (size_t d = 0; d < sizes[i].size(); d++) {
                Interval &range = sizes[i][d];
                range.include(needed[i][d]);
                int extent = std::max(range.extent(), info.min_extent[source][d]);
                int multiple = info.multiple[source][d];
                extent = (extent + multiple - 1) / multiple * multiple;
                range.high = range.low + extent - 1;
            }
        }
    } while (before != sizes);
}

}  // namespace Pipe::fuzz
