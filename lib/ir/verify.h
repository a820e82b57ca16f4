#pragma once
// Checks that a program is well formed. Run after each pass in debug builds.

#include <set>
#include <string>

#include "ir/program.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// What may stand in a statement.
struct VerifyOptions {
    std::set<std::string> free_variables;  ///< names that need no Let or For around them
    bool any_free_variable = false;
    std::set<std::string> buffers;  ///< names that Load and Store may use without an Allocate
    bool any_buffer = false;
    bool flattened = false;  ///< no Provide, Realize, Call Func or Call Image
};

/// Throws InternalError, with the offending node printed, unless: every variable is bound by a Let
/// or For around it (with the same type) or free; operands have the types that their operation
/// needs; loads and stores name a buffer or an allocation around them.
void verify(const Stmt &s, const VerifyOptions &options = {});

/// The same for a whole kernel: its arguments are the only free names, with the types that Argument
/// states, and its body is flattened.
void verify(const Program &program);

}  // namespace Pipe::ir
