#pragma once
// Checks that a program is well formed. In debug builds this runs after each pass.

#include <set>
#include <string>

#include "ir/program.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// The names and nodes that a statement may contain.
struct VerifyOptions {
    std::set<std::string> free_variables;  ///< names that need no enclosing Let or For
    bool any_free_variable = false;
    std::set<std::string>
        buffers;  ///< names that Load and Store may use without an enclosing Allocate
    bool any_buffer = false;
    bool flattened = false;  ///< no Provide, Realize, Call Func or Call Image
};

/// Throws InternalError, with the offending node printed, unless: every variable is free or bound
/// by an enclosing Let or For (with the same type); operands have the types that their operation
/// needs; loads and stores name a known buffer or an enclosing allocation.
void verify(const Stmt &s, const VerifyOptions &options = {});

/// The same for a whole kernel: its arguments are the only free names, with the types that Argument
/// states, and its body is flattened.
void verify(const Program &program);

}  // namespace Pipe::ir
