// The predicted run time of a pipeline: shapes and values of the arguments, lowering, and the model.

#include <algorithm>
#include <bit>
#include <fstream>

#include "driver/compiled.h"
#include "jit/runtime/runtime.h"
#include "lower/lower.h"
#include "support/deep_stack.h"
#include "support/env.h"

namespace Pipe::driver {

namespace {

using ShapeOfSlot = std::vector<BufferDim>;

double number_of(Type type, uint64_t bits) {
    if (type.is_float() && type.bits() == 64)
        return std::bit_cast<double>(bits);
    if (type.is_float() && type.bits() == 32)
        return std::bit_cast<float>(static_cast<uint32_t>(bits));
    const int unused = 64 - type.bits();
    return type.is_int() ? static_cast<double>(static_cast<int64_t>(bits << unused) >> unused)
                         : static_cast<double>(bits << unused >> unused);
}

predict::Values values_of(const std::vector<Slot> &slots, const std::vector<ArgumentValue> &given,
                          const std::vector<ShapeOfSlot> &shapes) {
    predict::Values values;
    for (size_t i = 0; i < slots.size(); i++) {
        const Slot &slot = slots[i];
        if (slot.kind == ir::Argument::Kind::Scalar) {
            if (slot.type.bits() != 16 || !slot.type.is_float())
                values[slot.name] = number_of(slot.type, given[i].bits);
            continue;
        }
        for (size_t d = 0; d < shapes[i].size(); d++) {
            values[ir::min_name(slot.name, d)] = static_cast<double>(shapes[i][d].min);
            values[ir::extent_name(slot.name, d)] = static_cast<double>(shapes[i][d].extent);
            values[slot.name + ".stride." + std::to_string(d)] =
                static_cast<double>(shapes[i][d].stride);
        }
    }
    return values;
}

/// PIPE_DUMP names a directory for what the model sees.
void dump_nest(const ir::Program &program, const predict::Values &values, const Target &target) {
    const std::string folder = support::dump_folder();
    if (!folder.empty())
        std::ofstream(folder + "/" + program.name + ".predict.txt")
            << predict::to_string(predict::walk(program, values, target));
}

}  // namespace

std::vector<ShapeOfSlot> Compiled::shapes_of(const std::vector<ArgumentValue> &given) {
    const bool all_known = std::all_of(given.begin(), given.end(), [](const ArgumentValue &a) {
        return !a.buffer || a.buffer->defined();
    });
    if (!all_known) {
        runtime::RunOptions options;
        JITUserContext none;
        options.context = &none;
        return infer_bounds(given, true, options);
    }
    std::vector<ShapeOfSlot> shapes(given.size());
    for (size_t i = 0; i < given.size(); i++)
        if (given[i].buffer) {
            const BufferView view = given[i].buffer->view();
            shapes[i].assign(view.dims.begin(), view.dims.end());
        }
    return shapes;
}

Prediction Compiled::predict(Outputs outputs, AutoscheduleOptions options) {
    if (target_.has_gpu_feature())
        throw CompileError(
            slots_.pipeline() + ": predict: the target " + target_.to_string() +
            " has a GPU, for which the run time cannot be predicted. Predict for a CPU.");
    std::vector<ArgumentValue> given;
    slots_.gather(outputs, given);
    const std::vector<ShapeOfSlot> shapes = shapes_of(given);
    const predict::Values values = values_of(slots_.slots(), given, shapes);
    if (options.cores <= 0)
        options.cores = runtime::default_threads();
    const autoschedule::Machine machine = autoschedule::host_machine(target_, options);
    const predict::Rates &rates = predict::rates_of_machine();
    predict::Result result;
    support::on_deep_stack([&] {
        std::lock_guard lock(mutex_);
        Variant variant{slots_.layouts(shapes), {}, false};
        auto run = [&] {
            const ir::Program program = lower_or_fall_back(variant);
            dump_nest(program, values, target_);
            result = predict::predict(program, values, target_, machine, rates);
        };
        run();
        variant.any_size = result.too_small;
        if (result.too_small)
            run();
    });
    return result.prediction;
}

std::optional<Prediction> Compiled::predict_as_scheduled(const AutoscheduleOptions &options) {
    const Scheduled s = scheduled();
    if (target_.has_gpu_feature() || s.report.text.empty())
        return std::nullopt;
    std::vector<Buffer<void>> outputs;
    size_t output = 0;
    for (FuncId id : s.frozen.graph.outputs) {
        std::vector<BufferDim> shape;
        int64_t stride = 1;
        for (const autoschedule::Sizes::Dim &d : s.sizes.outputs[output++]) {
            if (d.extent <= 0)
                return std::nullopt;  // it assumed some size
            shape.push_back({d.min, d.extent, stride});
            stride *= d.extent;
        }
        for (Type type : s.frozen.graph[id].types)
            outputs.emplace_back(type, static_cast<void *>(nullptr), shape);
    }
    std::vector<const BufferBase *> pointers;
    for (const Buffer<void> &b : outputs)
        pointers.push_back(&b);
    return predict(Outputs(pointers), options);
}

std::string report_text(Compiled &compiled, const Settings &settings) {
    std::string text = compiled.scheduled().report.text;
    if (!settings.autoschedule || text.empty())
        return text;
    try {
        if (const auto prediction = compiled.predict_as_scheduled(*settings.autoschedule))
            text += "predicted for these sizes:\n" + prediction->to_string();
    } catch (const RuntimeError &error) {  // a Param has no value yet
        text += std::string("note: no times predicted: ") + error.what() + "\n";
    }
    return text;
}

}  // namespace Pipe::driver
