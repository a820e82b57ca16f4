#pragma once
// Functions of <math.h>: by an instruction if there is one, else by the C library, with its vector
// functions for vectors.

#include <string>
#include <vector>

#include "codegen/values.h"
#include <pipe/target.h>

namespace llvm {
class Module;
}

namespace Pipe::codegen {

struct MathLibrary {
    llvm::Module &module;
    Target target;
    bool libmvec;  ///< whether glibc's vector functions may be called
};

/// A Call of kind PureExtern: `name` is "sqrt_f32", "pow_f64", ..., or any C function. `type` is
/// that of the result, `arg_types` those of the arguments (all with the lanes of the result).
llvm::Value *emit_pure_extern(Builder &b, const MathLibrary &library, Type type,
                              const std::string &name, const std::vector<Type> &arg_types,
                              const std::vector<llvm::Value *> &args);

/// A plain call of the C function `name`, lane by lane.
llvm::Value *emit_c_call(Builder &b, llvm::Module &module, Type type, const std::string &name,
                         const std::vector<Type> &arg_types, const std::vector<llvm::Value *> &args,
                         bool pure);

}  // namespace Pipe::codegen
