// Whole algorithms against closed forms and values worked out by hand.

#include "reference/evaluate.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "language/freeze.h"
#include <pipe/boundary_conditions.h>
#include <pipe/buffer.h>
#include <pipe/func.h>
#include <pipe/inline_reductions.h>

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// The first value of `f` over `shape` (with min 0), or all of them.
std::vector<Buffer<void>> evaluate_all(const std::vector<Func> &outputs,
                                       const std::vector<int64_t> &shape, int64_t min = 0,
                                       const reference::Options &options = {}) {
    graph::Graph graph = language::freeze(outputs).graph;
    std::vector<Buffer<void>> buffers;
    std::vector<BufferView> views;
    for (FuncId id : graph.outputs) {
        for (Type type : graph[id].types) {
            Buffer<void> buffer(type, shape);
            if (!shape.empty())
                buffer.set_min(std::vector<int64_t>(shape.size(), min));
            buffers.push_back(buffer);
            views.push_back(buffer.view());
        }
    }
    reference::evaluate(graph, views, {}, {}, options);
    return buffers;
}

template <typename T>
Buffer<T> evaluate(const Func &f, const std::vector<int64_t> &shape, int64_t min = 0,
                   const reference::Options &options = {}) {
    return Buffer<T>(evaluate_all({f}, shape, min, options).at(0));
}

std::string message_of(const std::function<void()> &f) {
    try {
        f();
    } catch (const RuntimeError &e) {
        return e.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a pure Func of its coordinates", "[reference]") {
    Func f("f");
    f(x, y) = 10 * x + y;
    Buffer<int> out = evaluate<int>(f, {4, 3}, -1);
    out.for_each_element([&](int i, int j) { CHECK(out(i, j) == 10 * i + j); });
}

TEST_CASE("a Func without dimensions", "[reference]") {
    Func f("f");
    f() = 42;
    Buffer<int> out = evaluate<int>(f, {});
    CHECK(*static_cast<int *>(out.view().host) == 42);
}

TEST_CASE("box sums of a ramp have a closed form", "[reference]") {
    Buffer<int> image(20);
    image.fill([](int i) { return i * i; });
    Func sum3("sum3");
    sum3(x) = image(x - 1) + image(x) + image(x + 1);
    Buffer<int> out = evaluate<int>(sum3, {18}, 1);
    for (int i = 1; i < 19; i++)
        CHECK(out(i) == 3 * i * i + 2);
}

TEST_CASE("reading an image outside names image, dimension, place and range", "[reference]") {
    Buffer<int> image(10);
    image.set_name("picture");
    image.fill(1);
    Func f("wide");
    f(x) = image(x) + image(x + 3);
    std::string message = message_of([&] { evaluate<int>(f, {8}); });
    CHECK(message.find("\"picture\" is read at 10 in dimension 0") != std::string::npos);
    CHECK(message.find("0 .. 9") != std::string::npos);
    CHECK(message.find("\"wide\"") != std::string::npos);
    CHECK(message.find("evaluate.cpp:") != std::string::npos);
    CHECK(message.find("x = 7") != std::string::npos);
}

TEST_CASE("select asks only for the arm that it takes", "[reference]") {
    Buffer<int> image(10);
    image.fill([](int i) { return 100 + i; });
    Func f("f");
    f(x) = select(x < 10, image(x), -1);
    Buffer<int> out = evaluate<int>(f, {15});
    CHECK(out(9) == 109);
    CHECK(out(10) == -1);
    CHECK(out(14) == -1);
}

TEST_CASE("down- and up-sampling", "[reference]") {
    Func ramp("ramp"), down("down"), up("up");
    ramp(x) = 5 * x;
    down(x) = (ramp(2 * x) + ramp(2 * x + 1)) / 2;
    up(x) = down(x / 2);
    Buffer<int> out = evaluate<int>(up, {9}, -4);
    for (int i = -4; i < 5; i++) {
        int half = i >= 0 ? i / 2 : -((1 - i) / 2);
        CHECK(out(i) == 10 * half + 2);
    }
}

TEST_CASE("factorials and prefix sums: an update that reads itself", "[reference]") {
    Func factorial("factorial"), prefix("prefix");
    RDom r(1, 9), s(1, 19);
    factorial(x) = 1;
    factorial(r) = factorial(r - 1) * r;
    Buffer<int> out = evaluate<int>(factorial, {10});
    int expected[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
    for (int i = 0; i < 10; i++)
        CHECK(out(i) == expected[i]);

    prefix(x) = x;
    prefix(s) += prefix(s - 1);
    // Only the end is asked for: the box grows to all that it depends on.
    Buffer<int> sums = evaluate<int>(prefix, {1}, 19);
    CHECK(sums(19) == 190);
}

TEST_CASE("updates run in order, the first RVar innermost", "[reference]") {
    Func f("f"), order("order");
    f(x) = 1;
    f(x) = f(x) * 3;
    f(x) += 4;
    CHECK(evaluate<int>(f, {2})(1) == 7);

    RDom r(0, 3, 0, 2);
    order() = 0;
    order() = order() * 10 + r.x + 3 * r.y + 1;
    CHECK(*static_cast<int *>(evaluate<int>(order, {}).view().host) == 123456);
}

TEST_CASE("a histogram, and a where that leaves points out", "[reference]") {
    Buffer<uint8_t> image(6, 5);
    image.fill([](int i, int j) { return static_cast<uint8_t>((i + j) % 4); });
    int counts[4] = {};
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 6; i++) {
            if (i > j)
                counts[(i + j) % 4]++;
        }
    }
    Func histogram("histogram");
    RDom r(0, 6, 0, 5);
    r.where(r.x > r.y);
    histogram(x) = 0;
    histogram(cast<int>(image(r.x, r.y))) += 1;
    Buffer<int> out = evaluate<int>(histogram, {4});
    for (int i = 0; i < 4; i++)
        CHECK(out(i) == counts[i]);
}

TEST_CASE("stores outside of what is asked for are dropped", "[reference]") {
    Func f("f");
    RDom r(0, 10);
    f(x) = 0;
    f(2 * r) = r + 1;
    Buffer<int> out = evaluate<int>(f, {4}, 3);
    CHECK(out(3) == 0);
    CHECK(out(4) == 3);
    CHECK(out(5) == 0);
    CHECK(out(6) == 4);
}

TEST_CASE("a pure variable of one update is scattered by another", "[reference]") {
    Func f("f");
    RDom r(0, 3);
    f(x, y) = x + y;
    f(x, 1) += 100;
    f(r, y) *= 2;
    Buffer<int> out = evaluate<int>(f, {5, 3});
    out.for_each_element([&](int i, int j) {
        int expected = i + j + (j == 1 ? 100 : 0);
        CHECK(out(i, j) == (i < 3 ? 2 * expected : expected));
    });
}

TEST_CASE("tuples are updated all at once; argmin", "[reference]") {
    Func swap("swap");
    swap(x) = Tuple(x, 100 + x);
    swap(x) = Tuple(swap(x)[1], swap(x)[0]);
    std::vector<Buffer<void>> both = evaluate_all({swap}, {3});
    CHECK(Buffer<int>(both[0])(2) == 102);
    CHECK(Buffer<int>(both[1])(2) == 2);

    Func lowest("lowest");
    RDom r(0, 10, 0, 2);
    Tuple where = argmin((r.x - 6) * (r.x - 6) + 5 * r.y + x);
    lowest(x) = 100 * where[0] + 10 * where[1] + where[2];
    CHECK(evaluate<int>(lowest, {4})(3) == 603);
}

TEST_CASE("gathers: coordinates that depend on data, twice over", "[reference]") {
    Func index("index"), table("table"), twice("twice");
    index(x) = (7 * x + 3) % 10;
    table(x) = index(index(x));
    twice(x) = table(index(x) + 20);
    Buffer<int> out = evaluate<int>(twice, {10});
    auto at = [](int i) { return (7 * i + 3) % 10; };
    for (int i = 0; i < 10; i++)
        CHECK(out(i) == at(at(at(i) + 20)));
}

TEST_CASE("an update whose coordinates depend on another Func with updates", "[reference]") {
    Func count("count"), start("start");
    Buffer<int> keys(6);
    int values[] = {2, 0, 1, 2, 2, 0};
    keys.fill([&](int i) { return values[i]; });
    RDom r(0, 6), s(1, 3);
    count(x) = 0;
    count(keys(r)) += 1;
    start(x) = 0;
    start(s) = start(s - 1) + count(s - 1);
    Func sorted("sorted");
    RDom t(0, 6);
    sorted(x) = Tuple(-1, cast<int>(0));
    sorted(start(keys(t)) + sorted(keys(t))[1]) =
        Tuple(t, sorted(start(keys(t)) + sorted(keys(t))[1])[1]);
    Buffer<int> starts = evaluate<int>(start, {4});
    CHECK(starts(0) == 0);
    CHECK(starts(1) == 2);
    CHECK(starts(2) == 3);
    CHECK(starts(3) == 6);
    Buffer<int> out(evaluate_all({sorted}, {6})[0]);
    CHECK(out(0) == 5);  // the last one with key 0
    CHECK(out(2) == 2);
    CHECK(out(3) == 4);
}

TEST_CASE("several outputs with a common producer", "[reference]") {
    Func f("f"), g("g"), h("h");
    f(x) = x * x;
    g(x) = f(x) + 1;
    h(x) = f(x + 1) - f(x);
    std::vector<Buffer<void>> out = evaluate_all({g, h}, {5});
    for (int i = 0; i < 5; i++) {
        CHECK(Buffer<int>(out[0])(i) == i * i + 1);
        CHECK(Buffer<int>(out[1])(i) == 2 * i + 1);
    }
}

TEST_CASE("a chain of a thousand Funcs, each read twice", "[reference]") {
    std::vector<Func> chain(1000);
    chain[0](x) = x;
    for (size_t i = 1; i < chain.size(); i++) {
        chain[i](x) = (chain[i - 1](x) + chain[i - 1](x + 1)) % 1000;
    }
    // Row 999 of Pascal's triangle, modulo 1000, times the ramp: 2^999 x + 999 * 2^998.
    int64_t power = 1;
    for (int i = 0; i < 998; i++)
        power = power * 2 % 1000;
    Buffer<int> out = evaluate<int>(chain.back(), {2});
    CHECK(out(0) == 999 * power % 1000);
    CHECK(out(1) == (999 * power + 2 * power) % 1000);
}

TEST_CASE("an expression graph with sharing is evaluated once per node", "[reference]") {
    Func f("f");
    Expr e = x;
    for (int i = 0; i < 64; i++)
        e = cast<int>(cast<uint8_t>(e + e));  // a tree of 2^64 leaves
    f(x) = e;
    CHECK(evaluate<int>(f, {3})(2) == 0);
}

TEST_CASE("boundary conditions", "[reference]") {
    Buffer<int> image(4);
    image.fill([](int i) { return 10 + i; });
    auto line = [](const Func &f) {
        Buffer<int> out = evaluate<int>(f, {10}, -3);
        std::vector<int> values;
        for (int i = -3; i < 7; i++)
            values.push_back(out(i));
        return values;
    };
    using V = std::vector<int>;
    namespace bc = BoundaryConditions;
    CHECK(line(bc::repeat_edge(image)) == V{10, 10, 10, 10, 11, 12, 13, 13, 13, 13});
    CHECK(line(bc::constant_exterior(image, 7)) == V{7, 7, 7, 10, 11, 12, 13, 7, 7, 7});
    CHECK(line(bc::repeat_image(image)) == V{11, 12, 13, 10, 11, 12, 13, 10, 11, 12});
    CHECK(line(bc::mirror_image(image)) == V{12, 11, 10, 10, 11, 12, 13, 13, 12, 11});
    CHECK(line(bc::mirror_interior(image)) == V{13, 12, 11, 10, 11, 12, 13, 12, 11, 10});
}

TEST_CASE("undefined results are refused where the caller wants that", "[reference]") {
    Func f("grows");
    f(x) = (x + 2147483640) * 1;
    reference::Options strict;
    strict.reject_undefined = true;
    CHECK(evaluate<int>(f, {20})(10) == INT32_MIN + 2);
    CHECK(evaluate<int>(f, {8}, 0, strict)(7) == INT32_MAX);
    std::string message = message_of([&] { evaluate<int>(f, {9}, 0, strict); });
    CHECK(message.find("signed integer overflow in Func \"grows\"") != std::string::npos);
    CHECK(message.find("x = 8") != std::string::npos);
}

TEST_CASE("missing and mistyped buffers", "[reference]") {
    ImageParam in(UInt(8), 2, "photo");
    Func f("f");
    f(x, y) = in(x, y);
    CHECK(message_of([&] { evaluate<uint8_t>(f, {2, 2}); }).find("\"photo\"") != std::string::npos);
    graph::Graph graph = language::freeze({f}).graph;
    Buffer<float> wrong(2, 2);
    std::string message = message_of([&] { reference::evaluate(graph, {wrong.view()}, {}, {}); });
    CHECK(message.find("Output \"f\" has 2 dimensions of uint8") != std::string::npos);
}
