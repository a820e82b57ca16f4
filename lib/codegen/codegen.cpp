#include "codegen/codegen.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/device/device_code.h"
#include "codegen/optimize.h"
#include "codegen/parts.h"
#include "codegen/share_functions.h"
#include "codegen/stmt_emitter.h"
#include "codegen/target_machine.h"
#include "support/deep_stack.h"
#include "support/env.h"

namespace Pipe::codegen {

namespace {

/// Adds the time from its making to `*milliseconds`.
class Stopwatch {
  public:
    explicit Stopwatch(double *milliseconds) : result_(milliseconds) {}
    ~Stopwatch() {
        *result_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    }

  private:
    using Clock = std::chrono::steady_clock;
    double *result_;
    Clock::time_point start_ = Clock::now();
};

void verify(const llvm::Module &module, const Options &options) {
    if (!options.verify)
        return;
    std::string message;
    llvm::raw_string_ostream stream(message);
    if (llvm::verifyModule(module, &stream)) {
        throw InternalError("the LLVM IR of " + module.getName().str() +
                            " is malformed: " + message);
    }
}

/// One name for all buffers of a program that lie, or may lie, in the same memory.
std::map<std::string, std::string> memory_of(const std::vector<ir::InPlace> &in_place) {
    std::map<std::string, std::string> names;
    auto name_of = [&](const std::string &buffer) {
        auto known = names.find(buffer);
        return known == names.end() ? buffer : known->second;
    };
    for (const ir::InPlace &pair : in_place) {
        const std::string output = name_of(pair.output), input = name_of(pair.input);
        for (auto &[buffer, name] : names)
            if (name == input)
                name = output;
        names[input] = names[pair.input] = output;
    }
    return names;
}

/// A module from the program up to the LLVM IR, which optimized() improves.
struct Compilation {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::TargetMachine> machine;
    std::unique_ptr<llvm::Module> module;
    std::unique_ptr<DeviceCode> device;  ///< the kernels, where there are some
    std::string ptx;
    std::string entry;
    Times times;
    std::vector<runtime::ProfiledFunc> profiled;

    Compilation(const ir::Program &program, const Target &target, const Options &options)
        : entry(options.entry.empty() ? "pipe_kernel_" + program.name : options.entry) {
        {
            Stopwatch watch(&times.emit);
            machine = make_target_machine(target);
            module = std::make_unique<llvm::Module>(program.name, context);
            module->setTargetTriple(machine->getTargetTriple().str());
            module->setDataLayout(machine->createDataLayout());
            std::optional<Profiled> funcs;
            if (target.has_feature(Target::Profile))
                funcs.emplace(program);
            device = DeviceCode::of(program, target, *module);
            Unit unit{context,
                      *module,
                      target,
                      options,
                      parts_of(program.body),
                      funcs ? &*funcs : nullptr,
                      program.nontemporal_stores,
                      program.nontemporal_loads,
                      memory_of(program.in_place),
                      device.get()};
            emit_kernel(unit, program, entry);
            if (funcs)
                profiled = std::move(funcs->funcs);
            if (device && device->own_module)
                verify(*device->own_module, options);
        }
        finish_kernels(program.name);
        verify(*module, options);
    }

    Compilation &optimized(const Target &target, const Options &options) {
        Stopwatch watch(&times.optimize);
        optimize(*module, *machine, target);
        verify(*module, options);
        return *this;
    }

    void finish_kernels(const std::string &name) {
        Stopwatch watch(&times.kernels);
        if (device)
            ptx = device->finish(*module, name);
    }
};

std::string text_of(const llvm::Module &module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
}

std::string assembly_of(llvm::Module &module, llvm::TargetMachine &machine) {
    auto bytes = generate(module, machine, llvm::CodeGenFileType::AssemblyFile);
    return {bytes.begin(), bytes.end()};
}

/// The switch PIPE_DUMP names a folder: the LLVM IR and the assembly of all that is compiled go
/// there.
void dump(Compilation &c) {
    std::string folder = support::dump_folder();
    if (folder.empty())
        return;
    static std::atomic<int> count{0};
    std::string file = folder + "/" + std::to_string(count++) + "." + c.entry;
    std::ofstream(file + ".ll") << text_of(*c.module);
    if (!c.ptx.empty())
        std::ofstream(file + ".ptx") << c.ptx;
    auto copy = llvm::CloneModule(*c.module);  // writing assembly changes the module
    std::ofstream(file + ".s") << assembly_of(*copy, *c.machine);
}

using Bytes = std::vector<char>;

Bytes object_of(llvm::Module &module, llvm::TargetMachine &machine) {
    const auto bytes = generate(module, machine, llvm::CodeGenFileType::ObjectFile);
    return {bytes.begin(), bytes.end()};
}

/// The object of one share of a module, made in a context of its own: on any thread.
Bytes object_of_share(llvm::StringRef bitcode, const Target &target, const Options &options) {
    llvm::LLVMContext context;
    const auto machine = make_target_machine(target);
    auto module = llvm::parseBitcodeFile({bitcode, "share"}, context);
    if (!module)
        throw InternalError("LLVM cannot read its bitcode: " + llvm::toString(module.takeError()));
    optimize(**module, *machine, target);
    verify(**module, options);
    return object_of(**module, *machine);
}

std::vector<Bytes> objects_of_shares(Compilation &c, const Target &target, const Options &options) {
    const auto shares = share_functions(*c.module, options.threads);
    std::vector<Bytes> files(shares.size());
    std::vector<std::function<void()>> work;
    for (size_t i = 0; i < shares.size(); i++)
        work.emplace_back([&, i] {
            files[i] = object_of_share({shares[i].data(), shares[i].size()}, target, options);
        });
    support::on_deep_stacks(work);
    return files;
}

std::vector<Bytes> object_files(Compilation &c, const Target &target, const Options &options) {
    // What is dumped is whole, and kernels are told to the run time by one object.
    const bool is_whole = c.device || !support::dump_folder().empty();
    if (!is_whole && shares_of(*c.module, options.threads) > 1) {
        Stopwatch watch(&c.times.machine);
        return objects_of_shares(c, target, options);
    }
    dump(c.optimized(target, options));
    Stopwatch watch(&c.times.machine);
    return {object_of(*c.module, *c.machine)};
}

}  // namespace

Objects compile(const ir::Program &program, const Target &target, const Options &options) {
    Compilation c(program, target, options);
    std::vector<Bytes> files = object_files(c, target, options);
    return {std::move(files), c.entry, c.times, c.profiled};
}

std::string llvm_ir(const ir::Program &program, const Target &target, const Options &options) {
    return text_of(*Compilation(program, target, options).optimized(target, options).module);
}

std::string ptx(const ir::Program &program, const Target &target, const Options &options) {
    return Compilation(program, target, options).ptx;
}

std::string bitcode(const ir::Program &program, const Target &target, const Options &options) {
    Compilation c(program, target, options);
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*c.optimized(target, options).module, stream);
    return bytes;
}

std::string assembly(const ir::Program &program, const Target &target, const Options &options) {
    Compilation c(program, target, options);
    return assembly_of(*c.optimized(target, options).module, *c.machine);
}

}  // namespace Pipe::codegen
