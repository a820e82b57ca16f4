#include "jit/kernel.h"

#include <chrono>

#include "codegen/codegen.h"
#include "jit/runtime/gpu/devices.h"
#include "jit/session.h"
#include "support/processors.h"
#include "support/target.h"

namespace Pipe::jit {

struct Kernel::Impl {
    ir::Program program;
    Target target;
    codegen::Options options;
    std::unique_ptr<Code> code;
    std::vector<runtime::ProfiledFunc> profiled;

    ~Impl() {
        if (code && code->gpu_module)
            runtime::unload_module(target, *code->gpu_module);
    }
};

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void check_runs_here(const Target &target) {
    if (std::string why = support::unsupported_reason(target); !why.empty())
        throw CompileError(why);
    // Whether there is a GPU shows when a kernel is launched: the Buffers of the call may be empty.
    if (!support::runs_on_this_processor(target))
        throw CompileError("Code for the target " + target.to_string() +
                           " cannot run on this machine, which is " + Target("host").to_string() +
                           ". Realize for get_host_target().");
}

}  // namespace

Kernel compile(const ir::Program &program, const Target &target, CompileTimes *times) {
    check_runs_here(target);
    auto start = std::chrono::steady_clock::now();
    auto impl = std::make_shared<Kernel::Impl>();
    impl->program = program;
    impl->target = target;
    impl->options.libmvec = Session::get().has_libmvec();
    impl->options.frames = Session::get().emits_symbols();
    impl->options.threads = support::default_threads();
    double session = milliseconds_since(start);

    const codegen::Objects objects = codegen::compile(program, target, impl->options);
    start = std::chrono::steady_clock::now();
    impl->code = Session::get().add(objects.files, objects.entry, target.has_cuda());
    impl->profiled = objects.profiled;
    if (times) {
        *times = {objects.times.emit, objects.times.optimize, objects.times.machine,
                  session + milliseconds_since(start)};
    }
    return Kernel(impl);
}

int Kernel::run(const runtime::RunOptions &options, void *const *args, std::string *error,
                runtime::RunStats *stats) const {
    auto *function = reinterpret_cast<runtime::KernelFunction *>(impl_->code->entry);
    return runtime::run_kernel({function, impl_->target, impl_->profiled}, options, args, error,
                               stats);
}

bool Kernel::is_profiled() const {
    return !impl_->profiled.empty();
}

std::string Kernel::llvm_ir() const {
    return codegen::llvm_ir(impl_->program, impl_->target, impl_->options);
}

std::string Kernel::assembly() const {
    return codegen::assembly(impl_->program, impl_->target, impl_->options);
}

}  // namespace Pipe::jit
