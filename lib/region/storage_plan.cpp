#include "region/storage_plan.h"

#include "ir/int32.h"

namespace Pipe::region {

using namespace ir;

std::vector<Expr> FuncStorage::place(std::vector<Expr> coordinates) const {
    std::vector<bool> folded(coordinates.size(), false);
    for (const Fold &f : folds) {
        auto d = static_cast<size_t>(f.dim);
        coordinates[d] = mod(coordinates[d], f.factor);
        folded[d] = true;
    }
    for (size_t d = 0; relative && d < region.size(); d++)
        if (!folded[d])
            coordinates[d] = sub(coordinates[d], region[d].min);
    if (copy.defined())
        coordinates.push_back(copy);
    return coordinates;
}

}  // namespace Pipe::region
