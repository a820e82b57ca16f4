#pragma once
// CompiledFiles: writes the intermediate and final results of compilation to files.

#include <string>
#include <vector>

#include <pipe/target.h>

namespace Pipe {

struct Argument;

/// How compile_to_lowered_stmt writes the loops.
enum StmtOutputFormat {
    Text,
    HTML,  ///< a self-contained page: the loops, collapsible, next to the schedule
};

/// Writes the compiled form of a Pipeline, or of a Func as a Pipeline with one output. `args` as
/// for Realizable::compile_to_callable. RuntimeError if a file cannot be written.
///
/// \param Self  Pipeline or Func
template <typename Self> class CompiledFiles {
  public:
    /// The lowered loop nest as text or as a page. Images used as constants appear by name only.
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat format = Text, const Target &target = Target());
    /// The same, under Halide's name for the loop nest before back-end lowering.
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat format = Text,
                                    const Target &target = Target()) {
        compile_to_lowered_stmt(filename, args, format, target);
    }
    /// The optimized LLVM IR as text or as bitcode. `function` is the name of the function in it,
    /// by default that of the first output.
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &function = "",
                                  const Target &target = Target());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &function = "", const Target &target = Target());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &function = "", const Target &target = Target());
    /// An object file (ELF), for inspection. It cannot be linked into a program yet, because Pipe
    /// has no ahead-of-time compilation: besides C library functions (memcpy, libm and, on x86-64
    /// Linux, libmvec) and the C functions that the pipeline calls, it needs Pipe's run time, which
    /// exists only inside a process that compiles pipelines, and whose symbols are visible only to
    /// code compiled there. These are pipe_parallel_for, pipe_scratch_push, pipe_scratch_pop,
    /// pipe_fail, pipe_out_of_memory and, depending on the pipeline, pipe_print, pipe_trace,
    /// pipe_fork, pipe_semaphore_*, pipe_lock_*, pipe_memo_*, pipe_profile_*, pipe_user_context,
    /// pipe_call_pipeline. The function takes the run's context and an array of arguments, as
    /// Pipe's run time passes them; both may change with every version.
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &function = "", const Target &target = Target());
    // Overloads without the function's name.
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const Target &target) {
        compile_to_llvm_assembly(filename, args, "", target);
    }
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const Target &target) {
        compile_to_bitcode(filename, args, "", target);
    }
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const Target &target) {
        compile_to_assembly(filename, args, "", target);
    }
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const Target &target) {
        compile_to_object(filename, args, "", target);
    }

  private:
    const Self &self() const { return static_cast<const Self &>(*this); }
};

}  // namespace Pipe
