// Schedules that are kept in a file: round trips, and what is refused.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <regex>

#include <unistd.h>

#include <pipe/pipe.h>

#include "language/algorithm.h"
#include "test/support/require_message.h"
#include "test/support/temp_folder.h"
#include "test/unit/support/set_variable.h"

using namespace Pipe;

namespace {

/// Two stages and a histogram, with everything that directives can refer to.
struct Program {
    ImageParam in{UInt(8), 2, "in"};
    Param<int> n{"n"};
    Var x{"x"}, y{"y"}, i{"i"};
    RDom r{0, 64, 0, 32, "r"};
    Func rows{"rows"}, both{"both"}, histogram{"histogram"}, table{"table"}, window{"window"},
        result{"result"};

    explicit Program(int weight = 2) {
        rows(x, y) = cast<uint16_t>(in(x, y)) + weight * cast<uint16_t>(in(x + 1, y));
        both(x, y) = rows(x, y) + rows(x, y + 1);
        histogram(i) = 0;
        histogram(cast<int>(in(r.x, r.y))) += 1;
        table(i) = i * n;
        window(i) = 0;
        window(i) += table(i + RDom(0, 3, "w"));
        result(x, y) = cast<int>(both(x, y)) + histogram(x % 256) * window(y % 16);
    }
    Pipeline pipeline() const { return Pipeline(result); }
};

using Scheduler = std::function<void(Program &)>;

/// Wrappers that a schedule makes have no source line of their own.
std::string without_lines(const std::string &text) {
    return std::regex_replace(text, std::regex("\\(schedule_file.cpp:[0-9]+\\)"), "");
}

std::string loops(Pipeline pipeline) {
    TempFolder folder;
    pipeline.compile_to_lowered_stmt(folder / "loops.txt", pipeline.infer_arguments());
    return without_lines(folder.read("loops.txt"));
}

/// The file written for this schedule.
std::string saved(const Scheduler &scheduler) {
    TempFolder folder;
    Program program;
    scheduler(program);
    program.pipeline().save_schedule(folder / "schedule.json");
    return folder.read("schedule.json");
}

void apply_text(const std::string &text, Pipeline pipeline) {
    TempFolder folder;
    folder.write("schedule.json", text);
    pipeline.apply_schedule(folder / "schedule.json");
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const size_t at = text.find(from);
    INFO(text);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

struct Named {
    const char *name;
    Scheduler give;
};

const Named all_schedules[] = {
    {"none", [](Program &) {}},
    {"tiles",
     [](Program &p) {
         Var xi("xi"), yi("yi");
         p.result.tile(p.x, p.y, xi, yi, 32, 8, TailStrategy::GuardWithIf)
             .vectorize(xi, 8)
             .parallel(p.y);
         p.both.compute_at(p.result, p.x).vectorize(p.x, 8);
         p.rows.store_at(p.result, p.x).compute_at(p.both, p.y).hoist_storage(p.result, p.y);
         p.histogram.compute_root();
     }},
    {"sizes and Params",
     [](Program &p) {
         Var xi("xi");
         p.result.split(p.x, p.x, xi, max(p.n, 1) + 2).bound(p.y, 0, p.in.height() - 1);
         p.both.compute_root().bound_extent(p.x, cast<int>(p.in.width() * 2) / 2);
         p.histogram.compute_root();
     }},
    {"specializations",
     [](Program &p) {
         Stage wide = p.result.specialize(p.in.width() > 100);
         wide.vectorize(p.x, 8).specialize(p.n == 3 && p.in.height() >= 8).unroll(p.y, 2);
         p.result.specialize(p.n < 10).parallel(p.y);
         p.result.specialize_fail("too \"large\"\n");
         p.histogram.compute_root();
     }},
    {"a specialization for sizes of the output",
     [](Program &p) {
         const ImageDimension columns = p.result.output_buffer().dim(0);
         p.result.specialize(columns.min() == 0 && columns.extent() > 100).vectorize(p.x, 8);
         p.histogram.compute_root();
     }},
    {"wrappers",
     [](Program &p) {
         p.in.in(p.rows).compute_at(p.both, p.y).vectorize(_0, 8);
         p.rows.clone_in(p.both).compute_at(p.both, p.y);
         p.both.compute_root();
         p.both.in(p.result).compute_at(p.result, p.y).store_in(MemoryType::Stack);
         p.both.in(p.result).bound_storage(p.x, 4096).reorder_storage(p.y, p.x);
         p.histogram.compute_root();
     }},
    {"rfactor",
     [](Program &p) {
         RVar outer("outer"), inner("inner");
         Var u("u");
         p.histogram.compute_root();
         Func parts = p.histogram.update().split(p.r.y, outer, inner, 4).rfactor(outer, u);
         parts.compute_root().update().parallel(u);
         p.histogram.vectorize(p.i, 16).update().reorder(p.histogram.update().loops()[0], p.i);
         p.histogram.update().parallel(p.i);
     }},
    {"updates and storage",
     [](Program &p) {
         p.histogram.compute_root().store_in(MemoryType::Heap).update().atomic().parallel(p.r.y);
         p.rows.compute_at(p.both, p.y).store_root().fold_storage(p.y, 4).align_storage(p.x, 32);
         p.both.compute_at(p.result, p.y);
         p.table.compute_root().memoize(EvictionKey(cast<uint64_t>(p.n)));
         p.result.align_bounds(p.x, 2, 0).vectorize(p.x, 16).store_nontemporal();
     }},
    {"sharing and prefetches",
     [](Program &p) {
         p.rows.compute_root();
         p.both.compute_root().prefetch(p.rows, p.y, p.y, 2).unroll(p.x, 2);
         p.histogram.update().prefetch(p.in, p.r.y, p.r.y, p.n);
         p.histogram.compute_root().compute_with(p.both, p.y.outermost());
         p.result.compute_root().never_partition(p.x).trace_stores().add_trace_tag("tag");
         p.both.no_profiling().async();
     }},
    {"unrolled updates",
     [](Program &p) { p.window.unroll_updates().compute_root().vectorize(p.i, 4); }},
    {"unnamed Vars",
     [](Program &p) {
         Var xo, xi, yo, yi, t;
         p.result.tile(p.x, p.y, xo, yo, xi, yi, 16, 4).fuse(xo, yo, t).parallel(t).vectorize(xi);
         p.both.compute_at(p.result, t);
         p.histogram.compute_at(p.result, Var::outermost());
     }},
    {"a GPU",
     [](Program &p) {
         Var xi("xi"), yi("yi");
         p.result.gpu_tile(p.x, p.y, xi, yi, 16, 8, TailStrategy::GuardWithIf, DeviceAPI::CUDA);
         p.both.compute_at(p.result, p.x).gpu_threads(p.x, p.y);
         p.histogram.compute_root().gpu_single_thread();
         p.histogram.update().gpu_single_thread();
     }},
};

Target target_of(const Named &schedule) {
    return schedule.name == std::string("a GPU")
               ? get_host_target().with_feature(Target::CUDAEmulator)
               : get_host_target();
}

}  // namespace

TEST_CASE("a schedule from a file gives the same loops", "[schedule_file]") {
    for (const Named &schedule : all_schedules) {
        DYNAMIC_SECTION(schedule.name) {
            TempFolder folder;
            const Target target = target_of(schedule);
            auto lowered = [&](Program &p, const char *name) {
                Pipeline pipeline = p.pipeline();
                pipeline.compile_to_lowered_stmt(folder / name, pipeline.infer_arguments(), Text,
                                                 target);
                return without_lines(folder.read(name));
            };
            std::string before;
            {
                Program program;
                schedule.give(program);
                program.pipeline().save_schedule(folder / "schedule.json");
                before = lowered(program, "before.txt");
            }
            Program program;
            program.pipeline().apply_schedule(folder / "schedule.json");
            const std::string after = lowered(program, "after.txt");
            if (schedule.name != std::string("unnamed Vars"))
                CHECK(after == before);
            // What was applied is saved as it was.
            program.pipeline().save_schedule(folder / "again.json");
            CHECK(folder.read("again.json") == folder.read("schedule.json"));
            // Also over another schedule, and over itself.
            program.pipeline().apply_schedule(folder / "schedule.json");
            CHECK(lowered(program, "twice.txt") == after);
        }
    }
}

TEST_CASE("a schedule of autoschedule() is saved and applied", "[schedule_file]") {
    TempFolder folder;
    std::string before, source;
    {
        Program program;
        Pipeline pipeline = program.pipeline();
        program.result.set_estimates({{0, 640}, {0, 480}});
        program.in.set_estimates({{0, 641}, {0, 482}});
        pipeline.autoschedule(get_host_target());
        pipeline.save_schedule(folder / "schedule.json");
        before = loops(pipeline);
        source = pipeline.schedule_source();
    }
    Program program;
    Pipeline pipeline = program.pipeline();
    // What is applied replaces directives, and autoschedule().
    program.both.compute_root().vectorize(program.x, 4);
    pipeline.autoschedule(get_host_target()).apply_schedule(folder / "schedule.json");
    CHECK(loops(pipeline) == before);
    CHECK(pipeline.schedule_source() == source);
    CHECK(pipeline.schedule_report() == "");
    // And is kept by a later autoschedule().
    pipeline.autoschedule(get_host_target());
    CHECK(loops(pipeline) == before);
}

TEST_CASE("a second program of the same process takes the first one's file", "[schedule_file]") {
    // Funcs that boundary conditions made were named after a Func with a number.
    struct Edges {
        ImageParam in{UInt(8), 2, "in"}, unnamed{UInt(8), 2};
        Var x{"x"}, y{"y"};
        Func result{"result"};
        Edges() {
            const Func source = BoundaryConditions::repeat_edge(in);
            const Func other = BoundaryConditions::mirror_image(unnamed);
            result(x, y) = source(x - 1, y) + source(x + 1, y) + other(x - 1, y) + Func(in)(x, y);
        }
    };
    TempFolder folder;
    const Edges first;
    Pipeline(first.result).save_schedule(folder / "schedule.json");
    const Edges second;
    Pipeline(second.result).apply_schedule(folder / "schedule.json");
    Pipeline(second.result).save_schedule(folder / "again.json");
    CHECK(folder.read("again.json") == folder.read("schedule.json"));
}

TEST_CASE("further directives may follow", "[schedule_file]") {
    const std::string text = saved(all_schedules[1].give);
    Program program;
    apply_text(text, program.pipeline());
    program.both.unroll(program.y, 2);
    CHECK(program.pipeline().schedule_source().find("unroll") != std::string::npos);
}

TEST_CASE("bounds, estimates and traces stay", "[schedule_file]") {
    const std::string text = saved(all_schedules[1].give);
    Program program;
    program.both.trace_stores();
    program.result.bound(program.x, 0, 64);
    apply_text(text, program.pipeline());
    const std::string source = program.pipeline().schedule_source();
    CHECK(source.find("trace_stores()") != std::string::npos);
    CHECK(source.find("bound(result_x, 0, 64)") != std::string::npos);
}

TEST_CASE("a file of another algorithm is refused, and what differs is named", "[schedule_file]") {
    const std::string text = saved(all_schedules[1].give);
    SECTION("another constant") {
        Program program(3);
        const std::string before = loops(program.pipeline());
        require_message<CompileError>([&] { apply_text(text, program.pipeline()); },
                                      {"schedule.json", "another algorithm",
                                       "Func 'rows' has another definition", "Tune again"});
        CHECK(loops(program.pipeline()) == before);
    }
    SECTION("other Funcs") {
        Program program;
        Func more("more");
        more(program.x, program.y) = program.result(program.x, program.y) + 1;
        require_message<CompileError>([&] { apply_text(text, Pipeline(more)); },
                                      {"Func 'more' is new"});
        require_message<CompileError>(
            [&] { apply_text(text, Pipeline(program.both)); },
            {"Func 'histogram' no longer exists", "Func 'result' no longer exists"});
    }
    SECTION("other outputs") {
        Program program;
        require_message<CompileError>(
            [&] {
                apply_text(text, Pipeline({program.result, program.both}));
            },
            {"the outputs are now result, both, then result"});
    }
}

TEST_CASE("files that are broken or of another kind are refused", "[schedule_file]") {
    const std::string text = saved(all_schedules[1].give);
    Program program;
    const Pipeline pipeline = program.pipeline();
    const std::string before = loops(pipeline);
    require_message<RuntimeError>([&] { Pipeline(pipeline).apply_schedule("no/such.json"); },
                                  {"no/such.json", "cannot be read"});
    require_message<RuntimeError>([&] { Pipeline(pipeline).save_schedule("no/such.json"); },
                                  {"no/such.json", "cannot be written"});
    require_message<CompileError>([&] { apply_text("", pipeline); }, {"line 1 is not JSON"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "\"added\":", "added:"), pipeline); },
        {"schedule.json", "is not JSON"});
    require_message<CompileError>([&] { apply_text("{\n\n\n  ]", pipeline); },
                                  {"line 4 is not JSON"});
    require_message<CompileError>([&] { apply_text("[1, 2]", pipeline); },
                                  {"it is not a schedule"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "\"version\": 1", "\"version\": 2"), pipeline); },
        {"version 2", "reads version 1"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "\"directives\"", "\"direct\""), pipeline); },
        {"it is not complete", "directives"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "[\"parallel\"", "[\"paralel\""), pipeline); },
        {"result.paralel(y)", "there is no directive 'paralel'"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "[\"parallel\",", "[\"parallel\",\"x\","), pipeline); },
        {"result.parallel(x, y)", "needs 1 arguments"});
    require_message<CompileError>(
        [&] { apply_text(replaced(text, "\"GuardWithIf\"", "\"Guard\""), pipeline); },
        {"'Guard' is not known"});
    require_message<CompileError>([&] { apply_text(replaced(text, ",32,", ",\"x\","), pipeline); },
                                  {"argument 3 has to be a number"});
    require_message<CompileError>(
        [&] {
            apply_text(replaced(text, "\"compute_at\",\"result\"", "\"compute_at\",\"other\""),
                       pipeline);
        },
        {"names the Func 'other'"});
    CHECK(loops(pipeline) == before);
}

TEST_CASE("a target that this machine does not have is refused", "[schedule_file]") {
    const std::string text = saved(all_schedules[0].give);
    const std::regex target("\"target\": \"[^\"]*\"");
    Program program;
    Pipe::testing::SetVariable here("PIPE_TARGET", "x86-64-linux-avx2");
    const std::string wider =
        std::regex_replace(text, target, "\"target\": \"x86-64-linux-avx512_skylake\"");
    require_message<CompileError>([&] { apply_text(wider, program.pipeline()); },
                                  {"x86-64-linux", "has no fma, f16c, avx512, avx512_skylake"});
    const std::string other = std::regex_replace(text, target, "\"target\": \"arm-64-linux\"");
    require_message<CompileError>([&] { apply_text(other, program.pipeline()); },
                                  {"arm-64-linux", "is a x86-64-linux"});
    const std::string narrow =
        std::regex_replace(text, target, "\"target\": \"x86-64-linux-sse41-fast_math\"");
    apply_text(narrow, program.pipeline());
}

TEST_CASE("a schedule with what has no name is not saved", "[schedule_file]") {
    Program program;
    Param<int> unnamed;
    Var xi("xi");
    program.result.split(program.x, program.x, xi, unnamed);
    program.histogram.compute_root();
    TempFolder folder;
    require_message<CompileError>(
        [&] { program.pipeline().save_schedule(folder / "schedule.json"); },
        {"refers to a Param or an image without a name", "Param<int> n(\"n\")"});
}

TEST_CASE("Funcs that another schedule added are taken out", "[schedule_file]") {
    const std::string text = saved(all_schedules[1].give);
    std::string expected;
    {
        Program program;
        all_schedules[1].give(program);
        expected = loops(program.pipeline());
    }
    Program program;
    Var u("u"), v("v");
    RVar outer("outer"), inner("inner");
    program.in.in(program.rows).compute_root();
    program.rows.clone_in(program.both).compute_root();
    program.both.in().compute_root();
    Stage update = program.histogram.update();
    Func parts = update.split(program.r.y, outer, inner, 4).rfactor({{outer, u}, {inner, v}});
    parts.compute_root();
    program.histogram.compute_root();
    program.histogram.update().rfactor(inner, Var("w")).compute_root();
    apply_text(text, program.pipeline());
    CHECK(loops(program.pipeline()) == expected);
}

TEST_CASE("prints a fingerprint", "[.][fingerprint]") {
    std::cout << "fingerprint " << language::algorithm_of({Program().result}).fingerprint()
              << std::endl;
}

TEST_CASE("the fingerprint is the same in another process", "[schedule_file]") {
    const Program some, others;  // names and addresses differ there
    char self[4096];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self);
    REQUIRE(size > 0);
    FILE *child =
        popen((std::string(self, static_cast<size_t>(size)) + " '[fingerprint]'").c_str(), "r");
    REQUIRE(child);
    std::string output;
    for (std::array<char, 256> line; std::fgets(line.data(), line.size(), child);)
        output += line.data();
    pclose(child);
    CHECK(output.find("fingerprint " +
                      std::to_string(language::algorithm_of({others.result}).fingerprint())) !=
          std::string::npos);
}
