#include "test/support/fake_cuda/state.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace fake_cuda {

namespace {
/// The codes after which, as CUDA's documentation says, the context or the process cannot go on.
bool is_sticky(int code) {
    static const std::set<int> codes = {214, 220, 226, 700, 702, 709, 710,
                                        714, 715, 716, 717, 718, 719, 721};
    return codes.count(code) != 0;
}

constexpr size_t address_space = size_t{1} << 30;
constexpr size_t page = 4096;
}  // namespace

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

CUresult begin(const char *function, bool needs_context) {
    State &s = state();
    s.calls[function]++;
    if (s.injection.n > 0 && s.injection.function == function && --s.injection.n == 0) {
        CUcontext c = context_here();
        if (is_sticky(s.injection.code) && c)
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

static uint64_t base() {
    return reinterpret_cast<uint64_t>(state().seen);
}

uint64_t find_gap(size_t bytes) {
    uint64_t at = base();
    for (const auto &[address, m] : state().memory) {
        if (address - at >= bytes)
            return at;
        at = address + (m.bytes + page - 1) / page * page;
    }
    return at + bytes <= base() + address_space ? at : 0;
}

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

CUresult enqueue(CUstream stream, std::function<CUresult()> work) {
    if (!stream) {
        CUresult r = run_all(context_here());
        return r == Success ? work() : r;
    }
    if (!stream_of(stream))
        return 400;  // CUDA_ERROR_INVALID_HANDLE
    if (!stream->captured)
        stream->work.push_back(std::move(work));
    return Success;
}

CUresult check_launch(const KernelNode &k, Launch *launch) {
    CUfunction f = k.function;
    if (!state().modules.count(f->module) || f->module->context != context_here()) {
        note_misuse("a kernel of a dead module, or of another context");
        return InvalidValue;
    }
    const unsigned *b = k.blocks, *t = k.threads, threads = t[0] * t[1] * t[2];
    if (b[0] < 1 || b[1] < 1 || b[2] < 1 || b[1] > 65535 || b[2] > 65535 || threads > 1024 ||
        threads < 1 || k.shared_bytes > static_cast<unsigned>(f->dynamic_limit) || k.extra)
        return InvalidValue;
    if (threads > 512)
        return LaunchOutOfResources;
    *launch = {{b[0], b[1], b[2]}, {t[0], t[1], t[2]}, k.shared_bytes, {}};
    const Kernel &kernel = state().kernels[f->name];  // else one that does nothing
    for (size_t i = 0; i < kernel.param_bytes.size(); i++)
        launch->params.emplace_back(static_cast<char *>(k.params[i]),
                                    static_cast<char *>(k.params[i]) + kernel.param_bytes[i]);
    return Success;
}

CUresult enqueue_launch(CUfunction function, const Launch &launch, CUstream stream) {
    int code = Success;
    if (state().failing_kernel > 0 && --state().failing_kernel == 0)
        code = state().kernel_code;
    const Kernel &kernel = state().kernels[function->name];
    return enqueue(stream, [kernel, launch, code, module = function->module] {
        if (!state().modules.count(module))
            note_misuse("a module was unloaded before its kernel ran");
        state().clock += 2.5;
        if (code == Success && kernel.run)
            kernel.run(launch);
        return code;
    });
}

void destroy_context(CUcontext context) {
    State &s = state();
    std::erase_if(s.memory,
                  [&](const auto &m) { return m.second.context == context && !m.second.users; });
    std::erase_if(s.modules, [&](CUmodule m) { return m->context == context; });
    std::erase_if(s.streams, [&](CUstream m) { return m->context == context; });
    std::erase_if(s.events, [&](CUevent m) { return m->context == context; });
    std::erase_if(s.graphs, [&](CUgraph m) { return m->context == context; });
    std::erase_if(s.execs, [&](CUgraphExec m) { return m->context == context; });
    std::erase_if(s.links, [&](CUlinkState m) { return m->context == context; });
    s.contexts.erase(context);  // the object stays, so that its use can be noticed
}

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
    live.graphs = static_cast<int64_t>(s.graphs.size() + s.execs.size());
    live.streams = static_cast<int64_t>(s.streams.size());
    live.pushed_contexts = static_cast<int64_t>(current.size());
    return live;
}

void *make_users_stream() {
    CUcontext context = state().primary.count(0) ? state().primary[0] : nullptr;
    auto *stream = keep(new CUstream_st{context, {}});
    state().streams.insert(stream);
    return stream;
}

void synchronize_users_stream(void *stream) {
    std::lock_guard lock(state().mutex);
    run_work(static_cast<CUstream>(stream));
}

void capture_users_stream(void *stream, bool on) {
    static_cast<CUstream>(stream)->captured = on;
}

void *make_users_context(int ordinal) {
    auto *context = keep(new CUctx_st{ordinal + 10});
    state().contexts.insert(context);
    return context;
}

}  // namespace fake_cuda
