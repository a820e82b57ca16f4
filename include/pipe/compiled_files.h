#pragma once
// CompiledFiles: what the compiler makes, in files.

#include <string>
#include <vector>

#include <pipe/target.h>

namespace Pipe {

struct Argument;

/// How compile_to_lowered_stmt writes the loops.
enum StmtOutputFormat {
    Text,
    HTML,  ///< one page that needs nothing else: loops that fold, beside the schedule
};

/// What a Pipeline, or a Func as the Pipeline of it alone, is compiled to. `args` as for
/// Realizable::compile_to_callable. RuntimeError where a file cannot be written.
///
/// \param Self  Pipeline or Func
template <typename Self> class CompiledFiles {
  public:
    /// The loops that are compiled, as text or as a page. Images used as constants are named only.
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat format = Text, const Target &target = Target());
    /// The same: Halide's word for loops before what its back ends make of them.
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat format = Text,
                                    const Target &target = Target()) {
        compile_to_lowered_stmt(filename, args, format, target);
    }
    /// The optimized LLVM IR, as text and as bitcode; `function`: its name there, by default that
    /// of the first output.
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &function = "",
                                  const Target &target = Target());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &function = "", const Target &target = Target());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &function = "", const Target &target = Target());
    /// An object file (ELF), to look at: it cannot be linked into a program yet, because there is no
    /// compiler ahead of time. Besides functions of C (memcpy, the mathematics of libm and, on
    /// x86-64 Linux, libmvec) and the C functions that the pipeline calls, it needs Pipe's run time,
    /// which is only to be found in a process that compiles pipelines, and there only by code that
    /// was compiled in that process. Its names: pipe_parallel_for, pipe_scratch_push,
    /// pipe_scratch_pop, pipe_fail, pipe_out_of_memory; where the pipeline asks for them,
    /// pipe_print, pipe_trace, pipe_fork, pipe_semaphore_*, pipe_lock_*, pipe_memo_*,
    /// pipe_profile_*, pipe_user_context, pipe_call_pipeline. The function takes the context of a
    /// run and an array of arguments, as Pipe's run time passes them; both may change with every
    /// version.
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &function = "", const Target &target = Target());
    // The name of the function left out.
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
