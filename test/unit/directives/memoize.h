#pragma once
// What tests of memoize() share: a cache for each, and how much is computed.

#include <atomic>

#include <pipe/pipe.h>

inline std::atomic<int> memoize_calls{0};
extern "C" inline int pipe_memo_counted(int value) {
    memoize_calls++;
    return value;
}
HalideExtern_1(int, pipe_memo_counted, int);

namespace Pipe::testing {

/// How many elements are computed by f().
template <typename F> int computed(F &&f) {
    memoize_calls = 0;
    f();
    return memoize_calls;
}

/// Every test has the cache to itself.
struct Cache {
    Cache() { reset(); }
    ~Cache() { reset(); }

  private:
    static void reset() {
        memoization_cache_cleanup();
        memoization_cache_set_size(0);
    }
};

}  // namespace Pipe::testing
