#pragma once
// Selects the parts of a program that become separate functions. Internal to codegen/.

#include <unordered_set>

#include "ir/stmt_node.h"

namespace Pipe::codegen {

/// The Produce statements to be emitted as functions. LLVM's passes take more than linear time in
/// the size of a function: with a thousand stages, minutes. So no function has more than
/// `max_stores` stores if it can be split at a Produce with loops; smaller programs stay whole, and
/// arrays that may be promoted to registers stay in the function of their allocation. Deep loop
/// nests are split as well.
std::unordered_set<const ir::StmtNode *> parts_of(const ir::Stmt &program, int max_stores = 50);

}  // namespace Pipe::codegen
