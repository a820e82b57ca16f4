#pragma once
// Kernels for the emulator, written by hand: they call what generated code calls.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "jit/runtime/gpu/emulator.h"
#include <pipe/error.h>

namespace hand_written {

using Pipe::runtime::EmulatedDevice;
using Pipe::runtime::EmulatedKernel;
using Pipe::runtime::EmulatedThread;
using Pipe::runtime::EmulatorCounters;
using Pipe::runtime::EmulatorReport;
using Pipe::runtime::EmulatorSiteCounters;
using Pipe::runtime::GPUSite;

/// Accesses to global memory.
template <typename T> T load(EmulatedThread *t, int32_t site, const T *p) {
    Pipe::runtime::pipe_emulator_access(t, site, p, sizeof(T), nullptr, 0);
    return *p;
}
template <typename T> void store(EmulatedThread *t, int32_t site, T *p, const T &value) {
    Pipe::runtime::pipe_emulator_access(t, site, p, sizeof(T), nullptr, 0);
    *p = value;
}
template <typename T> void atomic_add(EmulatedThread *t, int32_t site, T *p, T value) {
    Pipe::runtime::pipe_emulator_access(t, site, p, sizeof(T), nullptr, 0);
    *p += value;
}
inline void barrier(EmulatedThread *t, int32_t site) {
    Pipe::runtime::pipe_emulator_barrier(t, site);
}

/// An array in shared memory, with a site for all loads and one for all stores.
template <typename T> struct SharedArray {
    EmulatedThread *thread;
    int64_t offset, size;
    int32_t load_site, store_site;

    T *data() const { return reinterpret_cast<T *>(static_cast<char *>(thread->shared) + offset); }
    T load(int64_t i) const {
        access(load_site, i);
        return data()[i];
    }
    void store(int64_t i, T value) const {
        access(store_site, i);
        data()[i] = value;
    }
    void access(int32_t site, int64_t i) const {
        Pipe::runtime::pipe_emulator_access(thread, site, data() + i, sizeof(T), data(),
                                            size * static_cast<int64_t>(sizeof(T)));
    }
};

/// The value of a parameter.
template <typename T> T param(void *const *params, int i) {
    return *static_cast<const T *>(params[i]);
}

struct Size {
    int32_t x = 1, y = 1, z = 1;
};

/// A module of one kernel.
struct Module {
    std::string name;
    std::vector<GPUSite> sites;
    Pipe::runtime::GPUKernel kernel;
    Pipe::runtime::GPUModule module;

    Module(const char *kernel_name, EmulatedKernel *function, std::vector<GPUSite> the_sites)
        : sites(std::move(the_sites)) {
        kernel.name = kernel_name;
        kernel.emulated = function;
        module.name = "pipeline";
        module.kernels = &kernel;
        module.kernel_count = 1;
        module.sites = sites.data();
        module.site_count = static_cast<int32_t>(sites.size());
    }
    Module(const Module &) = delete;

    /// Each parameter is 8 bytes.
    void launch(EmulatedDevice &device, Size blocks, Size threads, int64_t shared_bytes,
                std::vector<uint64_t> params) {
        std::vector<void *> addresses;
        for (uint64_t &p : params)
            addresses.push_back(&p);
        Pipe::runtime::GPULaunch launch;
        launch.blocks[0] = blocks.x, launch.blocks[1] = blocks.y, launch.blocks[2] = blocks.z;
        launch.threads[0] = threads.x, launch.threads[1] = threads.y, launch.threads[2] = threads.z;
        launch.shared_bytes = shared_bytes;
        device.launch(module, launch, addresses.data(), {});
    }
    /// The text of the RuntimeError, or "".
    std::string error(EmulatedDevice &device, Size blocks, Size threads, int64_t shared_bytes,
                      std::vector<uint64_t> params) {
        try {
            launch(device, blocks, threads, shared_bytes, std::move(params));
        } catch (const Pipe::RuntimeError &e) {
            return e.what();
        }
        return "";
    }
};

/// Numbers in global memory.
template <typename T> struct DeviceArray {
    EmulatedDevice &device;
    int64_t size;
    uint64_t address;

    DeviceArray(EmulatedDevice &d, int64_t n)
        : device(d), size(n), address(d.allocate(bytes(), {})) {}
    DeviceArray(EmulatedDevice &d, const std::vector<T> &values)
        : DeviceArray(d, static_cast<int64_t>(values.size())) {
        device.copy_to_device(address, values.data(), {bytes(), 1, 0}, {});
    }
    ~DeviceArray() { device.free(address, {}); }
    DeviceArray(const DeviceArray &) = delete;

    int64_t bytes() const { return size * static_cast<int64_t>(sizeof(T)); }
    std::vector<T> values() const {
        std::vector<T> result(static_cast<size_t>(size));
        device.copy_to_host(result.data(), address, {bytes(), 1, 0}, {});
        return result;
    }
};

constexpr GPUSite site(const char *buffer, GPUSite::Kind kind, GPUSite::Memory memory,
                       int32_t element_bytes = 4) {
    GPUSite s;
    s.buffer = buffer;
    s.kind = kind;
    s.memory = memory;
    s.element_bytes = element_bytes;
    return s;
}
inline const GPUSite barrier_site = site(nullptr, GPUSite::Barrier, GPUSite::Shared, 0);

/// 1, 2, ..
template <typename T> std::vector<T> count_up(int64_t n) {
    std::vector<T> result;
    for (int64_t i = 1; i <= n; i++)
        result.push_back(static_cast<T>(i));
    return result;
}

}  // namespace hand_written
