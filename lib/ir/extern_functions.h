#pragma once
// The registry of C functions that expressions call, by name; used when calls are executed.

#include <optional>
#include <string>

#include <pipe/extern.h>

namespace Pipe::ir {

/// Marks (as ExprNode::index) the call of a user's C function: its name is the symbol itself,
/// without a suffix for the type.
inline constexpr int users_function = 1;

/// Registers a function. An existing entry with the same types stays; CompileError if its types or
/// its address differ.
void register_extern(const detail::ExternFunction &function);

/// Registers a function that replaces another one of the same name for one pipeline, and returns
/// the name under which to call it: its own, or a new one if that is taken by another function of
/// the same types. CompileError if the types differ.
std::string register_extern_override(detail::ExternFunction function);

/// Nothing if it was never registered. If no address was given, it is looked up in the process;
/// null if not found.
std::optional<detail::ExternFunction> find_extern(const std::string &name);

/// CompileError if an expression calls a pipeline, which is only possible for extern stages.
void refuse_pipeline(const detail::ExternFunction &function);

/// The address of a registered function, or of one in the process; null if there is none.
void *extern_address(const std::string &name);

}  // namespace Pipe::ir
