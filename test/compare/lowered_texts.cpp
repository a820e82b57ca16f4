// Writes the lowered loops of all applications and of random schedules into a folder, one file each, so
// that the folders of two builds can be compared with `diff -r`: a change of region/ or lower/ that is
// not meant to change behavior gives the same files. What is refused is a file with the message.
//
//   pipe_lowered_texts FOLDER apps [NAME...]       applications: naive, hand and autoscheduled, for the
//                                                  host (PIPE_TARGET) and for AVX2
//   pipe_lowered_texts FOLDER random FIRST COUNT   random pipelines and schedules of these seeds; the names
//                                                  of their variables depend on FIRST
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <pipe/pipe.h>

#include "apps/common/arrays.h"
#include "apps/common/registry.h"
#include "fuzz/algorithm.h"
#include "fuzz/generator.h"
#include "fuzz/schedule.h"
#include "ir/print.h"
#include "language/freeze.h"
#include "lower/bounds_query.h"
#include "lower/lower.h"
#include "support/deep_stack.h"

using namespace Pipe;

namespace {

std::filesystem::path folder;

/// Writes what `text` returns, or why there is nothing.
void write(const std::string &name, const std::function<std::string()> &text) {
    std::string content;
    try {
        content = text();
    } catch (const Error &e) {
        content = std::string("refused: ") + e.what() + "\n";
    }
    std::ofstream(folder / (name + ".txt")) << content;
}

/// As the driver lowers it.
std::string loops(Pipeline &pipeline, const Target &target) {
    const std::filesystem::path file = folder / "temporary";
    pipeline.compile_to_lowered_stmt(file.string(), pipeline.infer_arguments(), Text, target);
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(file);
    return text;
}

/// The first pass for code that is right for every size, and the program that infers the sizes of inputs.
std::string other_programs(const std::vector<Func> &outputs, const Target &target) {
    std::string text;
    support::on_deep_stack([&] {
        language::Frozen frozen = language::freeze(outputs);
        graph::Graph inlined = graph::inline_funcs(frozen.graph, frozen.schedule);
        lower::LowerOptions options;
        options.any_size = true;
        options.stop_after = "build";
        text = ir::to_string(lower::lower(inlined, frozen.schedule, target, options).body);
        text += "\nbounds query:\n";
        text += ir::to_string(lower::bounds_query(inlined, frozen.schedule).body);
    });
    return text;
}

void application(const apps::App &app, const std::string &way, const Target &target,
                 const std::string &target_name) {
    write(app.name + "." + way + "." + target_name, [&] {
        const std::unique_ptr<apps::Program> program = app.make();
        Func output = program->output();
        const apps::Box box = app.output_box(app.size);
        for (size_t d = 0; d < box.size(); d++)
            output.set_estimate(output.args()[d], box[d].min, box[d].extent);
        Pipeline pipeline(output);
        if (way == "naive")
            program->schedule_naively();
        else if (way == "hand")
            program->schedule_by_hand(target);
        else {
            apps::set_inputs(*program, apps::make_inputs(app, *program, app.size));
            pipeline.autoschedule(target);
        }
        return loops(pipeline, target);
    });
}

void random_schedule(uint64_t seed) {
    using fuzz::Mode, fuzz::Rules;
    const Mode modes[] = {Mode::Manual, Mode::Manual, Mode::Manual, Mode::AutoWithDirectives,
                          Mode::Manual, Mode::Manual, Mode::Manual, Mode::GPU};
    const Mode mode = modes[seed % std::size(modes)];
    const Rules rules = seed % 5 == 0 ? Rules::None : Rules::Legal;
    const Target target = mode == Mode::GPU ? get_host_target().with_feature(Target::CUDAEmulator)
                                            : get_host_target();
    fuzz::Choices c(seed);
    fuzz::Algorithm algorithm = fuzz::generate(c);
    std::vector<Func> outputs;
    std::vector<fuzz::Box> sizes;
    for (int output : algorithm.outputs) {
        const fuzz::Source &source = algorithm.sources[static_cast<size_t>(output)];
        outputs.push_back(source.func);
        fuzz::Box &box = sizes.emplace_back();
        for (int d = 0; d < source.dimensions; d++)
            box.push_back({0, c.between(1, 40) - 1});
    }
    const std::string name = std::to_string(seed);
    Pipeline pipeline(outputs);
    write(name, [&] {
        fuzz::give_schedule(algorithm, mode, rules, sizes, c);
        if (mode == Mode::AutoWithDirectives)
            pipeline.autoschedule(target);
        return loops(pipeline, target);
    });
    if (mode != Mode::AutoWithDirectives)
        write(name + ".other", [&] {
            pipeline.schedule_source();  // checks it
            return other_programs(outputs, target);
        });
}

int usage() {
    std::fputs("usage: pipe_lowered_texts FOLDER apps [NAME...]\n"
               "       pipe_lowered_texts FOLDER random FIRST COUNT\n",
               stderr);
    return 2;
}

}  // namespace

int main(int argc, char **argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 2)
        return usage();
    set_hints(false);
    folder = args[0];
    std::filesystem::create_directories(folder);
    if (args[1] == "random" && args.size() == 4) {
        const uint64_t first = std::strtoull(args[2].c_str(), nullptr, 10),
                       count = std::strtoull(args[3].c_str(), nullptr, 10);
        for (uint64_t seed = first; seed < first + count; seed++)
            random_schedule(seed);
        return 0;
    }
    if (args[1] != "apps")
        return usage();
    const Target avx2("x86-64-linux-avx2-fma-f16c");
    for (const apps::App &app : apps::registry()) {
        if (args.size() > 2 && std::find(args.begin() + 2, args.end(), app.name) == args.end())
            continue;
        for (const char *way : {"naive", "hand", "auto"}) {
            application(app, way, get_host_target(), "host");
            application(app, way, avx2, "avx2");
        }
    }
}
