#include "jit/symbols.h"

#include <cstdio>
#include <mutex>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h>
#include <llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h>

#include "support/env.h"
#include "support/error.h"

namespace Pipe::jit {

namespace orc = llvm::orc;
namespace jitlink = llvm::jitlink;

namespace {

/// Writes the file that perf reads: one line per function, "address size name" in hexadecimal.
/// (LLVM's own plugin for perf writes a format that must be merged into the recording afterward.)
class PerfMap : public orc::ObjectLinkingLayer::Plugin {
  public:
    void modifyPassConfig(orc::MaterializationResponsibility &, jitlink::LinkGraph &,
                          jitlink::PassConfiguration &passes) override {
        // Calls within an object are resolved inside it, so JITLink considers the callees' names
        // dead.
        passes.PrePrunePasses.emplace_back([](jitlink::LinkGraph &graph) {
            for (jitlink::Symbol *symbol : graph.defined_symbols())
                if (symbol->isCallable())
                    symbol->setLive(true);
            return llvm::Error::success();
        });
        passes.PostFixupPasses.emplace_back([this](jitlink::LinkGraph &graph) {
            write(graph);
            return llvm::Error::success();
        });
    }
    llvm::Error notifyFailed(orc::MaterializationResponsibility &) override {
        return llvm::Error::success();
    }
    llvm::Error notifyRemovingResources(orc::JITDylib &, orc::ResourceKey) override {
        return llvm::Error::success();
    }
    void notifyTransferringResources(orc::JITDylib &, orc::ResourceKey, orc::ResourceKey) override {
    }

  private:
    void write(jitlink::LinkGraph &graph) {
        std::string lines;
        for (const jitlink::Symbol *symbol : graph.defined_symbols())
            if (symbol->isCallable() && symbol->hasName())
                lines += fmt::format("{:x} {:x} {}\n", symbol->getAddress().getValue(),
                                     symbol->getSize(), std::string(symbol->getName()));
        std::lock_guard lock(mutex_);
        open_for_this_process();
        // If the map cannot be written, that is not an error; perf then shows addresses.
        if (file_ >= 0 && ::write(file_, lines.data(), lines.size()) < 0)
            support::warn("PIPE_SYMBOLS: the map for perf cannot be written.");
    }

    /// A file of an earlier process with the same id is overwritten; a link is not followed,
    /// because /tmp is writable by everybody.
    void open_for_this_process() {
        if (process_ == getpid())
            return;
        process_ = getpid();
        const std::string path = fmt::format("/tmp/perf-{}.map", process_);
        file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file_ < 0)
            support::warn(fmt::format("PIPE_SYMBOLS: '{}' cannot be written.", path));
    }

    std::mutex mutex_;
    pid_t process_ = 0;
    int file_ = -1;
};

std::shared_ptr<orc::ObjectLinkingLayer::Plugin> for_gdb(orc::ExecutionSession &session) {
    auto registrar = std::make_unique<orc::EPCDebugObjectRegistrar>(
        session, orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderGDBWrapper));
    return std::make_shared<orc::DebugObjectManagerPlugin>(
        session, std::move(registrar), /*RequireDebugSections=*/false, /*AutoRegisterCode=*/true);
}

}  // namespace

SymbolTools symbol_tools() {
    SymbolTools tools;
    std::istringstream words(support::env("PIPE_SYMBOLS"));
    for (std::string word; std::getline(words, word, ',');) {
        if (word == "perf")
            tools.perf = true;
        else if (word == "gdb")
            tools.gdb = true;
        else
            support::warn(
                fmt::format("PIPE_SYMBOLS: '{}' is not a known value. Use perf, gdb, or both "
                            "separated by a comma.",
                            word));
    }
    return tools;
}

std::vector<std::shared_ptr<orc::ObjectLinkingLayer::Plugin>>
symbol_plugins(orc::ExecutionSession &session) {
    const SymbolTools tools = symbol_tools();
    std::vector<std::shared_ptr<orc::ObjectLinkingLayer::Plugin>> plugins;
    if (tools.perf)
        plugins.push_back(std::make_shared<PerfMap>());
    if (tools.gdb)
        plugins.push_back(for_gdb(session));
    return plugins;
}

}  // namespace Pipe::jit
