// compile_to_*: each file is what it says, and no pixels of constant images are in them.
#include <filesystem>
#include <map>

#include <pipe/pipe.h>

#include "test/support/require_message.h"
#include "test/support/temp_folder.h"
#include "test/unit/support/set_variable.h"

using namespace Pipe;

namespace {

struct Program {
    Var x{"x"}, y{"y"}, yo{"yo"};
    ImageParam in{UInt(8), 2, "in"};
    Param<int> gain{"gain"};
    Buffer<int> table{256};
    Func lut{"lut"}, out{"out"};
    TempFolder folder;

    Program() {
        table.set_name("table");
        table.fill([](int i) { return 987650000 + i; });
        lut(x, y) = table(cast<int>(in(x, y))) * gain;
        out(x, y) = lut(x, y) + lut(x + 1, y);
        lut.compute_at(out, yo).vectorize(x, 8);
        out.split(y, yo, y, 4, TailStrategy::GuardWithIf).parallel(yo);
    }
};

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Program, "loops as text and as a page", "[driver][outputs]") {
    out.compile_to_lowered_stmt(folder / "loops.txt", {in, gain});
    std::string text = folder.read("loops.txt");
    for (const char *part : {"produce out", "parallel", "produce lut", "allocate lut", "table["})
        CHECK(has(text, part));
    CHECK_FALSE(has(text, "98765"));

    out.compile_to_lowered_stmt(folder / "loops.html", {in, gain}, HTML);
    std::string page = folder.read("loops.html");
    for (const char *part : {"<!DOCTYPE html>", "<details open class=\"parallel\">", "</details>",
                             ".split(", "compute_at", "class=\"produce\"", "</html>"})
        CHECK(has(page, part));
    std::string rules = page.substr(0, page.find("</style>"));
    CHECK(has(rules, "<style>"));
    for (const char *rule :
         {"body {", "details, main div {", "summary {", ".parallel > summary {",
          ".serial > summary {", ".produce > summary", ".consume > summary {",
          ".allocate > summary {", ".assert {", ".let {", ".if > summary {", "pre {"})
        CHECK(has(rules, rule));
    CHECK_FALSE(has(page, "98765"));
    CHECK_FALSE(has(page, "http"));
    auto count = [&](const std::string &part) {
        int n = 0;
        for (size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1))
            n++;
        return n;
    };
    CHECK(count("<details") == count("</details>"));
    CHECK(count("<details") > 4);
}

TEST_CASE_METHOD(Program, "what is written is what the Pipeline was told", "[driver][outputs]") {
    Func f("f"), g("g");
    Param<int> n("n");
    f(x, y) = x * x + y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.set_estimate(x, 0, 2000).set_estimate(y, 0, 2000);
    g.set_estimate(x, 0, 2000).set_estimate(y, 0, 2000);
    Pipeline plain(g), told(g);
    plain.compile_to_lowered_stmt(folder / "plain.txt", {});
    CHECK_FALSE(has(folder.read("plain.txt"), "parallel"));
    told.autoschedule(get_host_target());
    told.add_requirement(n > 0);
    CHECK(told.infer_arguments().size() == 1);
    told.compile_to_lowered_stmt(folder / "told.txt", told.infer_arguments());
    CHECK(has(folder.read("told.txt"), "parallel"));
    CHECK(has(folder.read("told.txt"), "required: "));
    n.set(1);
    CHECK(told.compile_to_callable(told.infer_arguments()).defined());
    // Also after it was realized for a target of its own: the schedule is not chosen again.
    Buffer<int> small(3, 3);
    told.realize(small, get_host_target());
    std::string chosen = told.schedule_source();
    told.realize(small, get_host_target());
    CHECK(told.schedule_source() == chosen);
}

TEST_CASE_METHOD(Program, "each set_estimate is what the schedule is chosen for",
                 "[driver][outputs]") {
    // Whether the schedule that is chosen has threads.
    auto chosen = [&](const auto &estimate) {
        ImageParam image(Int(32), 2, "image");
        Param<int> n("n");
        Func sum("sum"), g("g");
        RDom r(0, n);
        sum(x, y) = 0;
        sum(x, y) += image(x + r, y);
        g(x, y) = sum(x, y) + sum(x, y + 1);
        n.set_estimate(3);
        estimate(image, n, g);
        Pipeline p(g);
        p.autoschedule(get_host_target());
        p.compile_to_lowered_stmt(folder / "chosen.txt", p.infer_arguments());
        return has(folder.read("chosen.txt"), "parallel");
    };
    for (const int size : {4, 2000}) {
        INFO(size);
        CHECK(chosen([&](ImageParam &, Param<int> &, Func &g) {
                  g.set_estimate(x, 0, size).set_estimate(y, 0, size);
              }) == (size > 4));
        CHECK(chosen([&](ImageParam &, Param<int> &, Func &g) {
                  g.set_estimates({{0, size}, {0, size}});
              }) == (size > 4));
        CHECK(chosen([&](ImageParam &, Param<int> &n, Func &g) {
                  n.set_estimate(size * size);  // the work of an element
                  g.set_estimates({{0, 8}, {0, 8}});
              }) == (size > 4));
        CHECK(chosen([&](ImageParam &, Param<int> &n, Func &g) {
                  n.set_estimate(size);
                  g.set_estimates({{0, n}, {0, 2 * n - size}});
              }) == (size > 4));
        CHECK(chosen([&](ImageParam &image, Param<int> &, Func &g) {
                  image.dim(0).set_estimate(0, size);
                  image.dim(1).set_estimate(0, image.width() + 1);
                  g.set_estimate(x, 0, image.width()).set_estimate(y, 0, image.height() - 1);
              }) == (size > 4));
    }
}

TEST_CASE_METHOD(Program, "LLVM IR, bitcode, assembly and object", "[driver][outputs]") {
    Pipeline p(out);
    p.compile_to_llvm_assembly(folder / "out.ll", {in, gain}, "my_function");
    CHECK(has(folder.read("out.ll"), "define i32 @my_function("));
    p.compile_to_bitcode(folder / "out.bc", {in, gain}, "my_function");
    CHECK(folder.read("out.bc").substr(0, 2) == "BC");
    p.compile_to_assembly(folder / "out.s", {in, gain}, "my_function");
    CHECK(has(folder.read("out.s"), "my_function:"));
    p.compile_to_object(folder / "out.o", {in, gain});
    CHECK(folder.read("out.o").substr(1, 3) == "ELF");
    CHECK(has(folder.read("out.o"), "out"));
    for (const char *file : {"out.ll", "out.s"})
        CHECK_FALSE(has(folder.read(file), "98765"));
    Target other("arm-64-linux");
    p.compile_to_assembly(folder / "arm.s", {in, gain}, "my_function", other);
    CHECK(has(folder.read("arm.s"), "ret"));
}

TEST_CASE_METHOD(Program, "what PIPE_DUMP writes, and no pixels of constant images",
                 "[driver][outputs][environment]") {
    Buffer<uint8_t> image(9, 8);
    image.fill([](int i, int j) { return static_cast<uint8_t>(i + 10 * j); });
    in.set(image);
    gain.set(1);
    Buffer<int> result(8, 8);
    {
        testing::SetVariable dump("PIPE_DUMP", folder / "dump");
        out.realize(result);
    }
    int wrong = 0;
    result.for_each_element(
        [&](int i, int j) { wrong += result(i, j) != 2 * (987650000 + i + 10 * j) + 1; });
    CHECK(wrong == 0);
    std::map<std::string, int> kinds;
    bool has_graph = false;
    for (const auto &file : std::filesystem::directory_iterator(folder / "dump")) {
        std::string name = file.path().filename().string();
        std::string text = folder.read("dump/" + name);
        INFO(name);
        kinds[file.path().extension().string()]++;
        has_graph |= name.ends_with(".graph.txt") && has(text, "output out: int32");
        CHECK(has(text, "out"));
        CHECK_FALSE(has(text, "98765"));
    }
    CHECK(has_graph);
    CHECK(kinds[".txt"] > 5);  // the loops after each pass
    CHECK(kinds[".ll"] >= 1);
    CHECK(kinds[".s"] >= 1);
    CHECK(kinds.size() == 3);
}

TEST_CASE_METHOD(Program, "misuse of compile_to_", "[driver][outputs][error]") {
    require_message<CompileError>([&] { out.compile_to_assembly(folder / "a.s", {in}); },
                                  {"'gain'", "not in the list"});
    require_message<RuntimeError>(
        [&] {
            out.compile_to_assembly(folder / "none/a.s", {in, gain});
        },
        {"none/a.s", "cannot be written"});
}

TEST_CASE("the interior of a large window of mirrored elements has no tests") {
    // With them, the blocks of sums are larger than what may be doubled; without them, they are a small part of that.
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y");
    RDom r(-3, 7, -3, 7, "r");
    const Func mirrored = BoundaryConditions::mirror_interior(in);
    Func mean("mean"), out("out");
    mean(x, y) = sum(mirrored(x + r.x, y + r.y)) / 49;
    out(x, y) = mean(x, y);
    in.set_estimates({{0, 1536}, {0, 1024}});
    out.set_estimates({{0, 1536}, {0, 1024}});
    Pipeline pipeline(out);
    pipeline.autoschedule(get_host_target());
    TempFolder folder;
    pipeline.compile_to_lowered_stmt(folder / "loops.txt", {in});
    const std::string loops = folder.read("loops.txt");
    size_t dense = 0;
    for (size_t at = 0; (at = loops.find("in[ramp(", at)) != std::string::npos; at++)
        dense++;
    CHECK(dense >= 7);
}
