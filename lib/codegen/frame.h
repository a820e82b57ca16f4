#pragma once
// State shared by the emitters: a Unit per module, a Frame per function. Internal to codegen/.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Module.h>

#include "codegen/codegen.h"
#include "codegen/range.h"
#include "codegen/values.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

/// A value of the index type (Frame::narrow_indices) times a constant.
struct Term {
    llvm::Value *value;
    int64_t factor;
    int depth;  ///< of the innermost loop in which the value may change; 0 outside all loops
};

/// An integer as a sum of terms, outermost first, and a constant. Addresses are thus summed
/// from the outside in: loop-invariant parts are summed before the loop, the loads of a stencil
/// share the rest, and the constant becomes the displacement of the instruction.
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

/// The binding of a name.
struct Binding {
    llvm::Value *value = nullptr;
    std::optional<Offset> offset;  ///< scalar integers: the same as an index
    std::optional<Affine> affine;  ///< integer vectors, where known
    ir::ConstantInterval range;
    int depth = 0;  ///< as in Term
    bool depends_on_data = false;  ///< vectors: computed from elements of buffers
};

struct BufferBinding {
    llvm::Value *address = nullptr;  ///< in code of the host: there; in a kernel: on the device
    bool aligned = false;            ///< to 64 bytes
    llvm::Value *device =
        nullptr;  ///< code of the host: the DeviceBuffer, where kernels access the buffer
    /// In a kernel, of arrays in shared memory and of the thread's own: how many bytes.
    llvm::Value *array_bytes = nullptr;
    int memory = 0;     ///< in a kernel: GPUSite::Memory
    int64_t bytes = 0;  ///< code of the host: of memory whose size is a constant; else 0
};

/// Names in scope, with shadowing.
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

/// Tells LLVM that the buffers of a function do not overlap: each access carries the alias scope of
/// its buffer, and a noalias list of all other buffers that the function accesses.
class AliasScopes {
  public:
    void mark(llvm::Instruction *access, const std::string &buffer) {
        accesses_[buffer].push_back(access);
    }
    /// Called when the function is complete.
    void finish(llvm::LLVMContext &context) const;

  private:
    std::map<std::string, std::vector<llvm::Instruction *>> accesses_;
};

/// The Funcs that the profiler distinguishes.
class Profiled {
  public:
    explicit Profiled(const ir::Program &program);
    std::vector<runtime::ProfiledFunc> funcs;
    /// The entry of a Func or one of its buffers; `enclosing` if it is not distinguished.
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
    std::unordered_set<const ir::StmtNode *> parts;  ///< emitted as functions: see parts_of
    Profiled *profiled = nullptr;                    ///< if the target has the feature Profile
    std::set<std::string> nontemporal_stores = {}, nontemporal_loads = {};  ///< buffers
    /// Buffers that may share memory with another one, by the name used for alias analysis.
    std::map<std::string, std::string> memory_of = {};
    DeviceCode *device = nullptr;  ///< where the target has kernels (codegen/device/device_code.h)

    /// Declares a function of the run time (jit/runtime/abi.h, gpu_abi.h), of the type that it has in C++.
    template <typename Result, typename... Parameters>
    llvm::FunctionCallee runtime(Result (*function)(Parameters...)) const {
        return declare_runtime(reinterpret_cast<void *>(function), type_of<Result>(),
                               {type_of<Parameters>()...});
    }
    /// A new function of this module with the common attributes.
    llvm::Function *make_function(const std::string &name,
                                  const std::vector<llvm::Type *> &parameters, bool exported) const;
    /// The address of so many zeros, aligned as any buffer may be: for what must not access memory elsewhere.
    llvm::Constant *zeros(int bytes) const;

  private:
    template <typename T> llvm::Type *type_of() const {
        if constexpr (std::is_void_v<T>)
            return llvm::Type::getVoidTy(context);
        else if constexpr (std::is_pointer_v<T>)
            return llvm::PointerType::getUnqual(context);
        else
            return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * sizeof(T)));
    }
    llvm::FunctionCallee declare_runtime(void *function, llvm::Type *result,
                                         const std::vector<llvm::Type *> &parameters) const;
};

/// Scratch memory that a function keeps until it ends or needs more.
struct KeptBlock {
    std::string name;
    llvm::Value *block, *bytes;  ///< addresses of the two values; initially there is no block
};

/// An array of constant size on the stack. The copies of its Allocate in partitioned loops use it
/// in turn.
struct StackArray {
    std::string name;
    llvm::Type *element;
    int64_t count;
    llvm::Value *address;
    bool in_use;  ///< also after its scope, if that must have it alone
};

/// Address spaces of kernels on a GPU.
inline constexpr unsigned global_space = 1, shared_space = 3;

/// The state of a kernel under construction.
struct KernelFrame {
    llvm::Value *shared = nullptr;           ///< address of the block's shared memory
    Expr shared_end;                         ///< bytes of it in use at the insertion point
    llvm::Value *emulated_thread = nullptr;  ///< the EmulatedThread; null on a GPU
};

/// A function under construction. Functions of the host return int32 and have the Context as first
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
    /// Around the insertion point: so many loops; in a kernel, those over blocks and over threads are two.
    int loop_depth = 0;
    llvm::Value *profile_slot = nullptr, *profile_table = nullptr;
    size_t profile_func = 0;  ///< the current Func at the insertion point
    std::optional<KernelFrame> kernel;
    /// Indices have 32 bits instead of 64: GPUs take several instructions for a sum or product of 64 bits. They wrap;
    /// the run time refuses buffers in which an index, or one without its constant, does not fit
    /// (runtime::most_narrow_elements).
    bool narrow_indices = false;
    llvm::IntegerType *index_type() { return b.getIntNTy(narrow_indices ? 32 : 64); }
    llvm::Value *as_index(llvm::Value *v) { return b.CreateSExtOrTrunc(v, index_type()); }

    Frame(llvm::Function *f, const Target &target);
    /// Ends the function successfully.
    void finish();
    /// Makes non-temporal stores visible to other threads, if there are any.
    void fence(const Unit &unit);
    llvm::Value *context() const { return function->getArg(0); }
    llvm::BasicBlock *new_block(const char *name);
    /// A value `bytes` behind `base` that does not change while the function runs.
    llvm::Value *load_fixed(llvm::Type *type, llvm::Value *base, int64_t bytes);
    /// Storage for the duration of the call, allocated in the entry block even if called inside a
    /// loop.
    llvm::Value *entry_alloca(llvm::Type *type, int64_t count, int align);
    /// Branches: if `condition` is false, returns the code given by `fail`.
    void require(llvm::Value *condition, const std::function<llvm::Value *()> &fail);
};

}  // namespace Pipe::codegen
