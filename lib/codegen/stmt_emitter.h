#pragma once
// Statements -> LLVM functions. Internal to the LLVM room.

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

/// Emits the kernel of a program into the unit's module (codegen/abi.h), under the name `entry`.
void emit_kernel(Unit &unit, const ir::Program &program, const std::string &entry);

/// A variable or buffer that the body of a parallel loop uses from outside.
struct Capture {
    std::string name;
    bool is_buffer;
};

/// Emits statements at the builder's place in a Frame.
class StmtEmitter {
  public:
    StmtEmitter(Unit &unit, Frame &frame)
        : unit_(unit), frame_(frame), b_(frame.b), exprs_(unit, frame) {}

    void emit(const ir::Stmt &s);

    /// The iterations begin, ..., end - 1 (at least one) of the For `s`.
    void counted_loop(const ir::StmtNode &s, llvm::Value *begin, llvm::Value *end, Range range);

    // profile.cpp
    /// At the start of a function: what its thread works on.
    void begin_profile(size_t func);

  private:
    void let(const ir::StmtNode &s);
    void assertion(const ir::StmtNode &s);
    void serial_loop(const ir::StmtNode &s);
    void allocate(const ir::StmtNode &s);
    void if_then_else(const ir::StmtNode &s);
    void with_buffer(const std::string &name, BufferBinding buffer, const ir::Stmt &body);
    /// Of the variable of a For.
    Range loop_range(const ir::StmtNode &s) const;
    void bind_loop_variable(const ir::StmtNode &s, llvm::Value *wide, Range range);
    llvm::Value *allocation_bytes(const ir::StmtNode &s);

    // profile.cpp
    void produce(const ir::StmtNode &s);
    void work_on(size_t func);
    llvm::Value *profile_entry(size_t func);
    void profile_memory(const char *what, const std::string &name, llvm::Value *bytes);
    void profile_stack(const std::string &name, int64_t bytes);

    // parallel.cpp
    void parallel_loop(const ir::StmtNode &s);
    llvm::Function *outline(const ir::StmtNode &s, llvm::StructType *closure_type,
                            const std::vector<Capture> &captures);

    Unit &unit_;
    Frame &frame_;
    Builder &b_;
    ExprEmitter exprs_;
};

}  // namespace Pipe::codegen
