#pragma once
// The vocabulary of schedules, and Schedule itself: how a pipeline is computed, as plain data.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pipe/error.h>
#include <pipe/expr.h>
#include <pipe/loop_kind.h>

namespace Pipe {

/// What a loop that a `split` cannot divide evenly does at its end. As in Halide's documentation.
enum class TailStrategy : uint8_t {
    RoundUp,             ///< round the extent up; computes and stores beyond the asked region
    GuardWithIf,         ///< test inside the loop; never touches anything outside
    Predicate,           ///< guard loads and stores with masks
    PredicateLoads,      ///< guard loads only (the store may go beyond)
    PredicateStores,     ///< guard stores only
    ShiftInwards,        ///< shift the last iteration back so that it ends at the edge; computes some twice
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
    Auto,                ///< ShiftInwards for pure definitions, GuardWithIf for RVars and updates
};

/// Tells one Func of a graph from another. Valid within the graph that gave it out.
enum class FuncId : int32_t { None = -1 };

namespace schedule {

/// A place in the loop nest: nowhere (inlined), outside all loops (root), or just inside the loop
/// `var` of stage `stage` of `func`.
struct LoopLevel {
    enum class Kind : uint8_t { Inlined, Root, At };
    Kind kind = Kind::Inlined;
    FuncId func = FuncId::None;
    int stage = 0;
    std::string var;
    /// Front end only: who `func` is before the graph is frozen.
    std::shared_ptr<const void> func_handle;

    bool inlined() const { return kind == Kind::Inlined; }
    bool root() const { return kind == Kind::Root; }
    bool at() const { return kind == Kind::At; }
    bool operator==(const LoopLevel &) const;  // ignores func_handle
};

/// One change of a stage's loop nest, in the order in which the user gave them.
struct Transform {
    enum class Kind : uint8_t { Split, Fuse, Rename };
    Kind kind = Kind::Split;
    std::string old_name;  ///< Split: what is split. Fuse: the fused loop's name. Rename: old name.
    std::string outer;     ///< Split, Fuse. Rename: new name.
    std::string inner;     ///< Split, Fuse
    Expr factor;           ///< Split
    TailStrategy tail = TailStrategy::Auto;
};

/// One loop of a stage.
struct Dim {
    std::string name;
    LoopKind kind = LoopKind::Serial;
    bool is_reduction = false;
    bool operator==(const Dim &) const = default;
};

/// How one stage (the pure definition or an update) is looped over.
struct StageSchedule {
    std::vector<Transform> transforms;
    std::vector<Dim> dims;  ///< innermost first; the loops that remain after all transforms
    /// compute_with: this stage shares the loops of `fuse_level` from the outermost in to `var`.
    LoopLevel fuse_level;   ///< inlined() = not fused
    /// True once a directive was given by the user: the autoscheduler then keeps the stage as it is.
    bool touched = false;
};

/// specialize(condition): a copy of the stage's schedule that is used where the condition holds.
struct Specialization {
    Expr condition;
    std::vector<StageSchedule> stages;
};

struct Bound {
    std::string var;
    Expr min, extent;  ///< min may be undefined: only the extent is promised
};

struct FoldedDim {
    std::string var;
    Expr factor;
    bool forward = true;
};

/// What the user wants to see of a Func while it runs.
struct Trace {
    bool loads = false, stores = false, realizations = false;
    std::vector<std::string> tags;
};

/// How one Func is computed.
struct FuncSchedule {
    LoopLevel compute;  ///< default: inlined
    LoopLevel store;    ///< outside or equal to compute
    std::vector<Bound> bounds;
    std::vector<Bound> estimates;
    std::vector<FoldedDim> folds;
    std::vector<std::string> storage_order;  ///< innermost first; empty = the order of the arguments
    MemoryType memory = MemoryType::Auto;
    std::vector<StageSchedule> stages;  ///< 0 = pure definition
    std::vector<Specialization> specializations;
    Trace trace;
    /// True once a compute_*, store_* or other Func-level directive was given by the user.
    bool touched = false;
};

}  // namespace schedule

/// How a whole pipeline is computed: one FuncSchedule per Func, indexed by FuncId. What a user's
/// directives record and what the autoscheduler answers with; lowering cannot tell them apart.
struct Schedule {
    std::vector<schedule::FuncSchedule> funcs;

    schedule::FuncSchedule &operator[](FuncId id) { return funcs[static_cast<size_t>(id)]; }
    const schedule::FuncSchedule &operator[](FuncId id) const {
        return funcs[static_cast<size_t>(id)];
    }
};

}  // namespace Pipe
