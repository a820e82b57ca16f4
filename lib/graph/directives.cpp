#include "graph/directives.h"

#include <algorithm>
#include <utility>

#include "schedule/print.h"

namespace Pipe::graph {
namespace {

using schedules::LoopLevel;
using schedules::StageSchedule;
using schedules::Transform;
using Kind = Argument::Kind;

Argument number(const Expr &e) {
    return {.kind = Kind::Number, .number = e};
}

Argument word(const char *scope, const char *value) {
    return {.kind = Kind::Word, .text = value, .scope = scope};
}

Argument text(const std::string &value) {
    return {.kind = Kind::Text, .text = value};
}

Argument flag(bool value) {
    return {.kind = Kind::Flag, .flag = value};
}

/// Whether the loops are in another order than initially.
bool reordered(const FuncNode &f, size_t s, const StageSchedule &schedule) {
    std::vector<std::string> initial, now;
    for (const ReductionVar &r : f.stages[s].rvars)
        initial.push_back(r.name);
    for (const std::string &arg : f.args)
        initial.push_back(arg);
    for (const auto &d : schedule.dims)
        now.push_back(d.name);
    auto absent = [&](const std::string &n) { return std::count(now.begin(), now.end(), n) == 0; };
    initial.erase(std::remove_if(initial.begin(), initial.end(), absent), initial.end());
    return initial != now;
}

class DirectiveCollector {
  public:
    DirectiveCollector(const Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule) {}

    std::vector<Statement> collect() {
        for (auto f = graph_.funcs.rbegin(); f != graph_.funcs.rend(); ++f) {
            if (f->is_copy)
                continue;
            for (size_t s = 0; s < f->stages.size(); s++)
                loops(*f, s, schedule_[f->id].stages[s], {});
            func(*f);
        }
        for (const FuncNode &f : graph_.funcs)
            for (size_t s = 0; s < f.stages.size() && !f.is_copy; s++)
                sharing(f, s);
        return std::move(result_);
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    std::vector<Statement> result_;

    void add(const FuncNode &f, int stage, std::vector<int> specialized,
             std::vector<Directive> directives) {
        if (!directives.empty())
            result_.push_back({f.id, stage, std::move(specialized), std::move(directives)});
    }

    static Argument loop(const FuncNode &f, size_t stage, const std::string &name) {
        return {.kind = Kind::Loop, .text = name, .func = f.id, .stage = static_cast<int>(stage)};
    }

    /// The directives on a stage's loops, or those of one specialization of them. Specializations
    /// come first, so that each starts from the initial loops.
    void loops(const FuncNode &f, size_t s, const StageSchedule &schedule,
               const std::vector<int> &specialized) {
        for (size_t i = 0; i < schedule.specializations.size(); i++) {
            const schedules::Specialization &special = schedule.specializations[i];
            const int stage = static_cast<int>(s);
            if (!special.condition.defined()) {
                add(f, stage, specialized, {{"specialize_fail", {text(special.failure)}}});
                continue;
            }
            add(f, stage, specialized, {{"specialize", {number(special.condition)}}});
            std::vector<int> inner = specialized;
            inner.push_back(static_cast<int>(i));
            loops(f, s, special.schedule, inner);
        }
        std::vector<Directive> calls = transforms(f, s, schedule);
        kinds(f, s, schedule, calls);
        others(f, s, schedule, calls);
        const bool none =
            calls.empty() && schedule.specializations.empty() && !schedule.fuse_level.at();
        if (none && schedule.touched && specialized.empty())
            calls.push_back({"unscheduled"});
        add(f, static_cast<int>(s), specialized, std::move(calls));
    }

    static std::vector<Directive> transforms(const FuncNode &f, size_t s,
                                             const StageSchedule &schedule) {
        std::vector<Directive> calls;
        auto name = [&](const std::string &n) { return loop(f, s, n); };
        for (const Transform &t : schedule.transforms) {
            switch (t.kind) {
            case Transform::Kind::Fuse:
                calls.push_back({"fuse", {name(t.inner), name(t.outer), name(t.old_name)}});
                break;
            case Transform::Kind::Rename:
                calls.push_back({"rename", {name(t.old_name), name(t.outer)}});
                break;
            case Transform::Kind::Split:
                calls.push_back(
                    {"split", {name(t.old_name), name(t.outer), name(t.inner), number(t.factor)}});
                if (t.tail != TailStrategy::Auto)
                    calls.back().args.push_back(word("TailStrategy", schedules::to_string(t.tail)));
            }
        }
        if (schedule.dims.size() > 1 &&
            (!schedule.transforms.empty() || reordered(f, s, schedule))) {
            calls.push_back({"reorder"});
            for (const auto &d : schedule.dims)
                calls.back().args.push_back(name(d.name));
        }
        return calls;
    }

    /// An argument for the device, unless it is the default.
    static std::vector<Argument> device(DeviceAPI api) {
        if (api == DeviceAPI::Default_GPU)
            return {};
        return {word("DeviceAPI", schedules::to_string(api))};
    }

    static void kinds(const FuncNode &f, size_t s, const StageSchedule &schedule,
                      std::vector<Directive> &calls) {
        for (const auto &d : schedule.dims) {
            if (d.kind != LoopKind::Serial) {
                calls.push_back({schedules::to_string(d.kind), {loop(f, s, d.name)}});
                if (is_gpu(d.kind))
                    for (const Argument &a : device(d.device))
                        calls.back().args.push_back(a);
            }
            if (d.partition != Partition::Auto)
                calls.push_back(
                    {d.partition == Partition::Never ? "never_partition" : "always_partition",
                     {loop(f, s, d.name)}});
        }
    }

    static void others(const FuncNode &f, size_t s, const StageSchedule &schedule,
                       std::vector<Directive> &calls) {
        for (const schedules::Prefetch &p : schedule.prefetches)
            calls.push_back({"prefetch",
                             {{.kind = Kind::Source, .text = p.source},
                              loop(f, s, p.at),
                              loop(f, s, p.from),
                              number(p.offset),
                              word("PrefetchBoundStrategy", schedules::to_string(p.strategy))}});
        if (schedule.single_thread_device)
            calls.push_back({"gpu_single_thread", device(*schedule.single_thread_device)});
        if (schedule.atomic)
            calls.push_back({"atomic", schedule.override_associativity_test
                                           ? std::vector<Argument>{flag(true)}
                                           : std::vector<Argument>{}});
        if (schedule.allow_race_conditions)
            calls.push_back({"allow_race_conditions"});
    }

    /// compute_at and the like; at the root, "compute_root".
    Directive level(const std::string &directive, const LoopLevel &at) const {
        if (at.root())
            return {directive == "hoist_storage"
                        ? "hoist_storage_root"
                        : directive.substr(0, directive.size() - 3) + "_root"};
        const FuncNode &f = graph_[at.func];
        const bool any_stage = !at.loops.empty();
        return {directive,
                {{.kind = any_stage ? Kind::Func : Kind::Stage, .func = f.id, .stage = at.stage},
                 loop(f, static_cast<size_t>(at.stage), at.var)}};
    }

    void func(const FuncNode &f) {
        const schedules::FuncSchedule &s = schedule_[f.id];
        std::vector<Directive> calls;
        if (s.unroll_updates)
            calls.push_back({"unroll_updates"});
        if (!s.compute.inlined() && !f.is_output)
            calls.push_back(level("compute_at", s.compute));
        if (!s.store.inlined() && !f.is_output && !(s.store == s.compute))
            calls.push_back(level("store_at", s.store));
        if (!s.hoist.inlined() && !f.is_output)
            calls.push_back(level("hoist_storage", s.hoist));
        region(f, s, calls);
        storage(f, s, calls);
        for (const auto &[on, call] :
             {std::pair{s.trace.loads, "trace_loads"}, std::pair{s.trace.stores, "trace_stores"},
              std::pair{s.trace.realizations, "trace_realizations"}})
            if (on)
                calls.push_back({call});
        for (const std::string &tag : s.trace.tags)
            calls.push_back({"add_trace_tag", {text(tag)}});
        if (s.copied_to != schedules::CopiedTo::Unspecified)
            calls.push_back({schedules::to_string(s.copied_to)});
        if (s.no_profiling)
            calls.push_back({"no_profiling"});
        if (s.ring_buffer.defined())
            calls.push_back({"ring_buffer", {number(s.ring_buffer)}});
        if (s.memoize) {
            calls.push_back({"memoize"});
            if (const Expr &key = s.memoize->eviction_key; key.defined())
                calls.back().args = {{.kind = Kind::Number, .scope = "EvictionKey", .number = key}};
        }
        if (s.async)
            calls.push_back({"async"});
        if (s.nontemporal_stores)
            calls.push_back({"store_nontemporal"});
        if (s.nontemporal_loads)
            calls.push_back({"load_nontemporal"});
        add(f, -1, {}, std::move(calls));
    }

    /// What is promised of the region that is computed.
    static void region(const FuncNode &f, const schedules::FuncSchedule &s,
                       std::vector<Directive> &calls) {
        for (const schedules::Bound &b : s.bounds) {
            if (b.min.defined())
                calls.push_back({"bound", {loop(f, 0, b.var), number(b.min), number(b.extent)}});
            else
                calls.push_back({"bound_extent", {loop(f, 0, b.var), number(b.extent)}});
        }
        for (const schedules::Alignment &a : s.alignments) {
            if (a.remainder.defined())
                calls.push_back(
                    {"align_bounds", {loop(f, 0, a.var), number(a.modulus), number(a.remainder)}});
            else
                calls.push_back({"align_extent", {loop(f, 0, a.var), number(a.modulus)}});
        }
    }

    static void storage(const FuncNode &f, const schedules::FuncSchedule &s,
                        std::vector<Directive> &calls) {
        for (const schedules::StorageDim &d : s.storage_dims) {
            if (d.alignment.defined())
                calls.push_back({"align_storage", {loop(f, 0, d.var), number(d.alignment)}});
            if (d.bound.defined())
                calls.push_back({"bound_storage", {loop(f, 0, d.var), number(d.bound)}});
        }
        for (const schedules::FoldedDim &fold : s.folds) {
            calls.push_back({"fold_storage", {loop(f, 0, fold.var), number(fold.factor)}});
            if (!fold.forward)
                calls.back().args.push_back(flag(false));
        }
        if (!s.storage_order.empty()) {
            Argument order{.kind = Kind::List};
            for (const std::string &dim : s.storage_order)
                order.list.push_back(loop(f, 0, dim));
            calls.push_back({"reorder_storage", {order}});
        }
        if (s.memory != MemoryType::Auto)
            calls.push_back({"store_in", {word("MemoryType", schedules::to_string(s.memory))}});
    }

    void sharing(const FuncNode &f, size_t s) {
        const StageSchedule &stage = schedule_[f.id].stages[s];
        const LoopLevel &with = stage.fuse_level;
        if (!with.at())
            return;
        const FuncNode &other = graph_[with.func];
        Directive call{"compute_with",
                       {{.kind = with.stage == 0 ? Kind::Func : Kind::Stage,
                         .func = with.func,
                         .stage = with.stage},
                        loop(other, static_cast<size_t>(with.stage), with.var)}};
        Argument align{.kind = Kind::List, .scope = "LoopAlignments"};
        for (const auto &[name, strategy] : stage.fuse_align)
            align.list.push_back(
                {.kind = Kind::List,
                 .list = {loop(f, s, name),
                          word("LoopAlignStrategy", schedules::to_string(strategy))}});
        if (!align.list.empty())
            call.args.push_back(align);
        add(f, static_cast<int>(s), {}, {call});
    }
};

}  // namespace

std::vector<Statement> directives(const Graph &graph, const schedules::Schedule &schedule) {
    return DirectiveCollector(graph, schedule).collect();
}

}  // namespace Pipe::graph
