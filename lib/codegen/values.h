#pragma once
// Helper functions for LLVM types and values. Internal to codegen/.

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
/// Converts from the memory type to the register type, and back. Only bools differ.
llvm::Value *from_memory(Builder &b, Type type, llvm::Value *value);
llvm::Value *to_memory(Builder &b, Type type, llvm::Value *value);

/// Lanes of a register type; 1 for a scalar.
int lanes_of(const llvm::Value *value);
llvm::Type *with_lanes(llvm::Type *type, int lanes);
/// A vector type even for one lane.
llvm::Type *vector_of(llvm::Type *element, int lanes);

/// An integer or float constant of the type, in all lanes. For 16-bit floats: the bits.
llvm::Value *constant(Builder &b, Type type, int64_t value);

/// <0, 1, 2, ...> of an integer type.
llvm::Constant *lane_numbers(llvm::Type *vector_type);

/// Lanes [begin, begin + count) of a vector; those beyond its end are undefined. A scalar if count
/// is 1.
llvm::Value *slice(Builder &b, llvm::Value *vector, int begin, int count);
/// The same, as a vector even for one lane.
llvm::Value *subvector(Builder &b, llvm::Value *vector, int begin, int count);
/// Lanes begin, begin + step, ...: `count` of them.
llvm::Value *strided_slice(Builder &b, llvm::Value *vector, int begin, int step, int count);
/// Concatenates vectors. All have the same element type; some may be scalars.
llvm::Value *concat(Builder &b, std::vector<llvm::Value *> parts);

/// Applies f to each lane of the arguments (all with `lanes` lanes), and combines the results.
llvm::Value *
lane_by_lane(Builder &b, const std::vector<llvm::Value *> &args, int lanes,
             const std::function<llvm::Value *(const std::vector<llvm::Value *> &)> &f);

}  // namespace Pipe::codegen
