#include "lower/iterations.h"

#include "ir/constant_bounds.h"
#include "region/upper_bound.h"

namespace Pipe::lower {

std::optional<int64_t> most_iterations(const Expr &extent) {
    ir::ConstantInterval range = ir::constant_bounds(extent);
    if (range.has_hi())
        return range.hi;
    region::Variables unknown;
    unknown.extent_of = [](const std::string &) { return std::nullopt; };
    unknown.let_of = [](const std::string &) { return std::pair(Expr(), 0); };
    return region::upper_bound(ir::Linear::from_expr(extent), unknown);
}

}  // namespace Pipe::lower
