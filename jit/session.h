#pragma once
// Session: the one place where LLVM's ORC is used. Puts object files into this process.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/gpu_abi.h"

namespace Pipe::jit {

/// Machine code in this process. Freed with the last reference.
class Code {
  public:
    virtual ~Code() = default;
    void *entry = nullptr;
    codegen::GPUModule *gpu_module = nullptr;  ///< its kernels for a GPU; null: it has none
};

class Session {
  public:
    /// The session of this process, started on first use.
    static Session &get();

    /// Links an object and answers the address of `entry`. Names that the object does not define
    /// are looked up in the run time, in libmvec, and in the process. `for_gpu`: it may have kernels. Callable from
    /// any thread.
    std::unique_ptr<Code> add(const std::vector<char> &object, const std::string &entry,
                              bool for_gpu = false);

    /// Whether glibc's vector mathematics is on this machine.
    bool has_libmvec() const { return libmvec_ != nullptr; }

    /// Whether debuggers or profilers are told of the code (symbols.h).
    bool tells_symbols() const { return tells_symbols_; }

    Session(const Session &) = delete;

  private:
    Session();
    struct Orc;
    std::unique_ptr<Orc> orc_;
    void *libmvec_ = nullptr;
    bool tells_symbols_ = false;
};

}  // namespace Pipe::jit
