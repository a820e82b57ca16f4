#pragma once
// The state of the fake driver, and what its functions do with it.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "jit/runtime/gpu/cuda/driver.h"
#include "test/support/fake_cuda/fake_cuda.h"

namespace Pipe::runtime::cuda {

struct CUfunc_st {
    std::string name;
    CUmodule module;
    int dynamic_limit = 48 << 10;
};
struct CUmod_st {
    CUcontext context;
    std::string image;
    std::vector<std::unique_ptr<CUfunc_st>> functions;
};
struct CUstream_st {
    CUcontext context;
    std::deque<std::function<CUresult()>> work;
    bool captured = false;
};
struct CUevent_st {
    CUcontext context;
    double milliseconds = -1;  ///< when the work came to it
};
/// One after the other: what Pipe makes.
struct CUgraph_st {
    CUcontext context;
    std::vector<CUgraphNode> nodes;
};
struct CUgraphNode_st {
    CUgraph graph;
    CUfunction function;
    fake_cuda::Launch launch;
};
struct CUgraphExec_st {
    CUcontext context;
    CUgraph graph;
    std::vector<CUgraphNode_st> nodes;  ///< as they were when it was made, or set since
};
struct CUlinkState_st {
    CUcontext context = nullptr;
    std::string cubin;
    char *log = nullptr;
    size_t log_bytes = 0;
};
struct CUctx_st {
    int device = 0;
    CUresult lost = Success;
};

}  // namespace Pipe::runtime::cuda

namespace fake_cuda {

using namespace Pipe::runtime::cuda;

struct Memory {
    size_t bytes = 0;
    CUcontext context = nullptr;
    bool users = false;
};

struct Injection {
    std::string function;
    int n = 0, code = 0;
};

struct State {
    std::recursive_mutex mutex;
    Settings settings;
    bool initialized = false;
    std::map<std::string, Kernel> kernels;
    std::map<std::string, int> calls;
    Injection injection;
    int failing_kernel = 0, kernel_code = 0;
    char *seen = nullptr, *real = nullptr;  ///< the same memory, without and with access
    std::map<uint64_t, Memory> memory;
    std::map<int, CUcontext> primary;
    std::set<CUcontext> contexts;
    std::set<CUmodule> modules;
    std::set<CUstream> streams;
    std::set<CUlinkState> links;
    std::set<CUevent> events;
    std::set<CUgraph> graphs;
    std::set<CUgraphExec> execs;
    std::vector<void *>
        made;  ///< all of those: they stay after their end, so that their use can be noticed
    double clock = 0;
    std::string misuse;
};

State &state();

/// The contexts that the thread has pushed.
extern thread_local std::vector<CUcontext> current;
CUcontext context_here();

template <typename T> T *keep(T *object) {
    state().made.push_back(object);
    return object;
}

void note_misuse(const std::string &what);

/// What the call answers before it does anything.
CUresult begin(const char *function, bool needs_context);

void map_memory();
/// The first gap that is large enough; 0 where there is none.
uint64_t find_gap(size_t bytes);
/// Null where [address, address + bytes) is not allocated.
char *find_memory(uint64_t address, size_t bytes);

/// Success where the driver takes the launch; its parameters' values are then in `launch`.
CUresult check_launch(const KernelNode &kernel, Launch *launch);
/// Into the stream.
CUresult enqueue_launch(CUfunction function, const Launch &launch, CUstream stream);

// Work of streams.

CUresult run_work(CUstream stream);
CUresult run_all(CUcontext context);
/// Null where it is dead, or was null.
CUstream stream_of(CUstream given);
/// Into the stream; at once into the null stream, which waits for all others.
CUresult enqueue(CUstream stream, std::function<CUresult()> work);

void destroy_context(CUcontext context);

}  // namespace fake_cuda
