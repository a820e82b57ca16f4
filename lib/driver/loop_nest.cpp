#include "driver/loop_nest.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/print.h"
#include "region/loop_tree.h"

namespace Pipe::driver {
namespace {

using region::Level;
using region::LoopTree;
using region::StageNest;

class Printer {
  public:
    Printer(const graph::Graph &graph, const Schedule &schedule)
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

    /// Everything that is stored or computed just inside the level.
    void level(const Level &at) {
        auto computed = tree_.computed_at(at);
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

    std::string name(const StageNest &nest) const {
        const std::string &func = graph_[nest.func].name;
        return nest.stage == 0 ? func : fmt::format("{}.update({})", func, nest.stage - 1);
    }

    void stage(const StageNest &nest) {
        std::string guests;
        for (const StageNest *guest : tree_.guests(nest))
            guests += ", " + name(*guest);
        line("produce " + name(nest) + guests + ":");
        indent_++;
        int outer = indent_;
        loops(nest, 0);
        indent_ = outer - 1;
    }

    void loops(const StageNest &nest, size_t from) {
        for (size_t i = from; i < nest.loops.size(); i++) {
            const schedule::Dim &dim = nest.loops[i].dim;
            std::string kind = ir::to_string(dim.kind);
            // The tree tells loops that were split and kept their name apart by a tick.
            std::string name = dim.name.substr(0, dim.name.find('\''));
            line((kind.empty() ? "for" : kind) + " " + name + ":");
            indent_++;
            level(nest.loops[i].name);
            for (const StageNest *guest : tree_.guests(nest))
                if (tree_.shared_loops(*guest) == i + 1) {
                    int outer = indent_;
                    loops(*guest, i + 1);
                    indent_ = outer;
                }
        }
        line(fmt::format("{}({}) = ...", graph_[nest.func].name,
                         fmt::join(graph_[nest.func].args, ", ")));
    }
};

}  // namespace

std::string loop_nest(const graph::Graph &inlined, const Schedule &schedule) {
    return Printer(inlined, schedule).print();
}

}  // namespace Pipe::driver
