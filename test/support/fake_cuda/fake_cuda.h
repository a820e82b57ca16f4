#pragma once
// A CUDA driver for tests: a shared library with the functions of libcuda.so.1 that Pipe uses.
//
// Device memory is memory of this process to which the addresses that are given out give no access. Work in a stream is
// done when somebody waits for it, never before, so that what relies on luck fails. A launch calls a host function that
// was registered under the kernel's name, if there is one. "PTX" is any text that names its kernels by ".entry NAME".

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

struct Launch {
    unsigned blocks[3], threads[3], shared_bytes;
    std::vector<std::vector<char>> params;  ///< their values
    template <typename T> T param(size_t i) const {
        return *reinterpret_cast<const T *>(params.at(i).data());
    }
};

struct Kernel {
    std::vector<size_t> param_bytes;
    std::function<void(const Launch &)> run;
};
void register_kernel(const std::string &name, Kernel kernel);

/// Device memory as a kernel sees it. Ends the process where it is no allocated memory.
void *memory_at(uint64_t address, size_t bytes);
template <typename T> T *memory_at(uint64_t address, size_t count) {
    return static_cast<T *>(memory_at(address, count * sizeof(T)));
}

/// Memory that belongs to the user, not to Pipe: not counted in live().
uint64_t users_memory(size_t bytes);

/// The n-th call (from 1) of the function from now on fails with the code; what loses the context does so.
void fail_call(const std::string &function, int n, int code);
/// The n-th kernel that is launched from now on, alone or in a graph, fails with the code when it runs.
void fail_kernel(int n, int code);
void fail_nothing();

/// Calls since the start, by function.
std::map<std::string, int> calls();

/// What has been made and not yet destroyed.
struct Live {
    int64_t allocations = 0, bytes = 0, modules = 0, links = 0, streams = 0, events = 0, graphs = 0,
            pushed_contexts = 0;
};
Live live();

struct Settings {
    int devices = 2;
    int version = 12040;
    int capability = 86;
    size_t memory = size_t{64} << 20;  ///< of each device
};
Settings &settings();

/// Misuse that a driver would not notice: of memory that is in use elsewhere, of dead handles. "" if none.
std::string misuse();

/// A stream of the user's in the primary context of device 0, which has to be there; and what waits for it.
void *make_users_stream();
void synchronize_users_stream(void *stream);
/// From now on (or no longer), work in it becomes part of a graph of the user's: none of it runs.
void capture_users_stream(void *stream, bool on);
/// A context of the user's.
void *make_users_context(int ordinal);

}  // namespace fake_cuda
