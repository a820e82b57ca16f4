#include "graph/schedule_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "ir/print.h"
#include "ir/substitute.h"
#include "schedule/print.h"
#include <pipe/var.h>

namespace Pipe::graph {
namespace {

using schedules::LoopLevel;
using schedules::StageSchedule;
using schedules::Transform;

/// Maps variables of the graph to C++ expressions.
std::map<std::string, Expr> cpp_names(const Graph &graph) {
    std::map<std::string, Expr> names;
    auto add = [&](Type type, const std::string &name, const std::string &text) {
        names[name] = ir::make_variable(type, text);
    };
    for (const Scalar &scalar : graph.scalars)
        add(scalar.type, scalar.name, identifier(scalar.name));
    for (const Image &image : graph.images)
        for (int d = 0; d < image.dimensions; d++)
            for (const char *what : {"min", "extent"})
                add(Int(32), fmt::format("{}.{}.{}", image.name, what, d),
                    fmt::format("{}.dim({}).{}()", identifier(image.name), d, what));
    return names;
}

class Writer {
  public:
    Writer(const Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule), cpp_names_(cpp_names(graph)) {}

    std::string write() {
        // Consumers first, so that the loops named by compute_at exist.
        for (auto f = graph_.funcs.rbegin(); f != graph_.funcs.rend(); ++f) {
            if (f->is_copy)
                continue;
            for (size_t s = 0; s < f->stages.size(); s++)
                loops(*f, s);
            func(*f);
        }
        for (const FuncNode &f : graph_.funcs)
            for (size_t s = 0; s < f.stages.size() && !f.is_copy; s++)
                sharing(f, s);
        for (const FuncNode &f : graph_.funcs)
            wrapper(f);
        std::string text = wrappers_ + declarations() + out_;
        return "{\n" + undeclared(text) + text + "}\n";
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    const std::map<std::string, Expr> cpp_names_;
    std::string out_, wrappers_;
    std::set<std::string> declared_;                // wrappers that are declared
    std::set<std::string> new_loops_;               // names of loops created by transforms
    std::map<std::string, std::string> variables_;  // identifier -> initializer

    /// Declarations for the unnamed Funcs in `text`, by their index in the pipeline before in(),
    /// clone_in() and rfactor() add Funcs.
    std::string undeclared(const std::string &text) const {
        std::string result;
        int place = 0;
        for (const FuncNode &f : graph_.funcs) {
            if (f.is_copy || !f.made_by.empty())
                continue;
            if (!f.is_declared && mentions(text, f.variable))
                result += fmt::format("Func {} = pipeline.get_func({});\n", f.variable, place);
            place++;
        }
        return result;
    }

    static bool mentions(const std::string &text, const std::string &identifier) {
        auto part_of_name = [&](size_t i) {
            return i < text.size() &&
                   (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
        };
        for (size_t at = text.find(identifier); at != std::string::npos;
             at = text.find(identifier, at + 1))
            if (!(at > 0 && part_of_name(at - 1)) && !part_of_name(at + identifier.size()))
                return true;
        return false;
    }

    std::string declarations() const {
        std::string text;
        for (const auto &[variable, value] : variables_)
            text += fmt::format("const auto {} = {};\n", variable, value);
        for (const std::string &name : new_loops_)
            text += fmt::format("Var {0}(\"{0}\");\n", identifier(name));
        return text;
    }

    /// Declares a Func created by in() or clone_in(), after the object that it wraps.
    void wrapper(const FuncNode &f) {
        if (f.made_by.empty() || !declared_.insert(f.name).second)
            return;
        for (const FuncNode &of : graph_.funcs)
            if (of.variable == f.made_of)
                wrapper(of);
        wrappers_ += fmt::format("Func {} = {};\n", f.variable, f.made_by);
    }

    std::string text(const Expr &e) const { return ir::to_string(ir::substitute(cpp_names_, e)); }

    std::string stage_name(const FuncNode &f, size_t s) const {
        std::string name = f.variable;
        return s == 0 ? name : fmt::format("{}.update({})", name, s - 1);
    }

    /// The C++ name of a loop: a Var of the definition is given by its position, because it may
    /// have no name.
    std::string loop(const FuncNode &f, size_t s, const std::string &name) {
        auto place = [&](const auto &list, auto &&get) -> int {
            for (size_t i = 0; i < list.size(); i++)
                if (get(list[i]) == name)
                    return static_cast<int>(i);
            return -1;
        };
        int arg = place(f.args, [](const std::string &a) { return a; });
        int rvar = place(f.stages[s].rvars, [](const ReductionVar &r) { return r.name; });
        if (arg < 0 && rvar < 0) {
            new_loops_.insert(name);
            return identifier(name);
        }
        std::string variable = identifier(arg >= 0 ? f.variable + "_" + name
                                                   : fmt::format("{}_{}_{}", f.variable, s, name));
        variables_[variable] = arg >= 0 ? fmt::format("{}.args()[{}]", f.variable, arg)
                                        : fmt::format("{}.loops()[{}]", stage_name(f, s), rvar);
        return variable;
    }

    /// "DeviceAPI::CUDA" after `separator`; "" for the default.
    static std::string device(DeviceAPI api, const char *separator) {
        return api == DeviceAPI::Default_GPU
                   ? ""
                   : fmt::format("{}DeviceAPI::{}", separator, schedules::to_string(api));
    }

    void chain(const std::string &start, const std::vector<std::string> &calls) {
        if (calls.empty())
            return;
        out_ += start;
        for (const std::string &call : calls)
            out_ += "\n    ." + call;
        out_ += ";\n";
    }

    void loops(const FuncNode &f, size_t s) {
        loops(f, s, schedule_[f.id].stages[s], stage_name(f, s));
    }

    /// The directives on a stage's loops, applied to the C++ expression `stage`.
    void loops(const FuncNode &f, size_t s, const StageSchedule &schedule,
               const std::string &stage) {
        specializations(f, s, schedule, stage);
        std::vector<std::string> calls;
        auto name = [&](const std::string &n) { return loop(f, s, n); };
        for (const Transform &t : schedule.transforms)
            calls.push_back(transform(t, name));
        if (schedule.dims.size() > 1 &&
            (!schedule.transforms.empty() || reordered(f, s, schedule))) {
            std::vector<std::string> order;
            for (const auto &d : schedule.dims)
                order.push_back(name(d.name));
            calls.push_back(fmt::format("reorder({})", fmt::join(order, ", ")));
        }
        for (const auto &d : schedule.dims) {
            if (d.kind != LoopKind::Serial)
                calls.push_back(fmt::format("{}({}{})", schedules::to_string(d.kind), name(d.name),
                                            is_gpu(d.kind) ? device(d.device, ", ") : ""));
            if (d.partition != Partition::Auto)
                calls.push_back(fmt::format("{}({})",
                                            d.partition == Partition::Never ? "never_partition"
                                                                            : "always_partition",
                                            name(d.name)));
        }
        for (const schedules::Prefetch &p : schedule.prefetches)
            calls.push_back(fmt::format("prefetch({}, {}, {}, {}, PrefetchBoundStrategy::{})",
                                        identifier(p.source), name(p.at), name(p.from),
                                        text(p.offset), schedules::to_string(p.strategy)));
        if (schedule.single_thread_device)
            calls.push_back(
                fmt::format("gpu_single_thread({})", device(*schedule.single_thread_device, "")));
        if (schedule.atomic)
            calls.push_back(schedule.override_associativity_test ? "atomic(true)" : "atomic()");
        if (schedule.allow_race_conditions)
            calls.push_back("allow_race_conditions()");
        bool none = calls.empty() && schedule.specializations.empty() && !schedule.fuse_level.at();
        if (none && schedule.touched)
            calls.push_back("unscheduled()");
        chain(none && s == 0 ? fmt::format("Stage({})", stage) : stage, calls);
    }

    /// Specializations come first, so that each starts from the initial loops.
    void specializations(const FuncNode &f, size_t s, const StageSchedule &schedule,
                         const std::string &stage) {
        for (size_t i = 0; i < schedule.specializations.size(); i++) {
            const schedules::Specialization &special = schedule.specializations[i];
            if (!special.condition.defined()) {
                out_ += fmt::format("{}.specialize_fail({});\n", stage, quoted(special.failure));
                continue;
            }
            std::string variable =
                fmt::format("{}_{}", identifier(stage), "special" + std::to_string(i));
            out_ += fmt::format("Stage {} = {}.specialize({});\n", variable, stage,
                                text(special.condition));
            loops(f, s, special.schedule, variable);
        }
    }

    static std::string quoted(const std::string &text) {
        std::string result = "\"";
        for (char c : text) {
            if (c == '"' || c == '\\')
                result += '\\';
            result += c == '\n' ? std::string("\\n") : std::string(1, c);
        }
        return result + "\"";
    }

    static bool reordered(const FuncNode &f, size_t s, const StageSchedule &schedule) {
        std::vector<std::string> initial, now;
        for (const ReductionVar &r : f.stages[s].rvars)
            initial.push_back(r.name);
        for (const std::string &arg : f.args)
            initial.push_back(arg);
        for (const auto &d : schedule.dims)
            now.push_back(d.name);
        auto absent = [&](const std::string &n) {
            return std::count(now.begin(), now.end(), n) == 0;
        };
        initial.erase(std::remove_if(initial.begin(), initial.end(), absent), initial.end());
        return initial != now;
    }

    template <typename F> std::string transform(const Transform &t, F &&name) const {
        switch (t.kind) {
        case Transform::Kind::Fuse:
            return fmt::format("fuse({}, {}, {})", name(t.inner), name(t.outer), name(t.old_name));
        case Transform::Kind::Rename:
            return fmt::format("rename({}, {})", name(t.old_name), name(t.outer));
        case Transform::Kind::Split:
            break;
        }
        std::string tail = t.tail == TailStrategy::Auto
                               ? ""
                               : fmt::format(", TailStrategy::{}", schedules::to_string(t.tail));
        return fmt::format("split({}, {}, {}, {}{})", name(t.old_name), name(t.outer),
                           name(t.inner), text(t.factor), tail);
    }

    /// `at`: "compute_at"; at the root, "compute_root"
    std::string level(const std::string &directive, const LoopLevel &at) {
        if (at.root())
            return fmt::format("{}_root()", directive == "hoist_storage"
                                                ? directive
                                                : directive.substr(0, directive.size() - 3));
        const FuncNode &f = graph_[at.func];
        auto stage = static_cast<size_t>(at.stage);
        return fmt::format("{}({}, {})", directive,
                           !at.loops.empty() ? f.variable
                           : stage == 0      ? fmt::format("Stage({})", f.variable)
                                             : stage_name(f, stage),
                           at.var == schedules::outermost_loop ? "Var::outermost()"
                                                               : loop(f, stage, at.var));
    }

    void func(const FuncNode &f) {
        const schedules::FuncSchedule &s = schedule_[f.id];
        std::vector<std::string> calls;
        if (!s.compute.inlined() && !f.is_output)
            calls.push_back(level("compute_at", s.compute));
        if (!s.store.inlined() && !f.is_output && !(s.store == s.compute))
            calls.push_back(level("store_at", s.store));
        if (!s.hoist.inlined() && !f.is_output)
            calls.push_back(level("hoist_storage", s.hoist));
        for (const schedules::Bound &b : s.bounds)
            calls.push_back(b.min.defined() ? fmt::format("bound({}, {}, {})", loop(f, 0, b.var),
                                                          text(b.min), text(b.extent))
                                            : fmt::format("bound_extent({}, {})", loop(f, 0, b.var),
                                                          text(b.extent)));
        for (const schedules::Alignment &a : s.alignments)
            calls.push_back(
                a.remainder.defined()
                    ? fmt::format("align_bounds({}, {}, {})", loop(f, 0, a.var), text(a.modulus),
                                  text(a.remainder))
                    : fmt::format("align_extent({}, {})", loop(f, 0, a.var), text(a.modulus)));
        for (const schedules::StorageDim &d : s.storage_dims) {
            if (d.alignment.defined())
                calls.push_back(
                    fmt::format("align_storage({}, {})", loop(f, 0, d.var), text(d.alignment)));
            if (d.bound.defined())
                calls.push_back(
                    fmt::format("bound_storage({}, {})", loop(f, 0, d.var), text(d.bound)));
        }
        for (const schedules::FoldedDim &fold : s.folds)
            calls.push_back(fmt::format("fold_storage({}, {}{})", loop(f, 0, fold.var),
                                        text(fold.factor), fold.forward ? "" : ", false"));
        if (!s.storage_order.empty()) {
            std::vector<std::string> order;
            for (const std::string &dim : s.storage_order)
                order.push_back(loop(f, 0, dim));
            calls.push_back(fmt::format("reorder_storage({{{}}})", fmt::join(order, ", ")));
        }
        if (s.memory != MemoryType::Auto)
            calls.push_back(
                fmt::format("store_in(MemoryType::{})", schedules::to_string(s.memory)));
        for (const auto &[on, call] : {std::pair{s.trace.loads, "trace_loads()"},
                                       std::pair{s.trace.stores, "trace_stores()"},
                                       std::pair{s.trace.realizations, "trace_realizations()"}})
            if (on)
                calls.push_back(call);
        for (const std::string &tag : s.trace.tags)
            calls.push_back(fmt::format("add_trace_tag(\"{}\")", tag));
        if (s.no_profiling)
            calls.push_back("no_profiling()");
        if (s.ring_buffer.defined())
            calls.push_back(fmt::format("ring_buffer({})", text(s.ring_buffer)));
        if (s.memoize)
            calls.push_back(
                s.memoize->eviction_key.defined()
                    ? fmt::format("memoize(EvictionKey({}))", text(s.memoize->eviction_key))
                    : "memoize()");
        if (s.async)
            calls.push_back("async()");
        if (s.nontemporal_stores)
            calls.push_back("store_nontemporal()");
        if (s.nontemporal_loads)
            calls.push_back("load_nontemporal()");
        chain(f.variable, calls);
    }

    void sharing(const FuncNode &f, size_t s) {
        const LoopLevel &with = schedule_[f.id].stages[s].fuse_level;
        if (!with.at())
            return;
        auto stage = static_cast<size_t>(with.stage);
        std::vector<std::string> align;
        for (const auto &[name, strategy] : schedule_[f.id].stages[s].fuse_align)
            align.push_back(fmt::format("{{{}, LoopAlignStrategy::{}}}", loop(f, s, name),
                                        schedules::to_string(strategy)));
        std::string list =
            align.empty() ? "" : fmt::format(", LoopAlignments{{{}}}", fmt::join(align, ", "));
        chain(stage_name(f, s),
              {fmt::format("compute_with({}, {}{})", stage_name(graph_[with.func], stage),
                           loop(graph_[with.func], stage, with.var), list)});
    }
};

}  // namespace

std::string schedule_source(const Graph &graph, const schedules::Schedule &schedule) {
    return Writer(graph, schedule).write();
}

}  // namespace Pipe::graph
