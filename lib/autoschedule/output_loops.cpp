#include "autoschedule/output_loops.h"

#include <algorithm>

namespace Pipe::autoschedule {

using schedules::LoopLevel;

std::vector<int> order_of_points(const Plan &plan) {
    if (!plan.inner.empty())
        return plan.inner;
    std::vector<int> order;
    for (int d = 0; d < static_cast<int>(plan.tile.size()); d++)
        if (d != plan.row_dim)
            order.push_back(d);
    if (plan.row_dim >= 0)
        order.push_back(plan.row_dim);
    return order;
}

namespace {

OutputLoop innermost_tile_of(const Plan &plan) {
    return {plan.outer.empty() ? -1 : plan.outer.back(), true};
}

}  // namespace

Place place_of(const Plan &plan, size_t member) {
    if (!plan.places.empty())
        return plan.places[member];
    const OutputLoop tile = innermost_tile_of(plan);
    if (plan.levels[member] == Level::Block) {
        const OutputLoop block = {order_of_points(plan).front(), false};
        return {block, block, {}};
    }
    if (plan.levels[member] != Level::Row)
        return {tile, tile, {}};
    const OutputLoop row = {plan.row_dim, false};
    return {row, plan.slides[member] ? tile : row, {}};
}

LoopLevel OutputLoops::innermost_tile() const {
    return level(innermost_tile_of(plan));
}

LoopLevel OutputLoops::level(const OutputLoop &loop) const {
    std::vector<std::string> names;  // this loop and those around it
    if (loop.dim >= 0) {
        auto around = plan.outer.end();
        if (loop.over_tiles) {
            around = std::find(plan.outer.begin(), plan.outer.end(), loop.dim);
            around += around != plan.outer.end();
        } else {
            const std::vector<int> order = order_of_points(plan);
            for (auto d = std::find(order.begin(), order.end(), loop.dim); d != order.end(); d++)
                names.push_back(points[static_cast<size_t>(*d)]);
        }
        while (around != plan.outer.begin())
            names.push_back(tiles[static_cast<size_t>(*--around)]);
    }
    auto name =
        std::find_if(names.begin(), names.end(), [](const std::string &n) { return !n.empty(); });
    if (name == names.end())
        return {LoopLevel::Kind::Root, FuncId::None, 0, ""};
    return {LoopLevel::Kind::At, func, static_cast<int>(plan.stage), *name};
}

}  // namespace Pipe::autoschedule
