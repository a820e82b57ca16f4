#pragma once
// LoopTree: the position of every stage of a scheduled pipeline in the loop nest.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::region {

/// A position in the loop nest: the name of a loop ("f.s0.x": just inside it), or "" for the root.
using Level = std::string;

/// "f.s0": prefix of all names of a stage.
std::string stage_name(const graph::FuncNode &func, int stage);
/// "f.s0.x": the loop over `dim`.
std::string loop_name(const graph::FuncNode &func, int stage, const std::string &dim);

/// One loop of a stage's own nest.
struct StageLoop {
    schedules::Dim dim;
    std::string var;  ///< its name in the schedule
    Level
        name;  ///< name of its loop; with compute_with, that of the stage that owns the shared loop
    /// Of a shared loop: how the stage's range is aligned with that of the owner.
    LoopAlignStrategy align = LoopAlignStrategy::NoAlign;
    bool shifted = false;  ///< its variable differs from the loop's by a shift
};

/// One stage of a Func that is computed (not inlined).
struct StageNest {
    FuncId func = FuncId::None;
    int stage = 0;
    bool atomic = false;
    /// The schedule's transforms, with unique variable names: if a split reuses the old name, as in
    /// split(y, y, yi, 8), the new variable is called y'.
    std::vector<schedules::Transform> transforms;
    schedules::LoopLevel fuse_level;  ///< the stage that owns the shared loop, and the loop
    schedules::LoopLevel
        named_level;  ///< the stage given to compute_with, which may itself share loops
    std::vector<StageLoop> loops;            ///< outermost first
    std::map<std::string, size_t> known_in;  ///< the loop inside which a variable has a value
    std::vector<Level> path;    ///< the loops around the innermost statement, outermost first
    std::vector<FuncId> reads;  ///< Funcs that the stage calls, excluding itself, ascending
};

/// One Func that is computed.
struct FuncPlace {
    bool computed = false;
    Level compute, store;
    Level hoist;  ///< the level of the allocation: `store`, or further out
    std::vector<StageNest> stages;
};

/// The tree. Levels are resolved: an unscheduled Func with updates is computed at the innermost
/// loop that encloses all its uses; a store level inside the compute level becomes the compute
/// level.
class LoopTree {
  public:
    /// `graph` is the result of inline_funcs; the schedule is legal (graph::check). Both must
    /// outlive the tree.
    LoopTree(const graph::Graph &graph, const schedules::Schedule &schedule);

    const graph::Graph &graph() const { return graph_; }
    const schedules::Schedule &schedule() const { return schedule_; }
    const FuncPlace &place(FuncId id) const { return places_[static_cast<size_t>(id)]; }

    /// The loop of the level and those around it, outermost first. Empty for the root.
    const std::vector<Level> &path_to(const Level &level) const { return paths_.at(level); }
    /// Whether `outer` is `inner` or one of the loops around it.
    bool encloses(const Level &outer, const Level &inner) const;
    bool is_loop(const Level &level) const { return owners_.count(level) != 0; }
    /// The stage that owns the loop.
    const StageNest &owner(const Level &level) const;
    LoopKind kind_of(const Level &level) const { return kinds_.at(level); }

    /// Funcs computed (stored) directly at the level, producers first.
    std::vector<FuncId> computed_at(const Level &level) const;
    std::vector<FuncId> stored_at(const Level &level) const;
    /// Funcs whose memory is allocated directly at the level.
    std::vector<FuncId> allocated_at(const Level &level) const;
    /// Stages of other Funcs that read `func`.
    std::vector<const StageNest *> readers(FuncId func) const;
    /// The value of one of the stage's variables: its loop, or a let for variables that were split
    /// or fused.
    Expr variable(const StageNest &nest, const std::string &var) const;
    /// Stages that share loops of this one by compute_with.
    std::vector<const StageNest *> children(const StageNest &parent) const;
    /// The number of loops that a stage shares with its parent; 0 without compute_with.
    size_t shared_loops(const StageNest &nest) const;
    /// Null if the Func is not computed.
    const StageNest *find_stage(FuncId func, int stage) const;

  private:
    void place_func(const graph::FuncNode &func);
    void place_stages(const graph::FuncNode &func, size_t last);
    static void find_known(StageNest &nest);
    static void align(StageLoop &loop, const schedules::StageSchedule &schedule,
                      const StageLoop &other);
    void add_loops(StageNest &nest, const schedules::StageSchedule &schedule, const Level &compute);
    schedules::LoopLevel outermost_host(schedules::LoopLevel fuse) const;
    Level innermost_common_level(FuncId func) const;
    Level resolve(const schedules::LoopLevel &level) const;

    const graph::Graph &graph_;
    const schedules::Schedule &schedule_;
    std::vector<FuncPlace> places_;
    std::map<Level, std::vector<Level>> paths_;
    std::map<Level, LoopKind> kinds_;
    std::map<Level, std::pair<FuncId, int>> owners_;
    std::map<Level, std::vector<FuncId>> computed_at_, stored_at_, allocated_at_;
    bool has_children_ = false;
};

}  // namespace Pipe::region
