#pragma once
// Emits statements as LLVM functions. Internal to codegen/.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr_emitter.h"
#include "ir/program.h"

namespace Pipe::codegen {

/// The names of buffers and variables that occur in a statement, sorted.
struct Names {
    std::set<std::string> variables, buffers;
};
Names names_in(const ir::Stmt &s);

/// Emits the kernel of a program into the unit's module (jit/runtime/abi.h), under the name `entry`.
void emit_kernel(Unit &unit, const ir::Program &program, const std::string &entry);

/// A variable or buffer from outside that an outlined part of the program uses.
struct Capture {
    enum Kind { Variable, Address, Device };  ///< the last two: of a buffer (BufferBinding)
    std::string name;
    Kind kind;
    llvm::Value *value;  ///< in the caller
};

/// All captures of an outlined part, as a struct.
struct Closure {
    std::vector<Capture> captures;
    llvm::StructType *type = nullptr;
};

/// Emits statements at the insertion point of a Frame.
class StmtEmitter {
  public:
    StmtEmitter(Unit &unit, Frame &frame)
        : unit_(unit), frame_(frame), b_(frame.b), exprs_(unit, frame) {}

    void emit(const ir::Stmt &s);

    /// The iterations begin, ..., end - 1 (at least one) of the For `s`.
    void counted_loop(const ir::StmtNode &s, llvm::Value *begin, llvm::Value *end,
                      ir::ConstantInterval range);

    // profile.cpp
    /// Sets the thread's current Func at the start of a function.
    void begin_profile(size_t func);

    // allocate.cpp
    /// Frees the memory that the function kept, and ends it successfully.
    void end_function();

  private:
    void let(const ir::StmtNode &s);
    void assertion(const ir::StmtNode &s);
    void serial_loop(const ir::StmtNode &s);
    void if_then_else(const ir::StmtNode &s);
    /// The range of the variable of a For.
    ir::ConstantInterval loop_range(const ir::StmtNode &s) const;
    void bind_loop_variable(const ir::StmtNode &s, llvm::Value *counter,
                            ir::ConstantInterval range);

    // allocate.cpp
    struct Memory {
        std::string name;
        llvm::Value *block, *scratch_bytes;  ///< null: lives until the function ends
        llvm::Value *device = nullptr;       ///< its DeviceBuffer, where kernels access it
    };
    size_t unused_array(const ir::StmtNode &s, int64_t bytes) const;
    void allocate(const ir::StmtNode &s);
    void with_memory(const ir::StmtNode &s, const Memory &memory);
    void free(const std::string &name);
    void allocate_for_kernels(const ir::StmtNode &s);
    llvm::Value *memoized_on_device(const std::string &buffer, Type element, llvm::Value *memory,
                                    llvm::Value *bytes, llvm::Value *is_missing);
    llvm::Value *open_device_buffer(const std::string &name, llvm::Value *host, llvm::Value *bytes,
                                    int element_bytes);
    void close_device_buffer(llvm::Value *device);
    llvm::Value *allocation_bytes(Type element, const std::vector<Expr> &sizes);
    llvm::Value *push_block(const std::string &name, llvm::Value *bytes);
    void pop_block(const std::string &name, llvm::Value *block, llvm::Value *bytes);
    const KeptBlock &kept_place(const std::string &name);
    llvm::Value *kept_block(const std::string &name, llvm::Value *bytes);
    void free_kept(const KeptBlock &kept);

    // profile.cpp
    void produce(const ir::StmtNode &s);
    void work_on(size_t func);
    llvm::Value *profile_entry(size_t func);
    void profile_memory(decltype(runtime::pipe_profile_freed) *what, const std::string &name,
                        llvm::Value *bytes);
    void profile_stack(const std::string &name, int64_t bytes);

    // outline.cpp
    void parallel_loop(const ir::StmtNode &s);
    /// Emits the Produce `s` as a call of a separate function.
    void part(const ir::StmtNode &s);
    Closure capture(const ir::Stmt &part, const std::string &own_name) const;
    llvm::Value *store_closure(const Closure &closure);
    void open_closure(const Closure &closure, Frame &inner) const;
    llvm::Function *outline(const std::string &name, const Closure &closure,
                            const std::function<void(Frame &)> &emit_body);

    // device/launch.cpp
    void launch(const ir::StmtNode &s);
    llvm::Value *store_parameters(const Closure &closure, int64_t *bytes);
    void submit_before(const ir::StmtNode &loop);
    llvm::Value *device_address(const std::string &buffer);
    void use(const ir::StmtNode &s);
    // device/kernel.cpp
    void barrier();
    void kernel_array(const ir::StmtNode &s);

    // memoize.cpp
    void memoize(const ir::StmtNode &s);
    llvm::Value *memoize_key(const ir::StmtNode &s);

    // tasks.cpp
    void fork(const ir::StmtNode &s);
    void exclusive(const ir::StmtNode &s);
    void acquire(const ir::StmtNode &s);
    void release(const ir::StmtNode &s);

    Unit &unit_;
    Frame &frame_;
    Builder &b_;
    ExprEmitter exprs_;
    std::vector<Memory> memory_;  ///< not freed yet at the insertion point
};

}  // namespace Pipe::codegen
