#pragma once
// Which buffers of a kernel need no barrier: each of their elements is accessed by one thread of a block only.

#include <set>
#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The buffers that the kernel stores to and of whose elements no two threads of a block access the same one, as far
/// as that can be proven. The loops over threads must still be there.
std::set<std::string> accessed_by_one_thread(const ir::Stmt &launch);

}  // namespace Pipe::lower
