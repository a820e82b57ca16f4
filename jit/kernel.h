#pragma once
// Kernel: compiled code, ready to run. No LLVM type is seen here.

#include <cstdint>
#include <memory>
#include <string>

#include "ir/program.h"
#include "jit/abi.h"
#include <pipe/jit.h>
#include <pipe/target.h>

namespace Pipe::jit {

/// Milliseconds spent in each step of a compilation.
struct CompileTimes {
    double emit = 0;      ///< our loops -> LLVM IR
    double optimize = 0;  ///< LLVM IR -> LLVM IR
    double machine = 0;   ///< LLVM IR -> machine code
    double link = 0;      ///< into this process; the first time also LLVM's own start
    double total() const { return emit + optimize + machine + link; }
};

class Profile;

struct RunOptions {
    int threads = 0;                    ///< for parallel loops; 0 = default_threads()
    int64_t scratch_limit = 0;          ///< bytes that one thread's scratch may take; 0 = no limit
    JITUserContext *context = nullptr;  ///< what handlers are given
    JITHandlers handlers = {};          ///< those of `context` are not looked at
    uint64_t memo_owner = 0;     ///< kernels of one owner and name find what the others memoized
    Profile *profile = nullptr;  ///< what the run took is added to it; Target::Profile only
};

/// Text for the user: to custom_print, or to standard output.
void print(const RunOptions &options, const std::string &text);

/// Takes over the handlers of `first` that are set.
void put_before(const JITHandlers &first, JITHandlers *handlers);

struct RunStats {
    int64_t peak_scratch_bytes = 0;  ///< the most that each thread held, added up (no stack)
};

/// Compiled code. A handle: copies share the code, which lives as long as one of them. May be run
/// from several threads at once.
class Kernel {
  public:
    Kernel() = default;

    bool defined() const { return impl_ != nullptr; }

    /// Calls the code. `args` as codegen/abi.h says. Answers 0, or the code of what failed, whose
    /// message is put into *error. Throws only what a handler threw. Everything that the code had
    /// allocated is freed. The scratch memory of the threads stays with them for the next run.
    int run(const RunOptions &options, void *const *args, std::string *error,
            RunStats *stats = nullptr) const;

    /// Whether it was compiled for a target with the feature Profile.
    bool is_profiled() const;

    /// The code as text. Compiles once more, so slow.
    std::string llvm_ir() const;
    std::string assembly() const;

    struct Impl;
    explicit Kernel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  private:
    std::shared_ptr<const Impl> impl_;
};

/// Compiles for `target`, which must be the machine at hand or less of it: otherwise CompileError.
Kernel compile(const ir::Program &program, const Target &target, CompileTimes *times = nullptr);

}  // namespace Pipe::jit
