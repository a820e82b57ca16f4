#include "jit/session.h"

#include <atomic>

#include <dlfcn.h>

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include "ir/extern_functions.h"
#include "jit/runtime/abi_functions.h"
#include "jit/runtime/runtime.h"
#include "jit/symbols.h"
#include <pipe/error.h>

namespace Pipe::jit {

namespace orc = llvm::orc;

namespace {

template <typename T> T checked(llvm::Expected<T> value) {
    if (!value)
        throw InternalError("LLVM's ORC: " + llvm::toString(value.takeError()));
    return std::move(*value);
}

void check(llvm::Error error) {
    if (error)
        throw InternalError("LLVM's ORC: " + llvm::toString(std::move(error)));
}

/// Resolves symbols that neither the object nor the run time defines: user's C functions, then
/// libmvec, then the process.
class ProcessSymbols : public orc::DefinitionGenerator {
  public:
    explicit ProcessSymbols(void *libmvec) : libmvec_(libmvec) {}

    llvm::Error tryToGenerate(orc::LookupState &, orc::LookupKind, orc::JITDylib &dylib,
                              orc::JITDylibLookupFlags,
                              const orc::SymbolLookupSet &names) override {
        orc::SymbolMap found;
        for (const auto &[name, flags] : names) {
            std::string text = (*name).str();
            void *address = nullptr;
            if (auto function = ir::find_extern(text))
                address = function->address;
            if (!address && libmvec_)
                address = dlsym(libmvec_, text.c_str());
            if (!address)
                address = dlsym(RTLD_DEFAULT, text.c_str());
            if (address) {
                found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
            }
        }
        return found.empty() ? llvm::Error::success()
                             : dylib.define(orc::absoluteSymbols(std::move(found)));
    }

  private:
    void *libmvec_;
};

}  // namespace

struct Session::Orc {
    std::unique_ptr<orc::ExecutionSession> session;
    std::unique_ptr<orc::ObjectLinkingLayer> linker;
    orc::JITDylib *process = nullptr;  ///< the run time and the C libraries
    std::atomic<uint64_t> count{0};
};

namespace {

/// A separate library per kernel, so that kernels may have the same name and be freed individually.
class LinkedCode : public Code {
  public:
    LinkedCode(orc::ExecutionSession &session, orc::JITDylib &dylib, bool stays)
        : session_(session), dylib_(dylib), stays_(stays) {}
    ~LinkedCode() override {
        if (!stays_)
            llvm::consumeError(session_.removeJITDylib(dylib_));
    }

  private:
    orc::ExecutionSession &session_;
    orc::JITDylib &dylib_;
    const bool stays_;
};

}  // namespace

Session::Session() : orc_(std::make_unique<Orc>()) {
    libmvec_ = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    auto control = checked(orc::SelfExecutorProcessControl::Create());
    orc_->session = std::make_unique<orc::ExecutionSession>(std::move(control));
    orc_->session->setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
    orc_->linker = std::make_unique<orc::ObjectLinkingLayer>(
        *orc_->session, orc_->session->getExecutorProcessControl().getMemMgr());
    auto plugins = symbol_plugins(*orc_->session);
    emits_symbols_ = !plugins.empty();
    for (auto &plugin : plugins)
        orc_->linker->addPlugin(std::move(plugin));
    orc_->process = &orc_->session->createBareJITDylib("process");
    orc::SymbolMap symbols;
    for (const runtime::AbiFunction &f : runtime::abi_functions()) {
        symbols[orc_->session->intern(f.name)] = {orc::ExecutorAddr::fromPtr(f.address),
                                                  llvm::JITSymbolFlags::Exported};
    }
    check(orc_->process->define(orc::absoluteSymbols(std::move(symbols))));
    orc_->process->addGenerator(std::make_unique<ProcessSymbols>(libmvec_));
}

Session &Session::get() {
    // Never destroyed: kernels in static variables may outlive it otherwise.
    static auto *session = new Session();
    return *session;
}

namespace {

/// Null where the object has none.
runtime::GPUModule *find_gpu_module(orc::ExecutionSession &session, orc::JITDylib &dylib) {
    const orc::SymbolStringPtr name = session.intern(runtime::gpu_module_symbol);
    auto found = checked(
        session.lookup(orc::makeJITDylibSearchOrder(&dylib),
                       orc::SymbolLookupSet(name, orc::SymbolLookupFlags::WeaklyReferencedSymbol)));
    auto symbol = found.find(name);
    return symbol == found.end() ? nullptr
                                 : symbol->second.getAddress().toPtr<runtime::GPUModule *>();
}

}  // namespace

std::unique_ptr<Code> Session::add(const std::vector<std::vector<char>> &objects,
                                   const std::string &entry, bool for_gpu) {
    std::string name = entry + "#" + std::to_string(orc_->count++);
    orc::JITDylib &dylib = orc_->session->createBareJITDylib(name);
    // Debuggers and profilers cannot be made to forget code.
    auto code = std::make_unique<LinkedCode>(*orc_->session, dylib, emits_symbols_);
    dylib.addToLinkOrder(*orc_->process);
    for (const std::vector<char> &object : objects) {
        llvm::StringRef bytes(object.data(), object.size());
        check(orc_->linker->add(dylib, llvm::MemoryBuffer::getMemBufferCopy(bytes, name)));
    }
    auto symbol = checked(orc_->session->lookup({&dylib}, entry));
    code->entry = symbol.getAddress().toPtr<void *>();
    if (for_gpu)
        code->gpu_module = find_gpu_module(*orc_->session, dylib);
    return code;
}

}  // namespace Pipe::jit
