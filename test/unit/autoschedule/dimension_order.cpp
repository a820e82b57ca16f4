// The dimension along which a Func is stored and computed in vectors.
#include <algorithm>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

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
