// Pipeline: the parts that Func does not share.

#include <pipe/pipeline.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "driver/compiler.h"
#include "driver/loop_nest.h"
#include "driver/pipeline_of.h"
#include "driver/report_page.h"
#include "driver/tune.h"
#include "graph/schedule_source.h"
#include "ir/extern_functions.h"
#include "ir/print.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "lower/private_accumulators.h"

namespace Pipe {

using driver::checked;
using driver::Compiler;

Pipeline driver::pipeline_of(const Func &f) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    std::shared_ptr<void> &kept = f.contents()->compiler;
    if (!kept)
        kept = std::make_shared<Compiler>();
    return {{f}, std::static_pointer_cast<Compiler>(kept)};
}

Pipeline::Pipeline(const Func &output) : Pipeline(std::vector<Func>{output}) {}

Pipeline::Pipeline(const std::vector<Func> &outputs)
    : Pipeline(outputs, std::make_shared<Compiler>()) {}

Pipeline::Pipeline(const std::vector<Func> &outputs, std::shared_ptr<Compiler> compiler)
    : outputs_(outputs), compiler_(std::move(compiler)) {}

Pipeline &Pipeline::autoschedule(const Target &target, const AutoscheduleOptions &options) {
    checked(compiler_).autoschedule(target, options);
    return *this;
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target,
                                                   const AutoschedulerParams &params) {
    AutoscheduleOptions options;
    if (auto cores = params.extra.find("parallelism"); cores != params.extra.end()) {
        options.cores = std::atoi(cores->second.c_str());
        if (options.cores < 1)
            throw CompileError(fmt::format("apply_autoscheduler: parallelism is \"{}\", but has to "
                                           "be the number of cores, at least 1.",
                                           cores->second));
    }
    autoschedule(target, options);
    return {"Pipe", params, target, schedule_source(), {}};
}

Func Pipeline::get_func(size_t i) const {
    checked(compiler_);
    auto funcs = language::funcs_of(outputs_);
    if (i >= funcs.size())
        throw CompileError(fmt::format(
            "Pipeline::get_func({}): there {}, numbered from 0.", i,
            funcs.size() == 1 ? "is 1 Func" : fmt::format("are {} Funcs", funcs.size())));
    return Func(std::const_pointer_cast<language::FuncContents>(funcs[i]));
}

void Pipeline::add_requirement(const Expr &condition, const std::vector<Expr> &message) {
    language::require_defined("add_requirement", condition);
    if (!condition.type().is_bool())
        language::reject("add_requirement", condition,
                         "the condition must be bool. Compare with 0, as in x != 0.");
    std::vector<Expr> all{ir::make_string("required: " + ir::shortened(condition) + ".")};
    bool uniform = language::is_uniform(condition);
    for (const Expr &e : message) {
        language::require_defined("add_requirement", e);
        uniform &= language::is_uniform(e);
        all.push_back(ir::make_string(" "));
        all.push_back(e);
    }
    if (!uniform)
        language::reject(
            "add_requirement", condition,
            "a requirement may contain only Params and sizes of images. Use require() in a "
            "definition for conditions on Vars, Funcs or pixels.");
    checked(compiler_).add_requirement({condition, std::move(all)});
}

void Pipeline::invalidate_cache() {
    checked(compiler_).forget();
}

std::string AutoschedulerParams::to_string() const {
    std::string text = "autoscheduler=" + name;
    for (const auto &[key, value] : extra)
        text += " autoscheduler." + key + "=" + value;
    return text;
}

void Pipeline::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
    language::ExternNames others;
    for (const auto &[name, e] : externs) {
        detail::ExternFunction function = e.function;
        function.name = name.c_str();
        std::string entered = ir::register_extern_override(function);
        if (entered != name)
            others[name] = entered;
    }
    checked(compiler_).externs = externs;
    checked(compiler_).set_extern_names(others);
}

const std::map<std::string, JITExtern> &Pipeline::get_jit_externs() const {
    return checked(compiler_).externs;
}

CompileTimes Pipeline::compile_times() const {
    auto compiled = checked(compiler_).newest();
    return compiled ? compiled->times() : CompileTimes();
}

int64_t Pipeline::peak_scratch_bytes() const {
    auto compiled = checked(compiler_).newest();
    return compiled ? compiled->peak_scratch_bytes() : 0;
}

std::string Pipeline::loop_nest() {
    driver::Scheduled s = checked(compiler_).schedule(outputs_);
    auto [graph, schedule] =
        lower::private_accumulators(s.inlined, s.frozen.schedule, s.shared_loops);
    return driver::loop_nest(graph, schedule);
}

std::string Pipeline::schedule_source() {
    driver::Scheduled s = checked(compiler_).schedule(outputs_);
    return graph::schedule_source(s.frozen.graph, s.frozen.schedule);
}

std::string Pipeline::schedule_report() {
    driver::Compiler &compiler = checked(compiler_);
    return driver::report_text(*compiler.current(outputs_), compiler.settings());
}

void Pipeline::report(const std::string &file) {
    const std::string page = driver::report_page(outputs_, checked(compiler_));
    std::ofstream stream(file);
    stream << page;
    stream.close();
    if (!stream)
        throw RuntimeError(fmt::format("Pipeline::report: '{}' cannot be written. Check that the "
                                       "folder exists and is writable.",
                                       file));
}

TuneResult Pipeline::tune(const Realization &outputs, const TuneOptions &options) {
    return driver::tune(outputs_, checked(compiler_), outputs, options);
}

void Pipeline::save_schedule(const std::string &file) {
    driver::save_schedule(outputs_, checked(compiler_), file);
}

Pipeline &Pipeline::apply_schedule(const std::string &file) {
    driver::apply_schedule(outputs_, checked(compiler_), file);
    return *this;
}

Pipeline &Pipeline::trace_pipeline() {
    checked(compiler_).trace_pipeline();
    return *this;
}

std::string Pipeline::profiler_report() const {
    return checked(compiler_).profile->text(outputs_[0].name());
}

std::string Pipeline::profiler_html() const {
    return checked(compiler_).profile->html(outputs_[0].name());
}

void Pipeline::profiler_reset() {
    checked(compiler_).profile->reset();
}

}  // namespace Pipe
