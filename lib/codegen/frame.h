#pragma once
// What the emitters share: a Unit per module, a Frame per function. Internal to the LLVM room.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Module.h>

#include "codegen/codegen.h"
#include "codegen/range.h"
#include "codegen/values.h"

namespace Pipe::codegen {

/// A 64-bit value times a constant.
struct Term {
    llvm::Value *value;
    int64_t factor;
    int depth;  ///< of the innermost loop in which the value may change; 0 outside all loops
};

/// A 64-bit integer as a sum of terms, the outermost first, and a constant. So an address is summed
/// up from the outside in: what does not change in a loop is summed before it, the loads of a
/// stencil share what is left, and the constant becomes the displacement of the instruction.
struct Offset {
    std::vector<Term> terms;
    int64_t constant = 0;

    static Offset of(llvm::Value *value, int depth) { return {{{value, 1, depth}}, 0}; }
    bool is_constant() const { return terms.empty(); }
    Offset plus(int64_t n) const { return {terms, constant + n}; }
};

/// An integer vector start, start + stride, start + 2 * stride, ...
struct Affine {
    Offset start, stride;
};

/// What a name stands for.
struct Binding {
    llvm::Value *value = nullptr;
    std::optional<Offset> offset;  ///< scalar integers: the same with 64 bits
    std::optional<Affine> affine;  ///< integer vectors, where known
    Range range;
    int depth = 0;  ///< as in Term
};

struct BufferBinding {
    llvm::Value *address = nullptr;  ///< in code of the host: there; in a kernel: on the device
    bool aligned = false;            ///< to 64 bytes
    llvm::Value *device = nullptr;   ///< code of the host: the DeviceBuffer, where kernels access the buffer
    /// In a kernel, of arrays in shared memory and of the thread's own: how many bytes.
    llvm::Value *array_bytes = nullptr;
    int memory = 0;  ///< in a kernel: GPUSite::Memory
};

/// Names in scope; an inner one hides an outer one.
template <typename T> class Scope {
  public:
    void push(const std::string &name, T value) { names_[name].push_back(std::move(value)); }
    void pop(const std::string &name) { names_[name].pop_back(); }
    const T *find(const std::string &name) const {
        auto found = names_.find(name);
        return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
    }

  private:
    std::unordered_map<std::string, std::vector<T>> names_;
};

/// Tells LLVM that the different buffers of one function do not overlap: each access carries the
/// scope of its buffer, and the list of all the others that the function accesses.
class AliasScopes {
  public:
    void mark(llvm::Instruction *access, const std::string &buffer) {
        accesses_[buffer].push_back(access);
    }
    /// When the function is complete.
    void finish(llvm::LLVMContext &context) const;

  private:
    std::map<std::string, std::vector<llvm::Instruction *>> accesses_;
};

/// The Funcs that the profiler tells apart.
class Profiled {
  public:
    explicit Profiled(const ir::Program &program);
    std::vector<ProfiledFunc> funcs;
    /// Of a Func or one of its buffers; `enclosing` where it is not told apart.
    size_t number(const std::string &name, size_t enclosing) const;

  private:
    std::unordered_map<std::string, size_t> number_;
};

struct DeviceCode;

/// One module under construction.
struct Unit {
    llvm::LLVMContext &context;
    llvm::Module &module;
    const Target &target;
    const Options &options;
    std::unordered_set<const ir::StmtNode *> parts;  ///< emitted as functions: parts_of
    Profiled *profiled = nullptr;                    ///< where the target has the feature Profile
    std::set<std::string> nontemporal_stores = {}, nontemporal_loads = {};  ///< buffers
    /// Buffers that may lie in the memory of another one, by the name of which LLVM knows them.
    std::map<std::string, std::string> memory_of = {};
    DeviceCode *device = nullptr;  ///< where the target has kernels (codegen/device/device_code.h)

    /// Declares (once) a function of the run time: codegen/abi.h.
    llvm::FunctionCallee runtime(const char *name, llvm::Type *result,
                                 const std::vector<llvm::Type *> &parameters) const;
    /// A new function of this module with the attributes that all of ours have.
    llvm::Function *make_function(const std::string &name,
                                  const std::vector<llvm::Type *> &parameters, bool exported) const;
    /// The address of an element of any type that is 0: for lanes that shall not read elsewhere.
    llvm::Constant *zeros() const;
};

/// Scratch memory that a function keeps until it ends, or needs more.
struct KeptBlock {
    std::string name;
    llvm::Value *block, *bytes;  ///< where the two values are; no block at first
};

/// An array of a constant size on the stack. The copies of its Allocate, in loops that are partitioned, use it
/// one after the other.
struct StackArray {
    std::string name;
    llvm::Type *element;
    int64_t count;
    llvm::Value *address;
    bool in_use;
};

/// What a kernel under construction knows of its block.
struct KernelFrame {
    llvm::Value *shared = nullptr;  ///< where its shared memory begins
    Expr shared_end;                ///< bytes of it that are in use at the builder's place
    llvm::Value *emulated_thread = nullptr;  ///< the EmulatedThread; null on a GPU
};

/// One function under construction. Those of the host return int32 and have the Context as first
/// argument.
struct Frame {
    llvm::Function *function;
    Builder b;
    Scope<Binding> variables;
    Scope<BufferBinding> buffers;
    AliasScopes aliases;
    int64_t stack_bytes = 0;  ///< of the arrays in `entry_alloca`
    std::vector<KeptBlock> kept;
    std::vector<StackArray> arrays;
    int loop_depth = 0;  ///< loops around the builder's place
    llvm::Value *profile_slot = nullptr, *profile_table = nullptr;
    size_t profile_func = 0;  ///< what is worked on at the builder's place
    std::optional<KernelFrame> kernel;

    Frame(llvm::Function *f, const Target &target);
    /// Ends the function, with success.
    void finish();
    /// Makes stores that bypass the caches seen by other threads, if there are any.
    void fence(const Unit &unit);
    llvm::Value *context() const { return function->getArg(0); }
    llvm::BasicBlock *new_block(const char *name);
    /// Storage that lives as long as the call. Made in the entry block, whatever loop we are in.
    llvm::Value *entry_alloca(llvm::Type *type, int64_t count, int align);
    /// Branches: if `condition` is false, go on in a block that returns the code that `fail`
    /// answers.
    void require(llvm::Value *condition, const std::function<llvm::Value *()> &fail);
};

}  // namespace Pipe::codegen
