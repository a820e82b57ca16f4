#include "autoschedule/stage_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "autoschedule/cells.h"
#include "autoschedule/substitute.h"
#include "autoschedule/where.h"
#include "graph/narrow_sum.h"
#include "graph/overwritten.h"
#include "graph/reduction.h"
#include "ir/equal.h"
#include "ir/linear.h"
#include "ir/operand_chain.h"
#include "ir/program.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using ir::Op;
using poly::Access;
using poly::Range;

namespace {

/// Maps iterators of the stage to dimensions of the Func.
std::vector<int> dims_of_iterators(const FuncNode &func, const poly::StageModel &stage) {
    std::vector<int> dims;
    for (int k = 0; k < stage.pure; k++) {
        auto at = std::find(func.args.begin(), func.args.end(), stage.iterators[k].name);
        dims.push_back(static_cast<int>(at - func.args.begin()));
    }
    return dims;
}

/// RVars of an update, and whether they may take turns otherwise.
void describe_reduction(const FuncNode &func, size_t s, const poly::StageModel &model,
                        StageCost &cost) {
    const graph::Stage &stage = func.stages[s];
    for (size_t k = static_cast<size_t>(model.pure); k < model.iterators.size(); k++)
        cost.rvars.push_back(std::min<int64_t>(model.iterators[k].range.size(), 1 << 30));
    if (cost.rvars.empty())
        return;
    for (const graph::ReductionVar &r : stage.rvars) {
        if (!ir::is_const_int(r.extent))
            break;
        cost.constant_rvars++;
    }
    std::string why;
    const auto reduction = graph::as_reduction(func, s, &why);
    cost.regroups_fast = reduction && reduction->any_parts;
    cost.in_order = reduction && !reduction->commutative;
    cost.regroups = cost.regroups_fast && reduction->exact;
    if (const auto term = graph::narrow_sum(func, s)) {
        cost.terms_per_sum = term->lanes_per_sum();
        cost.narrow_work = work_of({term->a, term->b}, func.args);
        for (Work &work : cost.narrow_work)
            work.arithmetic = work.arithmetic.with_tests();
    }
}

/// Whether each point along dimension 0 is the one before, combined with other values by + min or max.
bool is_prefix(const FuncNode &func, const graph::Stage &stage) {
    if (stage.values.size() != 1 || stage.rvars.empty() || func.args.empty() ||
        (stage.predicate.defined() && !ir::is_const(stage.predicate, 1)))
        return false;
    const std::string &rvar = stage.rvars[0].name;
    const Expr &at = stage.args[0],
               next = ir::add(ir::make_variable(Int(32), rvar), ir::make_const(Int(32), 1));
    const auto step = ir::constant_difference(ir::substitute(rvar, next, at), at);
    if (!step || std::abs(*step) != 1)
        return false;
    const graph::IsSelf is_self = graph::calls_of(func.id);
    auto is_before = [&](const ir::ExprNode &e, int64_t distance) {
        return is_self(e) && ir::constant_difference(at, e.args[0]) == distance &&
               std::equal(e.args.begin() + 1, e.args.end(), stage.args.begin() + 1,
                          stage.args.end(), ir::ExprEqual());
    };
    const auto chain =
        ir::take_operand(stage.values[0], [&](const Expr &e) { return is_before(*e, *step); });
    return chain && !ir::contains(chain->rest, [&](const ir::ExprNode &e) {
               return is_self(e) && !is_before(e, 0);
           });
}

/// The calls of other Funcs in all expressions of the stage.
void count_calls(const FuncNode &func, const graph::Stage &stage, StageCost &cost) {
    graph::for_each_expr(stage, [&](const Expr &expr) {
        ir::walk(expr, [&](const Expr &e) {
            const auto callee = static_cast<FuncId>(e->int_value);
            if (e->op == Op::Call && e->call_kind == ir::CallKind::Func && callee != func.id)
                cost.calls[callee]++;
            return true;
        });
    });
    cost.written = cost.own.count + 1;
}

StageCost stage_cost(const FuncNode &func, size_t s, const poly::StageModel &model,
                     const poly::Environment &names) {
    const graph::Stage &stage = func.stages[s];
    StageCost cost;
    describe_reduction(func, s, model, cost);
    std::vector<Expr> computed = stage.values;
    std::copy_if(stage.args.begin(), stage.args.end(), std::back_inserter(computed),
                 ir::reads_elements);
    cost.own_work = work_of(computed, func.args);
    for (Work &work : cost.own_work) {
        work.arithmetic = cost.in_loops(work.arithmetic);
        cost.own.add(work.arithmetic, 1);
    }
    cost.arithmetic = cost.own;
    count_calls(func, stage, cost);
    cost.repeats = static_cast<double>(std::min<int64_t>(model.points_per_pure_point(), 1 << 30));
    const Selected selected = selected_where(stage.predicate, model.iterators, names);
    cost.repeats *= selected.fraction;
    const std::vector<int> dims = dims_of_iterators(func, model);
    cost.loops_over.assign(func.args.size(), false);
    cost.busiest.assign(func.args.size(), 1);
    for (size_t i = 0; i < dims.size(); i++) {
        cost.loops_over[static_cast<size_t>(dims[i])] = true;
        cost.busiest[static_cast<size_t>(dims[i])] = selected.busiest[i];
    }
    const bool reads_itself = std::any_of(model.loads.begin(), model.loads.end(),
                                          [&](const Access &load) { return load.func == func.id; });
    cost.scatters = std::any_of(stage.args.begin(), stage.args.end(), ir::reads_elements);
    cost.is_scan = reads_itself && !cost.loops_over_all() && !cost.scatters;
    cost.is_prefix_fast = cost.is_scan && !cost.loops_over[0] && is_prefix(func, stage);
    cost.is_prefix = cost.is_prefix_fast && !func.types[0].is_float();
    cost.cells = cells_of(func, stage, cost);
    for (Access load : model.loads) {
        for (poly::Coordinate &c : load.coords) {
            if (c.iterator >= 0)
                c.iterator = dims[static_cast<size_t>(c.iterator)];
            uint64_t may_use = 0;
            for (size_t k = 0; k < dims.size(); k++)
                may_use |= (c.may_use >> k & 1) << dims[k];
            c.may_use = may_use;
        }
        cost.loads.push_back(std::move(load));
    }
    return cost;
}

/// What is read of a buffer is not more than what is needed of it as a whole.
void limit_loads(Node &node, const std::vector<Node> &nodes, const poly::Model &model) {
    for (StageCost &stage : node.stages) {
        for (Access &load : stage.loads) {
            for (size_t d = 0; d < load.coords.size(); d++) {
                const Range box = load.image >= 0 ? model.images[static_cast<size_t>(load.image)][d]
                                                  : nodes[static_cast<size_t>(load.func)].range(d);
                Range &mine = load.coords[d].range;
                mine = poly::intersect(mine, box);
                if (!mine.bounded())
                    mine = {0, assumed_extent - 1};
            }
        }
    }
}

void add_unique(std::vector<int> &list, int value) {
    auto at = std::lower_bound(list.begin(), list.end(), value);
    if (at == list.end() || *at != value)
        list.insert(at, value);
}

/// \param along rows that differ along this iterator alone count once; -1: none
double distinct_rows(const std::vector<const Access *> &loads, int along) {
    std::set<std::string> rows;
    for (const Access *load : loads) {
        std::string key;
        for (size_t d = 1; d < load->coords.size(); d++)
            if (along < 0 || load->coords[d].iterator != along)
                key += poly::to_string(load->coords[d]) + ";";
        rows.insert(key);
    }
    return static_cast<double>(rows.size());
}

/// Of one dimension of an image, how many are read: no more than the Buffer at hand has, as of a table that data is looked up in.
int64_t elements_of(const Range &read, const std::string &extent, const poly::Environment &names) {
    const auto known = names.find(extent);
    if (known == names.end() || !known->second.bounded())
        return read.bounded() ? read.size() : assumed_extent;
    const int64_t most = std::max<int64_t>(1, known->second.max);
    return read.bounded() ? std::min(most, read.size()) : most;
}

/// Node::channels: in the output itself, or in an input with as many dimensions. Promised, or found in the Buffers.
int channels_of(const Graph &graph, const FuncNode &func, const poly::Environment &names) {
    auto is_adjacent = [&](const std::string &buffer, const graph::BufferPromise *promise,
                           size_t d) {
        if (promise && d < promise->dims.size() && promise->dims[d].stride.defined())
            return ir::is_const(promise->dims[d].stride, 1);
        const auto stride = names.find(ir::stride_name(buffer, d));
        return stride != names.end() && stride->second == Range::point(1);
    };
    for (size_t d = 1; func.is_output && d < func.args.size(); d++) {
        for (size_t i = 0; i < func.types.size(); i++)
            if (is_adjacent(graph::buffer_name(func, i),
                            func.output_promises.empty() ? nullptr : &func.output_promises[i], d))
                return static_cast<int>(d);
        for (const graph::Image &image : graph.images)
            if (static_cast<size_t>(image.dimensions) == func.args.size() &&
                is_adjacent(image.name, &image.promise, d))
                return static_cast<int>(d);
    }
    return -1;
}

/// x / 32 in vectors of 16 lanes.
bool is_divided(const poly::Coordinate &c, double lanes) {
    return c.iterator == 0 && c.num == 1 && std::fmod(c.den, lanes) == 0;
}

/// x % 32 in vectors of 16 lanes.
bool is_cyclic(const poly::Coordinate &c, double lanes) {
    return c.iterator < 0 && c.distance.bounded() && (c.may_use & 1) &&
           std::fmod(double(c.distance.size()), lanes) == 0;
}

}  // namespace

Lanes lanes_of(const Access &load, double lanes) {
    bool steps = false;
    for (size_t d = 0; d < load.coords.size(); d++) {
        const poly::Coordinate &c = load.coords[d];
        const bool divided = is_divided(c, lanes);
        if (d == 0 && (is_cyclic(c, lanes) || (c.iterator == 0 && !divided)))
            steps = true;
        else if ((c.iterator == 0 && !divided) || (c.iterator < 0 && (c.may_use & 1)))
            return Lanes::Apart;
    }
    return steps ? Lanes::Steps : Lanes::Same;
}

bool needs_aligned_vectors(const Access &load, double lanes) {
    return lanes_of(load, lanes) != Lanes::Apart &&
           std::any_of(load.coords.begin(), load.coords.end(), [&](const poly::Coordinate &c) {
               return is_divided(c, lanes) || is_cyclic(c, lanes);
           });
}

double Node::points() const {
    double n = 1;
    for (int64_t e : extents)
        n *= static_cast<double>(e);
    return n;
}

double Node::looped_points(const StageCost &stage) const {
    double n = 1;
    for (size_t d = 0; d < extents.size(); d++)
        if (stage.loops_over[d])
            n *= static_cast<double>(extents[d]);
    return n;
}

double Node::iterations(const StageCost &stage) const {
    return stage.repeats * looped_points(stage);
}

double StageGraph::bytes_at_root() const {
    double total = 0;
    for (double bytes : image_bytes)
        total += bytes;
    for (const Node &n : nodes) {
        if (n.is_output)
            total += n.points() * n.bytes;
    }
    return total;
}

void connect(StageGraph &graph) {
    for (Node &node : graph.nodes) {
        node.producers.clear();
        node.consumers.clear();
    }
    for (size_t n = 0; n < graph.nodes.size(); n++) {
        if (graph.nodes[n].inlined)
            continue;
        for (const StageCost &stage : graph.nodes[n].stages) {
            for (const Access &load : stage.loads) {
                const int p = static_cast<int>(load.func);
                if (p < 0 || p == static_cast<int>(n))
                    continue;
                add_unique(graph.nodes[n].producers, p);
                add_unique(graph.nodes[static_cast<size_t>(p)].consumers, static_cast<int>(n));
            }
        }
    }
}

void summarize_reads(Node &node) {
    node.reads.clear();
    std::vector<std::vector<const Access *>> loads;  // per entry of reads
    for (const StageCost &stage : node.stages) {
        for (const Access &load : stage.loads) {
            if (load.func == node.id)
                continue;
            size_t i = 0;
            while (i < node.reads.size() && !node.reads[i].hull.same_buffer(load))
                i++;
            if (i == node.reads.size()) {
                node.reads.push_back({load, 1, {}});
                loads.emplace_back();
            } else {
                poly::Access &hull = node.reads[i].hull;
                for (size_t d = 0; d < hull.coords.size(); d++)
                    poly::merge(hull.coords[d], load.coords[d]);
            }
            loads[i].push_back(&load);
        }
    }
    for (size_t i = 0; i < loads.size(); i++) {
        node.reads[i].rows = distinct_rows(loads[i], -1);
        for (int d = 0; d < node.dims(); d++)
            node.reads[i].rows_besides.push_back(distinct_rows(loads[i], d));
    }
}

StageGraph build_stage_graph(const Graph &graph, const poly::Model &model,
                             const poly::Environment &names, const schedules::Schedule &user) {
    StageGraph result;
    const std::vector<Role> roles = roles_of(graph, user);
    for (const FuncNode &func : graph.funcs) {
        const size_t f = static_cast<size_t>(func.id);
        Node node;
        node.id = func.id;
        node.name = func.name;
        node.args = func.args;
        for (const Range &r : model.funcs[f].box) {
            node.mins.push_back(r.bounded() ? r.min : 0);
            node.extents.push_back(r.bounded() ? std::max<int64_t>(1, r.size()) : assumed_extent);
        }
        node.bytes = 0;
        for (Type t : func.types) {
            node.bytes += t.bytes();
            node.widest = std::max(node.widest, t.bytes());
        }
        for (size_t s = 0; s < func.stages.size(); s++) {
            node.stages.push_back(stage_cost(func, s, model.funcs[f].stages[s], names));
        }
        node.is_output = func.is_output;
        node.is_operand = !func.packs.empty();
        node.channels = channels_of(graph, func, names);
        node.starts_from_formula = graph::starts_from_formula(func);
        node.is_overwritten = graph::overwritten(func).has_value();
        node.role = roles[f];
        result.nodes.push_back(std::move(node));
    }
    for (Node &node : result.nodes) {
        for (StageCost &stage : node.stages)
            for (Access &load : stage.loads)
                load.replaceable =
                    load.image < 0 || graph.images[static_cast<size_t>(load.image)].is_named;
        limit_loads(node, result.nodes, model);
        summarize_reads(node);
    }
    for (size_t i = 0; i < graph.images.size(); i++) {
        double bytes = graph.images[i].type.bytes();
        for (size_t d = 0; d < model.images[i].size(); d++)
            bytes *= static_cast<double>(
                elements_of(model.images[i][d], ir::extent_name(graph.images[i].name, d), names));
        result.image_bytes.push_back(bytes);
    }
    connect(result);
    for (const FuncNode &func : graph.funcs) {
        const int n = static_cast<int>(func.id);
        if (result.nodes[static_cast<size_t>(n)].role == Role::Inlined)
            substitute(result, n);
    }
    return result;
}

}  // namespace Pipe::autoschedule
