// Pins threads to cores.
#pragma once

#include <memory>

namespace bench {

/// During its lifetime, the calling thread is pinned to the first core that this process may use,
/// and the other existing threads, the workers of all variants' pools, to the following ones in
/// turn. Otherwise, a kernel that packs threads may wake a worker on the core of the thread that
/// waits for it, where it gets no time for milliseconds. No effect on systems other than Linux.
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
