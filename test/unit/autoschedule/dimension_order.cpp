// The dimension along which a Func is stored and computed in vectors.
#include <algorithm>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "graph/check.h"
#include "ir/print.h"
#include "pipelines.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;

namespace {

Var i("i"), j("j"), x("x"), y("y");
using Names = std::vector<std::string>;

Result scheduled(const Func &output, int64_t n = 512) {
    const ScheduleSizes::Dim all{0, n};
    return autoschedule_for(
        language::freeze({output}),
        {{{all, all}}, {{"a", {{0, n, 1}, {0, n, n}}}, {"b", {{0, n, 1}, {0, n, n}}}}, {}},
        two_cores());
}

const graph::FuncNode &find(const Result &result, const std::string &name) {
    const auto &funcs = result.graph.funcs;
    const auto func = std::find_if(funcs.begin(), funcs.end(),
                                   [&](const graph::FuncNode &f) { return f.name == name; });
    REQUIRE(func != funcs.end());
    return *func;
}

/// Of the Func; empty: as in its definition.
Names storage_order(const Result &result, const std::string &func) {
    return result.schedule[find(result, func).id].storage_order;
}

struct Matrices {
    ImageParam a{Float(32), 2, "a"}, b{Float(32), 2, "b"};
    RDom k{0, a.width(), "k"};
};

}  // namespace

TEST_CASE("a product as an inline sum has its lanes along the rows of the output",
          "[autoschedule][dimension_order]") {
    Matrices m;
    Func product("product");
    product(j, i) =
        sum(m.a(m.k, i) * m.b(j, m.k));  // its Vars in the order of their first use: i, j
    const Result result = scheduled(product);
    INFO(result.report.text);
    CHECK(storage_order(result, "product_sum") == Names{"j", "i"});
    const graph::FuncNode &sum = find(result, "product_sum");
    CHECK(sum.args == Names{"i", "j"});  // as in the program
    CHECK(result.schedule[sum.id].stages[1].dims[0].name.substr(0, 1) == "j");
}

TEST_CASE("a Func with its dimensions the other way around", "[autoschedule][dimension_order]") {
    Matrices m;
    Func product("product"), out("out");
    product(i, j) = 0.0f;
    product(i, j) += m.a(m.k, i) * m.b(j, m.k);
    out(j, i) = product(i, j) + 1.0f;
    CHECK(storage_order(scheduled(out), "product") == Names{"j", "i"});
    Func given("given"), reader("reader");  // not where the user decides
    given(i, j) = 0.0f;
    given(i, j) += m.a(m.k, i) * m.b(j, m.k);
    reader(j, i) = given(i, j) + 1.0f;
    given.compute_root();
    CHECK(storage_order(scheduled(reader), "given").empty());
}

TEST_CASE("where a Func keeps its order of dimensions", "[autoschedule][dimension_order]") {
    Matrices m;
    SECTION("lanes along the RVar of a sum of rows") {
        Func e("e"), total("total"), out("out");
        e(x, y) = exp(m.a(x, y));
        total(y) = sum(e(m.k, y));
        out(x, y) = e(x, y) / total(y);
        CHECK(storage_order(scheduled(out), "e").empty());
    }
    SECTION("a copy whose elements a sum reads one after the other") {
        Func turned("turned"), out("out");
        turned(y, x) = m.a(x, y);
        out(x, y) = 0.0f;
        out(x, y) += turned(m.k, y) * m.b(x, m.k);
        CHECK(storage_order(scheduled(out), "turned").empty());
    }
    SECTION("a scan along it") {
        Func sums("sums"), out("out");
        RDom r(1, 511, "r");
        sums(y, x) = m.a(x, y);
        sums(y, r) += sums(y, r - 1);
        out(x, y) = sums(y, x);
        CHECK(storage_order(scheduled(out), "sums").empty());
    }
}

TEST_CASE("other orders of dimensions give the same values", "[autoschedule][dimension_order]") {
    Buffer<float> a(40, 40), b(40, 40);
    a.fill([](int p, int q) { return float(p % 7 - q % 5); });
    b.fill([](int p, int q) { return float(p % 3 + q % 4); });
    RDom k(0, 40, "k"), l(0, 3, "l");
    Func product("product"), shifted("shifted"), out("out");
    product(j, i) = sum(a(k, i) * b(j, k));
    shifted(y, i, x) = product(x, i) + float(1) * y;
    out(x, y) = sum(shifted(y, clamp(y + l, 0, 39), x));
    Pipeline pipeline(out);
    const Buffer<float> got = pipeline.autoschedule(get_host_target()).realize({40, 40}),
                        right = out.realize_reference({40, 40});
    got.for_each_element([&](int p, int q) { REQUIRE(got(p, q) == right(p, q)); });
    INFO(pipeline.schedule_source() << pipeline.schedule_report());
    CHECK(pipeline.schedule_source().find("reorder_storage") != std::string::npos);
}

TEST_CASE(
    "pairs as the first dimension: lanes are along the second one, the pairs next to the vector",
    "[autoschedule][dimension_order]") {
    const Var p("p");
    ImageParam in(Float(32), 4, "in");
    RDom k(0, 200, "k");
    Func sums("sums"), out("out");
    sums(x, y) = Tuple(0.0f, 0.0f);
    sums(x, y) = Tuple(sums(x, y)[0] + in(0, x, y, k), sums(x, y)[1] + in(1, x, y, k));
    out(p, x, y) = mux(p, {sums(x, y)[0], sums(x, y)[1]});
    const std::vector<ScheduleSizes::Dim> dims = {{0, 2, 1}, {0, 384, 2}, {0, 384, 768}};
    std::vector<ScheduleSizes::Dim> many = dims;
    many.push_back({0, 200, 768 * 384});
    const Result result = autoschedule_for(
        language::freeze({out}), {{dims}, {{"in", many}, {"out", dims}}, {}}, two_cores());
    INFO(result.report.text);
    graph::check(graph::inline_funcs(result.graph, result.schedule), result.schedule);
    CHECK(find(result, "out").args == Names{"p", "x", "y"});
    CHECK(storage_order(result, "out").empty());
    const schedules::StageSchedule &stage = result.schedule[find(result, "out").id].stages[0];
    CHECK(stage.dims[0].kind == LoopKind::Vectorized);
    CHECK(stage.dims[0].name.substr(0, 1) == "x");
    REQUIRE(stage.specializations.size() == 1);
    const schedules::Specialization &pairs = stage.specializations[0];
    CHECK(ir::to_string(pairs.condition) == "out.extent.0 == 2");
    CHECK(pairs.schedule.dims[1].name == "p");
    CHECK(pairs.schedule.dims[1].kind == LoopKind::Unrolled);
}

TEST_CASE("pairs and channels as the first dimension have the right values",
          "[autoschedule][dimension_order]") {
    const Var p("p");
    ImageParam in(Int(16), 3, "in");
    RDom k(0, 3, "k");
    Func mixed("mixed"), filtered("filtered"), out("out");
    mixed(p, x, y) = cast<int>(in(p, x, y)) * (p + 3) - in(0, x, y);
    filtered(p, x, y) += mixed(p, x + k, y) * (k + 1);
    out(p, x, y) = Tuple(filtered(p, x, y) >> 2, cast<uint8_t>(mixed(p, x, y) & 255));
    for (const int channels : {2, 3, 4, 5}) {
        INFO(channels << " channels");
        Pipeline pipeline(out);
        pipeline.autoschedule(get_host_target());
        for (const int width : {70, 9, 70}) {
            Buffer<int16_t> input(channels, width + 2, 11);
            input.for_each_element([&](int i, int j, int l) {
                input(i, j, l) = static_cast<int16_t>(i * 71 + j * 13 - l * 29);
            });
            in.set(input);
            Buffer<int> sums(channels, width, 11);
            Buffer<uint8_t> bytes(channels, width, 11);
            pipeline.realize({sums, bytes});
            const Realization right = pipeline.realize_reference({channels, width, 11});
            const Buffer<int> right_sums = right[0];
            const Buffer<uint8_t> right_bytes = right[1];
            sums.for_each_element([&](int i, int j, int l) {
                REQUIRE(sums(i, j, l) == right_sums(i, j, l));
                REQUIRE(bytes(i, j, l) == right_bytes(i, j, l));
            });
        }
    }
}

TEST_CASE("outputs whose sizes their definitions use keep their order",
          "[autoschedule][dimension_order]") {
    const Var p("p");
    Func out("out");
    out(p, x) = p;
    out(p, x) += x * out.output_buffer().dim(0).extent();
    Pipeline pipeline(out);
    const Buffer<int> result = pipeline.autoschedule(get_host_target()).realize({3, 50});
    result.for_each_element([&](int i, int j) { REQUIRE(result(i, j) == i + j * 3); });
    CHECK(pipeline.schedule_source().find("vectorize") == std::string::npos);
}
