#pragma once
// Names of loops in error messages.

#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// "x of blur.update(0) (blur.cpp:12)"; the name of a loop without origin.
inline std::string describe_loop(const ir::StmtNode &loop) {
    return loop.origin ? loop.origin->variable + " of " + loop.origin->stage : loop.name;
}

}  // namespace Pipe::lower
