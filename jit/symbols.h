#pragma once
// Tools that look into the process from outside learn the names of generated functions.

#include <memory>
#include <vector>

#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

namespace Pipe::jit {

/// What the environment variable PIPE_SYMBOLS asks for.
struct SymbolTools {
    bool perf = false;  ///< /tmp/perf-<process>.map, where `perf report` looks
    bool gdb = false;   ///< GDB's JIT interface: each object, as it is linked
    bool any() const { return perf || gdb; }
};
/// Warns of words that it does not know.
SymbolTools symbol_tools();

/// What has to see each object that is linked.
std::vector<std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin>>
symbol_plugins(llvm::orc::ExecutionSession &session);

}  // namespace Pipe::jit
