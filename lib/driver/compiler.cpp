#include "driver/compiler.h"

namespace Pipe::driver {

void Compiler::autoschedule(const Target &target, const AutoscheduleOptions &options) {
    std::lock_guard lock(mutex_);
    settings_.target = target;
    settings_.autoschedule = options;
    compiled_ = nullptr;
}

void Compiler::use_directives(const Target &target) {
    std::lock_guard lock(mutex_);
    settings_.target = target;
    settings_.autoschedule = std::nullopt;
    compiled_ = nullptr;
}

void Compiler::trace_pipeline() {
    std::lock_guard lock(mutex_);
    settings_.trace_pipeline = true;
    compiled_ = nullptr;
}

void Compiler::add_requirement(const graph::Requirement &requirement) {
    std::lock_guard lock(mutex_);
    settings_.requirements.push_back(requirement);
    compiled_ = nullptr;
}

void Compiler::set_extern_names(const language::ExternNames &names) {
    std::lock_guard lock(mutex_);
    settings_.extern_names = names;
    compiled_ = nullptr;
}

void Compiler::forget() {
    std::lock_guard lock(mutex_);
    compiled_ = nullptr;
}

std::shared_ptr<Compiled> Compiler::newest() const {
    std::lock_guard lock(mutex_);
    return compiled_;
}

Settings Compiler::settings() const {
    std::lock_guard lock(mutex_);
    return settings_;
}

std::shared_ptr<Compiled> Compiler::get(const std::vector<Func> &outputs, const Target &target,
                                        const Outputs *buffers) {
    std::shared_ptr<Compiled> compiled = newest();
    if (compiled && compiled->up_to_date(target))
        return compiled;
    std::lock_guard compiling(compile_mutex_);
    compiled = newest();  // another thread may have compiled it meanwhile
    if (compiled && compiled->up_to_date(target))
        return compiled;
    compiled = std::make_shared<Compiled>(outputs, settings(), target, buffers);
    std::lock_guard lock(mutex_);
    compiled_ = compiled;
    return compiled;
}

std::shared_ptr<Compiled> Compiler::current(const std::vector<Func> &outputs) {
    std::shared_ptr<Compiled> compiled = newest();
    if (compiled && compiled->up_to_date(compiled->target()))
        return compiled;
    return std::make_shared<Compiled>(outputs, settings(), Target(), nullptr);
}

Scheduled Compiler::schedule(const std::vector<Func> &outputs) {
    std::shared_ptr<Compiled> compiled = newest();
    if (compiled && compiled->up_to_date(compiled->target()))
        return compiled->scheduled();
    return make_schedule(outputs, settings(), nullptr);
}

std::shared_ptr<Compiled> Compiler::compile_for(const std::vector<Func> &outputs,
                                                const Target &target) {
    std::shared_ptr<Compiled> compiled = newest();
    if (compiled && compiled->up_to_date(target))
        return compiled;
    return std::make_shared<Compiled>(outputs, settings(), target, nullptr);
}

Compiler &checked(const std::shared_ptr<Compiler> &compiler) {
    if (!compiler)
        throw CompileError("An undefined Pipeline was used: give it an output Func.");
    return *compiler;
}

language::Frozen Compiler::freeze(const std::vector<Func> &outputs) const {
    Settings s = settings();
    return language::freeze(outputs, get_host_target(), s.requirements, s.extern_names);
}

}  // namespace Pipe::driver
