// RegionSolver: names for the ends of boxes, and bounds of expressions that use them.
#include "ir/print.h"
#include "ir/simplify.h"
#include "region/region_solver.h"
#include "support/error_text.h"

namespace Pipe::region {

using namespace ir;

Box RegionSolver::bind(const Level &level, const std::string &prefix, const graph::FuncNode &func,
                       const Box &box) {
    Box result;
    for (size_t d = 0; d < box.size(); d++) {
        std::string name = prefix + "." + func.args[d];
        Expr min = lets_.bind(level, name + ".min", box[d].min);
        std::optional<int64_t> extent =
            constant_difference(simplify(box[d].max), simplify(box[d].min));
        if (extent && *extent >= INT32_MAX)
            throw CompileError(
                graph::located_name(func) + " is needed in dimension " + std::to_string(d) + " (" +
                support::marked(support::Field::Dimension, func.args[d]) +
                ") at more than 2147483647 coordinates, from " +
                support::marked(support::Field::Needed, ir::to_string(simplify(box[d].min)) +
                                                            " to " +
                                                            ir::to_string(simplify(box[d].max))) +
                ". Apply clamp(index, lowest, highest) to the data-dependent index.");
        result.push_back({min, extent ? add(min, int32(*extent))
                                      : lets_.bind(level, name + ".max", box[d].max)});
    }
    return result;
}

}  // namespace Pipe::region
