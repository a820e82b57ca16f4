#pragma once
// Which parts of a program become functions of their own. Internal to the LLVM room.

#include <unordered_set>

#include "ir/stmt_node.h"

namespace Pipe::codegen {

/// The Produce statements to be emitted as functions. LLVM's passes take more than linear time in
/// the size of a function: one of a thousand stages would take minutes. So no function holds more
/// than `max_stores` stores where it can be cut at a Produce that loops; smaller programs stay
/// whole, and arrays that may lie in registers stay in the function of their allocation. Nests of many
/// loops are cut as well.
std::unordered_set<const ir::StmtNode *> parts_of(const ir::Stmt &program, int max_stores = 100);

}  // namespace Pipe::codegen
