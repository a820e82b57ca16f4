#include "autoschedule/operand_copies.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "autoschedule/dimension_order.h"
#include "graph/loops.h"
#include "graph/pack.h"
#include "graph/permute_args.h"
#include "ir/substitute.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using graph::Stage;

namespace {

/// An operand that is read so, and the dimension along which the lanes read it.
struct Operand {
    graph::Packing packing;
    size_t lanes = 0;
};

bool has_no_directives(const schedules::FuncSchedule &f) {
    return !f.touched && std::none_of(f.stages.begin(), f.stages.end(),
                                      [](const schedules::StageSchedule &s) { return s.touched; });
}

bool uses_var_of(const Expr &load, const std::string &var) {
    return std::any_of(load->args.begin(), load->args.end(),
                       [&](const Expr &coordinate) { return ir::uses_var(coordinate, var); });
}

/// The coordinate along which the lanes read, where an RVar goes along the first one; and elements are read again for other
/// points.
std::optional<size_t> lanes_coordinate(const Expr &load, const FuncNode &func,
                                       const Stage &update) {
    const std::string &lanes = func.args[0];
    const bool is_shared =
        std::any_of(func.args.begin() + 1, func.args.end(),
                    [&](const std::string &arg) { return !uses_var_of(load, arg); });
    const bool along_rvar =
        std::any_of(update.rvars.begin(), update.rvars.end(),
                    [&](const auto &r) { return moves(load->args, 0, r.name) == Moves::Together; });
    if (!is_shared || !along_rvar || moves(load->args, 0, lanes) != Moves::Apart)
        return std::nullopt;
    for (size_t d = 1; d < load->args.size(); d++)
        if (moves(load->args, d, lanes) == Moves::Together)
            return d;
    return std::nullopt;
}

bool reads_same(const Expr &load, const Expr &other) {
    return load->call_kind == other->call_kind && load->name == other->name;
}

class OperandFinder {
  public:
    OperandFinder(const Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule) {}

    std::vector<Operand> run() {
        for (const FuncNode &func : graph_.funcs)
            if (has_no_directives(schedule_[func.id]) && !func.is_copy && func.args.size() > 1 &&
                func.stages.size() == 2 && loops_over_all(func, func.stages[1]))
                find_in(func);
        return std::move(found_);
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    std::vector<Operand> found_;

    /// At most one operand is read so: with two, the other dimension is better for the lanes.
    void find_in(const FuncNode &func) {
        const Stage &update = func.stages[1];
        const std::vector<Expr> loads = element_loads(update);
        const Expr *operand = nullptr;
        for (const Expr &load : loads) {
            if (moves(load->args, 0, func.args[0]) != Moves::Apart)
                continue;
            if (operand || !lanes_coordinate(load, func, update))
                return;
            operand = &load;
        }
        // (in() replaces all that is read of it.)
        if (!operand || std::any_of(loads.begin(), loads.end(), [&](const Expr &load) {
                return &load != operand && reads_same(load, *operand);
            }))
            return;
        Operand result;
        result.lanes = *lanes_coordinate(*operand, func, update);
        result.packing.reader = func.id;
        if ((*operand)->call_kind == ir::CallKind::Func)
            result.packing.func = static_cast<FuncId>((*operand)->int_value);
        else
            result.packing.image = image_of((*operand)->name);
        if (can_be_copied(result.packing) && result.packing.func != func.id)
            found_.push_back(std::move(result));
    }

    int image_of(const std::string &name) const {
        for (size_t i = 0; i < graph_.images.size(); i++)
            if (graph_.images[i].name == name)
                return static_cast<int>(i);
        return -1;
    }

    /// (A schedule file refers to images by name.)
    bool can_be_copied(const graph::Packing &p) const {
        return p.image >= 0 ? graph_.images[size_t(p.image)].is_named
                            : p.func != FuncId::None && has_no_directives(schedule_[p.func]);
    }
};

}  // namespace

std::optional<Graph> with_operand_copies(const Graph &graph, schedules::Schedule &schedule) {
    const std::vector<Operand> operands = OperandFinder(graph, schedule).run();
    if (operands.empty())
        return std::nullopt;
    std::vector<graph::Packing> packings;
    std::unordered_map<std::string, size_t> lanes;  // of the copy for a reader
    for (const Operand &operand : operands) {
        packings.push_back(operand.packing);
        lanes[graph[operand.packing.reader].name] = operand.lanes;
    }
    Graph result = graph;
    graph::pack(result, schedule, packings);
    std::unordered_map<std::string, graph::DimensionOrder> orders;
    for (const FuncNode &func : result.funcs) {
        if (func.packs.empty())
            continue;
        const auto d = static_cast<long>(lanes.at(func.packed_for));
        graph::DimensionOrder order(func.args.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::rotate(order.begin(), order.begin() + d, order.begin() + d + 1);
        orders[func.name] = std::move(order);
    }
    graph::permute_args(result, orders);
    for (const FuncNode &func : result.funcs)
        if (orders.count(func.name) > 0)
            schedule[func.id].stages[0].dims = graph::initial_loops(func.args, func.stages[0]);
    return result;
}

}  // namespace Pipe::autoschedule
