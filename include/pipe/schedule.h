#pragma once
// Enums of schedules, and Schedule itself: how a pipeline is computed, as plain data.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pipe/error.h>
#include <pipe/expr.h>
#include <pipe/loop_kind.h>
#include <pipe/target.h>

namespace Pipe {

/// How to handle the last iterations of a split loop if the factor does not divide the extent, with
/// Halide's semantics.
enum class TailStrategy : uint8_t {
    /// Rounds the extent up: computes and stores beyond the requested region, so an output must be
    /// a multiple of the factor. Not for RVars.
    RoundUp,
    /// Adds a test inside the loop; never accesses anything outside. Always legal.
    GuardWithIf,
    /// As GuardWithIf: in vectorized loops, both mask loads and stores.
    Predicate,
    /// Guards the loads only: stores go beyond the region, as with RoundUp. Not for RVars; the
    /// resulting loops cannot be split again. Of an atomic() update: as GuardWithIf, because its
    /// stores load what was there before.
    PredicateLoads,
    /// Guards the stores only: loads go beyond the region, as with RoundUp. Otherwise as
    /// PredicateLoads.
    PredicateStores,
    /// Shifts the last iteration inwards so that it ends at the boundary, which computes some
    /// points twice: for pure definitions, and for updates that do not read their own Func. The
    /// extent must be at least the factor. Not for RVars.
    ShiftInwards,
    /// As ShiftInwards, but points that were computed before keep their value, so it is also valid
    /// for updates. The loop must not be parallel.
    ShiftInwardsAndBlend,
    /// As RoundUp, but points beyond the requested region keep their value. The loop must not be
    /// parallel.
    RoundUpAndBlend,
    /// ShiftInwards for pure definitions, GuardWithIf for RVars and updates.
    Auto,
};

/// How the shared loops of compute_with are aligned if the ranges of the two stages differ.
enum class LoopAlignStrategy : uint8_t {
    AlignStart,  ///< shifts the range of the second stage so that both begin in the same iteration
    AlignEnd,    ///< shifts it so that both end in the same iteration
    NoAlign,     ///< each stage keeps its own coordinates
    Auto,        ///< NoAlign
};

/// Identifies a Func within one graph.
enum class FuncId : int32_t { None = -1 };

namespace schedules {

/// The name of the place outside all loops of a Func: see Var::outermost().
inline constexpr const char *outermost_loop = "__outermost";

/// A position in the loop nest: none (inlined), outside all loops (root), or just inside the loop
/// `var` of stage `stage` of `func`; with Var::outermost(), the position at which `func` itself is
/// computed.
struct LoopLevel {
    enum class Kind : uint8_t { Inlined, Root, At };
    Kind kind = Kind::Inlined;
    FuncId func = FuncId::None;
    int stage = 0;
    std::string var{};
    /// Front end only, until the graph is frozen: the Func by its number in the process, and its name.
    uint64_t func_number = 0;
    std::string func_name{};
    /// If the user named no stage: the loop's name in each stage of `func`, "" if it has none.
    std::vector<std::string> loops{};

    bool inlined() const { return kind == Kind::Inlined; }
    bool root() const { return kind == Kind::Root; }
    bool at() const { return kind == Kind::At; }
    bool operator==(const LoopLevel &) const;  // ignores what is for the front end only
};

/// One transformation of a stage's loop nest, in the order in which the user gave them.
struct Transform {
    enum class Kind : uint8_t { Split, Fuse, Rename };
    Kind kind = Kind::Split;
    std::string old_name;  ///< Split, Rename: the old loop. Fuse: the fused loop
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
    Partition partition = Partition::Auto;
    DeviceAPI device = DeviceAPI::Host;  ///< device of a GPU loop
    bool operator==(const Dim &) const = default;
};

/// prefetch(): inside loop `at`, prefetches the data of a Func or image that is read in the
/// iteration of loop `from` that lies `offset` ahead.
struct Prefetch {
    std::string source;  ///< name of the Func or image in the graph
    std::string at, from;
    Expr offset;
    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
    uint64_t source_number = 0;  ///< front end only: the same object by its number in the process
};

struct Specialization;

/// The loop nest of one stage (the pure definition or an update).
struct StageSchedule {
    std::vector<Transform> transforms;
    std::vector<Dim> dims;  ///< innermost first; the loops that remain after all transforms
    /// compute_with: this stage shares the loops of `fuse_level`, from the outermost in to `var`.
    LoopLevel fuse_level;  ///< inlined() = not fused
    /// The shared loops whose range is shifted so that it starts, or ends, with the other stage's.
    std::vector<std::pair<std::string, LoopAlignStrategy>> fuse_align;
    std::vector<Prefetch> prefetches;
    /// Tested in this order before this schedule is used.
    std::vector<Specialization> specializations;
    bool allow_race_conditions = false;
    /// gpu_single_thread(): all loops run in one thread of this device.
    std::optional<DeviceAPI> single_thread_device;
    /// atomic(): updates of the same element by parallel iterations or vector lanes are atomic.
    bool atomic = false;
    bool override_associativity_test = false;
    /// True once the user has given a directive: the autoscheduler then leaves the stage alone.
    bool touched = false;
};

/// specialize(condition): a copy of the stage's schedule that is used if the condition holds.
struct Specialization {
    Expr condition;          ///< undefined = always: specialize_fail
    StageSchedule schedule;  ///< with specializations of its own
    std::string failure;     ///< specialize_fail(): the message
};

struct Bound {
    std::string var;
    Expr min, extent;  ///< min may be undefined: only the extent is promised
};

/// align_bounds(), align_extent(): the computed region is expanded to a multiple.
struct Alignment {
    std::string var;
    Expr modulus;
    Expr remainder;  ///< of the min; undefined = only the extent is aligned
};

struct FoldedDim {
    std::string var;
    Expr factor;
    bool forward = true;
};

/// The events of a Func that are traced.
struct Trace {
    bool loads = false, stores = false, realizations = false;
    std::vector<std::string> tags;
};

/// memoize(): the values are cached between calls.
struct Memoized {
    Expr eviction_key;      ///< uint64, selects entries to evict; undefined = none
    std::vector<Expr> key;  ///< what the values depend on; set when the graph is frozen
};

/// Whose memory copy_to_device() or copy_to_host() wants the elements in.
enum class CopiedTo : uint8_t { Unspecified, Device, Host };

/// align_storage(), bound_storage(): the extent of one dimension of the storage.
struct StorageDim {
    std::string var;
    Expr alignment;  ///< a multiple of this; undefined = none
    Expr bound;      ///< exactly this; undefined = as needed
};

/// The schedule of one Func.
struct FuncSchedule {
    LoopLevel compute;  ///< default: inlined
    LoopLevel store;    ///< outside or equal to compute
    LoopLevel hoist;    ///< where the memory is allocated: outside or equal to store
    std::vector<Bound> bounds;
    std::vector<Bound> estimates;
    std::vector<Alignment> alignments;
    std::vector<FoldedDim> folds;
    std::vector<StorageDim> storage_dims;
    std::vector<std::string>
        storage_order;  ///< innermost first; empty = the order of the arguments
    MemoryType memory = MemoryType::Auto;
    std::vector<StageSchedule> stages;  ///< 0 = pure definition
    Trace trace;
    std::optional<Memoized> memoize;
    Expr ring_buffer;    ///< number of copies of the storage; undefined = one
    bool async = false;  ///< computed in a task of its own
    bool nontemporal_stores = false, nontemporal_loads = false;
    CopiedTo copied_to = CopiedTo::Unspecified;
    bool no_profiling = false;
    bool unroll_updates = false;  ///< its updates became part of the pure definition
    /// True once the user has given a compute_*, store_* or other directive on the whole Func.
    bool touched = false;
};

/// The schedule of a whole pipeline: one FuncSchedule per Func, indexed by FuncId. Directives and
/// the autoscheduler both produce this; lowering does not distinguish them.
struct Schedule {
    std::vector<FuncSchedule> funcs;

    FuncSchedule &operator[](FuncId id) { return funcs[static_cast<size_t>(id)]; }
    const FuncSchedule &operator[](FuncId id) const { return funcs[static_cast<size_t>(id)]; }
};

}  // namespace schedules

}  // namespace Pipe
