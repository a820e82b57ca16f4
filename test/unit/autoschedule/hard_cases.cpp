// Pipelines that the model cannot describe, and large ones.

#include <chrono>

#include <catch2/catch_test_macros.hpp>

#include "graph/check.h"
#include "pipelines.h"

using namespace test;

namespace {

double schedule_and_check(const std::vector<Func> &outputs, const ScheduleSizes &sizes,
                          const AutoscheduleOptions &options = {}) {
    const language::Frozen frozen = language::freeze(outputs);
    const auto start = std::chrono::steady_clock::now();
    const Result r = autoschedule_for(frozen, sizes, two_cores(), options);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    INFO(r.report.text);
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    return taken.count();
}

struct Vars {
    Var x{"x"}, y{"y"}, c{"c"};
};

}  // namespace

TEST_CASE("Data-dependent gathers") {
    Vars v;
    Func table("table"), index("index"), out("out");
    ImageParam in(UInt(8), 2, "in");
    table(v.x) = v.x * v.x;
    index(v.x, v.y) = cast<int32_t>(in(v.x, v.y));
    out(v.x, v.y) = table(index(v.x, v.y)) + table(clamp(index(v.y, v.x), 0, 10));
    schedule_and_check({out}, {{{{0, 100}, {0, 100}}}, {{"in", {{0, 100}, {0, 100}}}}, {}});
}

TEST_CASE("Histograms and scans") {
    Vars v;
    Func histogram("histogram"), cdf("cdf"), out("out");
    ImageParam in(UInt(8), 2, "in");
    RDom r(0, 640, 0, 480), b(1, 255);
    histogram(v.x) = 0;
    histogram(cast<int32_t>(in(r.x, r.y))) += 1;
    cdf(v.x) = 0;
    cdf(0) = histogram(0);
    cdf(b) = cdf(b - 1) + histogram(b);
    out(v.x, v.y) = cdf(cast<int32_t>(in(v.x, v.y)));
    schedule_and_check({out}, {{{{0, 640}, {0, 480}}}, {{"in", {{0, 640}, {0, 480}}}}, {}});
}

TEST_CASE("Matrix product: a reduction whose sums stay in registers") {
    Vars v;
    Func product("product"), out("out");
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom k(0, 256, "k");
    product(v.x, v.y) = 0.0f;
    product(v.x, v.y) += a(k, v.y) * b(v.x, k);
    out(v.x, v.y) = max(product(v.x, v.y), 0.0f);
    schedule_and_check(
        {out},
        {{{{0, 256}, {0, 256}}}, {{"a", {{0, 256}, {0, 256}}}, {"b", {{0, 256}, {0, 256}}}}, {}});
}

TEST_CASE("Pyramids") {
    Vars v;
    ImageParam in(Float(32), 2, "in");
    Func base = BoundaryConditions::repeat_edge(in);
    std::vector<Func> down = {base};
    for (int level = 1; level < 5; level++) {
        Func rows("rows" + std::to_string(level)), f("down" + std::to_string(level));
        const Func &g = down.back();
        rows(v.x, v.y) = (g(2 * v.x - 1, v.y) + 3.0f * g(2 * v.x, v.y) +
                          3.0f * g(2 * v.x + 1, v.y) + g(2 * v.x + 2, v.y)) /
                         8.0f;
        f(v.x, v.y) = (rows(v.x, 2 * v.y - 1) + 3.0f * rows(v.x, 2 * v.y) +
                       3.0f * rows(v.x, 2 * v.y + 1) + rows(v.x, 2 * v.y + 2)) /
                      8.0f;
        down.push_back(f);
    }
    Func up = down.back();
    for (int level = 3; level >= 0; level--) {
        Func f("up" + std::to_string(level));
        f(v.x, v.y) = (up(v.x / 2, v.y / 2) + up((v.x + 1) / 2, (v.y + 1) / 2)) / 2.0f +
                      down[static_cast<size_t>(level)](v.x, v.y);
        up = f;
    }
    schedule_and_check({up}, {{{{0, 1536}, {0, 2560}}}, {{"in", {{0, 1536}, {0, 2560}}}}, {}});
}

TEST_CASE("Several outputs, one of them read by the other") {
    Vars v;
    Func a("a"), b("b"), c("c");
    ImageParam in(Float(32), 2, "in");
    a(v.x, v.y) = in(v.x, v.y) * 2.0f;
    b(v.x, v.y) = a(v.x, v.y) + a(v.x + 1, v.y);
    c(v.x, v.y) = a(v.x, v.y - 1) + b(v.x, v.y);
    schedule_and_check({b, c}, {{{{0, 500}, {0, 500}}, {{0, 500}, {0, 500}}}, {}, {}});
}

TEST_CASE("No dimensions, one dimension, an empty output") {
    Vars v;
    Func scalar("scalar"), line("line");
    RDom r(0, 100);
    scalar() = 0;
    scalar() += r * 2;
    line(v.x) = scalar() + v.x;
    schedule_and_check({line}, {{{{0, 100000}}}, {}, {}});
    schedule_and_check({line}, {{{{0, 1}}}, {}, {}});
    schedule_and_check({scalar}, {{{}}, {}, {}});
}

TEST_CASE("A chain of a thousand stencils") {
    Vars v;
    auto build = [&](int stages) {
        ImageParam in(Float(32), 2, "in");
        Func last("f0");
        last(v.x, v.y) = in(v.x, v.y);
        for (int i = 1; i < stages; i++) {
            Func f("f" + std::to_string(i));
            f(v.x, v.y) = last(v.x - 1, v.y) + last(v.x + 1, v.y + 1);
            last = f;
        }
        return last;
    };
    const ScheduleSizes sizes = {{{{0, 2000}, {0, 2000}}}, {}, {}};
    const double small = schedule_and_check({build(125)}, sizes);
    const double large = schedule_and_check({build(1000)}, sizes);
    INFO("125 stages " << small << " ms, 1000 stages " << large << " ms");
    CHECK(large < 30 * small);  // linear would be 8; the machine may be busy
    CHECK(large < 10000);
}

TEST_CASE("A budget of nothing still gives a legal schedule") {
    Harris p;
    AutoscheduleOptions options;
    options.time_budget_ms = 0;
    schedule_and_check({p.harris}, p.sizes(), options);
}

TEST_CASE("Where there is no model, everything at root is a legal schedule") {
    Harris p;
    p.gray.compute_root().vectorize(p.x, 4);
    language::Frozen frozen = language::freeze({p.harris});
    graph::Graph broken = frozen.graph;
    broken.images.clear();  // the model will look for the input in vain
    CHECK_THROWS(autoschedule::schedule(broken, frozen.schedule, p.sizes(), two_cores()));
    const schedules::Schedule schedule = autoschedule::at_root(broken, frozen.schedule);
    CHECK_NOTHROW(graph::check(graph::inline_funcs(frozen.graph, schedule), schedule));
    for (const auto &f : schedule.funcs)
        CHECK(f.compute.root());
}

TEST_CASE("Few long rows still occupy many cores") {
    Vars v;
    Func out("out");
    ImageParam in(Float(32), 2, "in");
    out(v.x, v.y) = sqrt(in(v.x, v.y));
    Machine many = two_cores();
    many.cores = 16;
    const Result r =
        autoschedule_for(language::freeze({out}), {{{{0, 10000000}, {0, 2}}}, {}, {}}, many);
    CHECK(r.report.plans[0].tile[0] <= 10000000 / 16 + 64);
}
