// print, require, promises, and C functions called from expressions.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "support/everywhere.h"
#include "support/require_message.h"
#include "support/temp_folder.h"

extern "C" float pipe_test_gain(float value, int32_t level) {
    return value * static_cast<float>(level) + 0.5f;
}
extern "C" int pipe_test_one(int a) {
    return a + 1;
}
extern "C" int64_t pipe_test_three(int8_t a, uint16_t b, bool c) {
    return c ? a * 1000 + b : -1;
}
extern "C" double pipe_test_four(double a, double b, double c, double d) {
    return a + 2 * b + 3 * c + 4 * d;
}
extern "C" uint8_t pipe_test_five(int a, int b, int c, int d, int e) {
    return static_cast<uint8_t>(a ^ b ^ c ^ d ^ e);
}
extern "C" int pipe_test_mixed(int a, float b, int16_t c) {
    return a + static_cast<int>(b) * c;
}
extern "C" float pipe_test_pure_four(int a, float b, uint8_t c, double d) {
    return static_cast<float>(a) + b * c - static_cast<float>(d);
}
extern "C" int64_t pipe_test_impure_five(int a, int b, int c, int64_t d, int e) {
    return a + 10 * b + 100 * c + d * e;
}
static int calls = 0;
extern "C" int pipe_test_count(int a) {
    calls++;
    return a;
}

HalidePureExtern_2(float, pipe_test_gain, float, int32_t);
HalideExtern_1(int, pipe_test_one, int);
HalidePureExtern_3(int64_t, pipe_test_three, int8_t, uint16_t, bool);
HalideExtern_4(double, pipe_test_four, double, double, double, double);
HalidePureExtern_5(uint8_t, pipe_test_five, int, int, int, int, int);
HalideExtern_3(int, pipe_test_mixed, int, float, int16_t);
HalidePureExtern_4(float, pipe_test_pure_four, int, float, uint8_t, double);
HalideExtern_5(int64_t, pipe_test_impure_five, int, int, int, int64_t, int);
HalideExtern_1(int, pipe_test_count, int);
HalidePureExtern_1(double, cbrt, double);         // declared in <cmath>
HalidePureExtern_1(int, pipe_test_missing, int);  // nowhere

using namespace Pipe;

namespace {

/// What f prints.
template <typename F> std::string printed(const F &f) {
    TempFolder folder;
    std::string path = folder / "stdout";
    std::fflush(stdout);
    int saved = dup(1), file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(file, 1);
    f();
    std::fflush(stdout);
    dup2(saved, 1);
    close(saved), close(file);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("print", "[effects]") {
    Var x("x");
    Func f("f");
    f(x) = print(x * 2, "<- at", x, 1.5f, cast<uint8_t>(200)) + 1;
    Buffer<int> out(3);
    const std::string expected = "0 <- at 0 1.5 200\n2 <- at 1 1.5 200\n4 <- at 2 1.5 200\n";
    CHECK(printed([&] { f.realize(out); }) == expected);
    CHECK(out(2) == 5);
    f.vectorize(x, 2, TailStrategy::GuardWithIf);
    CHECK(printed([&] { f.realize(out); }) == expected);
    CHECK(printed([&] { f.realize_reference(Realization(out)); }) == expected);
}

TEST_CASE("print_when", "[effects]") {
    Var x("x");
    Func f("f");
    f(x) = print_when(x == 3 || x == 5, x, "is special");
    Buffer<int> out(8);
    const std::string expected = "3 is special\n5 is special\n";
    for (int lanes : {1, 4}) {
        if (lanes > 1)
            f.vectorize(x, lanes);
        CHECK(printed([&] { f.realize(out); }) == expected);
        for (int i = 0; i < 8; i++)
            CHECK(out(i) == i);
    }
    CHECK(printed([&] { f.realize_reference(Realization(out)); }) == expected);
}

TEST_CASE("require", "[effects]") {
    Param<int> limit("limit");
    Var x("x"), y("y");
    for (int lanes : {1, 4}) {
        Func f("f");
        f(x) = require(x < limit, x * 10, "exceeds the limit", limit) + 1;
        if (lanes > 1)
            f.vectorize(x, lanes, TailStrategy::GuardWithIf);
        Buffer<int> out(10);
        limit.set(10);
        f.realize(out);
        for (int i = 0; i < 10; i++)
            CHECK(out(i) == i * 10 + 1);
        f.realize_reference(Realization(out));
        limit.set(7);
        std::vector<std::string> parts{"70", "exceeds the limit", "7", "x < limit"};
        require_message<RuntimeError>([&] { f.realize(out); }, parts);
        require_message<RuntimeError>([&] { f.realize_reference(Realization(out)); }, parts);
    }
    // In a parallel loop, and afterward all still works.
    limit.set(20);
    Func g("g");
    g(x, y) = require(y < limit, y);
    g.parallel(y);
    Buffer<int> image(8, 64);
    require_message<RuntimeError>([&] { g.realize(image); }, {"y < limit"});
    limit.set(64);
    g.realize(image);
    CHECK(image(7, 63) == 63);
}

TEST_CASE("print and require at several sizes and places", "[effects]") {
    struct Lines : JITUserContext {
        std::string text;
    };
    Var x("x");
    const std::pair<int, int> places[] = {{0, 1}, {-5, 7}, {100, 33}};
    for (auto [left, width] : places)
        for (int lanes : {1, 4, 8}) {
            INFO(width << " from " << left << ", lanes " << lanes);
            Lines lines;
            lines.handlers.custom_print = [](JITUserContext *context, const char *text) {
                static_cast<Lines *>(context)->text += text;
            };
            Func f("f");
            f(x) = require(x >= left, print_when(x % 3 == 0, x * 2, "at", x));
            if (lanes > 1)
                f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            Buffer<int> out(width);
            out.set_min(left);
            f.realize(&lines, out);
            std::string expected;
            out.for_each_element([&](int i) {
                if (i % 3 == 0)
                    expected += std::to_string(2 * i) + " at " + std::to_string(i) + "\n";
                CHECK(out(i) == 2 * i);
            });
            CHECK(lines.text == expected);
            // One element further to the left.
            Buffer<int> wider(width + 1);
            wider.set_min(left - 1);
            require_message<RuntimeError>([&] { f.realize(&lines, wider); },
                                          {"x >= " + std::to_string(left)});
        }
}

TEST_CASE("likely changes no value", "[effects]") {
    Var x("x"), y("y");
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = select(likely(x > -3), x, y) + max(likely_if_innermost(y), 0) +
                      clamp(likely(x), -2, 20);
            return f;
        },
        [](int x, int y) { return (x > -3 ? x : y) + std::max(y, 0) + std::clamp(x, -2, 20); });
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = select(likely_if_innermost(x < 20), x * y, y) +
                      min(likely(x), y) * clamp(likely_if_innermost(y), 0, 1);
            return f;
        },
        [](int x, int y) { return (x < 20 ? x * y : y) + std::min(x, y) * std::clamp(y, 0, 1); });
}

TEST_CASE("require and print keep the bounds of indices", "[effects]") {
    Var x("x");
    Buffer<int> table(10);
    table.fill([](int i) { return i * i; });
    Param<int> shift("shift");
    shift.set(2);
    Func f("f"), g("g");
    g(x) = table(x) + 1;
    f(x) = g(clamp(require(shift >= 0, x + shift), 0, 9));
    g.compute_root();
    Buffer<int> out = f.realize({10});
    for (int i = 0; i < 10; i++)
        CHECK(out(i) == std::min(i + 2, 9) * std::min(i + 2, 9) + 1);
}

TEST_CASE("promises of bounds", "[effects]") {
    Var x("x");
    Buffer<int> index(8), table(8);
    index.fill([](int i) { return 7 - i; });
    table.fill([](int i) { return 100 + i; });
    Func f("f");
    f(x) = table(unsafe_promise_clamped(index(x), 0, 7)) + likely(promise_clamped(x, 0, Expr())) +
           likely_if_innermost(x);
    Buffer<int> out = f.realize({8}), again(8);
    f.realize_reference(Realization(again));
    for (int i = 0; i < 8; i++) {
        CHECK(out(i) == 107 - i + 2 * i);
        CHECK(again(i) == out(i));
    }
    index(3) = 9;
    require_message<RuntimeError>([&] { f.realize_reference(Realization(again)); },
                                  {"promise", "9", "0", "7", "\"f\""});
}

TEST_CASE("promises of bounds limit what is computed", "[effects]") {
    Var x("x");
    ImageParam index(Int(32), 1, "index");
    Buffer<int> places(8);
    places.fill([](int i) { return 7 - i; });
    index.set(places);
    Func h("h"), f("f");
    h(x) = 100 + x;
    h.compute_root();
    SECTION("of none there are none") {
        f(x) = h(index(x));
        require_message<CompileError>([&] { f.realize({8}); }, {"h", "index", "clamp("});
    }
    for (bool safe : {true, false}) {
        DYNAMIC_SECTION("promised " << safe) {
            f(x) =
                h(safe ? promise_clamped(index(x), 0, 7) : unsafe_promise_clamped(index(x), 0, 7));
            Buffer<int> out = f.realize({8});
            out.for_each_element([&](int x) { CHECK(out(x) == 107 - x); });
        }
    }
}

TEST_CASE("promises of bounds at all sizes and places", "[effects]") {
    Var x("x"), y("y");
    Buffer<uint8_t> index(256), table(8);
    index.fill([](int i) { return i * 5 % 8; });
    table.fill([](int i) { return 100 + i; });
    everywhere::check<int>(
        [&] {
            Func h("h"), f("f");
            h(x) = cast<int>(table(x));
            Expr at = cast<int>(index((x + 3 * y) & 255));
            f(x, y) = h(unsafe_promise_clamped(at, 0, 7)) + promise_clamped(x, -100, 1000);
            h.compute_root();
            return f;
        },
        [](int x, int y) { return 100 + ((x + 3 * y) & 255) * 5 % 8 + x; });
}

TEST_CASE("C functions", "[effects]") {
    Var x("x"), y("y");
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_gain(x * 0.5f, y);
            return f;
        },
        [](int x, int y) { return pipe_test_gain(static_cast<float>(x) * 0.5f, y); });
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_one(x) * 2;
            return f;
        },
        [](int x, int) { return 2 * (x + 1); });
    everywhere::check<int64_t>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_three(cast<int8_t>(x), cast<uint16_t>(y), x > y);
            return f;
        },
        [](int x, int y) {
            return pipe_test_three(static_cast<int8_t>(x), static_cast<uint16_t>(y), x > y);
        });
    everywhere::check<double>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_four(cast<double>(x), cast<double>(y), Expr(1.0), Expr(2.0));
            return f;
        },
        [](int x, int y) { return pipe_test_four(x, y, 1, 2); });
    everywhere::check<uint8_t>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_five(x, y, 3, 4, 5);
            return f;
        },
        [](int x, int y) { return pipe_test_five(x, y, 3, 4, 5); });
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_mixed(x, cast<float>(y), cast<int16_t>(x - y));
            return f;
        },
        [](int x, int y) {
            return pipe_test_mixed(x, static_cast<float>(y), static_cast<int16_t>(x - y));
        });
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_pure_four(x, cast<float>(y), cast<uint8_t>(x), cast<double>(y + 1));
            return f;
        },
        [](int x, int y) {
            return pipe_test_pure_four(x, static_cast<float>(y), static_cast<uint8_t>(x), y + 1);
        });
    everywhere::check<int64_t>(
        [&] {
            Func f("f");
            f(x, y) = pipe_test_impure_five(x, y, x - y, cast<int64_t>(x) << 33, y);
            return f;
        },
        [](int x, int y) { return pipe_test_impure_five(x, y, x - y, x * (int64_t(1) << 33), y); });
    everywhere::check<double>(
        [&] {
            Func f("f");
            f(x, y) = ::cbrt(cast<double>(x * 8));
            return f;
        },
        [](int x, int) { return std::cbrt(x * 8.0); });
}

TEST_CASE("an impure C function is called for each element", "[effects]") {
    Var x("x");
    Func f("f");
    f(x) = pipe_test_count(Expr(5)) + x;
    f.vectorize(x, 4);
    calls = 0;
    Buffer<int> out = f.realize({12});
    CHECK(calls == 12);
    CHECK(out(11) == 16);
}

TEST_CASE("misuse of effects", "[effects][error]") {
    Var x("x");
    require_message<CompileError>([&] { print_when(x, x); }, {"print", "bool"});
    require_message<CompileError>([&] { require(x > 0, std::vector<Expr>{}); },
                                  {"require", "at least one"});
    require_message<CompileError>([&] { pipe_test_one(cast<float>(x)); },
                                  {"pipe_test_one", "Argument 1", "int32", "float32"});
    Func f("f");
    f(x) = pipe_test_missing(x);
    require_message<CompileError>([&] { f.realize_reference({3}); }, {"pipe_test_missing"});
    require_message<CompileError>([&] { f.realize({3}); }, {"pipe_test_missing", "C function"});
}
