#include "jit/runtime/gpu/cuda/module.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "jit/runtime/gpu/cuda/disk_cache.h"
#include <pipe/error.h>

namespace Pipe::runtime::cuda {

namespace {

using Cubin = std::shared_ptr<const std::string>;

/// Linked programs of this process, by their key.
class MemoryCache {
  public:
    static MemoryCache &get() {
        static auto *cache = new MemoryCache;
        return *cache;
    }
    Cubin find(const std::string &key) {
        std::lock_guard lock(mutex_);
        auto found = cubins_.find(key);
        return found == cubins_.end() ? nullptr : found->second;
    }
    void add(const std::string &key, const Cubin &cubin) {
        constexpr size_t largest = 64 << 20;
        std::lock_guard lock(mutex_);
        if (bytes_ + cubin->size() > largest) {
            cubins_.clear();
            bytes_ = 0;
        }
        cubins_[key] = cubin;
        bytes_ += cubin->size();
    }

  private:
    std::mutex mutex_;
    std::map<std::string, Cubin> cubins_;
    size_t bytes_ = 0;
};

/// The driver's linker.
class Linker {
  public:
    explicit Linker(CudaDevice &device, const std::string &what) : device_(device), what_(what) {
        int options[] = {JitErrorLogBuffer, JitErrorLogBufferBytes};
        void *values[] = {log_.data(), reinterpret_cast<void *>(uintptr_t{log_.size()})};
        check(device.driver().LinkCreate(2, options, values, &state_), "cuLinkCreate");
    }
    Linker(const Linker &) = delete;
    ~Linker() {
        if (state_)
            device_.driver().LinkDestroy(state_);
    }

    std::string link(std::string ptx, const char *name) {
        const Driver &d = device_.driver();
        check(
            d.LinkAddData(state_, input_ptx, ptx.data(), ptx.size() + 1, name, 0, nullptr, nullptr),
            "cuLinkAddData");
        void *cubin = nullptr;
        size_t bytes = 0;
        check(d.LinkComplete(state_, &cubin, &bytes), "cuLinkComplete");
        return {static_cast<const char *>(cubin), bytes};
    }

  private:
    void check(CUresult result, const char *call) {
        if (result == Success)
            return;
        const std::string log(log_.data());
        device_.check(result, call, log.empty() ? what_ : what_ + ": " + log);
    }

    CudaDevice &device_;
    const std::string what_;
    std::vector<char> log_ =
        std::vector<char>(16 << 10);  // the driver writes it while the state lives
    CUlinkState state_ = nullptr;
};

std::string text_of(const GPUModule &module) {
    std::string ptx(module.ptx, static_cast<size_t>(module.ptx_bytes));
    while (!ptx.empty() && ptx.back() == '\0')
        ptx.pop_back();
    return ptx;
}

CUmodule load_cubin(CudaDevice &device, const std::string &cubin, const std::string &what) {
    CUmodule module = nullptr;
    device.check(device.driver().ModuleLoadData(&module, cubin.data()), "cuModuleLoadData", what);
    return module;
}

CUmodule link_and_load(const GPUModule &module, CudaDevice &device) {
    const std::string ptx = text_of(module);
    const std::string key = cache_key(ptx, device.capability(), device.driver().version);
    const std::string what =
        fmt::format("kernels of pipeline '{}' for compute capability {}.{}", module.name,
                    device.capability() / 10, device.capability() % 10);
    Cubin cubin = MemoryCache::get().find(key);
    if (cubin)
        return load_cubin(device, *cubin, what);
    cubin = std::make_shared<const std::string>(read_cached(key));
    CUmodule loaded = nullptr;
    const bool from_file =
        !cubin->empty() && device.driver().ModuleLoadData(&loaded, cubin->data()) ==
                               Success;  // else it is linked again
    if (!from_file) {
        cubin = std::make_shared<const std::string>(Linker(device, what).link(ptx, module.name));
        loaded = load_cubin(device, *cubin, what);
        write_cached(key, *cubin);
    }
    MemoryCache::get().add(key, cubin);
    return loaded;
}

LoadedModule *find_loaded(const ModuleState &state, const CudaDevice &device) {
    const uint64_t generation = device.generation();
    LoadedModule *at = state.first.load(std::memory_order_acquire);
    while (at && !(at->device == &device && at->generation == generation))
        at = at->next;
    return at;
}

}  // namespace

ModuleState::~ModuleState() {
    for (LoadedModule *at = first; at;)
        delete std::exchange(at, at->next);
}

ModuleState &state_of(GPUModule &module) {
    std::atomic_ref<void *> shared(module.state);
    if (void *state = shared.load(std::memory_order_acquire))
        return *static_cast<ModuleState *>(state);
    auto state = std::make_unique<ModuleState>();
    void *others = nullptr;
    if (shared.compare_exchange_strong(others, state.get()))
        return *state.release();
    return *static_cast<ModuleState *>(others);
}

LoadedModule &loaded(GPUModule &module, CudaDevice &device) {
    ModuleState &state = state_of(module);
    if (LoadedModule *found = find_loaded(state, device))
        return *found;
    std::lock_guard lock(state.mutex);
    if (LoadedModule *found = find_loaded(state, device))
        return *found;
    auto made = std::make_unique<LoadedModule>();
    made->device = &device;
    made->generation = device.generation();
    made->functions = std::make_unique<LoadedFunction[]>(static_cast<size_t>(module.kernel_count));
    made->module = link_and_load(module, device);
    for (int i = 0; i < module.kernel_count; i++)
        device.check(
            device.driver().ModuleGetFunction(&made->functions[static_cast<size_t>(i)].function,
                                              made->module, module.kernels[i].name),
            "cuModuleGetFunction",
            fmt::format("kernel '{}' of pipeline '{}'", module.kernels[i].name, module.name));
    made->next = state.first.load(std::memory_order_relaxed);
    state.first.store(made.get(), std::memory_order_release);
    return *made.release();
}

void unload(GPUModule &module) noexcept {
    delete static_cast<ModuleState *>(std::exchange(module.state, nullptr));
}

}  // namespace Pipe::runtime::cuda
