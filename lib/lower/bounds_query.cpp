#include "lower/bounds_query.h"

#include "ir/int32.h"
#include "ir/simplify.h"
#include "lower/checks.h"
#include "lower/lower.h"
#include "region/plan.h"
#include "schedule/specialize.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// The stores of the bounds for one schedule without specializations, from the place `next` on.
Stmt store_bounds(const graph::Graph &graph, const region::LoopTree &tree, bool any_size,
                  int64_t &next) {
    const region::RegionPlan plan = region::plan_root(tree, any_size);
    std::vector<Stmt> stores;
    auto put = [&](const Expr &value) {
        Expr place = int32(next++);
        stores.push_back(make_store(bounds_name, place, simplify(make_cast(Int(64), value))));
    };
    const Expr zero = int32(0), one = int32(1);
    auto put_dims = [&](const region::Box &box, const graph::BufferPromise &promise) {
        Expr stride = make_int(Int(64), 1);
        for (size_t d = 0; d < box.size(); d++) {
            auto extent_from = [&](const Expr &min) {
                return max(zero, add(sub(box[d].max, min), one));
            };
            auto promised = d < promise.dims.size() ? promise.dims[d] : graph::ShapePromise();
            Expr min = promised.min.defined() ? promised.min : box[d].min;
            Expr extent = promised.extent.defined() ? promised.extent : extent_from(min);
            if (promised.stride.defined())
                stride = make_cast(Int(64), promised.stride);
            for (const Expr &e : {box[d].min, extent_from(box[d].min), min, extent, stride})
                put(e);
            stride = mul(stride, make_cast(Int(64), extent));
        }
    };
    for (const graph::Image &image : graph.images) {
        region::Box box = plan.demand.images.at(image.name);
        box.resize(static_cast<size_t>(image.dimensions), region::Interval{zero, int32(-1)});
        put_dims(box, image.promise);
    }
    for (FuncId output : graph.outputs) {
        const auto &promises = graph[output].output_promises;
        for (size_t i = 0; i < graph[output].types.size(); i++)
            put_dims(needed_output(plan, output),
                     i < promises.size() ? promises[i] : graph::BufferPromise());
    }
    Stmt body = stores.empty() ? make_evaluate(zero) : make_block(std::move(stores));
    const auto &lets = plan.names.lets_at("");
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        body = make_let(let->first, let->second, std::move(body));
    return body;
}

Stmt store_both(const graph::Graph &graph, const schedules::Schedule &schedule) {
    region::LoopTree tree(graph, schedule);
    int64_t next = 0;
    Stmt usual = store_bounds(graph, tree, false, next);
    return make_block({usual, store_bounds(graph, tree, true, next)});
}

Stmt query(const graph::Graph &graph, const schedules::Schedule &schedule) {
    std::optional<schedules::Branch> branch = schedules::branch(schedule);
    if (!branch)
        return store_both(graph, schedule);
    if (branch->condition.defined())
        return make_if(branch->condition, query(graph, branch->holds),
                       query(graph, branch->otherwise));
    schedules::Schedule plain = schedule;  // it fails: what the definitions say
    for (schedules::FuncSchedule &f : plain.funcs)
        for (schedules::StageSchedule &s : f.stages)
            s.specializations.clear();
    return store_both(graph, plain);
}

}  // namespace

Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule) {
    Program program{"bounds", arguments(graph), simplify(query(graph, schedule))};
    program.args.push_back({Argument::Kind::OutputBuffer, bounds_name, Int(64), 1});
    return program;
}

}  // namespace Pipe::lower
