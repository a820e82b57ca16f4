#include "region/names.h"

#include "ir/int32.h"

namespace Pipe::region {

using namespace ir;

const Lets &Names::lets_at(const Level &level) const {
    static const Lets none;
    auto found = lets.find(level);
    return found == lets.end() ? none : found->second;
}

Expr Names::shift(const LoopTree &tree, const StageNest &nest, const StageLoop &loop) const {
    return loop.shifted ? shifts.at(tree.variable(nest, loop.dim.name)->name) : int32(0);
}

Expr shifted_offset(const graph::Graph &graph, const StageNest &nest,
                    const schedules::Transform &split) {
    return make_variable(Int(32), stage_name(graph[nest.func], nest.stage) + "." + split.old_name +
                                      ".offset");
}

}  // namespace Pipe::region
