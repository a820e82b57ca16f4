// The profiler: what is measured is plausible, belongs to the right Func, and is complete.
#include <sstream>
#include <thread>

#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe;

namespace {

struct Quiet : JITUserContext {
    std::string text;
    Quiet() {
        handlers.custom_print = [](JITUserContext *c, const char *text) {
            static_cast<Quiet *>(c)->text += text;
        };
    }
};

/// The columns of a Func's line in the table.
struct Line {
    bool found = false;
    double ms = 0, share = 0, threads = 0, peak = 0;
    std::string unit;
    long mallocs = 0;
};

Line line_of(const std::string &report, const std::string &func) {
    std::istringstream lines(report);
    for (std::string text; std::getline(lines, text);) {
        std::istringstream words(text);
        std::string name, percent;
        words >> name;
        if (name != func)
            continue;
        Line line;
        words >> line.ms >> percent >> line.threads >> line.peak >> line.unit >> line.mallocs;
        if (!words)
            continue;
        line.share = std::stod(percent) / 100;
        line.found = true;
        return line;
    }
    return {};
}

Var x("x"), y("y");

/// The cells of a Func's row in the page, each with a space behind it, as words of the table.
std::string row_of(const std::string &page, const std::string &func) {
    const size_t row = page.find("<td>" + func + "</td>");
    if (row == std::string::npos)
        return "";
    std::string text;
    bool in_tag = false;
    for (char c : page.substr(row, page.find("</tr>", row) - row)) {
        if (c == '<' && !in_tag && !text.empty() && text.back() != ' ')
            text += ' ';
        in_tag = c == '<' || (in_tag && c != '>');
        if (!in_tag && c != '>')
            text += c;
    }
    return text;
}

/// `rounds` times some work per element.
Func busy(const std::string &name, int rounds, const Expr &start) {
    Func f(name);
    RDom r(0, rounds);
    f(x, y) = start;
    f(x, y) = f(x, y) * 1.0001f + cast<float>(r % 7);
    return f;
}

Target profiled() {
    return get_host_target().with_feature(Target::Profile);
}

}  // namespace

TEST_CASE("time goes to the Func that takes it", "[driver][profiler]") {
    Func cheap = busy("cheap", 20, cast<float>(x + y));
    Func dear = busy("dear", 200, cast<float>(x - y));
    Func out("out");
    out(x, y) = cheap(x, y) + dear(x, y);
    cheap.compute_root(), dear.compute_root();
    Pipeline p(out);
    Quiet quiet;
    Buffer<float> image(512, 512);
    for (int i = 0; i < 4; i++)
        p.realize(&quiet, image, profiled());
    std::string report = p.profiler_report();
    INFO(report);
    CHECK(report.find("out: 4 runs") != std::string::npos);
    Line a = line_of(report, "cheap"), b = line_of(report, "dear"), c = line_of(report, "out");
    REQUIRE((a.found && b.found && c.found));
    CHECK(b.share > 0.6);
    CHECK(b.share > 3 * a.share);
    CHECK(c.share < 0.2);
    CHECK(b.threads > 0.99);
    CHECK(b.threads < 1.01);
    CHECK(a.mallocs == 4);
    CHECK(a.peak == 1024);
    CHECK(a.unit == "KiB");
    CHECK(quiet.text.find("out: 1 runs") != std::string::npos);

    // the same numbers as without
    Buffer<float> plain(512, 512);
    p.realize(plain, get_host_target());
    bool same = true;
    image.for_each_element([&](int i, int j) { same &= image(i, j) == plain(i, j); });
    CHECK(same);

    std::string page = p.profiler_html();
    for (const char *part : {"<!DOCTYPE html>", "dear", "cheap", "</html>", "4 runs"})
        CHECK(page.find(part) != std::string::npos);
    for (const char *head :
         {"Func", "ms per run", "share", "threads", "peak memory", "mallocs", "stack"}) {
        INFO(head);
        CHECK(page.find("<th>" + std::string(head) + "</th>") != std::string::npos);
    }
    CHECK(page.find("http") == std::string::npos);       // nothing from elsewhere
    for (const char *func : {"cheap", "dear", "out"}) {  // the numbers of the table
        const Line row = line_of(row_of(page, func), func), line = line_of(report, func);
        INFO(row_of(page, func));
        REQUIRE(row.found);
        CHECK(row.ms == line.ms);
        CHECK(row.share == line.share);
        CHECK(row.threads == line.threads);
        CHECK(row.peak == line.peak);
        CHECK(row.unit == line.unit);
        CHECK(row.mallocs == line.mallocs);
    }
    CHECK(page.find("dear</td>") < page.find("cheap</td>"));  // the dearest first
    p.profiler_reset();
    CHECK(p.profiler_report().find("0 runs") != std::string::npos);
}

TEST_CASE("threads and inner storage", "[driver][profiler]") {
    Func inner = busy("inner", 300, cast<float>(x * y));
    Func out("out");
    out(x, y) = inner(x, y) + 1.0f;
    inner.compute_at(out, y).store_in(MemoryType::Heap);
    out.parallel(y);
    Pipeline p(out);
    Quiet quiet;
    quiet.num_threads = 2;
    Buffer<float> image(256, 400);
    for (int i = 0; i < 3; i++)
        p.realize(&quiet, image, profiled());
    std::string report = p.profiler_report();
    INFO(report);
    Line in = line_of(report, "inner");
    REQUIRE(in.found);
    CHECK(in.share > line_of(report, "out").share);
    CHECK(in.threads > 1.0);
    CHECK(in.threads <= 2.0);
    CHECK(in.mallocs == 3 * 400);
    CHECK(in.peak <= 2 * 1024);  // one row per thread
    CHECK(in.peak >= 1024);
}

TEST_CASE("several pipelines at a time have profiles of their own", "[driver][profiler]") {
    Func left = busy("left", 200, cast<float>(x)), right = busy("right", 200, cast<float>(y));
    Pipeline a(left), b(right);
    Quiet quiet_a, quiet_b;
    std::thread other([&] {
        for (int i = 0; i < 3; i++)
            b.realize(&quiet_b, {256, 256}, profiled());
    });
    for (int i = 0; i < 3; i++)
        a.realize(&quiet_a, {256, 256}, profiled());
    other.join();
    CHECK(line_of(a.profiler_report(), "left").found);
    CHECK_FALSE(line_of(a.profiler_report(), "right").found);
    CHECK(line_of(b.profiler_report(), "right").found);
    CHECK_FALSE(line_of(b.profiler_report(), "left").found);
    CHECK(quiet_a.text.find("right") == std::string::npos);
    CHECK(line_of(a.profiler_report(), "left").share > 0.9);
}

// The task's thread went on to wait for the next with the profile of the run that had ended.
TEST_CASE("profiles of async Funcs, one run after the other", "[driver][profiler]") {
    Func f("f"), g("g");
    Var y("y");
    f(x, y) = sqrt(cast<float>(x * y));
    g(x, y) = f(x, y) + f(x, y + 1);
    f.compute_root().async();
    Pipeline p(g);
    Quiet quiet;
    Buffer<float> out(400, 400);
    for (int run = 0; run < 10; run++)
        p.realize(&quiet, out, profiled());
    CHECK(p.profiler_report().find("f") != std::string::npos);
    CHECK(p.peak_scratch_bytes() >= 400 * 401 * 4);
}

TEST_CASE("a failing run leaves the profiler usable", "[driver][profiler]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x);
    in.set(Buffer<int>(4));
    Pipeline p(f);
    Quiet quiet;
    Buffer<int> out(10), small(4);
    CHECK_THROWS_AS(p.realize(&quiet, out, profiled()), RuntimeError);
    p.realize(&quiet, small, profiled());
    CHECK(p.profiler_report().find("f") != std::string::npos);
}

TEST_CASE("no_profiling counts a Func to what encloses it", "[driver][profiler]") {
    Func inner = busy("inner", 300, cast<float>(x * y));
    Func out("out");
    out(x, y) = inner(x, y) + 1.0f;
    inner.compute_at(out, y).store_in(MemoryType::Heap).no_profiling();
    Pipeline p(out);
    Quiet quiet;
    Buffer<float> image(256, 300);
    for (int i = 0; i < 3; i++)
        p.realize(&quiet, image, profiled());
    std::string report = p.profiler_report();
    INFO(report);
    Line line = line_of(report, "out");
    REQUIRE(line.found);
    CHECK_FALSE(line_of(report, "inner").found);
    CHECK(line.share > 0.9);
    CHECK(line.mallocs == 900);
    CHECK(p.schedule_source().find("no_profiling()") != std::string::npos);
}
