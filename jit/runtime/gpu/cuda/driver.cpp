#include "jit/runtime/gpu/cuda/driver.h"

#include <atomic>
#include <mutex>
#include <type_traits>

#include <dlfcn.h>

#include <fmt/format.h>

#include "support/env.h"
#include <pipe/error.h>

namespace Pipe::runtime::cuda {

namespace {

constexpr int oldest_version = 11000, oldest_with_graphs = 11040;

const char *const without_gpu =
    " Without an NVIDIA GPU, compile for a Target without cuda, or for \"host-cuda_emulator\".";

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string library_path() {
    std::string path = support::env("PIPE_CUDA_DRIVER");
    return path.empty() ? "libcuda.so.1" : path;
}

}  // namespace

void Driver::load() {
    const std::string path = library_path();
    // Stays open: contexts and modules of it live until the process ends.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        throw RuntimeError(
            fmt::format("No NVIDIA driver: {} cannot be loaded ({}). Install the driver of "
                        "the GPU.{}",
                        path, why ? why : "no reason given", without_gpu));
    }
    std::string missing;
    auto find = [&](auto &member, const char *name) {
        using Function = std::remove_reference_t<decltype(member)>;
        member = reinterpret_cast<Function>(dlsym(library, name));
        if (!member)
            missing += (missing.empty() ? "" : ", ") + std::string(name);
    };
#define PIPE_CUDA_FIND(member, name, parameters) find(member, #name);
    PIPE_CUDA_ENTRIES(PIPE_CUDA_FIND)
    if (missing.empty()) {
        PIPE_CUDA_GRAPH_ENTRIES(PIPE_CUDA_FIND)
        has_graphs = missing.empty();
        return;
    }
#undef PIPE_CUDA_FIND
    *this = Driver();
    dlclose(library);
    throw RuntimeError(
        fmt::format("The NVIDIA driver is too old: {} has no {}. Install one for CUDA {} "
                    "or later.{}",
                    path, missing, version_text(oldest_version), without_gpu));
}

void Driver::start() {
    check(*this, Init(0), "cuInit", "");
    check(*this, DriverGetVersion(&version), "cuDriverGetVersion", "");
    if (version < oldest_version)
        throw RuntimeError(
            fmt::format("The NVIDIA driver is too old: it is for CUDA {}. Install one for "
                        "CUDA {} or later.{}",
                        version_text(version), version_text(oldest_version), without_gpu));
    has_graphs = has_graphs && version >= oldest_with_graphs;
    check(*this, DeviceGetCount(&devices), "cuDeviceGetCount", "");
    if (devices < 1)
        check(*this, NoDevice, "cuDeviceGetCount", "");
}

const Driver &Driver::get() {
    static std::mutex mutex;
    static std::atomic<const Driver *> started{nullptr};
    if (const Driver *driver = started.load(std::memory_order_acquire))
        return *driver;
    std::lock_guard lock(mutex);
    if (const Driver *driver = started.load(std::memory_order_relaxed))
        return *driver;
    static Driver driver;  // trivially destructible: usable until the process ends
    if (!driver.Init)
        driver.load();
    driver.start();
    started.store(&driver, std::memory_order_release);
    return driver;
}

bool available() {
    try {
        Driver::get();
        return true;
    } catch (const RuntimeError &) {
        return false;
    }
}

std::string result_text(const Driver &driver, CUresult result) {
    const char *name = nullptr, *text = nullptr;
    if (driver.GetErrorName(result, &name) != Success || !name)
        name = "an unknown CUresult";
    if (driver.GetErrorString(result, &text) != Success || !text)
        text = "the driver has no text for it";
    return fmt::format("{} ({}): {}", name, result, text);
}

bool loses_context(CUresult result) {
    switch (result) {
    case EccUncorrectable:
    case NvlinkUncorrectable:
    case Contained:
    case TensorMemoryLeak:
    case IllegalAddress:
    case LaunchTimeout:
    case ContextIsDestroyed:
    case Assert:
    case HardwareStackError:
    case IllegalInstruction:
    case MisalignedAddress:
    case InvalidAddressSpace:
    case InvalidPC:
    case LaunchFailed:
        return true;
    default:
        return false;
    }
}

namespace {

std::string cause(CUresult result) {
    switch (result) {
    case OutOfMemory:
        return " Give memory back (release_memory(), Buffer::device_free()), or realize a smaller "
               "part at a time.";
    case NotInitialized:
        return " In a process that was forked, CUDA works only where it was not used before the "
               "fork.";
    case Deinitialized:
        return " The process is ending.";
    case StubLibrary:
        return " The library found is the toolkit's stub: put the driver's libcuda.so.1 first in "
               "the library path.";
    case DeviceUnavailable:
        return " Another process has the GPU for itself (nvidia-smi shows the compute mode).";
    case NoDevice:
        return without_gpu;
    case InvalidDevice:
        return " Give JITUserContext::gpu_device, or HL_GPU_DEVICE, the number of a device that "
               "nvidia-smi lists.";
    case InvalidImage:
    case NoBinaryForGPU:
    case InvalidPTX:
    case JITCompilerNotFound:
    case UnsupportedPTXVersion:
        return " Update the NVIDIA driver, or compile for what the GPU has: "
               "Target(\"host-cuda-cuda_capability_75\") is the least that is made.";
    case LaunchOutOfResources:
        return " Use fewer threads per block (gpu_threads), or unroll less: each thread needs "
               "registers.";
    case SystemNotReady:
        return " Start the services of the driver (nvidia-fabricmanager), then run again.";
    case SystemDriverMismatch:
    case CompatNotSupported:
        return " The driver's kernel module and its libraries are of different versions: reboot, "
               "or install the driver again.";
    case LaunchTimeout:
        return " The system stops kernels that run too long on a GPU that drives a display.";
    case IllegalAddress:
    case Assert:
    case HardwareStackError:
    case IllegalInstruction:
    case MisalignedAddress:
    case InvalidAddressSpace:
    case InvalidPC:
    case LaunchFailed:
        return " A kernel that ran before failed. Target(\"host-cuda_emulator\") finds the access.";
    default:
        return "";
    }
}

}  // namespace

std::string advice(CUresult result) {
    std::string text = cause(result);
    if (loses_context(result))
        text += " All memory of the device is lost: what lived there alone is gone. Most drivers "
                "run nothing more in this process: start it again. Pipelines for CPUs can go on.";
    return text;
}

void check(const Driver &driver, CUresult result, const char *call, const std::string &where,
           const std::string &what, const std::string &details) {
    if (result == Success) [[likely]]
        return;
    throw RuntimeError(fmt::format("{}{}{}{}{} failed with {}.{}{}", where,
                                   where.empty() ? "" : ": ", what, what.empty() ? "" : ": ", call,
                                   result_text(driver, result), details, advice(result)));
}

}  // namespace Pipe::runtime::cuda
