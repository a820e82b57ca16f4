// A machine of round numbers, and pipelines lowered and predicted for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "language/freeze.h"
#include "lower/lower.h"
#include "predict/predict.h"
#include <pipe/pipe.h>

namespace test {

using namespace Pipe;

struct Setup {
    Target target{"x86-64-linux-avx512_skylake"};
    autoschedule::Machine machine;
    predict::Rates rates{1, 40, 20, 10, 20, 5};  // 1 GHz: 1e6 clocks are a millisecond

    Setup() {
        machine.cores = 1;
        machine.vector_bytes = 64, machine.vector_registers = 32;
        machine.l1_bytes = 32 << 10, machine.l2_bytes = 1 << 20, machine.l3_bytes = 16 << 20;
    }
    Setup(int cores) : Setup() { machine.cores = cores; }
};

/// Extents of the output, then of each image, by dimension.
using Extents = std::vector<std::vector<int64_t>>;

inline predict::Values values_of(const graph::Graph &graph, const Extents &extents) {
    predict::Values values;
    auto add = [&](const std::string &buffer, const std::vector<int64_t> &sizes) {
        double stride = 1;
        for (size_t d = 0; d < sizes.size(); d++) {
            values[ir::min_name(buffer, d)] = 0;
            values[ir::extent_name(buffer, d)] = static_cast<double>(sizes[d]);
            values[buffer + ".stride." + std::to_string(d)] = stride;
            stride *= static_cast<double>(sizes[d]);
        }
    };
    add(graph[graph.outputs[0]].name, extents[0]);
    for (size_t i = 0; i < graph.images.size(); i++)
        add(graph.images[i].name, extents[i + 1]);
    return values;
}

struct Lowered {
    ir::Program program;
    predict::Values values;
};

inline Lowered lowered(const Func &output, const Extents &extents, const Target &target) {
    const language::Frozen frozen = language::freeze({output});
    const graph::Graph inlined = graph::inline_funcs(frozen.graph, frozen.schedule);
    lower::LowerOptions options;
    if (output.dimensions() > 0)
        options.strides.push_back({output.name(), 0, 1});
    for (const graph::Image &image : inlined.images)
        options.strides.push_back({image.name, 0, 1});
    return {lower::lower(inlined, frozen.schedule, target, options), values_of(inlined, extents)};
}

inline Prediction predicted(const Func &output, const Extents &extents, const Setup &setup = {}) {
    const Lowered l = lowered(output, extents, setup.target);
    return predict::predict(l.program, l.values, setup.target, setup.machine, setup.rates)
        .prediction;
}

inline std::string nest_of(const Func &output, const Extents &extents, const Setup &setup = {}) {
    const Lowered l = lowered(output, extents, setup.target);
    return predict::to_string(predict::walk(l.program, l.values, setup.target));
}

/// The terms of one Func.
inline PredictedStage stage(const Prediction &prediction, const std::string &func) {
    for (const PredictedStage &s : prediction.stages)
        if (s.func == func)
            return s;
    return {};
}

}  // namespace test
