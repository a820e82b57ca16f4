#pragma once
// Stack space for deep recursion.

#include <functional>
#include <vector>

namespace Pipe::support {

/// Calls `work` on a stack that is large enough for recursion into expressions of several hundred
/// thousand levels, whatever the stack of the calling thread. Pages are committed only as they are
/// used. Exceptions propagate. For the compiler, which walks trees recursively, as LLVM does.
void on_deep_stack(const std::function<void()> &work);

/// The same for recursion of this many levels; a small number stays on the present stack.
inline void on_deep_stack(int levels, const std::function<void()> &work) {
    constexpr int few = 500;
    return levels <= few ? work() : on_deep_stack(work);
}

/// Calls all of these at the same time, each on such a stack.
void on_deep_stacks(const std::vector<std::function<void()>> &all);

}  // namespace Pipe::support
