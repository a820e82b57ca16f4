#include "apps/stencil_chain/stencil_chain.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

StencilChain::StencilChain(int count) : input(UInt(16), 2, "input") {
    Func before = input;
    for (int i = 0; i < count; ++i) {
        Func stage("stage_" + std::to_string(i));
        Expr sum = cast<uint16_t>(0);
        for (int dy = -2; dy <= 2; ++dy) {
            for (int dx = -2; dx <= 2; ++dx)
                sum += before(x + dx, y + dy);
        }
        stage(x, y) = sum;
        stages.push_back(stage);
        before = stage;
    }
    inputs = {input};
}

// Groups of eight stages; within strips of rows in parallel, the rows of the seven inner stages
// slide down.
void StencilChain::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(UInt(16)), group = 8;
    Func last = stages.back();
    for (size_t i = stages.size(); i-- > 0;) {
        Func stage = stages[i];
        if ((stages.size() - 1 - i) % group == 0) {
            last = stage;
            stage.compute_root().split(y, yo, yi, 128).vectorize(x, vec).parallel(yo);
        } else {
            stage.store_at(last, yo).compute_at(last, yi).vectorize(x, vec);
        }
    }
}

// Groups of four stages in a kernel, the inner ones in shared memory.
void StencilChain::schedule_for_gpu(const Target &) {
    const size_t group = 4;
    GPUKernel kernel{stages.back(), x, y};
    for (size_t i = stages.size(); i-- > 0;) {
        if ((stages.size() - 1 - i) % group == 0) {
            kernel = GPUKernel{stages[i], x, y};
            stages[i].compute_root();
            kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4});
        } else {
            kernel.share(stages[i], 4);
        }
        if ((stages.size() - i) % group == 0 || i == 0)
            kernel.share(i == 0 ? input.in() : stages[i - 1].in(stages[i]));
    }
}

}  // namespace apps
