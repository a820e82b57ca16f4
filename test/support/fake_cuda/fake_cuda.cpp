#include "test/support/fake_cuda/fake_cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

#include <sys/mman.h>
#include <unistd.h>

#include "jit/gpu/cuda/driver.h"

namespace Pipe::jit::cuda {

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
};
struct CUevent_st {
    CUcontext context;
    double milliseconds = -1;  ///< when the work came to it
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

}  // namespace Pipe::jit::cuda

using namespace Pipe::jit::cuda;

namespace fake_cuda {

namespace {

constexpr size_t address_space = size_t{1} << 30;
constexpr size_t page = 4096;

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
    double clock = 0;
    std::string misuse;
};

State &state() {
    static auto *s = new State;
    return *s;
}

thread_local std::vector<CUcontext> current;

void note_misuse(const std::string &what) {
    std::string &all = state().misuse;
    all += (all.empty() ? "" : "; ") + what;
}

CUcontext context_here() {
    return current.empty() ? nullptr : current.back();
}

/// What the call answers before it does anything.
CUresult begin(const char *function, bool needs_context = true) {
    State &s = state();
    s.calls[function]++;
    if (s.injection.n > 0 && s.injection.function == function && --s.injection.n == 0) {
        CUcontext c = context_here();
        if (loses_context(s.injection.code) && c)
            c->lost = s.injection.code;
        return s.injection.code;
    }
    if (!s.initialized && std::string(function) != "cuInit")
        return NotInitialized;
    if (!needs_context)
        return Success;
    CUcontext c = context_here();
    if (!c || !s.contexts.count(c))
        return InvalidContext;
    return c->lost;
}

void map_memory() {
    State &s = state();
    if (s.seen)
        return;
    const int file = memfd_create("fake device", 0);
    if (file < 0 || ftruncate(file, address_space) != 0)
        std::abort();
    auto map = [&](int protection) {
        void *p = mmap(nullptr, address_space, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
        if (p == MAP_FAILED)
            std::abort();
        return static_cast<char *>(p);
    };
    s.real = map(PROT_READ | PROT_WRITE);
    s.seen = map(PROT_NONE);
    close(file);
}

uint64_t base() {
    return reinterpret_cast<uint64_t>(state().seen);
}

/// The first gap that is large enough; 0 where there is none.
uint64_t find_gap(size_t bytes) {
    uint64_t at = base();
    for (const auto &[address, m] : state().memory) {
        if (address - at >= bytes)
            return at;
        at = address + (m.bytes + page - 1) / page * page;
    }
    return at + bytes <= base() + address_space ? at : 0;
}

/// Null where [address, address + bytes) is not allocated.
char *find_memory(uint64_t address, size_t bytes) {
    State &s = state();
    auto next = s.memory.upper_bound(address);
    if (next == s.memory.begin())
        return nullptr;
    const auto &[begin, m] = *std::prev(next);
    return address + bytes <= begin + m.bytes ? s.real + (address - base()) : nullptr;
}

CUresult run_work(CUstream stream) {
    while (!stream->work.empty()) {
        auto work = std::move(stream->work.front());
        stream->work.pop_front();
        if (CUresult r = work(); r != Success) {
            stream->context->lost = r;
            stream->work.clear();
            return r;
        }
    }
    return stream->context->lost;
}

CUresult run_all(CUcontext context) {
    for (CUstream stream : std::set<CUstream>(state().streams))
        if (stream->context == context)
            run_work(stream);
    return context->lost;
}

CUstream stream_of(CUstream given) {
    State &s = state();
    if (given && !s.streams.count(given)) {
        note_misuse("a dead stream");
        return nullptr;
    }
    return given;
}

/// Into the stream; at once into the null stream, which waits for all others.
CUresult enqueue(CUstream stream, std::function<CUresult()> work) {
    if (!stream) {
        CUresult r = run_all(context_here());
        return r == Success ? work() : r;
    }
    if (!stream_of(stream))
        return 400;  // CUDA_ERROR_INVALID_HANDLE
    stream->work.push_back(std::move(work));
    return Success;
}

void destroy_context(CUcontext context) {
    State &s = state();
    std::erase_if(s.memory,
                  [&](const auto &m) { return m.second.context == context && !m.second.users; });
    std::erase_if(s.modules, [&](CUmodule m) { return m->context == context; });
    std::erase_if(s.streams, [&](CUstream m) { return m->context == context; });
    std::erase_if(s.events, [&](CUevent m) { return m->context == context; });
    std::erase_if(s.links, [&](CUlinkState m) { return m->context == context; });
    s.contexts.erase(context);  // the object stays, so that its use can be noticed
}

}  // namespace

void register_kernel(const std::string &name, Kernel kernel) {
    state().kernels[name] = std::move(kernel);
}

void *memory_at(uint64_t address, size_t bytes) {
    char *memory = find_memory(address, bytes);
    if (!memory) {
        std::fprintf(stderr, "a kernel accesses memory that is not allocated\n");
        std::abort();
    }
    return memory;
}

uint64_t users_memory(size_t bytes) {
    std::lock_guard lock(state().mutex);
    map_memory();
    const uint64_t address = find_gap(bytes);
    state().memory[address] = {bytes, nullptr, true};
    return address;
}

void fail_call(const std::string &function, int n, int code) {
    state().injection = {function, n, code};
}
void fail_kernel(int n, int code) {
    state().failing_kernel = n;
    state().kernel_code = code;
}
void fail_nothing() {
    state().injection = {};
    state().failing_kernel = 0;
}
std::map<std::string, int> calls() {
    return state().calls;
}
Settings &settings() {
    return state().settings;
}
std::string misuse() {
    return state().misuse;
}

Live live() {
    State &s = state();
    Live live;
    for (const auto &[address, m] : s.memory) {
        live.allocations += !m.users;
        live.bytes += m.users ? 0 : static_cast<int64_t>(m.bytes);
    }
    live.modules = static_cast<int64_t>(s.modules.size());
    live.links = static_cast<int64_t>(s.links.size());
    live.events = static_cast<int64_t>(s.events.size());
    live.streams = static_cast<int64_t>(s.streams.size());
    live.pushed_contexts = static_cast<int64_t>(current.size());
    return live;
}

void *make_users_stream() {
    CUcontext context = state().primary.count(0) ? state().primary[0] : nullptr;
    auto *stream = new CUstream_st{context, {}};
    state().streams.insert(stream);
    return stream;
}

void synchronize_users_stream(void *stream) {
    std::lock_guard lock(state().mutex);
    run_work(static_cast<CUstream>(stream));
}

void *make_users_context(int ordinal) {
    auto *context = new CUctx_st{ordinal + 10};
    state().contexts.insert(context);
    return context;
}

}  // namespace fake_cuda

using namespace fake_cuda;

#define BEGIN(needs_context)                                                                       \
    std::lock_guard lock(state().mutex);                                                           \
    if (CUresult answer = begin(__func__, needs_context); answer != Success)                       \
    return answer

// NOLINTBEGIN: the names are the driver's
extern "C" {

CUresult cuInit(unsigned) {
    BEGIN(false);
    state().initialized = true;
    map_memory();
    return Success;
}
CUresult cuDriverGetVersion(int *version) {
    BEGIN(false);
    *version = settings().version;
    return Success;
}
CUresult cuDeviceGetCount(int *count) {
    BEGIN(false);
    *count = settings().devices;
    return Success;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    BEGIN(false);
    if (ordinal >= settings().devices)
        return InvalidDevice;
    *device = ordinal + 10;  // no ordinal
    return Success;
}
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
    BEGIN(false);
    std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU %c", 'A' + device - 10);
    return Success;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
    BEGIN(false);
    switch (attribute) {
    case MaxThreadsPerBlock:
        *value = 1024;
        break;
    case MaxBlockDimX:
    case MaxBlockDimX + 1:
        *value = 1024;
        break;
    case MaxBlockDimX + 2:
        *value = 64;
        break;
    case MaxGridDimX:
        *value = INT32_MAX;
        break;
    case MaxGridDimX + 1:
    case MaxGridDimX + 2:
        *value = 65535;
        break;
    case MaxSharedMemoryPerBlockOptin:
        *value = 99 << 10;
        break;
    case CapabilityMajor:
        *value = settings().capability / 10;
        break;
    case CapabilityMinor:
        *value = settings().capability % 10;
        break;
    default:
        return InvalidValue;
    }
    return Success;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
    BEGIN(false);
    *bytes = settings().memory;
    return Success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    BEGIN(false);
    CUcontext &primary = state().primary[device - 10];
    if (!primary) {
        primary = new CUctx_st{device};
        state().contexts.insert(primary);
    }
    *context = primary;
    return Success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    BEGIN(false);
    return Success;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    BEGIN(false);
    CUcontext &primary = state().primary[device - 10];
    if (primary)
        destroy_context(primary);
    primary = nullptr;
    return Success;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    BEGIN(false);
    *context = context_here();
    return Success;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    BEGIN(false);
    if (!state().contexts.count(context))
        return InvalidContext;
    current.push_back(context);
    return Success;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    BEGIN(false);
    if (current.empty())
        return InvalidContext;
    *context = current.back();
    current.pop_back();
    return Success;
}
CUresult cuCtxGetDevice(CUdevice *device) {
    BEGIN(true);
    *device = context_here()->device;
    return Success;
}
CUresult cuCtxSynchronize() {
    BEGIN(true);
    return run_all(context_here());
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    BEGIN(true);
    run_all(context_here());
    if (bytes == 0)
        return InvalidValue;
    size_t used = 0;
    for (const auto &[at, m] : state().memory)
        used += m.context == context_here() ? m.bytes : 0;
    *address = used + bytes > settings().memory ? 0 : find_gap(bytes);
    if (*address == 0)
        return OutOfMemory;
    state().memory[*address] = {bytes, context_here(), false};
    std::memset(memory_at(*address, bytes), 0xcd, bytes);
    return Success;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    BEGIN(true);
    run_all(context_here());
    auto found = state().memory.find(address);
    if (found == state().memory.end() || found->second.users) {
        note_misuse("memory is freed that was not allocated");
        return InvalidValue;
    }
    state().memory.erase(found);
    return Success;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    BEGIN(true);
    if (!find_memory(to, bytes))
        return InvalidValue;
    std::string staged(static_cast<const char *>(from), bytes);
    return enqueue(stream, [=] {
        std::memcpy(memory_at(to, bytes), staged.data(), bytes);
        return Success;
    });
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    BEGIN(true);
    if (!find_memory(from, bytes))
        return InvalidValue;
    return enqueue(stream, [=] {
        std::memcpy(to, memory_at(from, bytes), bytes);
        return Success;
    });
}
CUresult cuMemcpy2DAsync_v2(const Copy2D *given, CUstream stream) {
    BEGIN(true);
    const Copy2D c = *given;
    const bool up = c.source_type == HostMemory;
    const size_t pitch = up ? c.target_pitch : c.source_pitch;
    const size_t last = (c.rows - 1) * pitch + c.bytes;
    if (c.bytes > c.source_pitch || c.bytes > c.target_pitch || pitch > INT32_MAX ||
        !find_memory(up ? c.target_device : c.source_device, last))
        return InvalidValue;
    std::vector<std::string> staged;
    for (size_t y = 0; up && y < c.rows; y++)
        staged.emplace_back(static_cast<const char *>(c.source_host) + y * c.source_pitch, c.bytes);
    return enqueue(stream, [=] {
        for (size_t y = 0; y < c.rows; y++) {
            if (up)
                std::memcpy(memory_at(c.target_device + y * c.target_pitch, c.bytes),
                            staged[y].data(), c.bytes);
            else
                std::memcpy(static_cast<char *>(c.target_host) + y * c.target_pitch,
                            memory_at(c.source_device + y * c.source_pitch, c.bytes), c.bytes);
        }
        return Success;
    });
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    BEGIN(true);
    if (flags != stream_non_blocking)
        note_misuse("a stream that waits for the null stream");
    *stream = new CUstream_st{context_here(), {}};
    state().streams.insert(*stream);
    return Success;
}
CUresult cuStreamSynchronize(CUstream stream) {
    BEGIN(true);
    if (!stream)
        return run_all(context_here());
    return stream_of(stream) ? run_work(stream) : 400;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
    BEGIN(true);
    *event = new CUevent_st{context_here()};
    state().events.insert(*event);
    return Success;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    BEGIN(true);
    return enqueue(stream, [=] {
        event->milliseconds = state().clock;
        return Success;
    });
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent second) {
    BEGIN(true);
    if (first->milliseconds < 0 || second->milliseconds < 0)
        return 600;  // CUDA_ERROR_NOT_READY
    *milliseconds = static_cast<float>(second->milliseconds - first->milliseconds);
    return Success;
}
CUresult cuEventDestroy_v2(CUevent event) {
    BEGIN(true);
    if (!state().events.erase(event))
        note_misuse("a dead event");
    return Success;  // the object stays: work that waits may record it
}
CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link) {
    BEGIN(true);
    *link = new CUlinkState_st;
    (*link)->context = context_here();
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == JitErrorLogBuffer)
            (*link)->log = static_cast<char *>(values[i]);
        else if (options[i] == JitErrorLogBufferBytes)
            (*link)->log_bytes = reinterpret_cast<size_t>(values[i]);
    }
    state().links.insert(*link);
    return Success;
}
CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t bytes, const char *,
                          unsigned, int *, void **) {
    BEGIN(true);
    std::string text(static_cast<const char *>(data), bytes);
    if (type != input_ptx || text.empty() || text.back() != '\0')
        return InvalidValue;
    if (text.find("syntax error") != std::string::npos) {
        std::snprintf(link->log, link->log_bytes,
                      "ptxas: line 1, Parsing error near 'syntax error'");
        return InvalidPTX;
    }
    link->cubin += "CUBIN " + text;
    return Success;
}
CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes) {
    BEGIN(true);
    *cubin = link->cubin.data();
    *bytes = link->cubin.size();
    return Success;
}
CUresult cuLinkDestroy(CUlinkState link) {
    BEGIN(true);
    state().links.erase(link);
    delete link;
    return Success;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    BEGIN(true);
    const char *text = static_cast<const char *>(image);
    if (std::strncmp(text, "CUBIN ", 6) != 0)
        return InvalidImage;
    *module = new CUmod_st{context_here(), text, {}};
    state().modules.insert(*module);
    return Success;
}
CUresult cuModuleUnload(CUmodule module) {
    BEGIN(true);
    if (!state().modules.erase(module))
        note_misuse("a dead module");
    return Success;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    BEGIN(true);
    if (module->image.find(std::string(".entry ") + name) == std::string::npos)
        return NotFound;
    module->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name, module}));
    *function = module->functions.back().get();
    return Success;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction) {
    BEGIN(true);
    if (attribute != FunctionMaxThreadsPerBlock)
        return InvalidValue;
    *value = 512;
    return Success;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    BEGIN(true);
    if (attribute != FunctionMaxDynamicShared || value > 99 << 10)
        return InvalidValue;
    function->dynamic_limit = value;
    return Success;
}
CUresult cuLaunchKernel(CUfunction function, unsigned bx, unsigned by, unsigned bz, unsigned tx,
                        unsigned ty, unsigned tz, unsigned shared_bytes, CUstream stream,
                        void **params, void **) {
    BEGIN(true);
    if (!state().modules.count(function->module) || function->module->context != context_here()) {
        note_misuse("a kernel of a dead module, or of another context");
        return InvalidValue;
    }
    if (bx < 1 || by < 1 || bz < 1 || by > 65535 || bz > 65535 || tx * ty * tz > 1024 ||
        tx * ty * tz < 1 || shared_bytes > static_cast<unsigned>(function->dynamic_limit))
        return InvalidValue;
    if (tx * ty * tz > 512)
        return LaunchOutOfResources;
    const Kernel &kernel = state().kernels[function->name];  // else one that does nothing
    Launch launch{{bx, by, bz}, {tx, ty, tz}, shared_bytes, {}};
    for (size_t i = 0; i < kernel.param_bytes.size(); i++)
        launch.params.emplace_back(static_cast<char *>(params[i]),
                                   static_cast<char *>(params[i]) + kernel.param_bytes[i]);
    int code = Success;
    if (state().failing_kernel > 0 && --state().failing_kernel == 0)
        code = state().kernel_code;
    return enqueue(stream, [kernel, launch, code] {
        state().clock += 2.5;
        if (code == Success && kernel.run)
            kernel.run(launch);
        return code;
    });
}
CUresult cuGetErrorName(CUresult code, const char **name) {
    static const std::map<int, const char *> names = {
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {999, "CUDA_ERROR_UNKNOWN"},
    };
    auto found = names.find(code);
    if (found == names.end())
        return InvalidValue;
    *name = found->second;
    return Success;
}
CUresult cuGetErrorString(CUresult code, const char **text) {
    const char *name = nullptr;
    if (cuGetErrorName(code, &name) != Success)
        return InvalidValue;
    *text = "text of the error";
    return Success;
}

}  // extern "C"
// NOLINTEND
