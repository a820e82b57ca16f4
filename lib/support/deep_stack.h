#pragma once
// Room for recursion.

#include <functional>

namespace Pipe::support {

/// Calls `work` on a stack that is large enough for recursion into expressions of some hundred
/// thousand levels, whatever the stack of the calling thread. The memory is only taken as it is
/// used. Exceptions come through. For the compiler, which walks trees by recursion, as LLVM does.
void on_deep_stack(const std::function<void()> &work);

/// The same, where the recursion is that many levels deep; few of them fit on any stack.
inline void on_deep_stack(int levels, const std::function<void()> &work) {
    constexpr int few = 500;
    return levels <= few ? work() : on_deep_stack(work);
}

}  // namespace Pipe::support
