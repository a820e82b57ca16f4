#include "driver/loop_nest.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "ir/print.h"
#include "region/loop_tree.h"
#include "schedule/print.h"
#include "schedule/specialize.h"

namespace Pipe::driver {
namespace {

using region::Level;
using region::LoopTree;
using region::StageNest;

class Printer {
  public:
    Printer(const graph::Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), tree_(graph, schedule) {}

    std::string print() {
        level(Level());
        return std::move(out_);
    }

  private:
    const graph::Graph &graph_;
    LoopTree tree_;
    std::string out_;
    int indent_ = 0;

    void line(const std::string &text) {
        out_.append(static_cast<size_t>(2 * indent_), ' ');
        out_ += text + "\n";
    }

    /// Everything that is stored or computed directly at the level.
    void level(const Level &at) {
        auto computed = tree_.computed_at(at);
        for (FuncId id : tree_.allocated_at(at))
            if (tree_.place(id).hoist != tree_.place(id).store)
                line("hoist " + graph_[id].name + copies(id));
        for (FuncId id : tree_.stored_at(at))
            if (std::find(computed.begin(), computed.end(), id) == computed.end())
                line("store " + graph_[id].name);
        for (FuncId id : computed) {
            const auto &stages = tree_.place(id).stages;
            for (const StageNest &nest : stages)
                if (tree_.shared_loops(nest) == 0)
                    stage(nest);
        }
    }

    const schedules::FuncSchedule &schedule(FuncId id) const { return tree_.schedule()[id]; }

    std::string copies(FuncId id) const {
        const Expr &n = schedule(id).ring_buffer;
        return n.defined() ? ", " + ir::to_string(n) + " copies" : "";
    }

    /// The storage layout, if it was specified.
    std::string notes(FuncId id) const {
        const schedules::FuncSchedule &s = schedule(id);
        std::string text;
        if (s.async)
            text += " async";
        if (s.memoize)
            text += " memoized";
        if (s.memory != MemoryType::Auto)
            text += fmt::format(" in {}", schedules::to_string(s.memory));
        for (const schedules::FoldedDim &fold : s.folds)
            text += fmt::format(", {} modulo {}", fold.var, ir::to_string(fold.factor));
        for (const schedules::StorageDim &d : s.storage_dims) {
            if (d.alignment.defined())
                text += fmt::format(", {} aligned to {}", d.var, ir::to_string(d.alignment));
            if (d.bound.defined())
                text += fmt::format(", {} at most {}", d.var, ir::to_string(d.bound));
        }
        for (const schedules::Alignment &a : s.alignments)
            text += fmt::format(", {} in multiples of {}", a.var, ir::to_string(a.modulus));
        if (s.copied_to != schedules::CopiedTo::Unspecified)
            text += s.copied_to == schedules::CopiedTo::Device ? ", copied for the device"
                                                               : ", copied to the host";
        if (s.nontemporal_stores)
            text += ", nontemporal stores";
        if (s.nontemporal_loads)
            text += ", nontemporal loads";
        return text;
    }

    std::string name(const StageNest &nest) const {
        const std::string &func = graph_[nest.func].name;
        return nest.stage == 0 ? func : fmt::format("{}.update({})", func, nest.stage - 1);
    }

    static std::string alignment(const StageNest &child) {
        std::string text;
        for (const region::StageLoop &loop : child.loops)
            if (loop.align != LoopAlignStrategy::NoAlign)
                text += fmt::format(" ({} aligned at its {})", loop.var,
                                    loop.align == LoopAlignStrategy::AlignStart ? "start" : "end");
        return text;
    }

    void stage(const StageNest &nest) {
        std::string children;
        for (const StageNest *child : tree_.children(nest))
            children += ", " + name(*child) + alignment(*child);
        line("produce " + name(nest) + children + (nest.stage == 0 ? notes(nest.func) : "") + ":");
        indent_++;
        int outer = indent_;
        loops(nest, 0);
        indent_ = outer - 1;
    }

    void loops(const StageNest &nest, size_t from) {
        for (size_t i = from; i < nest.loops.size(); i++) {
            const schedules::Dim &dim = nest.loops[i].dim;
            std::string kind = ir::to_string(dim.kind);
            // The tree marks loops that were split and kept their name with a tick.
            std::string name = dim.name.substr(0, dim.name.find('\''));
            std::string partition = dim.partition == Partition::Never    ? " unpartitioned"
                                    : dim.partition == Partition::Always ? " partitioned"
                                                                         : "";
            line((kind.empty() ? "for" : kind) + " " + name + partition + ":");
            indent_++;
            for (const schedules::Prefetch &p :
                 schedule(nest.func).stages[static_cast<size_t>(nest.stage)].prefetches)
                if (p.at == nest.loops[i].var)
                    line(fmt::format("prefetch {} of {} + {}", p.source, p.from,
                                     ir::to_string(p.offset)));
            level(nest.loops[i].name);
            for (const StageNest *child : tree_.children(nest))
                if (tree_.shared_loops(*child) == i + 1) {
                    int outer = indent_;
                    loops(*child, i + 1);
                    indent_ = outer;
                }
        }
        const graph::FuncNode &func = graph_[nest.func];
        const ir::ExprNode *by = graph::extern_definition(func.stages[0]);
        line(fmt::format("{}({}) = {}", func.name, fmt::join(func.args, ", "),
                         by ? "extern " + by->args[0]->name : "..."));
    }
};

}  // namespace

namespace {

std::string indented(const std::string &text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at) + 1;
        result += "  " + text.substr(at, end - at);
        at = end;
    }
    return result;
}

}  // namespace

std::string loop_nest(const graph::Graph &inlined, const schedules::Schedule &schedule) {
    std::optional<schedules::Branch> branch = schedules::branch(schedule);
    if (!branch)
        return Printer(inlined, schedule).print();
    if (!branch->condition.defined())
        return fmt::format("fail: {}\n", branch->failure);
    return fmt::format("where {}:\n{}otherwise:\n{}", ir::to_string(branch->condition),
                       indented(loop_nest(inlined, branch->holds)),
                       indented(loop_nest(inlined, branch->otherwise)));
}

}  // namespace Pipe::driver
