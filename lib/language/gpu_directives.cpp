// Directives that map loops to a GPU: recorded here, and rejected by check_device if the target has
// none.

#include <pipe/gpu_directives.h>

#include "language/nest.h"
#include "schedule/print.h"
#include <pipe/func.h>

namespace Pipe {

using language::call_text;
using language::Nest;

template <typename Self>
Self &GPUDirectives<Self>::mark(LoopKind kind, const std::vector<VarOrRVar> &loops, DeviceAPI api) {
    std::vector<std::string> names;
    for (const VarOrRVar &loop : loops)
        names.push_back(loop.name);
    Nest nest(stage(), call_text(schedules::to_string(kind), names));
    std::vector<size_t> places;
    for (const VarOrRVar &loop : loops)
        places.push_back(nest.find(loop));
    for (size_t place : places) {
        nest.schedule().dims[place].kind = kind;
        nest.schedule().dims[place].device = api;
    }
    nest.done();
    return self();
}

template <typename Self> Self &GPUDirectives<Self>::gpu_single_thread(DeviceAPI api) {
    Nest nest(stage(), "gpu_single_thread");
    nest.check_has_loops();
    nest.schedule().single_thread_device = api;
    nest.done();
    return self();
}

template <typename Self>
Self &GPUDirectives<Self>::tile_for(const std::vector<VarOrRVar> &old,
                                    const std::vector<VarOrRVar> &blocks,
                                    const std::vector<VarOrRVar> &threads,
                                    const std::vector<Expr> &sizes, TailStrategy tail,
                                    DeviceAPI api) {
    this->tile(old, blocks, threads, sizes, tail);
    mark(LoopKind::GPUBlock, blocks, api);
    return mark(LoopKind::GPUThread, threads, api);
}

template class GPUDirectives<Stage>;
template class GPUDirectives<Func>;

}  // namespace Pipe
