#include "reference/buffers.h"

#include <pipe/error.h>

namespace Pipe::reference {

std::string quoted(const std::string &name) {
    return "\"" + name + "\"";
}

Box box_of(std::span<const BufferDim> dims) {
    Box box(dims.size());
    box.empty = false;
    for (size_t d = 0; d < dims.size(); d++) {
        box.lo[d] = dims[d].min;
        box.hi[d] = dims[d].min + dims[d].extent - 1;
    }
    return box;
}

void check_outputs(const graph::Graph &graph, const std::vector<BufferView> &outputs) {
    size_t i = 0;
    for (FuncId id : graph.outputs) {
        const graph::FuncNode &func = graph[id];
        for (size_t e = 0; e < func.types.size(); e++, i++) {
            if (i >= outputs.size())
                break;
            const BufferView &view = outputs[i];
            if (view.type != func.types[e] || view.dims.size() != func.args.size()) {
                throw RuntimeError(
                    "Output " + quoted(func.name) + " has " + std::to_string(func.args.size()) +
                    " dimensions of " + to_string(func.types[e]) + "; the buffer given has " +
                    std::to_string(view.dims.size()) + " of " + to_string(view.type) + ".");
            }
            if (!view.host)
                throw RuntimeError("The buffer of output " + quoted(func.name) + " has no memory.");
        }
    }
    if (i != outputs.size()) {
        throw RuntimeError("The pipeline has " + std::to_string(i) + " outputs, but " +
                           std::to_string(outputs.size()) + " buffers were given.");
    }
}

}  // namespace Pipe::reference
