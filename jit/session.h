#pragma once
// Session: the only use of LLVM's ORC. Links object files into this process.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/runtime/gpu_abi.h"

namespace Pipe::jit {

/// Machine code in this process. Freed with the last reference.
class Code {
  public:
    virtual ~Code() = default;
    void *entry = nullptr;
    runtime::GPUModule *gpu_module = nullptr;  ///< its kernels for a GPU; null: it has none
};

class Session {
  public:
    /// The session of this process, started on first use.
    static Session &get();

    /// Links objects and returns the address of `entry`. Symbols that none of them defines
    /// are looked up in the run time, in libmvec, and in the process. `for_gpu`: it may have kernels.
    /// Thread-safe.
    std::unique_ptr<Code> add(const std::vector<std::vector<char>> &objects,
                              const std::string &entry, bool for_gpu = false);

    /// Whether glibc's vector math library is available.
    bool has_libmvec() const { return libmvec_ != nullptr; }

    /// Whether symbols are reported to debuggers or profilers (symbols.h).
    bool emits_symbols() const { return emits_symbols_; }

    Session(const Session &) = delete;

  private:
    Session();
    struct Orc;
    std::unique_ptr<Orc> orc_;
    void *libmvec_ = nullptr;
    bool emits_symbols_ = false;
};

}  // namespace Pipe::jit
