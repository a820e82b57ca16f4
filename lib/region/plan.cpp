#include "region/plan.h"

#include "region/demand_walk.h"
#include "region/storage_planner.h"

namespace Pipe::region {

RegionPlan plan_regions(const LoopTree &tree, bool any_size) {
    RegionSolver regions(tree, any_size);
    Demand demand = demand_of_all(tree, regions);
    TailPlan tails = plan_tails(tree, demand, regions.tail_rules());
    StoragePlan storage =
        plan_storage(tree, demand, regions.tail_rules(), regions.lets(), regions.kept());
    return {tree, std::move(demand), std::move(storage), std::move(tails), regions.names()};
}

RegionPlan plan_root(const LoopTree &tree, bool any_size) {
    RegionSolver regions(tree, any_size);
    Demand demand = demand_of_arguments(tree, regions);
    TailPlan tails = plan_tails(tree, demand, regions.tail_rules());
    // Nothing is said of storage: demand alone is known, and only at the root.
    return {tree,
            std::move(demand),
            {std::vector<FuncStorage>(tree.graph().funcs.size())},
            std::move(tails),
            regions.names()};
}

}  // namespace Pipe::region
