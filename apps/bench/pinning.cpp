#include "apps/bench/pinning.h"

#ifdef __linux__

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace bench {
namespace {

struct Thread {
    pid_t id;
    cpu_set_t allowed;
};

/// Oldest first: the calling thread, if it is the process's first, then pool by pool.
std::vector<Thread> threads_of_process() {
    std::vector<Thread> threads;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
        Thread t{pid_t(std::stol(entry.path().filename().string())), {}};
        if (sched_getaffinity(t.id, sizeof t.allowed, &t.allowed) == 0)
            threads.push_back(t);
    }
    std::sort(threads.begin(), threads.end(),
              [](const Thread &a, const Thread &b) { return a.id < b.id; });
    return threads;
}

std::vector<int> cores_of(const cpu_set_t &allowed) {
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed))
            cores.push_back(core);
    return cores;
}

void pin(pid_t thread, int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    sched_setaffinity(thread, sizeof only, &only);  // fails if the thread has just ended
}

}  // namespace

struct Pinned::State {
    std::vector<Thread> threads;
};

Pinned::Pinned() : state_(new State{threads_of_process()}) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    const std::vector<int> cores = cores_of(allowed);
    if (cores.size() < 2)
        return;
    size_t worker = 0;
    for (const Thread &t : state_->threads)
        pin(t.id, t.id == gettid() ? cores[0] : cores[1 + worker++ % (cores.size() - 1)]);
}

Pinned::~Pinned() {
    for (const Thread &t : state_->threads)
        sched_setaffinity(t.id, sizeof t.allowed, &t.allowed);
}

}  // namespace bench

#else

namespace bench {
struct Pinned::State {};
Pinned::Pinned() = default;
Pinned::~Pinned() = default;
}  // namespace bench

#endif
