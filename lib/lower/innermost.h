#pragma once
// What stands inside all loops of a stage.

#include <map>
#include <string>
#include <vector>

#include "ir/stmt_node.h"
#include "region/region_map.h"

namespace Pipe::lower {

/// The loops of a stage, with what region inference says of them.
struct Nest {
    const region::StageNest *stage;
    std::map<std::string, region::Range> ranges;
    std::vector<region::Tail> tails;
    size_t shared;             ///< how many of the outermost loops have other stages in them
    std::vector<Nest> guests;  ///< of these stages, those that follow this one
};

/// The store of a definition's values at one point, under the masks of the loops' tails; of an
/// extern stage, the call of its C function.
ir::Stmt innermost(region::RegionMap &regions, const Nest &nest);

}  // namespace Pipe::lower
