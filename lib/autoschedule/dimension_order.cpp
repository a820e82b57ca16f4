#include "autoschedule/dimension_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "graph/extern_stage.h"
#include "graph/loops.h"
#include "graph/permute_args.h"
#include "ir/linear.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using graph::Stage;
using schedules::FuncSchedule;

namespace {

constexpr double usual_reduction = 16;  ///< iterations of an RVar of unknown extent
constexpr int64_t most_between = 4;  ///< elements of a load, for which dense vectors are shuffled
constexpr int64_t few = 4;           ///< points of a dimension: too few for vectors

/// Of one element for all lanes, which is on another cache line in each iteration of an RVar; of a vector that is gathered: 1.
constexpr double of_uniform = 0.25;

double iterations(const Stage &stage) {
    double result = 1;
    for (const graph::ReductionVar &r : stage.rvars) {
        int64_t extent = 0;
        result *= ir::as_const_int(r.extent, &extent) ? double(std::max<int64_t>(extent, 1))
                                                      : usual_reduction;
    }
    return result;
}

}  // namespace

Moves moves(const std::vector<Expr> &coords, size_t first, const std::string &var) {
    Moves result = Moves::Not;
    for (size_t d = 0; d < coords.size(); d++) {
        if (!ir::uses_var(coords[d], var))
            continue;
        const int64_t step =
            ir::Linear::from_expr(coords[d]).coefficient(ir::make_variable(Int(32), var));
        if (d != first || step < -most_between || step > most_between)
            return Moves::Apart;
        result = Moves::Together;
    }
    return result;
}

bool loops_over_all(const FuncNode &func, const Stage &stage) {
    return std::equal(stage.args.begin(), stage.args.end(), func.args.begin(), func.args.end(),
                      [](const Expr &arg, const std::string &name) {
                          return arg->op == ir::Op::Variable && arg->name == name;
                      });
}

std::vector<Expr> element_loads(const Stage &stage) {
    std::vector<Expr> loads;
    graph::for_each_expr(stage, [&](const Expr &e) {
        ir::each_node(e, [&](const ir::ExprNode &node) {
            if (node.op == ir::Op::Call && !node.args.empty() &&
                (node.call_kind == ir::CallKind::Func || node.call_kind == ir::CallKind::Image))
                loads.push_back(Expr(&node));
            return true;
        });
    });
    return loads;
}

namespace {

/// Per Func and dimension, whether it is known to have few points.
class FewPoints {
  public:
    FewPoints(const Graph &graph, const Sizes *sizes) {
        for (const FuncNode &func : graph.funcs)
            has_few_.emplace_back(func.args.size(), sizes && !func.is_output);
        for (size_t i = 0; sizes && i < sizes->outputs.size(); i++)
            for (size_t d = 0; d < sizes->outputs[i].size(); d++) {
                const int64_t extent = sizes->outputs[i][d].extent;
                has_few_[index(graph.outputs[i])][d] = extent > 0 && extent <= few;
            }
        for (size_t i = graph.funcs.size(); sizes && i-- > 0;)
            for (const Stage &stage : graph.funcs[i].stages)
                for (const Expr &load : element_loads(stage))
                    if (load->call_kind == ir::CallKind::Func && size_t(load->int_value) != i)
                        add(load, graph.funcs[i], stage);
    }

    bool operator()(const FuncNode &func, size_t d) const { return has_few_[index(func.id)][d]; }
    /// That other dimensions are better for lanes.
    bool in_first(const FuncNode &func) const {
        const std::vector<bool> &dims = has_few_[index(func.id)];
        return !dims.empty() && dims[0] && std::find(dims.begin(), dims.end(), false) != dims.end();
    }

  private:
    static size_t index(FuncId id) { return static_cast<size_t>(id); }

    void add(const Expr &load, const FuncNode &reader, const Stage &stage) {
        std::vector<bool> &dims = has_few_[static_cast<size_t>(load->int_value)];
        for (size_t d = 0; d < dims.size(); d++)
            dims[d] = dims[d] && takes_few(load->args[d], reader, stage);
    }

    bool takes_few(const Expr &coordinate, const FuncNode &reader, const Stage &stage) const {
        int64_t number = 0;
        if (ir::as_const_int(coordinate, &number))
            return true;
        if (coordinate->op != ir::Op::Variable)
            return false;
        for (size_t d = 0; d < reader.args.size(); d++)
            if (reader.args[d] == coordinate->name)
                return (*this)(reader, d);
        return std::any_of(stage.rvars.begin(), stage.rvars.end(), [&](const auto &r) {
            int64_t extent = 0;
            return r.name == coordinate->name && ir::as_const_int(r.extent, &extent) &&
                   extent <= few;
        });
    }

    std::vector<std::vector<bool>> has_few_;
};

class Chooser {
  public:
    Chooser(const Graph &graph, const schedules::Schedule &schedule, const Sizes *sizes)
        : graph_(graph), schedule_(schedule), first_(graph.funcs.size(), 0),
          has_few_(graph, sizes) {
        for (const FuncNode &func : graph.funcs)
            for (const Stage &stage : func.stages)
                loads_[&stage] = element_loads(stage);
    }

    /// Per Func the dimension that becomes its first one. (Readers first.)
    std::vector<size_t> run() {
        for (size_t i = graph_.funcs.size(); i-- > 0;) {
            const FuncNode &func = graph_.funcs[i];
            if (!is_free(func))
                continue;
            const bool leaves_first = has_few_.in_first(func);
            double least = leaves_first ? std::numeric_limits<double>::infinity() : apart(func, 0);
            for (size_t d = 1; d < func.args.size() && least > 0; d++) {
                if (leaves_first && has_few_(func, d))
                    continue;
                if (const double now = apart(func, d); now < least)
                    least = now, first_[i] = d;
            }
        }
        return first_;
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    std::vector<size_t> first_;
    std::unordered_map<const Stage *, std::vector<Expr>> loads_;
    const FewPoints has_few_;

    bool is_free(const FuncNode &func) const {
        const FuncSchedule &f = schedule_[func.id];
        auto is_extern_reader = [&](FuncId id) { return graph::is_extern(graph_[id]); };
        // Scans and scatters have places of their own for lanes.
        auto is_everywhere = [&](const Stage &stage) { return loops_over_all(func, stage); };
        return std::all_of(func.stages.begin(), func.stages.end(), is_everywhere) &&
               (func.is_output ? has_few_.in_first(func) && !uses_bounds(func)
                               : f.compute.inlined()) &&
               !func.is_copy && func.args.size() > 1 && !f.touched && f.storage_order.empty() &&
               !graph::is_extern(func) &&
               std::none_of(f.stages.begin(), f.stages.end(),
                            [](const schedules::StageSchedule &s) { return s.touched; }) &&
               std::none_of(func.consumers.begin(), func.consumers.end(), is_extern_reader);
    }

    /// Whether a definition uses sizes of the output's Buffer.
    bool uses_bounds(const FuncNode &output) const {
        std::set<std::string> names;
        for (size_t i = 0; i < output.types.size(); i++)
            for (size_t d = 0; d < output.args.size(); d++)
                for (auto name : {ir::min_name, ir::extent_name, ir::stride_name})
                    names.insert(name(graph::buffer_name(output, i), d));
        bool found = false;
        for (const FuncNode &func : graph_.funcs)
            for (const Stage &stage : func.stages)
                graph::for_each_expr(
                    stage, [&](const Expr &e) { found = found || ir::uses_any_var(e, names); });
        return found;
    }

    /// Elements that lie apart in a vector, of the Func and its readers, if dimension d of the Func is its first one.
    double apart(const FuncNode &func, size_t d) {
        size_t &first = first_[static_cast<size_t>(func.id)];
        const size_t old = std::exchange(first, d);
        double result = apart(func);
        for (FuncId reader : func.consumers)
            result += apart(graph_[reader]);
        first = old;
        return result;
    }

    double apart(const FuncNode &func) const {
        double result = 0;
        for (const Stage &stage : func.stages)
            result += apart(func, stage);
        return result;
    }

    double apart(const FuncNode &func, const Stage &stage) const {
        if (func.args.empty())
            return 0;
        for (const graph::ReductionVar &r :
             stage.rvars)  // lanes along it, each with a sum of its own
            if (count(func, stage, r.name, Moves::Apart) == 0 &&
                count(func, stage, r.name, Moves::Together) > 0)
                return 0;
        const std::string &lanes = func.args[first_[static_cast<size_t>(func.id)]];
        const long uniform = stage.rvars.empty() ? 0 : count(func, stage, [&](const Expr &load) {
            return how(load, lanes) == Moves::Not && how(load, stage.rvars[0].name) == Moves::Apart;
        });
        return (double(count(func, stage, lanes, Moves::Apart)) + of_uniform * double(uniform)) *
               iterations(stage);
    }

    /// Loads of other Funcs and images that move so along a variable.
    long count(const FuncNode &func, const Stage &stage, const std::string &var,
               Moves wanted) const {
        return count(func, stage, [&](const Expr &load) { return how(load, var) == wanted; });
    }

    template <typename Is> long count(const FuncNode &func, const Stage &stage, Is &&is) const {
        const std::vector<Expr> &loads = loads_.at(&stage);
        return std::count_if(loads.begin(), loads.end(), [&](const Expr &load) {
            const bool is_own = load->call_kind == ir::CallKind::Func &&
                                load->int_value == static_cast<int64_t>(func.id);
            return !is_own && is(load);
        });
    }

    Moves how(const Expr &load, const std::string &var) const {
        const bool is_func = load->call_kind == ir::CallKind::Func;
        return moves(load->args, is_func ? first_[static_cast<size_t>(load->int_value)] : 0, var);
    }
};

/// The order of the dimensions of one that are those of the other.
graph::DimensionOrder order_from(const std::vector<std::string> &now,
                                 const std::vector<std::string> &wanted) {
    graph::DimensionOrder order;
    for (const std::string &name : wanted)
        order.push_back(static_cast<size_t>(std::find(now.begin(), now.end(), name) - now.begin()));
    return order;
}

void permute_output(const Graph &graph, const FuncNode &func, const graph::DimensionOrder &order,
                    Sizes &sizes) {
    auto permute = [&](std::vector<Sizes::Dim> &dims) {
        std::vector<Sizes::Dim> now;
        for (size_t d : order)
            now.push_back(d < dims.size() ? dims[d] : Sizes::Dim());
        dims = std::move(now);
    };
    for (size_t i = 0; i < graph.outputs.size(); i++)
        if (graph.outputs[i] == func.id)
            permute(sizes.outputs[i]);
    for (size_t i = 0; i < func.types.size(); i++)
        permute(sizes.images[graph::buffer_name(func, i)]);
}

/// Of an output: conditions of its versions, which use the sizes of its Buffer.
void restore_conditions(const FuncNode &func, const graph::DimensionOrder &order,
                        schedules::StageSchedule &stage) {
    std::map<std::string, Expr> names;
    for (size_t i = 0; i < func.types.size(); i++)
        for (size_t old = 0; old < order.size(); old++)
            for (auto name : {ir::min_name, ir::extent_name}) {
                const std::string buffer = graph::buffer_name(func, i);
                names[name(buffer, order[old])] = ir::make_variable(Int(32), name(buffer, old));
            }
    for (schedules::Specialization &special : stage.specializations) {
        if (special.condition.defined())
            special.condition = ir::substitute(names, special.condition);
        restore_conditions(func, order, special.schedule);
    }
}

}  // namespace

Graph with_ordered_dimensions(const Graph &graph, schedules::Schedule &schedule, Sizes *sizes) {
    std::unordered_map<std::string, graph::DimensionOrder> orders;
    const std::vector<size_t> first = Chooser(graph, schedule, sizes).run();
    for (const FuncNode &func : graph.funcs) {
        const size_t d = first[static_cast<size_t>(func.id)];
        if (d == 0)
            continue;
        graph::DimensionOrder order(func.args.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::rotate(order.begin(), order.begin() + static_cast<long>(d),
                    order.begin() + static_cast<long>(d) + 1);
        if (func.is_output)
            permute_output(graph, func, order, *sizes);
        orders[func.name] = std::move(order);
    }
    Graph result = graph;
    graph::permute_args(result, orders);
    for (const FuncNode &func : result.funcs) {
        if (!orders.count(func.name))
            continue;
        for (size_t s = 0; s < func.stages.size(); s++)
            schedule[func.id].stages[s].dims = graph::initial_loops(func.args, func.stages[s]);
    }
    return result;
}

void restore_dimensions(const Graph &original, Graph &scheduled, schedules::Schedule &schedule) {
    std::unordered_map<std::string, const FuncNode *> by_name;
    for (const FuncNode &func : original.funcs)
        by_name[func.name] = &func;
    std::unordered_map<std::string, graph::DimensionOrder> orders;
    auto restore = [&](const std::string &name, const FuncNode &func) {
        const auto old = by_name.find(name);
        std::vector<std::string> args = old == by_name.end() ? func.args : old->second->args;
        if (old == by_name.end() && !func.packs.empty())  // of an image
            std::sort(args.begin(), args.end());
        if (args == func.args)
            return;
        orders[func.name] = order_from(func.args, args);
        FuncSchedule &f = schedule[func.id];
        if (func.is_output)
            for (schedules::StageSchedule &stage : f.stages)
                restore_conditions(func, orders[func.name], stage);
        else if (f.compute.inlined() && old != by_name.end())
            f.stages[0].dims = graph::initial_loops(args, old->second->stages[0]);
        else if (f.storage_order.empty())
            f.storage_order = func.args;
    };
    for (const FuncNode &func : scheduled.funcs)
        restore(func.packs.empty() ? func.name : func.packs, func);
    graph::permute_args(scheduled, orders);
}

}  // namespace Pipe::autoschedule
