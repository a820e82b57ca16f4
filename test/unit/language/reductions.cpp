// Updates over RDoms: inline reductions, correlated conditions, recursion.
#include <algorithm>
#include <climits>
#include <cmath>
#include <vector>

#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

int mod(int a, int b) {
    return ((a % b) + b) % b;
}
int data(int x, int y) {
    return mod(x * 37 + y * 17 + x * y, 61);
}
Expr data(Expr x, Expr y) {
    return (x * 37 + y * 17 + x * y) % 61;
}

}  // namespace

TEST_CASE("inline reductions, with the RDom given and not", "[reduction]") {
    Var x("x"), y("y");
    struct Case {
        const char *name;
        Expr (*make)(const RDom &, const Expr &, bool given);
        int (*combine)(int, int);
        int initial;
    };
    const Case cases[] = {
        {"sum", [](const RDom &r, const Expr &e, bool g) { return g ? sum(r, e) : sum(e); },
         [](int a, int b) { return a + b; }, 0},
        {"product",
         [](const RDom &r, const Expr &e, bool g) {
             return g ? product(r, e % 3 + 1, "named") : product(e % 3 + 1);
         },
         [](int a, int b) { return a * (b % 3 + 1); }, 1},
        {"maximum",
         [](const RDom &r, const Expr &e, bool g) { return g ? maximum(r, e) : maximum(e, "top"); },
         [](int a, int b) { return std::max(a, b); }, INT_MIN},
        {"minimum",
         [](const RDom &r, const Expr &e, bool g) { return g ? minimum(r, e) : minimum(e); },
         [](int a, int b) { return std::min(a, b); }, INT_MAX},
    };
    for (const Case &c : cases)
        for (bool given : {false, true}) {
            INFO(c.name);
            everywhere::check<int>(
                [&] {
                    RDom r(-1, 3, 2, 2, "r");
                    Func f("f");
                    f(x, y) = c.make(r, data(x + r.x, y + r.y), given);
                    return f;
                },
                [&](int x, int y) {
                    int value = c.initial;
                    for (int j = 2; j < 4; j++)
                        for (int i = -1; i < 2; i++)
                            value = c.combine(value, data(x + i, y + j));
                    return value;
                });
        }
}

TEST_CASE("an inline sum is vectors and parallel by two directives", "[reduction]") {
    Var x("x"), y("y");
    for (int n : {1, 7, 100}) {
        INFO(n);
        everywhere::check<int>(
            [&] {
                Func f("f"), total("total");
                RDom r(0, n, 0, 5, "r");
                f(x, y) = sum(r, data(x + r.x, y + r.y), total);
                total.compute_root().update().vectorize(r.x, 8).parallel(r.y);
                const std::string nest = Pipeline(f).loop_nest();
                CHECK(nest.find("parallel r") != std::string::npos);
                CHECK(nest.find("vectorized r") != std::string::npos);
                return f;
            },
            [&](int x, int y) {
                int result = 0;
                for (int j = 0; j < 5; j++)
                    for (int i = 0; i < n; i++)
                        result += data(x + i, y + j);
                return result;
            });
    }
}

TEST_CASE("one reduction inside another", "[reduction]") {
    Var x("x"), y("y");
    everywhere::check<int>(
        [&] {
            RDom r(0, 4, "r"), s(0, 3, "s");
            Func f("f");
            f(x, y) = maximum(s, sum(r, data(x + r, y + s)));
            return f;
        },
        [](int x, int y) {
            int most = INT_MIN;
            for (int s = 0; s < 3; s++) {
                int sum = 0;
                for (int r = 0; r < 4; r++)
                    sum += data(x + r, y + s);
                most = std::max(most, sum);
            }
            return most;
        });
}

TEST_CASE("argmax and argmin over two dimensions give the first place", "[reduction]") {
    Var x("x"), y("y");
    for (bool largest : {true, false})
        for (int element : {0, 1, 2})
            everywhere::check<int>(
                [&] {
                    RDom r(-2, 5, 1, 4, "r");
                    Func f("f");
                    Expr e = data(x + r.x, y + r.y) % 7;
                    Tuple t = largest ? argmax(r, e, "place") : argmin(e, "place");
                    f(x, y) = t[static_cast<size_t>(element)];
                    return f;
                },
                [&](int x, int y) {
                    int best[3] = {0, 0, 0};
                    bool first = true;
                    for (int j = 1; j < 5; j++)
                        for (int i = -2; i < 3; i++) {
                            int v = data(x + i, y + j) % 7;
                            if (!first && !(largest ? v > best[2] : v < best[2]))
                                continue;
                            best[0] = i, best[1] = j, best[2] = v, first = false;
                        }
                    return best[element];
                });
}

TEST_CASE("conditions that tie RVars and Vars together", "[reduction]") {
    Var x("x"), y("y");
    everywhere::check<int>(
        [&] {
            RDom r(-3, 7, -3, 7, "r");
            r.where(r.x * r.x + r.y * r.y <= 9);
            r.where(r.x <= r.y + y % 2);
            Func f("f");
            f(x, y) += data(x + r.x, y + r.y);
            return f;
        },
        [](int x, int y) {
            int sum = 0;
            for (int j = -3; j < 4; j++)
                for (int i = -3; i < 4; i++)
                    if (i * i + j * j <= 9 && i <= j + mod(y, 2))
                        sum += data(x + i, y + j);
            return sum;
        });
}

TEST_CASE("a triangular domain", "[reduction]") {
    Var x("x"), y("y");
    const int n = 9;
    Buffer<int> in(n, n);
    in.fill([](int x, int y) { return data(x, y); });
    RDom r(0, n, 0, n, "r");
    r.where(r.x < r.y);
    Func f("f");
    f(x, y) = in(x, y);
    f(r.x, r.y) = f(r.y, r.x);  // the upper triangle is mirrored
    Buffer<int> out(n, n), again(n, n);
    f.realize(out);
    f.realize_reference(Realization(again));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            CHECK(out(i, j) == (i < j ? in(j, i) : in(i, j)));
            CHECK(again(i, j) == out(i, j));
        }
}

TEST_CASE("a scan and a recursive filter", "[reduction]") {
    Var x("x"), y("y");
    const int n = 50;
    RDom r(1, n - 1, "r"), back(0, n - 1, "back");
    Func scan("scan"), filter("filter");
    scan(x, y) = data(x, y);
    scan(r, y) += scan(r - 1, y);
    scan.update(0).vectorize(y, 4);
    filter(x, y) = cast<float>(data(x, y));
    filter(r, y) = 0.75f * filter(r - 1, y) + 0.25f * filter(r, y);
    Expr left = n - 2 - back;
    filter(left, y) = 0.75f * filter(left + 1, y) + 0.25f * filter(left, y);
    filter.update(0).vectorize(y, 8, TailStrategy::GuardWithIf).parallel(y);
    Buffer<int> sums(n, 7);
    scan.realize(sums);
    Buffer<float> smooth(n, 7), again(n, 7);
    filter.realize(smooth);
    filter.realize_reference(Realization(again));
    for (int j = 0; j < 7; j++) {
        int sum = 0;
        std::vector<float> row(n);
        for (int i = 0; i < n; i++) {
            CHECK(sums(i, j) == (sum += data(i, j)));
            row[i] = static_cast<float>(data(i, j));
        }
        for (int i = 1; i < n; i++)
            row[i] = 0.75f * row[i - 1] + 0.25f * row[i];
        for (int i = n - 2; i >= 0; i--)
            row[i] = 0.75f * row[i + 1] + 0.25f * row[i];
        for (int i = 0; i < n; i++) {
            CHECK(std::fabs(smooth(i, j) - row[i]) < 1e-4f);
            CHECK(std::fabs(again(i, j) - row[i]) < 1e-4f);
        }
    }
}

TEST_CASE("a scan that begins anywhere, at all sizes and places", "[reduction]") {
    Var x("x"), y("y");
    for (int n : {1, 2, 17}) {
        INFO(n);
        const int first = -2, last = first + n - 1;
        everywhere::check<int>(
            [&] {
                RDom r(first, n, "r");
                Func scan("scan"), f("f");
                scan(x, y) = data(x, y);
                scan(r, y) = scan(r - 1, y) * 3 / 4 + scan(r, y);
                scan.compute_root();
                f(x, y) = scan(x, y);
                return f;
            },
            [&](int x, int y) {
                if (x < first || x > last)
                    return data(x, y);
                int value = data(first - 1, y);
                for (int i = first; i <= x; i++)
                    value = value * 3 / 4 + data(i, y);
                return value;
            });
    }
}

TEST_CASE("a recursive filter forth and back, at all sizes and places", "[reduction]") {
    Var x("x"), y("y");
    for (int n : {1, 2, 17}) {
        INFO(n);
        auto smooth = [&](int y) {
            std::vector<float> row(static_cast<size_t>(n));
            for (size_t i = 0; i < row.size(); i++) {
                auto value = static_cast<float>(data(static_cast<int>(i), y));
                row[i] = i == 0 ? value : 0.75f * row[i - 1] + 0.25f * value;
            }
            for (size_t i = row.size() - 1; i-- > 0;)
                row[i] = 0.75f * row[i + 1] + 0.25f * row[i];
            return row;
        };
        everywhere::check<float>(
            [&] {
                RDom r(1, n - 1, "r"), back(0, n - 1, "back");
                Func filter("filter"), f("f");
                filter(x, y) = cast<float>(data(x, y));
                filter(r, y) = 0.75f * filter(r - 1, y) + 0.25f * filter(r, y);
                Expr left = n - 2 - back;
                filter(left, y) = 0.75f * filter(left + 1, y) + 0.25f * filter(left, y);
                filter.compute_root();
                filter.update(0).vectorize(y, 8, TailStrategy::GuardWithIf);
                f(x, y) = filter(x, y);
                return f;
            },
            [&](int x, int y) {
                bool inside = x >= 0 && x < n;
                return inside ? smooth(y)[static_cast<size_t>(x)] : static_cast<float>(data(x, y));
            },
            [](float a, float b) { return std::fabs(a - b) < 1e-4f; });
    }
}

TEST_CASE("a saturating sum, at all sizes and places", "[reduction]") {
    Var x("x"), y("y");
    everywhere::check<uint8_t>(
        [&] {
            RDom r(0, 9, "r");
            Func f("f");
            f(x, y) = saturating_sum(r, cast<uint8_t>(clamp(x, 0, 30) * r));
            return f;
        },
        [](int x, int) { return static_cast<uint8_t>(std::min(255, 36 * std::clamp(x, 0, 30))); });
    everywhere::check<int8_t>(
        [&] {
            RDom r(0, 9, "r");
            Func f("f");
            f(x, y) = saturating_sum(cast<int8_t>(clamp(x, -15, 15) * r));
            return f;
        },
        [](int x, int) {
            int sum = 36 * std::clamp(x, -15, 15);
            return static_cast<int8_t>(std::clamp(sum, -128, 127));
        });
}

TEST_CASE("a game of life, at all sizes and places", "[reduction]") {
    Var x("x"), y("y"), t("t");
    const int generations = 5;
    for (int n : {1, 5, 16}) {
        INFO(n);
        std::vector<int> world(static_cast<size_t>(n * n));
        auto place = [&](int x, int y) { return static_cast<size_t>(mod(x, n) + n * mod(y, n)); };
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                world[place(i, j)] = data(i, j) % 3 == 0;
        for (int g = 0; g < generations; g++) {
            const std::vector<int> before = world;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    int around = -before[place(i, j)];
                    for (int b = -1; b <= 1; b++)
                        for (int a = -1; a <= 1; a++)
                            around += before[place(i + a, j + b)];
                    world[place(i, j)] = around == 3 || (before[place(i, j)] && around == 2);
                }
        }
        everywhere::check<int>(
            [&] {
                Func life("life"), f("f");
                RDom d(0, n, 0, n, 1, generations, "d");
                life(x, y, t) = select(t == 0 && data(x, y) % 3 == 0, 1, 0);
                Expr before = life(d.x, d.y, d.z - 1), around = -before;
                for (int b = -1; b <= 1; b++)
                    for (int a = -1; a <= 1; a++)
                        around += life((d.x + a + n) % n, (d.y + b + n) % n, d.z - 1);
                life(d.x, d.y, d.z) = select(around == 3 || (before != 0 && around == 2), 1, 0);
                life.compute_root();
                f(x, y) = life(x, y, generations);
                return f;
            },
            [&](int x, int y) {
                bool inside = x >= 0 && x < n && y >= 0 && y < n;
                return inside ? world[place(x, y)] : 0;
            });
    }
}

TEST_CASE("a histogram, at all sizes and places", "[reduction]") {
    Var x("x"), y("y");
    for (int width : {1, 7, 40}) {
        INFO(width);
        auto bin = [](int x, int y) { return std::clamp(data(x, y), 10, 50) - 15; };
        everywhere::check<int>(
            [&] {
                RDom r(-2, width, 3, 5, "r");
                Func histogram("histogram"), f("f");
                histogram(x, y) = y;
                histogram(clamp(data(r.x, r.y), 10, 50) - 15, y) += 1;
                histogram.compute_root();
                f(x, y) = histogram(x, y);
                return f;
            },
            [&](int x, int y) {
                int count = y;
                for (int j = 3; j < 3 + 5; j++)
                    for (int i = -2; i < -2 + width; i++)
                        count += bin(i, j) == x;
                return count;
            });
    }
}

TEST_CASE("a game of life in one Func", "[reduction]") {
    const int n = 16, generations = 12;
    Buffer<uint8_t> start(n, n);
    start.fill([](int x, int y) { return data(x, y) % 3 == 0; });
    Var x("x"), y("y"), t("t");
    Func life("life");
    life(x, y, t) = select(t == 0, start(clamp(x, 0, n - 1), clamp(y, 0, n - 1)), cast<uint8_t>(0));
    Expr neighbors = cast<uint8_t>(0);
    // The update reads other places: x and y run over an RDom as well.
    RDom d(0, n, 0, n, 1, generations, "d");
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i != 0 || j != 0)
                neighbors = neighbors + life((d.x + i + n) % n, (d.y + j + n) % n, d.z - 1);
    Expr alive = life(d.x, d.y, d.z - 1) != 0;
    life(d.x, d.y, d.z) = cast<uint8_t>(neighbors == 3 || (alive && neighbors == 2));
    Buffer<uint8_t> out(n, n, generations + 1), again(n, n, generations + 1);
    life.realize(out);
    life.realize_reference(Realization(again));
    std::vector<std::vector<int>> world(n, std::vector<int>(n));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            world[j][i] = start(i, j);
    for (int g = 0; g <= generations; g++) {
        auto next = world;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                REQUIRE(out(i, j, g) == world[j][i]);
                REQUIRE(again(i, j, g) == world[j][i]);
                int around = -world[j][i];
                for (int b = -1; b <= 1; b++)
                    for (int a = -1; a <= 1; a++)
                        around += world[mod(j + b, n)][mod(i + a, n)];
                next[j][i] = around == 3 || (world[j][i] && around == 2);
            }
        world = next;
    }
}

TEST_CASE("histograms of several channels, and their running sums", "[reduction]") {
    const int w = 41, h = 23;
    Var b("b"), c("c");
    RDom r(0, w, 0, h, "r"), bins(1, 15, "bins");
    Func histogram("histogram"), cdf("cdf");
    histogram(b, c) = 0;
    histogram(clamp(data(r.x, r.y + c) / 4, 0, 15), c) += 1;
    cdf(b, c) = histogram(b, c);
    cdf(bins, c) += cdf(bins - 1, c);
    histogram.compute_root();
    Buffer<int> out(16, 3), again(16, 3);
    cdf.realize(out);
    cdf.realize_reference(Realization(again));
    for (int k = 0; k < 3; k++) {
        std::vector<int> counts(16);
        for (int j = 0; j < h; j++)
            for (int i = 0; i < w; i++)
                counts[static_cast<size_t>(std::clamp(data(i, j + k) / 4, 0, 15))]++;
        int sum = 0;
        for (int i = 0; i < 16; i++) {
            sum += counts[static_cast<size_t>(i)];
            CHECK(out(i, k) == sum);
            CHECK(again(i, k) == sum);
        }
    }
}

TEST_CASE("reductions over an empty domain", "[reduction]") {
    Var x("x");
    Param<int> n("n");
    n.set(0);
    RDom r(0, n, "r");
    Func f("f");
    Expr e = cast<uint8_t>(r + x);
    f(x) = Tuple(sum(e), product(e), maximum(e), minimum(e));
    Realization out = f.realize({3});
    const int expected[] = {0, 1, 0, 255};
    for (size_t i = 0; i < 4; i++) {
        Buffer<uint8_t> values(out[i]);
        CHECK(values.all_equal(static_cast<uint8_t>(expected[i])));
    }
}
