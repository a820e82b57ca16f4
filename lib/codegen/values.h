#pragma once
// Small helpers on LLVM types and values. Internal to the LLVM room.

#include <functional>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "ir/expr_node.h"

namespace Pipe::codegen {

using Builder = llvm::IRBuilder<>;

/// The type of a value in a register. A bool is one bit there.
llvm::Type *register_type(llvm::LLVMContext &context, Type type);
/// The type of a value in memory. A bool is one byte there.
llvm::Type *memory_type(llvm::LLVMContext &context, Type type);
/// From the form of memory to that of registers, and back. Only bools differ.
llvm::Value *from_memory(Builder &b, Type type, llvm::Value *value);
llvm::Value *to_memory(Builder &b, Type type, llvm::Value *value);

/// Lanes of a register type; 1 for a scalar.
int lanes_of(const llvm::Value *value);
llvm::Type *with_lanes(llvm::Type *type, int lanes);
/// A vector even of one lane.
llvm::Type *vector_of(llvm::Type *element, int lanes);

/// An integer or float constant of the type; all lanes alike. Of 16-bit floats: the bits.
llvm::Value *constant(Builder &b, Type type, int64_t value);

/// <0, 1, 2, ...> of an integer type.
llvm::Constant *lane_numbers(llvm::Type *vector_type);

/// Lanes [begin, begin + count) of a vector; those past its end are undefined. A scalar for
/// count 1.
llvm::Value *slice(Builder &b, llvm::Value *vector, int begin, int count);
/// The same as a vector even of one lane.
llvm::Value *subvector(Builder &b, llvm::Value *vector, int begin, int count);
/// Lanes begin, begin + step, ...: `count` of them.
llvm::Value *strided_slice(Builder &b, llvm::Value *vector, int begin, int step, int count);
/// One vector after the other. All have the same element; some may be scalars.
llvm::Value *concat(Builder &b, std::vector<llvm::Value *> parts);

/// f applied to each lane of the arguments (all of `lanes` lanes), put together again.
llvm::Value *
lane_by_lane(Builder &b, const std::vector<llvm::Value *> &args, int lanes,
             const std::function<llvm::Value *(const std::vector<llvm::Value *> &)> &f);

}  // namespace Pipe::codegen
