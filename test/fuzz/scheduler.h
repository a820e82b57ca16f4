#pragma once
// Gives directives to all Funcs, consumers first. Its parts: schedule.cpp the order of things,
// schedule_levels.cpp where Funcs are computed, schedule_storage.cpp how they are stored,
// schedule_loops.cpp the loops of one stage, schedule_tails.cpp what its splits need,
// schedule_gpu.cpp kernels, schedule_hints.cpp what changes no result, schedule_any.cpp what need not be legal.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/schedule.h"

namespace Pipe::fuzz {

/// One loop of a stage, as the directives so far have made it.
struct Loop {
    LoopVar var;
    LoopKind kind = LoopKind::Serial;
    int dim = -1;         ///< the pure variable that it is part of; -1: an RVar's, or fused
    int extent = 0;       ///< where it is a known constant
    int covers = 1;       ///< iterations of the pure variable that one iteration covers
    bool whole = true;    ///< no split yet: all of the variable
    bool masked = false;  ///< from a split whose masks speak of it
};

/// A place where a Func can be computed: just inside a loop of a stage of a consumer.
struct Level {
    int func, stage;
    Loop loop;
    bool operator==(const Level &o) const {
        return func == o.func && stage == o.stage && loop.var.text == o.loop.var.text;
    }
};
using Path = std::vector<Level>;  // outermost first

using Directive = std::function<void(Stage, const std::string &name)>;

/// The loops of one stage.
struct StagePlan {
    std::vector<Loop> loops;  ///< innermost first
    std::vector<Directive> replay;
    int host = -1;  ///< the Func with whose stage it shares loops
    size_t host_stage = 0;
    int shared = 0;  ///< how many, from the outermost one
};

struct Plan {
    bool scheduled = false;
    bool inlined = false;
    bool hosts = true;  ///< others may be computed inside its loops
    bool at_root = false;
    bool alone = false;      ///< its loops are not shared
    bool one_level = false;  ///< stored and allocated where it is computed
    bool may_slide = false;  ///< stored further out
    bool memoized = false;
    bool specialized = false;
    Path path;               ///< the loops around it
    std::vector<Path> uses;  ///< the loops around each use
    std::vector<StagePlan> stages;
};

struct Tail {
    TailStrategy strategy;
    const char *name;
};
extern const std::vector<Tail> tails;

class Scheduler {
  public:
    Scheduler(Algorithm &algorithm, Mode mode, Rules rules, std::vector<Box> &sizes,
              Choices &choices);
    ScheduleInfo run();

  private:
    struct AnyLoop {
        int func, stage;
        LoopVar var;
    };

    // schedule.cpp
    void schedule_func(int i);
    void begin(int i);
    std::vector<Path> uses_of(int i) const;
    Path path_of(int i, size_t stage) const;
    bool read_as_whole(int i) const;
    Stage stage_of(int func, int stage) const;
    std::string name_of(int func, int stage) const;

    // schedule_levels.cpp
    void choose_level(int i);
    void compute_at(int i, const Path &common);
    void compute_at(int i, const Level &level);
    size_t store_at(int i, const Path &path);
    bool hoist_storage(int i, const Path &path, size_t store);
    void async(int i, int percent);
    std::vector<int> hosts_for(int i) const;
    bool try_compute_with(int i);
    void compute_with(int i, int host, size_t stage, size_t host_stage);
    std::vector<int> group_of(int i) const;
    std::set<int> needs(const std::vector<int> &funcs) const;

    // schedule_storage.cpp
    void bound_dims(int i);
    void memory(int i);
    void limit_storage(int i);
    void memoize(int i);
    bool is_keyed(int i) const;

    // schedule_loops.cpp
    void stage_directives(int i, int stage);
    void one_directive();
    void vectorize(const std::vector<size_t> &loops);
    void unroll(const std::vector<size_t> &loops);
    void mark(size_t loop, LoopKind kind);
    void reorder();
    void fuse();
    void rename();
    void specialize();
    void apply(const Directive &directive);
    bool has_vector() const;
    bool shares_elements() const;
    std::vector<size_t> serial_loops(bool pure_only) const;
    const StageInfo &stage_info() const;

    // schedule_tails.cpp
    bool split(size_t loop, int factor);
    bool tail_is_legal(const Loop &loop, int factor, TailStrategy tail) const;
    const Tail *pick_tail(const Loop &loop, int factor);
    void note_needs(const Loop &loop, int factor, TailStrategy tail);

    // schedule_gpu.cpp
    bool is_by_hand() const { return mode_ == Mode::Manual || mode_ == Mode::GPU; }
    bool in_kernel(int i) const;
    bool in_thread(int i) const;
    bool stage_is_kernel() const;
    std::vector<size_t> depths_for(int i, const Path &common) const;
    void gpu_loops();
    void make_kernel();
    void make_threads();
    bool reorder_for_gpu(const std::vector<std::vector<size_t>> &groups);
    std::vector<size_t> some(std::vector<size_t> loops, int most);
    void gpu_memory(int i);
    void any_of_gpu(const AnyLoop &loop);

    // schedule_hints.cpp
    void partition();
    void prefetch(int i, int stage);

    // schedule_any.cpp
    struct NamedDirective {
        std::string text;
        std::function<void()> give;
    };
    int any_func();
    AnyLoop any_loop(int func);
    void any_directive();
    void give_one(const std::string &name, const std::vector<NamedDirective> &directives);
    void any_level(int func);
    void any_storage(int func);
    void any_of_loops(const AnyLoop &loop);

    void say(const std::string &text) { info_.text.push_back(text); }
    std::string fresh() { return "v" + std::to_string(names_++); }
    Source &source(int i) { return a_.sources[static_cast<size_t>(i)]; }
    const Source &source(int i) const { return a_.sources[static_cast<size_t>(i)]; }
    Plan &plan(int i) { return plans_[static_cast<size_t>(i)]; }
    const Plan &plan(int i) const { return plans_[static_cast<size_t>(i)]; }

    Algorithm &a_;
    Mode mode_;
    Rules rules_;
    std::vector<Box> &sizes_;
    Choices &c_;
    std::vector<Plan> plans_;
    ScheduleInfo info_;
    int names_ = 0;
    std::vector<std::function<void()>> later_;  ///< what is done when all Funcs have theirs

    // The stage that directives are made for.
    int func_ = 0, stage_ = 0;
    std::vector<Loop> *loops_ = nullptr;
    Stage *special_ = nullptr;  ///< one of its specializations
    std::string special_name_;
    bool parallel_ = false, blended_ = false;
};

LoopVar new_loop(const std::string &name, bool reduction);

/// The paths' common part.
Path common_path(const std::vector<Path> &uses);

}  // namespace Pipe::fuzz
