#pragma once
// The C functions that expressions call, by name. Used by whoever runs the calls.

#include <optional>
#include <string>

#include <pipe/extern.h>

namespace Pipe::ir {

/// Marks (as ExprNode::index) the call of a C function of the user's: its name is the symbol
/// itself, without a suffix for the type.
inline constexpr int users_function = 1;

/// Enters a function. One that is there already with the same types stays; CompileError where its
/// types or its address are others.
void register_extern(const detail::ExternFunction &function);

/// Enters a function for those alone who ask for it by the name that this answers: its own, or
/// another one where another function of the same types goes by that. CompileError where their
/// types differ.
std::string register_extern_override(detail::ExternFunction function);

/// Nothing where it was never entered. The address is looked up in the process where none
/// was given; still null where there is none.
std::optional<detail::ExternFunction> find_extern(const std::string &name);

/// CompileError where what an expression calls is a pipeline, which only extern stages can be.
void refuse_pipeline(const detail::ExternFunction &function);

/// Of one that was entered or is in the process; null where there is none.
void *extern_address(const std::string &name);

}  // namespace Pipe::ir
