#pragma once
// LaunchList: the launches of one run. Those that wait are given to the device together (Device::submit), because each call
// of the driver takes longer than many a kernel.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/runtime/gpu_abi.h"

namespace Pipe::runtime {

struct Launch {
    GPUModule *module = nullptr;
    GPULaunch launch;
};

class LaunchList {
  public:
    /// One that waits. Its parameters are copied.
    void add(GPUModule &module, const GPULaunch &launch, void *const *params);

    bool empty() const { return waiting_.empty(); }
    size_t size() const { return waiting_.size(); }
    const Launch &operator[](size_t i) const { return waiting_[i]; }
    /// The values of the i-th one's parameters (GPULaunch::param_bytes of them), and their addresses, until the next add().
    const char *values(size_t i) const { return values_.data() + places_[i].value; }
    void **params(size_t i);

    /// That one was given to the device, whether it waited or not.
    void note_launched(const Launch &launch) {
        launched_++;
        last_ = launch;
    }
    /// None waits any more.
    void clear();

    int64_t launched() const { return launched_; }
    const Launch &last_launched() const { return last_; }

    /// Memory was freed that launches which wait may use.
    bool frees_memory = false;

  private:
    struct Place {
        size_t value, param;  ///< indices of the first
    };

    std::vector<Launch> waiting_;
    std::vector<Place> places_;  ///< of each
    std::vector<char> values_;
    std::vector<size_t> offsets_;  ///< of each parameter's value
    std::vector<void *> params_;   ///< their addresses, when all values are there

    int64_t launched_ = 0;
    Launch last_;
};

}  // namespace Pipe::runtime
