#include "graph/check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/check_loops.h"
#include "graph/check_sharing.h"
#include "graph/check_storage.h"
#include "graph/extern_stage.h"
#include "schedule/print.h"
#include "schedule/specialize.h"
#include "support/error_text.h"

namespace Pipe::graph {
namespace {

using schedules::Dim;
using schedules::LoopLevel;
using schedules::StageSchedule;

/// A loop of a stage. For loops shared by compute_with, the stage that owns the loop.
struct Place {
    FuncId func = FuncId::None;
    int stage = 0;
    std::string var;
    bool operator==(const Place &) const = default;
};
using Path = std::vector<Place>;  // outermost first

bool is_prefix(const Path &outer, const Path &inner) {
    return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

class Checker {
  public:
    Checker(const Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule), paths_(graph.funcs.size()),
          levels_(graph.funcs.size()), whole_(read_as_whole(graph)) {}

    void check() {
        if (schedule_.funcs.size() != graph_.funcs.size())
            throw InternalError("the schedule does not belong to this graph");
        for (const FuncNode &f : graph_.funcs) {
            check_loops(f, schedule_[f.id]);
            reads_.emplace_back();
            for (const Stage &stage : f.stages)
                reads_.back().push_back(funcs_read(stage, f.id));
        }
        check_independence(graph_,
                           schedule_);  // otherwise a Func could be placed before its producer
        // Consumers first: their levels constrain those of their producers.
        for (auto f = graph_.funcs.rbegin(); f != graph_.funcs.rend(); ++f)
            place(*f);
        check_sharing(graph_, schedule_, [&](FuncId a, FuncId b) {
            return levels_[static_cast<size_t>(a)] == levels_[static_cast<size_t>(b)];
        });
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    // Per Func and stage: the loops around its innermost statement, outermost first.
    std::vector<std::vector<Path>> paths_;
    std::vector<Path> levels_;  // per Func: the loops around its computation
    std::vector<std::vector<std::vector<FuncId>>> reads_;  // per Func and stage
    std::vector<bool> whole_;                              // per Func: read by a C function
    std::set<FuncId> placed_;

    const StageSchedule &stage_schedule(const LoopLevel &level) const {
        return schedule_[level.func].stages[static_cast<size_t>(level.stage)];
    }

    // Checks of levels.

    void place(const FuncNode &f) {
        const schedules::FuncSchedule &s = schedule_[f.id];
        check_has_storage(f, s);
        if (!is_computed(f) || !placed_.insert(f.id).second)
            return;
        // A stage whose loops are shared is placed with the stage that shares them; some of its
        // readers may not be placed yet.
        for (FuncId consumer : f.consumers)
            place(graph_[consumer]);
        auto index = static_cast<size_t>(f.id);
        if (f.is_output && (s.compute.at() || s.store.at()))
            reject_directive(
                f, 0, s.compute.at() ? "compute_at" : "store_at",
                "it is an output of the pipeline, so it is computed at root. Leave the "
                "directive out, or give it to a Func that the output reads.");
        levels_[index] = s.compute.at()                        ? path_of(f, "compute_at", s.compute)
                         : s.compute.inlined() && !f.is_output ? common_path(f)
                                                               : Path();
        if (s.compute.at())
            check_encloses(f, levels_[index]);
        check_store(f, levels_[index]);
        check_memoize(f, levels_[index]);
        check_extern(f, levels_[index]);
        check_copied(f, levels_[index]);
        for (size_t i = 0; i < f.stages.size(); i++) {
            const LoopLevel &parent = s.stages[i].fuse_level;
            if (parent.at() && parent.func != f.id)
                place(graph_[parent.func]);
            paths_[index].push_back(stage_path(f, i));
        }
    }

    void check_copied(const FuncNode &f, const Path &compute) const {
        const schedules::CopiedTo to = schedule_[f.id].copied_to;
        for (const Place &place : compute)
            if (to != schedules::CopiedTo::Unspecified && is_gpu(kind_of(place)))
                reject_directive(
                    f, 0, schedules::to_string(to),
                    fmt::format("the host makes the copy, but {}({}) of {} makes a kernel of the "
                                "loops around "
                                "it. Compute it outside of them, or leave the directive out.",
                                schedules::to_string(kind_of(place)), place.var,
                                graph_[place.func].name));
    }

    /// The cache owns the storage of a memoized Func, which is looked up or computed as a whole.
    void check_memoize(const FuncNode &f, const Path &compute) const {
        const schedules::FuncSchedule &s = schedule_[f.id];
        if (!s.memoize)
            return;
        if (!(s.store == s.compute))
            reject_directive(
                f, 0, "memoize",
                fmt::format("it is stored at {}, but computed at {}, a part at a time. Store it "
                            "where it is computed (leave store_at out).",
                            describe(graph_, s.store), describe(graph_, s.compute)));
        if (!s.hoist.inlined())
            reject_directive(
                f, 0, "memoize",
                "its memory belongs to the memoization cache. Leave hoist_storage out.");
        if (s.memory != MemoryType::Auto && s.memory != MemoryType::Heap)
            reject_directive(f, 0, "memoize",
                             fmt::format("its memory belongs to the memoization cache. Leave "
                                         "store_in(MemoryType::{}) out.",
                                         schedules::to_string(s.memory)));
        if (s.async)
            reject_directive(f, 0, "memoize",
                             "a memoized Func is looked up by its consumer, so it cannot run in a "
                             "task of its own. Leave async() "
                             "out.");
        for (const Place &place : compute)
            if (kind_of(place) == LoopKind::Vectorized)
                reject_directive(f, 0, "memoize",
                                 fmt::format("it is memoized, and would be looked up in each lane "
                                             "of the vectorized loop '{}' "
                                             "of {}. Compute it outside of that loop.",
                                             place.var, graph_[place.func].name));
    }

    /// On a cache hit, everything computed inside the memoized Func is skipped: storage outside of
    /// it would remain unfilled, and a task started outside would wait for it.
    void check_not_skipped(const FuncNode &f, const std::string &directive, const Path &outside,
                           const Path &compute) const {
        for (const Place &place : compute) {
            // Storage that lives for one execution may enclose the lookup; a task would not be
            // waited for.
            size_t depth = levels_[static_cast<size_t>(place.func)].size() + (directive == "async");
            if (!schedule_[place.func].memoize || depth <= outside.size())
                continue;
            const FuncNode &skipped = graph_[place.func];
            reject_directive(
                f, 0, directive,
                fmt::format(
                    "it is computed in the loops of '{}', which are skipped if that Func is "
                    "found in the memoization cache, but {} longer than one execution of them. "
                    "Store it inside '{}', or compute it at {}.",
                    skipped.name,
                    directive == "async" ? "its task and its memory live" : "it is stored for",
                    skipped.name, describe(graph_, schedule_[skipped.id].compute)));
        }
    }

    /// A C function reads and writes whole arrays; accesses to single elements are unknown.
    void check_extern(const FuncNode &f, const Path &compute) const {
        const schedules::FuncSchedule &s = schedule_[f.id];
        if (!s.folds.empty() && (is_extern(f) || whole_[static_cast<size_t>(f.id)]))
            reject_directive(
                f, 0, fmt::format("fold_storage({})", s.folds[0].var),
                fmt::format("{} by a C function (define_extern), which needs all of it in "
                            "memory. Leave fold_storage() out.",
                            is_extern(f) ? "it is computed" : "it is read"));
        if (!is_extern(f))
            return;
        if (s.trace.stores)
            reject_directive(
                f, 0, "trace_stores",
                "a C function stores its values. Use trace_realizations(), or trace_loads() "
                "to trace the reads of it.");
        for (const Place &loop : compute)
            if (kind_of(loop) == LoopKind::Vectorized)
                reject_directive(
                    f, 0, "compute_at",
                    fmt::format(
                        "the loop '{}' of {} around it is vectorized, but a C function is "
                        "called for one iteration at a time. Compute it outside of that loop.",
                        loop.var, graph_[loop.func].name));
    }

    /// The loop of the level and the loops around it.
    Path path_of(const FuncNode &f, const char *directive, const LoopLevel &level) const {
        if (!level.at())
            return {};
        auto reject_level = [&](const std::string &why) {
            std::string target = level.func == FuncId::None ? "?" : graph_[level.func].name;
            reject_directive(f, 0, fmt::format("{}({}, {})", directive, target, level.var), why);
        };
        if (level.func == f.id)
            reject_level(
                "a Func cannot be computed inside itself. Name a loop of a Func that uses it.");
        if (!is_computed(graph_[level.func]))
            reject_level(fmt::format(
                "'{}' is inlined, so it has no loops. Give it compute_root() or compute_at().",
                graph_[level.func].name));
        const std::vector<Path> &paths = paths_[static_cast<size_t>(level.func)];
        const bool outermost = level.var == schedules::outermost_loop;  // of all its stages
        if (paths.size() <= (outermost ? 0 : static_cast<size_t>(level.stage)))
            reject_level(fmt::format("'{}' does not use '{}'. Name a loop of a Func that does.",
                                     graph_[level.func].name, f.name));
        if (outermost)
            return levels_[static_cast<size_t>(level.func)];
        const StageSchedule &s = stage_schedule(level);
        const Path &path = paths[static_cast<size_t>(level.stage)];
        for (size_t i = 0; i < s.dims.size(); i++)  // innermost first
            if (s.dims[i].name == level.var)
                return Path(path.begin(), path.end() - static_cast<long>(i));
        reject_level(fmt::format("there is no loop '{}'. Loops: {}.", level.var, names_of(s.dims)));
        return {};
    }

    template <typename F> void for_each_reader(const FuncNode &f, F &&visit) const {
        for (FuncId consumer : f.consumers)
            for (size_t i = 0; i < graph_[consumer].stages.size(); i++) {
                const std::vector<FuncId> &read = reads_[static_cast<size_t>(consumer)][i];
                if (std::binary_search(read.begin(), read.end(), f.id))
                    visit(graph_[consumer], i);
            }
    }

    Path common_path(const FuncNode &f) const {
        Path common;
        bool first = true;
        for_each_reader(f, [&](const FuncNode &consumer, size_t stage) {
            const Path &path = paths_[static_cast<size_t>(consumer.id)][stage];
            if (first) {
                common = path;
                first = false;
            } else {
                common.erase(
                    std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first,
                    common.end());
            }
        });
        return common;
    }

    void check_encloses(const FuncNode &f, const Path &level) const {
        for_each_reader(f, [&](const FuncNode &consumer, size_t stage) {
            if (is_prefix(level, paths_[static_cast<size_t>(consumer.id)][stage]))
                return;
            const LoopLevel &at = schedule_[f.id].compute;
            Path common = common_path(f);
            std::string possible = "compute_root()";
            if (!common.empty())
                possible =
                    fmt::format("compute_at({}, {}) or a loop around that, or compute_root()",
                                graph_[common.back().func].name, common.back().var);
            reject_directive(
                f, 0, fmt::format("compute_at({}, {})", graph_[at.func].name, at.var),
                fmt::format("'{}' is also used by {}{}, which is not inside {}. Use {}.", f.name,
                            definition_name(consumer, stage),
                            support::at(consumer.stages[stage].where), describe(graph_, at),
                            possible));
        });
    }

    void check_store(const FuncNode &f, const Path &compute) const {
        const schedules::FuncSchedule &s = schedule_[f.id];
        if (f.is_output)
            return;
        Path store = s.store.inlined() ? compute : path_of(f, "store_at", s.store);
        if (is_prefix(store, compute)) {
            check_not_skipped(f, "store_at or store_root", store, compute);
            return check_hoist(f, store, compute);
        }
        reject_directive(
            f, 0,
            s.store.root()
                ? "store_root"
                : fmt::format("store_at({}, {})", graph_[s.store.func].name, s.store.var),
            fmt::format("it is computed at {}, which is not inside its store level, {}. "
                        "Store it there or further out.",
                        describe(graph_, s.compute), describe(graph_, s.store)));
    }

    LoopKind kind_of(const Place &place) const {
        for (const Dim &d : schedule_[place.func].stages[static_cast<size_t>(place.stage)].dims)
            if (d.name == place.var)
                return d.kind;
        return LoopKind::Serial;
    }

    static bool blends(const StageSchedule &s) {
        return std::any_of(s.transforms.begin(), s.transforms.end(), [](const auto &t) {
            return t.tail == TailStrategy::ShiftInwardsAndBlend ||
                   t.tail == TailStrategy::RoundUpAndBlend ||
                   t.tail == TailStrategy::PredicateLoads;
        });
    }

    /// The memory must live at least as long as its contents, and belong to one thread and lane.
    void check_hoist(const FuncNode &f, const Path &store, const Path &compute) const {
        const schedules::FuncSchedule &s = schedule_[f.id];
        Path hoist = s.hoist.inlined() ? store : path_of(f, "hoist_storage", s.hoist);
        std::string level =
            s.hoist.root()
                ? "hoist_storage_root"
                : fmt::format("hoist_storage({}, {})",
                              s.hoist.at() ? graph_[s.hoist.func].name : "", s.hoist.var);
        if (!is_prefix(hoist, store))
            reject_directive(
                f, 0, level,
                fmt::format("it is stored at {}, which is not inside {}. Hoist it there or further "
                            "out.",
                            describe(graph_, s.store), describe(graph_, s.hoist)));
        if (s.ring_buffer.defined() && hoist == compute)
            reject_directive(f, 0, "ring_buffer",
                             "its memory is allocated where it is computed, so there is no loop in "
                             "whose iterations the copies could be used in turn. Hoist the storage "
                             "further out.");
        if (s.async)
            check_not_skipped(f, "async", hoist, compute);
        // A pure value is at worst stored twice; a C function may store another value the second
        // time.
        bool harmless = s.stages[0].allow_race_conditions ||
                        (hoist == store && !f.has_updates() && !is_extern(f) &&
                         !blends(s.stages[0]) && !s.async);
        for (size_t i = hoist.size(); i < compute.size() && !harmless; i++) {
            const bool lanes = kind_of(compute[i]) == LoopKind::Vectorized;
            if (!is_unordered(kind_of(compute[i])))
                continue;
            const char *kind = lanes                         ? "vectorized"
                               : is_gpu(kind_of(compute[i])) ? "GPU"
                                                             : "parallel";
            std::string directive =
                !s.hoist.inlined() ? level
                : s.store.root()
                    ? "store_root"
                    : fmt::format("store_at({}, {})", graph_[s.store.func].name, s.store.var);
            reject_directive(
                f, 0, directive,
                fmt::format("the {} loop '{}' of {} lies between its store level and its compute "
                            "level, so {} would overwrite values that others still need. Store it "
                            "inside the {} loop{}.",
                            kind, compute[i].var, graph_[compute[i].func].name,
                            lanes ? "lanes" : "threads", kind,
                            lanes ? ", or compute it outside" : ""));
        }
    }

    Path stage_path(const FuncNode &f, size_t stage) {
        Path path = levels_[static_cast<size_t>(f.id)];
        const StageSchedule &s = schedule_[f.id].stages[stage];
        const Path *parent = nullptr;
        if (s.fuse_level.at() && placed_.count(s.fuse_level.func)) {
            const auto &stages = paths_[static_cast<size_t>(s.fuse_level.func)];
            if (static_cast<size_t>(s.fuse_level.stage) < stages.size())
                parent = &stages[static_cast<size_t>(s.fuse_level.stage)];
        }
        bool sharing = parent != nullptr;
        for (size_t i = s.dims.size(); i-- > 0;) {
            if (sharing && path.size() < parent->size()) {
                path.push_back((*parent)[path.size()]);
                sharing = path.back().var != s.fuse_level.var;
            } else {
                path.push_back({f.id, static_cast<int>(stage), s.dims[i].name});
            }
        }
        return path;
    }
};

}  // namespace

void check(const Graph &inlined, const schedules::Schedule &schedule) {
    for (const FuncNode &f : inlined.funcs)
        if (!f.is_output && f.consumers.empty() && schedule[f.id].compute.inlined() &&
            !schedule[f.id].stages[0].specializations.empty())
            reject_directive(f, 0, "specialize",
                             "it is inlined, so it has no loops. Give it compute_root() or "
                             "compute_at(), or leave the directive out.");
    for (const FuncNode &f : inlined.funcs)
        check_nontemporal(inlined, f, schedule);
    int left = schedules::max_variants;
    schedules::for_each_variant(
        schedule, [&](const schedules::Schedule &variant) { Checker(inlined, variant).check(); },
        &left);
}

}  // namespace Pipe::graph
