#pragma once
// compute_at(g, x) if several stages of g have a loop x: computes the Func in each stage that needs
// it.

#include "language/freeze.h"

namespace Pipe::language {

/// If several stages of g need a Func that is computed at a loop which each of them has, all but
/// the first get copies of it: of the Func, of inlined Funcs in between, and of Funcs computed
/// inside. If only one stage needs it, it is computed there. Call after resolve_levels.
void copy_for_stages(Frozen &frozen);

}  // namespace Pipe::language
