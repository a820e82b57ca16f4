#pragma once
// Exprs that depend on the target that a pipeline is compiled for.

#include <pipe/expr.h>
#include <pipe/target.h>

namespace Pipe {

/// Constants, known when the pipeline is compiled: of what is chosen by them, the rest is left out.
/// For algorithms that differ from target to target, and factors of splits.
Expr target_arch_is(Target::Arch arch);
Expr target_os_is(Target::OS os);
Expr target_has_feature(Target::Feature feature);
/// int32: the bits of a pointer.
Expr target_bits();
/// int32: see Target::natural_vector_size.
Expr target_natural_vector_size(const Type &type);
template <typename T> Expr target_natural_vector_size() {
    return target_natural_vector_size(type_of<T>());
}

}  // namespace Pipe
