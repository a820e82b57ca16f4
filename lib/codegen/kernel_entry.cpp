// The entry of a kernel: binds the argument array to the names used in the body.

#include <cstddef>

#include "codegen/device/device_code.h"
#include "codegen/stmt_emitter.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

class Entry {
  public:
    Entry(Unit &unit, Frame &frame, const Names &used) : unit_(unit), frame_(frame), used_(used) {}

    void bind(const ir::Argument &argument, int64_t place) {
        Builder &b = frame_.b;
        Value *pointer = frame_.load_fixed(b.getPtrTy(), frame_.function->getArg(1), place * 8);
        if (argument.kind == ir::Argument::Kind::Scalar)
            return bind_scalar(argument, pointer);
        Value *host =
            frame_.load_fixed(b.getPtrTy(), pointer, offsetof(runtime::BufferArgument, host));
        BufferBinding bound{host, false};
        if (unit_.device && unit_.device->buffers.count(argument.name))
            bound.device =
                frame_.load_fixed(b.getPtrTy(), pointer, offsetof(runtime::BufferArgument, device));
        frame_.buffers.push(argument.name, bound);
        if (argument.dimensions > runtime::max_dimensions) {
            throw CompileError("the buffer " + argument.name + " has " +
                               std::to_string(argument.dimensions) + " dimensions; at most " +
                               std::to_string(runtime::max_dimensions) + " are supported");
        }
        using Dimension = runtime::BufferArgument::Dimension;
        for (int d = 0; d < argument.dimensions; d++) {
            int64_t at = static_cast<int64_t>(offsetof(runtime::BufferArgument, dim) +
                                              d * sizeof(Dimension));
            std::string suffix = "." + std::to_string(d);
            ir::ConstantInterval any = range_of_type(Int(32)), positive{0, any.hi};
            bind_number(argument.name + ".min" + suffix, Int(32), pointer, at, any);
            bind_number(argument.name + ".extent" + suffix, Int(32), pointer,
                        at + static_cast<int64_t>(offsetof(Dimension, extent)), positive);
            bind_number(argument.name + ".stride" + suffix, Int(64), pointer,
                        at + static_cast<int64_t>(offsetof(Dimension, stride)),
                        ir::ConstantInterval{});
        }
    }

  private:
    void bind_number(const std::string &name, Type type, Value *base, int64_t bytes,
                     ir::ConstantInterval range) {
        if (used_.variables.count(name) == 0)
            return;
        Value *whole = frame_.load_fixed(frame_.b.getInt64Ty(), base, bytes);
        Binding bound;
        bound.value = frame_.b.CreateTrunc(whole, register_type(unit_.context, type), name);
        bound.offset = Offset::of(whole, 0);
        bound.range = range;
        frame_.variables.push(name, bound);
    }

    void bind_scalar(const ir::Argument &argument, Value *pointer) {
        if (used_.variables.count(argument.name) == 0)
            return;
        Builder &b = frame_.b;
        Type type = argument.type;
        Binding bound;
        bound.value = frame_.load_fixed(memory_type(unit_.context, type), pointer, 0);
        if (type.is_bool())
            bound.value = b.CreateIsNotNull(bound.value);
        if (type.is_int() && type.bits() >= 32) {
            bound.offset = Offset::of(b.CreateSExt(bound.value, b.getInt64Ty()), 0);
        }
        frame_.variables.push(argument.name, bound);
    }

    Unit &unit_;
    Frame &frame_;
    const Names &used_;
};

}  // namespace

void emit_kernel(Unit &unit, const ir::Program &program, const std::string &entry) {
    llvm::Type *pointer = llvm::PointerType::get(unit.context, 0);
    Frame frame(unit.make_function(entry, {pointer, pointer}, /*exported=*/true), unit.target);
    Names used = names_in(program.body);
    Entry binder(unit, frame, used);
    int64_t place = 0;
    for (const ir::Argument &argument : program.args)
        binder.bind(argument, place++);
    StmtEmitter emitter(unit, frame);
    emitter.begin_profile(0);
    emitter.emit(program.body);
    emitter.end_function();
}

}  // namespace Pipe::codegen
