// CompiledFiles: compile_to_*.

#include <pipe/compiled_files.h>

#include <fstream>

#include <fmt/format.h>

#include "codegen/codegen.h"
#include "driver/callable.h"
#include "driver/compiler.h"
#include "driver/loops_page.h"
#include "driver/pipeline_of.h"
#include "graph/names.h"
#include "graph/schedule_source.h"
#include "ir/print.h"

namespace Pipe {

namespace {

void write(const std::string &path, std::string_view bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file)
        throw RuntimeError(
            fmt::format("compile_to_*: the file '{}' cannot be written. Check that its "
                        "directory exists and is writable.",
                        path));
}

/// The program with its arguments in the order of the list, outputs last.
struct Lowered {
    driver::Scheduled scheduled;
    ir::Program program;
    Target target;
    codegen::Options options;
};

Lowered lower_with(const Pipeline &pipeline, const std::vector<Argument> &args,
                   const std::string &function, const Target &target) {
    auto compiled = driver::checked(pipeline.compiler()).compile_for(pipeline.outputs(), target);
    if (!compiled->declared_in_place().empty())
        throw CompileError(
            compiled->slots().pipeline() +
            ": compile_to_*: code written to a file does not check whether an output shares "
            "memory with an input, so the output needs separate memory. Leave "
            "output_buffer().may_alias() out.");
    auto callable = driver::make_callable(compiled, args, JITHandlers(), nullptr);
    Lowered lowered{compiled->scheduled(), compiled->program(), compiled->target(), {}};
    lowered.options.entry = function.empty() ? graph::identifier(lowered.program.name) : function;
    std::vector<ir::Argument> given = std::move(lowered.program.args), rest;
    lowered.program.args.resize(callable->arguments.size());
    std::vector<bool> used(callable->arguments.size());
    for (size_t i = 0; i < given.size(); i++) {
        int place = callable->argument_of_slot[i];
        if (place < 0) {
            rest.push_back(given[i]);  // a Buffer used in expressions
            continue;
        }
        lowered.program.args[static_cast<size_t>(place)] = given[i];
        used[static_cast<size_t>(place)] = true;
    }
    for (size_t i = 0; i < used.size(); i++) {
        const Argument &a = callable->arguments[i];
        using Kind = ir::Argument::Kind;
        if (!used[i])
            lowered.program.args[i] = {a.is_scalar() ? Kind::Scalar : Kind::InputBuffer,
                                       a.name + ".unused", a.type, a.dimensions};
    }
    lowered.program.args.insert(lowered.program.args.end(), rest.begin(), rest.end());
    return lowered;
}

}  // namespace

template <typename Self>
void CompiledFiles<Self>::compile_to_lowered_stmt(const std::string &filename,
                                                  const std::vector<Argument> &args,
                                                  StmtOutputFormat format, const Target &target) {
    Lowered l = lower_with(driver::pipeline_of(self()), args, "", target);
    std::string loops = ir::to_string(l.program.body);
    if (format == HTML)
        loops = driver::loops_page(
            l.program.name, loops,
            graph::schedule_source(l.scheduled.frozen.graph, l.scheduled.frozen.schedule));
    write(filename, loops);
}

template <typename Self>
void CompiledFiles<Self>::compile_to_llvm_assembly(const std::string &filename,
                                                   const std::vector<Argument> &args,
                                                   const std::string &function,
                                                   const Target &target) {
    Lowered l = lower_with(driver::pipeline_of(self()), args, function, target);
    write(filename, codegen::llvm_ir(l.program, l.target, l.options));
}

template <typename Self>
void CompiledFiles<Self>::compile_to_bitcode(const std::string &filename,
                                             const std::vector<Argument> &args,
                                             const std::string &function, const Target &target) {
    Lowered l = lower_with(driver::pipeline_of(self()), args, function, target);
    write(filename, codegen::bitcode(l.program, l.target, l.options));
}

template <typename Self>
void CompiledFiles<Self>::compile_to_assembly(const std::string &filename,
                                              const std::vector<Argument> &args,
                                              const std::string &function, const Target &target) {
    Lowered l = lower_with(driver::pipeline_of(self()), args, function, target);
    write(filename, codegen::assembly(l.program, l.target, l.options));
}

template <typename Self>
void CompiledFiles<Self>::compile_to_object(const std::string &filename,
                                            const std::vector<Argument> &args,
                                            const std::string &function, const Target &target) {
    Lowered l = lower_with(driver::pipeline_of(self()), args, function, target);
    const std::vector<char> bytes = codegen::compile(l.program, l.target, l.options).files[0];
    write(filename, {bytes.data(), bytes.size()});
}

template class CompiledFiles<Func>;
template class CompiledFiles<Pipeline>;

}  // namespace Pipe
