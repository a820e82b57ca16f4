#include "codegen/device/kernel.h"

#include <algorithm>
#include <cstddef>

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/device/device_code.h"
#include "ir/visit.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

constexpr int64_t max_static_shared = 48 << 10;
constexpr int block_depth = 1, thread_depth = 2;  // as in Term

std::string ptx_name(const std::string &kernel, size_t number) {
    std::string name = "pipe_" + kernel + "_" + std::to_string(number);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); },
        '_');
    return name;
}

class KernelEmitter {
  public:
    KernelEmitter(Unit &host, const ir::StmtNode &launch, const Closure &closure,
                  const Frame &outer)
        : device_(*host.device), launch_(launch), closure_(closure), outer_(outer),
          unit_{host.context, device_.module, device_.target, host.options, {}, nullptr, {},
                {},           host.memory_of, host.device},
          name_(ptx_name(launch.name, device_.kernels.size())),
          frame_(make_function(), device_.target) {}

    /// Its number.
    int32_t emit() {
        frame_.kernel.emplace();
        frame_.loop_depth = thread_depth;
        frame_.narrow_indices = device_.has_narrow_indices();
        frame_.kernel->shared_end = ir::make_int(Int(64), 0);
        if (device_.emulated)
            frame_.kernel->emulated_thread = frame_.function->getArg(0);
        bind_places();
        bind_shared();
        for (unsigned i = 0; i < closure_.captures.size(); i++)
            bind(closure_.captures[i], parameter(i));
        StmtEmitter emitter(unit_, frame_);
        emitter.emit(launch_.body());
        frame_.finish();
        device_.kernels.push_back({name_, frame_.function, static_shared_});
        return static_cast<int32_t>(device_.kernels.size()) - 1;
    }

  private:
    llvm::Function *make_function() const {
        llvm::Type *pointer = llvm::PointerType::get(unit_.context, 0);
        std::vector<llvm::Type *> parameters{pointer, pointer};
        if (!device_.emulated) {
            parameters.clear();
            for (const Capture &c : closure_.captures)
                parameters.push_back(parameter_type(c.value->getType()));
        }
        auto *type =
            llvm::FunctionType::get(llvm::Type::getVoidTy(unit_.context), parameters, false);
        auto *function =
            llvm::Function::Create(type,
                                   device_.emulated ? llvm::GlobalValue::InternalLinkage
                                                    : llvm::GlobalValue::ExternalLinkage,
                                   name_, unit_.module);
        function->setDoesNotThrow();
        if (!device_.emulated) {
            function->setCallingConv(llvm::CallingConv::PTX_Kernel);
            limit_threads(*function);
        }
        return function;
    }

    /// So that ptxas knows how many registers there are for each.
    void limit_threads(llvm::Function &function) const {
        llvm::NamedMDNode *annotations = unit_.module.getOrInsertNamedMetadata("nvvm.annotations");
        auto *i32 = llvm::Type::getInt32Ty(unit_.context);
        for (size_t d = 0; d < 3; d++) {
            int64_t threads = 0;
            if (!ir::as_const_int(ir::threads_of_launch(launch_, d), &threads))
                return;
            llvm::Metadata *entry[] = {
                llvm::ValueAsMetadata::get(&function),
                llvm::MDString::get(unit_.context, std::string("maxntid") + "xyz"[d]),
                llvm::ConstantAsMetadata::get(
                    llvm::ConstantInt::get(i32, static_cast<uint64_t>(threads)))};
            annotations->addOperand(llvm::MDNode::get(unit_.context, entry));
        }
    }

    /// The variables of the place of a block and a thread.
    void bind_places() {
        using namespace llvm::Intrinsic;
        const ID block[] = {nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_ctaid_y,
                            nvvm_read_ptx_sreg_ctaid_z};
        const ID thread[] = {nvvm_read_ptx_sreg_tid_x, nvvm_read_ptx_sreg_tid_y,
                             nvvm_read_ptx_sreg_tid_z};
        for (size_t d = 0; d < 3; d++) {
            bind_place(ir::block_index(d), block[d],
                       offsetof(runtime::EmulatedThread, block) + 4 * d,
                       ir::blocks_of_launch(launch_, d), block_depth);
            bind_place(ir::thread_index(d), thread[d],
                       offsetof(runtime::EmulatedThread, thread) + 4 * d,
                       ir::threads_of_launch(launch_, d), thread_depth);
        }
    }

    void bind_place(const Expr &variable, llvm::Intrinsic::ID on_gpu, size_t emulated_at,
                    const Expr &count, int depth) {
        Builder &b = frame_.b;
        int64_t known = INT32_MAX;
        ir::as_const_int(count, &known);
        Value *value = nullptr;
        if (device_.emulated) {
            value = frame_.load_fixed(b.getInt32Ty(), frame_.function->getArg(0),
                                      static_cast<int64_t>(emulated_at));
        } else {
            auto *call = b.CreateIntrinsic(on_gpu, {}, {});
            call->setMetadata(llvm::LLVMContext::MD_range,
                              llvm::MDBuilder(unit_.context)
                                  .createRange(llvm::APInt(32, 0),
                                               llvm::APInt(32, static_cast<uint64_t>(known))));
            value = call;
        }
        value->setName(variable->name);
        Binding bound;
        bound.value = value;
        bound.offset = Offset::of(frame_.as_index(value), depth);
        bound.depth = depth;
        bound.range = {0, known - 1};
        frame_.variables.push(variable->name, bound);
    }

    void bind_shared() {
        int64_t bytes = -1;
        const bool known = ir::as_const_int(ir::shared_bytes_of_launch(launch_), &bytes);
        Builder &b = frame_.b;
        if (known && bytes == 0)
            return;
        if (device_.emulated) {
            frame_.kernel->shared = frame_.load_fixed(b.getPtrTy(), frame_.function->getArg(0),
                                                      offsetof(runtime::EmulatedThread, shared));
            return;
        }
        const bool is_static = known && bytes <= max_static_shared;
        static_shared_ = is_static ? bytes : 0;
        auto *type = llvm::ArrayType::get(b.getInt8Ty(), static_cast<uint64_t>(static_shared_));
        auto *array = new llvm::GlobalVariable(
            unit_.module, type, false,
            is_static ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage,
            is_static ? llvm::UndefValue::get(type) : nullptr, name_ + "_shared", nullptr,
            llvm::GlobalValue::NotThreadLocal, shared_space);
        array->setAlignment(llvm::Align(64));
        frame_.kernel->shared = b.CreateAddrSpaceCast(array, b.getPtrTy());
    }

    Value *parameter(unsigned i) {
        const Capture &c = closure_.captures[i];
        Builder &b = frame_.b;
        if (!device_.emulated)
            return frame_.function->getArg(i);
        Value *place = frame_.load_fixed(b.getPtrTy(), frame_.function->getArg(1),
                                         8 * static_cast<int64_t>(i));
        return frame_.load_fixed(parameter_type(c.value->getType()), place, 0);
    }

    void bind(const Capture &c, Value *value) {
        Builder &b = frame_.b;
        value->setName(c.name);
        if (c.kind == Capture::Address) {
            const BufferBinding &outer = *outer_.buffers.find(c.name);
            frame_.buffers.push(c.name, {value, outer.aligned});
            if (!device_.emulated)
                describe(*llvm::cast<llvm::Argument>(value), c.name);
            return;
        }
        const Binding &outer = *outer_.variables.find(c.name);
        if (value->getType() != c.value->getType())
            value = b.CreateTrunc(value, c.value->getType());
        Binding bound{value, std::nullopt, std::nullopt, outer.range, 0};
        if (outer.offset)
            bound.offset = Offset::of(frame_.as_index(value), 0);
        frame_.variables.push(c.name, bound);
    }

    /// What is only read goes through the read-only cache (ld.global.nc).
    void describe(llvm::Argument &argument, const std::string &buffer) const {
        if (unit_.memory_of.count(buffer))
            return;
        argument.addAttr(llvm::Attribute::NoAlias);
        const bool stored = ir::contains_stmt(launch_.body(), [&](const ir::StmtNode &s) {
            return s.op == ir::StmtOp::Store && s.name == buffer;
        });
        if (!stored)
            argument.addAttr(llvm::Attribute::ReadOnly);
    }

    DeviceCode &device_;
    const ir::StmtNode &launch_;
    const Closure &closure_;
    const Frame &outer_;
    Unit unit_;
    const std::string name_;
    Frame frame_;
    int64_t static_shared_ = 0;
};

}  // namespace

int32_t emit_device_kernel(Unit &host, const ir::StmtNode &launch, const Closure &used,
                           const Frame &outer) {
    return KernelEmitter(host, launch, used, outer).emit();
}

/// An array of a kernel: in the block's shared memory, or the thread's own.
void StmtEmitter::kernel_array(const ir::StmtNode &s) {
    Expr bytes = ir::make_int(Int(64), s.types[0].bytes());
    for (const Expr &size : s.exprs)
        bytes = ir::mul(bytes, size);
    BufferBinding bound;
    bound.aligned = true;
    bound.array_bytes = exprs_.wide(bytes);
    Expr before = frame_.kernel->shared_end;
    if (s.memory == MemoryType::GPUShared) {
        bound.address =
            b_.CreateGEP(b_.getInt8Ty(), frame_.kernel->shared, exprs_.wide(before), s.name);
        frame_.kernel->shared_end = ir::shared_array_end(before, s);
        bound.memory = runtime::GPUSite::Shared;
    } else {
        int64_t count = 1;
        ir::as_const_int(s.exprs[0], &count);
        bound.address = frame_.entry_alloca(memory_type(unit_.context, s.types[0]),
                                            std::max<int64_t>(1, count), 64);
        bound.memory = runtime::GPUSite::Private;
    }
    exprs_.forget();
    frame_.buffers.push(s.name, bound);
    emit(s.body());
    frame_.buffers.pop(s.name);
    frame_.kernel->shared_end = before;
}

void StmtEmitter::barrier() {
    if (Value *thread = frame_.kernel->emulated_thread) {
        const int32_t site =
            unit_.device->add_site({"", runtime::GPUSite::Barrier, runtime::GPUSite::Shared, 0});
        auto wait = unit_.runtime(runtime::pipe_emulator_barrier);
        b_.CreateCall(wait, {thread, b_.getInt32(static_cast<uint32_t>(site))});
    } else {
        b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
    }
}

}  // namespace Pipe::codegen
