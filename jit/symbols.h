#pragma once
// Reports the names of generated functions to external tools.

#include <memory>
#include <vector>

#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

namespace Pipe::jit {

/// The parsed environment variable PIPE_SYMBOLS.
struct SymbolTools {
    bool perf = false;  ///< /tmp/perf-<process>.map, where `perf report` looks
    bool gdb = false;   ///< GDB's JIT interface: each object, as it is linked
    bool any() const { return perf || gdb; }
};
/// Warns about unknown words.
SymbolTools symbol_tools();

/// Plugins that process each linked object.
std::vector<std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin>>
symbol_plugins(llvm::orc::ExecutionSession &session);

}  // namespace Pipe::jit
