#include "lower/iterations.h"

#include "ir/constant_bounds.h"
#include "region/upper_bound.h"

namespace Pipe::lower {

std::optional<int64_t> LetsAround::most_iterations(const Expr &extent) const {
    ir::ConstantInterval range = ir::constant_bounds(extent);
    if (range.has_hi())
        return range.hi;
    region::Variables unknown;
    unknown.extent_of = [](const std::string &) { return std::nullopt; };
    unknown.let_of = [&](const std::string &name) {
        const std::pair<Expr, int> *let = lets_.find(name);
        return let ? *let : std::pair(Expr(), 0);
    };
    return region::upper_bound(ir::Linear::from_expr(extent), unknown);
}

}  // namespace Pipe::lower
