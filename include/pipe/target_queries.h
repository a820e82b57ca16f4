#pragma once
// Exprs that depend on the target that a pipeline is compiled for.

#include <pipe/expr.h>
#include <pipe/target.h>

namespace Pipe {

/// Constants that depend on the target of compilation; branches that they exclude are removed. For
/// algorithms that differ between targets, and for split factors.
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
