// Threads on cores of their own.
#pragma once

#include <memory>

namespace bench {

/// While it lives, the calling thread keeps to the first core that this process may use, and the others
/// that exist, the workers of all variants' pools, have the next ones in turn. A kernel that packs
/// threads otherwise wakes a worker on the core of the thread that waits for it, where it gets no time
/// for milliseconds. Does nothing on other systems than Linux.
class Pinned {
  public:
    Pinned();
    ~Pinned();
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bench
