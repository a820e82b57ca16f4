#pragma once
// LaunchGraphs: CUDA graphs of launches that are made again and again. A graph of 16 kernels takes the driver less time to
// launch than one kernel does, and each kernel begins sooner after the one before; to make it takes as long as several runs.
//
// So a graph is made when the same launches come in a stream for the second time. Only the values of parameters may differ:
// those that do are set anew. A stream has graphs of its own, because the runs of one graph wait for each other.

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "jit/runtime/gpu/cuda/driver.h"
#include "jit/runtime/gpu/launch_list.h"

namespace Pipe::runtime::cuda {

/// One after the other.
struct LaunchGraph {
    struct Node {
        KernelNode kernel;  ///< without parameters
        CUmodule module = nullptr;
        CUgraphNode node = nullptr;
        std::string values;  ///< of the parameters
    };

    CUstream stream = nullptr;
    std::vector<Node> nodes;
    CUgraph graph = nullptr;  ///< the nodes belong to it
    CUgraphExec exec = nullptr;
    bool busy = false;     ///< a thread launches it
    bool refused = false;  ///< by the driver
};

/// A launch, as the driver takes it.
struct PreparedLaunch {
    KernelNode kernel;
    CUmodule module = nullptr;
};

/// What the driver answered to the last of some calls.
struct Answer {
    CUresult result = Success;
    const char *call = "";
};

class LaunchGraphs {
  public:
    static constexpr size_t most = 32;  ///< of a device

    explicit LaunchGraphs(const Driver &driver) : driver_(driver) {}

    /// For one launch of these; null where they come for the first time, or another thread has the graph now. It need not
    /// have been made yet.
    LaunchGraph *take(CUstream stream, const std::vector<PreparedLaunch> &launches);
    /// Makes it where that was not done yet, and gives it the values of the parameters.
    Answer prepare(LaunchGraph &graph, const std::vector<PreparedLaunch> &launches,
                   const LaunchList &values);
    /// After prepare().
    Answer launch(LaunchGraph &graph);
    /// Ends the use that take() began. `refused`: it is not tried again.
    void give(LaunchGraph &graph, bool refused) noexcept;

    /// Frees those with kernels of the module, which nobody launches any more.
    void drop(CUmodule module) noexcept;
    /// They went with their context.
    void forget() noexcept { graphs_.clear(); }

  private:
    Answer make(LaunchGraph &graph, const std::vector<PreparedLaunch> &launches);
    void destroy(LaunchGraph &graph) noexcept;

    const Driver &driver_;
    std::mutex mutex_;
    std::list<LaunchGraph> graphs_;  ///< those used last come first
};

}  // namespace Pipe::runtime::cuda
