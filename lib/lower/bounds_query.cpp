#include "lower/bounds_query.h"

#include "ir/int32.h"
#include "ir/simplify.h"
#include "lower/checks.h"
#include "lower/lower.h"
#include "region/region_map.h"
#include "schedule/specialize.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// The stores of the ranges for one schedule without specializations.
Stmt store_bounds(const graph::Graph &graph, const schedules::Schedule &schedule) {
    region::LoopTree tree(graph, schedule);
    region::RegionMap regions(tree, /*any_size=*/true);
    std::vector<Stmt> stores;
    auto put = [&](const Expr &value) {
        Expr place = int32(static_cast<int64_t>(stores.size()));
        stores.push_back(make_store(bounds_name, place, simplify(value)));
    };
    Expr zero = int32(0), one = int32(1);
    auto put_range = [&](const region::Interval &range) {
        put(range.min);
        put(max(zero, add(sub(range.max, range.min), one)));
    };
    for (const graph::Image &image : graph.images) {
        const region::Box &box = regions.image(image.name);
        for (size_t d = 0; d < static_cast<size_t>(image.dimensions); d++)
            put_range(box.empty() ? region::Interval{zero, int32(-1)} : box[d]);
    }
    for (FuncId output : graph.outputs)
        for (size_t i = 0; i < graph[output].types.size(); i++)
            for (const region::Interval &range : needed_output(regions, output))
                put_range(range);
    Stmt body = stores.empty() ? make_evaluate(zero) : make_block(std::move(stores));
    const auto &lets = regions.lets("");
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        body = make_let(let->first, let->second, std::move(body));
    return body;
}

Stmt query(const graph::Graph &graph, const schedules::Schedule &schedule) {
    std::optional<schedules::Branch> branch = schedules::branch(schedule);
    if (!branch)
        return store_bounds(graph, schedule);
    if (branch->condition.defined())
        return make_if(branch->condition, query(graph, branch->holds),
                       query(graph, branch->otherwise));
    schedules::Schedule plain = schedule;  // it fails: what the definitions say
    for (schedules::FuncSchedule &f : plain.funcs)
        for (schedules::StageSchedule &s : f.stages)
            s.specializations.clear();
    return store_bounds(graph, plain);
}

}  // namespace

Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule) {
    Program program{"bounds", arguments(graph), simplify(query(graph, schedule))};
    program.args.push_back({Argument::Kind::OutputBuffer, bounds_name, Int(32), 1});
    return program;
}

}  // namespace Pipe::lower
