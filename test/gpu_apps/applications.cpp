// Every application under its GPU schedule: in the emulator, and as PTX.
#include "apps/common/arrays.h"
#include "apps/gpu/figures.h"
#include "apps/gpu/ptx.h"
#include "jit/runtime/gpu/emulator.h"
#include "test/support/distinct_apps.h"
#include "test/support/gpu_targets.h"

#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

using apps::App;
using Pipe::Buffer;

namespace {

/// The sizes that take seconds in the emulator or the reference evaluator are left out.
std::vector<apps::Size> sizes_of(const App &app) {
    std::vector<apps::Size> sizes = app.small;
    if (app.name == "stencil_chain" || app.name == "vdsr")
        sizes.resize(1);
    if (app.name == "interpolate_halide")
        sizes.pop_back();
    return sizes;
}

/// The inputs set, and memory for the output.
Buffer<> prepare(const App &app, apps::Program &program, apps::Size size) {
    apps::set_inputs(program, apps::make_inputs(app, program, size));
    return apps::make_output(app, program, size);
}

/// Stages that read neighbors in a window of constant size, or one point, in one kernel.
bool is_stencil(const App &app) {
    static const std::set<std::string> names = {"blur",
                                                "blur_float",
                                                "unsharp",
                                                "unsharp_halide",
                                                "harris",
                                                "harris_halide",
                                                "camera_pipe",
                                                "stencil_chain",
                                                "quantized_conv",
                                                "flux_div",
                                                "pyramid_blend",
                                                "interpolate",
                                                "interpolate_halide",
                                                "interleave",
                                                "brighten_interleaved",
                                                "gray_interleaved",
                                                "camera_pipe_halide"};
    return names.count(app.name) != 0;
}

struct Expected {
    apps::Size size;
    Buffer<> result;
};

/// By the reference evaluator, at each size.
std::vector<Expected> evaluate(const App &app) {
    const std::unique_ptr<apps::Program> definition = app.make();
    Pipe::Pipeline reference(definition->output());
    std::vector<Expected> results;
    for (apps::Size size : sizes_of(app)) {
        results.push_back({size, prepare(app, *definition, size)});
        reference.realize_reference(results.back().result);
    }
    return results;
}

void check(const App &app, apps::Way way, const Pipe::Target &target,
           const std::vector<Expected> &expected) {
    INFO(target.to_string());
    const std::unique_ptr<apps::Program> program = app.make();
    Pipe::Pipeline pipeline(program->output());
    apps::schedule(*program, pipeline, way, target);
    for (const Expected &e : expected) {
        INFO(e.size.width << "x" << e.size.height);
        const Buffer<> output = prepare(app, *program, e.size);
        try {
            pipeline.realize(output, target);
        } catch (const Pipe::Error &error) {  // the other applications are tested all the same
            FAIL_CHECK(error.what());
            return;
        }
        const double difference = apps::max_abs_difference(output, e.result);
        INFO("difference " << difference << ", largest " << apps::max_abs(e.result));
        CHECK(difference <= app.tolerance * apps::max_abs(e.result));
        CHECK(Pipe::runtime::emulated_device().take_reports().empty());
    }
}

/// \param spills  bytes of a thread that are allowed in the kernels of stencils
void check_assembled(const App &app, const std::string &ptx, int sm, int64_t spills = 0) {
    CHECK_FALSE(ptx.empty());
    for (const gpu::Kernel &kernel : gpu::assemble(ptx, sm)) {
        INFO(kernel.name);
        if (is_stencil(app)) {
            CHECK(kernel.spilled_bytes <= spills);
            CHECK(kernel.stack_bytes <= kernel.spilled_bytes);  // no arrays besides
        }
    }
}

}  // namespace

TEST_CASE("every application gives what its definition says on a GPU, without a fault", "[apps]") {
    for (const App *entry : app_test::distinct_apps()) {
        const App &app = gpu::emulated_form(*entry);
        if (app.small.empty())
            continue;
        const std::vector<Expected> expected = evaluate(app);
        for (apps::Way way : {apps::Way::GPU, apps::Way::Auto})
            for (const Pipe::Target &target : Pipe::test::gpu_targets()) {
                INFO(entry->name << ", " << apps::name_of(way));
                check(app, way, target, expected);
            }
    }
}

TEST_CASE("one kernel for unsharp masks and Harris corners", "[apps]") {
    for (const char *name : {"unsharp", "unsharp_halide", "harris", "harris_halide"}) {
        INFO(name);
        const gpu::Figures figures = gpu::measure(*apps::find_app(name), apps::Way::GPU);
        CHECK(figures.failure == "");
        CHECK(figures.kernels == 1);
    }
}

TEST_CASE("ptxas accepts the kernels of every application; stencils need no local memory",
          "[apps][ptxas]") {
    if (gpu::find_ptxas().empty()) {
        WARN("ptxas is not installed: nothing is tested");
        return;
    }
    for (const App *entry : app_test::distinct_apps()) {
        const App &app = gpu::emulated_form(*entry);
        if (app.small.empty())
            continue;
        const std::unique_ptr<apps::Program> program = app.make();
        program->schedule_for_gpu(gpu::target_of(80));
        for (int sm : {75, 80, 90}) {
            INFO(entry->name << ", sm_" << sm);
            check_assembled(*entry, gpu::ptx_of(program->output(), gpu::target_of(sm)), sm);
        }
    }
}

TEST_CASE("ptxas accepts the kernels that the autoscheduler chooses; stencils have no arrays in "
          "local memory",
          "[apps][ptxas]") {
    if (gpu::find_ptxas().empty()) {
        WARN("ptxas is not installed: nothing is tested");
        return;
    }
    int turn = 0;  // each application for one of them
    for (const App *entry : app_test::distinct_apps()) {
        const App &app = gpu::emulated_form(*entry);
        if (app.small.empty())
            continue;
        const int sm = std::array{75, 80, 90}[static_cast<size_t>(turn++ % 3)];
        INFO(entry->name << ", sm_" << sm);
        const std::unique_ptr<apps::Program> program = app.make();
        Pipe::Func output = program->output();
        const apps::Box box = app.output_box(app.size);
        for (size_t d = 0; d < box.size(); ++d)
            output.set_estimate(output.args()[d], box[d].min, box[d].extent);
        const gpu::ChosenKernels chosen = gpu::chosen_kernels(output, gpu::target_of(sm));
        INFO(chosen.report);
        CHECK(chosen.report.find("no usable schedule") == std::string::npos);
        // Far below the most registers that a thread may have, ptxas spills a few in some kernels of many Funcs, so that more
        // threads are resident: two to seven of them, of the interpolation's coarse levels and of the camera.
        constexpr int64_t a_few = 56;
        check_assembled(*entry, chosen.ptx, sm, a_few);
    }
}
