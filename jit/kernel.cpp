#include "jit/kernel.h"

#include <chrono>
#include <cstdio>
#include <optional>

#include "codegen/codegen.h"
#include "jit/gpu/calls.h"
#include "jit/gpu/devices.h"
#include "jit/runtime.h"
#include "jit/session.h"
#include "support/target.h"

namespace Pipe::jit {

struct Kernel::Impl {
    ir::Program program;
    Target target;
    codegen::Options options;
    std::unique_ptr<Code> code;
    std::vector<ProfiledFunc> profiled;

    ~Impl() {
        if (code && code->gpu_module)
            unload_module(target, *code->gpu_module);
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
    double session = milliseconds_since(start);

    codegen::Object object = codegen::compile(program, target, impl->options);
    start = std::chrono::steady_clock::now();
    impl->code = Session::get().add(object.bytes, object.entry, target.has_cuda());
    impl->profiled = object.profiled;
    if (times) {
        *times = {object.times.emit, object.times.optimize, object.times.machine,
                  session + milliseconds_since(start)};
    }
    return Kernel(impl);
}

void print(const RunOptions &options, const std::string &text) {
    if (options.handlers.custom_print)
        options.handlers.custom_print(options.context, text.c_str());
    else
        std::fputs(text.c_str(), stdout);
}

void put_before(const JITHandlers &first, JITHandlers *handlers) {
    auto take = [](auto &to, auto from) {
        if (from)
            to = from;
    };
    take(handlers->custom_print, first.custom_print);
    if (first.custom_malloc || first.custom_free) {
        handlers->custom_malloc = first.custom_malloc;
        handlers->custom_free = first.custom_free;
    }
    take(handlers->custom_do_task, first.custom_do_task);
    take(handlers->custom_do_par_for, first.custom_do_par_for);
    take(handlers->custom_error, first.custom_error);
    take(handlers->custom_trace, first.custom_trace);
}

namespace {

/// The kernel itself, and what its device has to do after it. Failures are in the context.
int32_t run_on_device(codegen::KernelFunction *function, Context &context, void *const *args,
                      int64_t *peak, const Target &target, Profile *profile) {
    std::vector<KernelTime> times;
    GPURun gpu(device_finder(target), context.user, profile ? &times : nullptr);
    context.gpu = &gpu;
    const int32_t code = run_kernel(function, context, args, peak);
    if (code == 0 && !context.failed())
        call_device(&context, [](GPURun &run) { run.finish(); });
    context.gpu = nullptr;
    if (profile)
        profile->add(times);
    return code;
}

}  // namespace

int Kernel::run(const RunOptions &options, void *const *args, std::string *error,
                RunStats *stats) const {
    JITUserContext none;
    Context context(options.handlers, options.context ? options.context : &none);
    context.threads = options.threads > 0 ? options.threads : default_threads();
    context.scratch_limit = options.scratch_limit;
    context.memo_owner = options.memo_owner;
    int64_t peak = 0;
    auto *function = reinterpret_cast<codegen::KernelFunction *>(impl_->code->entry);
    std::optional<ProfiledRun> profiled;
    if (is_profiled())
        context.profile = profiled.emplace(impl_->profiled.size()).table();
    int32_t code = impl_->target.has_cuda()
                       ? run_on_device(function, context, args, &peak, impl_->target,
                                       profiled ? options.profile : nullptr)
                       : run_kernel(function, context, args, &peak);
    if (profiled)
        profiled->stop();
    if (profiled && options.profile)
        options.profile->add(*profiled, impl_->profiled);
    if (stats)
        stats->peak_scratch_bytes = peak;
    context.rethrow();
    if (context.failed())
        code = context.code();
    if (code != 0 && error)
        *error = context.message();
    return code;
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
