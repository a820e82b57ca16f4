#include "graph/check_loops.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/loops.h"
#include "schedule/loops.h"
#include "schedule/print.h"
#include "support/text.h"

namespace Pipe::graph {
namespace {

using schedules::Dim;
using schedules::StageSchedule;

/// Loops named by a prefetch may have been split or fused since.
void check_prefetches(const FuncNode &f, size_t index, const StageSchedule &s) {
    for (const schedules::Prefetch &p : s.prefetches)
        for (const std::string &loop : {p.at, p.from})
            if (std::none_of(s.dims.begin(), s.dims.end(),
                             [&](const Dim &d) { return d.name == loop; }))
                reject_directive(
                    f, index, fmt::format("prefetch({}, {}, {})", p.source, p.at, p.from),
                    fmt::format(
                        "the loop '{}' no longer exists. Prefetch after split(), fuse() and "
                        "rename(), at one of the resulting loops: {}.",
                        loop, names_of(s.dims)));
}

void check_partition(const FuncNode &f, size_t index, const StageSchedule &s) {
    for (const Dim &d : s.dims)
        if (d.partition == Partition::Always && needs_constant_extent(d.kind))
            reject_directive(f, index, fmt::format("always_partition({})", d.name),
                             "the loop is vectorized or unrolled, so it cannot be partitioned. "
                             "Leave always_partition() out.");
}

/// A blend reads the element that it overwrites: another thread may be storing it.
void check_blends(const FuncNode &f, size_t index, const StageSchedule &s,
                  const schedules::Replay &loops) {
    using Transform = schedules::Transform;
    for (size_t i = 0; i < s.transforms.size(); i++) {
        const Transform &t = s.transforms[i];
        bool blends =
            t.tail == TailStrategy::ShiftInwardsAndBlend || t.tail == TailStrategy::RoundUpAndBlend;
        if (t.kind != Transform::Kind::Split || !blends)
            continue;
        std::vector<Transform> until(s.transforms.begin(),
                                     s.transforms.begin() + static_cast<long>(i));
        auto before = schedules::replay(initial_loops(f.args, f.stages[index]), until);
        const auto &roots = before.find(t.old_name)->roots;
        for (const Dim &d : s.dims) {
            const auto &of = loops.find(d.name)->roots;
            bool part =
                std::find_first_of(of.begin(), of.end(), roots.begin(), roots.end()) != of.end();
            if (is_threaded(d.kind) && part)
                reject_directive(
                    f, index, fmt::format("{}({})", schedules::to_string(d.kind), d.name),
                    fmt::format("the loop comes from '{}', which is split with "
                                "TailStrategy::{}: threads would overwrite values that others "
                                "store. Use GuardWithIf.",
                                t.old_name, schedules::to_string(t.tail)));
        }
    }
}

void check_stage(const FuncNode &f, size_t index, const StageSchedule &s) {
    const Stage &stage = f.stages[index];
    schedules::Replay loops = schedules::replay(initial_loops(f.args, stage), s.transforms);
    if (!loops.error.empty())
        reject_directive(f, index, "split or fuse", loops.error + ".");
    bool complete = loops.loops.size() == s.dims.size();
    for (const Dim &d : s.dims)
        complete &= loops.find(d.name) != nullptr;
    if (!complete)
        reject_directive(f, index, "reorder",
                         fmt::format("the loop order {} does not list the existing loops. Name "
                                     "each loop once.",
                                     names_of(s.dims)));
    check_prefetches(f, index, s);
    check_partition(f, index, s);
    if (s.atomic && index == 0)
        reject_directive(f, index, "atomic",
                         "the pure definition stores every element once, so no updates have to be "
                         "atomic. Give it to an update: update().atomic().");
    if (!s.allow_race_conditions)
        check_blends(f, index, s, loops);
}

/// The loop that the user named: vectorize(x, 8) splits x, and marks "x_lane".
std::string as_written(const StageSchedule &s, const std::string &loop) {
    for (const schedules::Transform &t : s.transforms)
        if (t.kind == schedules::Transform::Kind::Split && t.outer == t.old_name &&
            t.inner == loop && loop.starts_with(fmt::format("{}_", t.old_name)))
            return t.old_name;
    return loop;
}

}  // namespace

std::string names_of(const std::vector<Dim> &dims) {
    std::vector<std::string> names;
    for (const Dim &d : dims)
        names.push_back(d.name);
    return names.empty() ? "none" : support::join(names) + " (innermost first)";
}

std::string loop_directive(const FuncNode &f, const schedules::FuncSchedule &func) {
    const StageSchedule &s = func.stages[0];
    for (const Dim &d : s.dims)
        if (d.kind != LoopKind::Serial)
            return fmt::format("{}({})", schedules::to_string(d.kind), as_written(s, d.name));
    if (!s.transforms.empty()) {
        const schedules::Transform &t = s.transforms[0];
        using Kind = schedules::Transform::Kind;
        return t.kind == Kind::Fuse
                   ? fmt::format("fuse({}, {}, {})", t.inner, t.outer, t.old_name)
                   : fmt::format("{}({})", t.kind == Kind::Split ? "split" : "rename", t.old_name);
    }
    for (size_t i = 0; i < s.dims.size(); i++)
        if (s.dims[i].name != f.args[i])
            return "reorder";
    for (const Dim &d : s.dims)
        if (d.partition != Partition::Auto)
            return fmt::format("partition({})", d.name);
    if (!s.prefetches.empty())
        return fmt::format("prefetch({})", s.prefetches[0].source);
    if (!s.fuse_level.inlined())
        return "compute_with";
    if (!func.bounds.empty())
        return fmt::format("{}({})", func.bounds[0].min.defined() ? "bound" : "bound_extent",
                           func.bounds[0].var);
    if (!func.alignments.empty())
        return fmt::format("{}({})",
                           func.alignments[0].remainder.defined() ? "align_bounds" : "align_extent",
                           func.alignments[0].var);
    return func.nontemporal_stores   ? "store_nontemporal"
           : func.nontemporal_loads  ? "load_nontemporal"
           : func.no_profiling       ? "no_profiling"
           : s.allow_race_conditions ? "allow_race_conditions"
                                     : "";
}

void check_loops(const FuncNode &f, const schedules::FuncSchedule &s) {
    if (s.stages.size() != f.stages.size())
        throw InternalError("the schedule of " + f.name + " has another number of stages");
    for (size_t i = 0; i < f.stages.size(); i++)
        check_stage(f, i, s.stages[i]);
}

std::string describe(const Graph &graph, const schedules::LoopLevel &level) {
    if (level.root())
        return "root";
    if (level.inlined())
        return "the place where it is used (inlined)";
    if (level.var == schedules::outermost_loop)
        return "the level at which " + graph[level.func].name + " is computed";
    return fmt::format("loop '{}' of {}", level.var,
                       definition_name(graph[level.func], static_cast<size_t>(level.stage)));
}

}  // namespace Pipe::graph
