// Random numbers: the same on every schedule, and looking random.
#include <cmath>
#include <set>

#include "support/everywhere.h"
#include "support/require_message.h"
#include "support/targets.h"

using namespace Pipe;

namespace {

/// Those of the reference are found under all schedules, at all sizes and places; gives them.
template <typename T> Buffer<T> check_same(const std::function<Func()> &make) {
    Buffer<T> first(200, 100);
    first.set_min(-50, -20);
    make().realize_reference(Realization(first));
    everywhere::check<T>(make, [&](int x, int y) { return first(x, y); });
    return first;
}

}  // namespace

TEST_CASE("random numbers are the same on every schedule", "[random]") {
    Var x("x"), y("y");
    auto noise_of = [&](Expr (*random)(const Expr &)) {
        Func f("noise");
        f(x, y) = random(17);
        return f;
    };
    auto make = [&] { return noise_of(random_uint); };
    Buffer<uint32_t> first = check_same<uint32_t>(make);
    check_same<int>([&] { return noise_of(random_int); });
    check_same<float>([&] { return noise_of(random_float); });
    // In another Func, inlined or not, tiled and in another order.
    Func f = make(), g("g");
    g(x, y) = f(x, y) + cast<uint32_t>(1);
    f.compute_root().reorder(y, x);
    Buffer<uint32_t> out = g.realize({40, 40});
    for (int j = 0; j < 40; j++)
        for (int i = 0; i < 40; i++)
            REQUIRE(out(i, j) == first(i, j) + 1);
}

TEST_CASE("random numbers are the same on every target", "[random]") {
    Var x("x"), y("y");
    Func f("noise");
    f(x, y) = Tuple(random_uint(17), random_int(), random_float(x));
    f.vectorize(x, 8, TailStrategy::GuardWithIf);
    auto fresh = [] {
        std::vector<Buffer<void>> parts{Buffer<uint32_t>(33, 7), Buffer<int>(33, 7),
                                        Buffer<float>(33, 7)};
        for (Buffer<void> &b : parts)
            b.set_min(-9, 100);
        return parts;
    };
    auto expected = fresh();
    f.realize_reference(Realization(expected));
    std::vector<Target> targets = testing::runnable_targets();
    for (auto feature : {Target::FastMath, Target::QuickCompile})
        targets.push_back(get_host_target().with_feature(feature));
    for (const Target &target : targets) {
        INFO(target.to_string());
        auto got = fresh();
        f.realize(Realization(got), target);
        Buffer<uint32_t> a(got[0]), a0(expected[0]);
        Buffer<int> b(got[1]), b0(expected[1]);
        Buffer<float> c(got[2]), c0(expected[2]);
        int64_t wrong = 0;
        a.for_each_element([&](int i, int j) {
            wrong += a(i, j) != a0(i, j) || b(i, j) != b0(i, j) || c(i, j) != c0(i, j);
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("random floats lie in [0, 1) evenly, without pattern", "[random]") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = random_float(3);
    g(x, y) = random_float(4);
    const int n = 256;
    Buffer<float> a = f.realize({n, n}), b = g.realize({n, n});
    double mean = 0, square = 0, along_x = 0, along_y = 0, between = 0;
    int bins[16] = {};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float v = a(i, j);
            REQUIRE((v >= 0 && v < 1));
            double d = v - 0.5;
            mean += d, square += d * d, bins[static_cast<int>(v * 16)]++;
            along_x += d * (a((i + 1) % n, j) - 0.5), along_y += d * (a(i, (j + 1) % n) - 0.5);
            between += d * (b(i, j) - 0.5);
        }
    const double count = n * n, deviation = 1 / std::sqrt(count);  // of a mean, times 12 or so
    CHECK(std::fabs(mean / count) < 5 * deviation / std::sqrt(12.0));
    CHECK(std::fabs(square / count - 1 / 12.0) < 0.002);
    for (double correlation : {along_x, along_y, between})
        CHECK(std::fabs(correlation / count * 12) < 5 * deviation);
    for (int bin : bins)
        CHECK(std::abs(bin - n * n / 16) < 5 * std::sqrt(count / 16));
}

TEST_CASE("a copy is the same number, another call is another", "[random]") {
    Var x("x");
    Func f("f");
    Expr a = random_int(), b = random_int(), c = random_int(5), d = random_int(5);
    f(x) = Tuple(a == a, a == b, c == d, a == c);
    Realization r = f.realize({64});
    Buffer<bool> same(r[0]), other(r[1]), seed(r[2]), mixed(r[3]);
    CHECK(same.all_equal(true));
    CHECK(other.all_equal(false));
    CHECK(seed.all_equal(true));
    CHECK(mixed.all_equal(false));
}

TEST_CASE("random numbers differ by definition and by Func, and along RDoms", "[random]") {
    Var x("x");
    RDom r(0, 100, "r");
    Func f("f"), g("g"), h("h");
    f(x) = random_uint(1);
    g(x) = random_uint(1);
    h(x) = cast<uint32_t>(0);
    h(r) = random_uint(1);
    Buffer<uint32_t> a = f.realize({100}), b = g.realize({100}), c = h.realize({100});
    std::set<uint32_t> values;
    for (int i = 0; i < 100; i++)
        for (auto *buffer : {&a, &b, &c})
            values.insert((*buffer)(i));
    CHECK(values.size() == 300);
    Buffer<uint32_t> again(100);
    h.realize_reference(Realization(again));
    for (int i = 0; i < 100; i++)
        CHECK(again(i) == c(i));
    Param<int> seed("seed");
    Func k("k");
    k(x) = random_uint(seed);
    seed.set(1);
    Buffer<uint32_t> one = k.realize({8});
    seed.set(2);
    Buffer<uint32_t> two = k.realize({8});
    for (int i = 0; i < 8; i++)
        CHECK(one(i) != two(i));
}

TEST_CASE("a condition of an RDom may be random", "[random]") {
    Var x("x");
    RDom r(0, 4000, "r");
    r.where(random_float(9) < 0.25f);
    Func f("f");
    f(x) = 0;
    f(x) += select(r >= 0, 1, 0);
    Buffer<int> out(3), again(3);
    f.realize(out);
    f.realize_reference(Realization(again));
    for (int i = 0; i < 3; i++) {
        CHECK(out(i) == again(i));
        CHECK(std::abs(out(i) - 1000) < 140);
    }
}

TEST_CASE("misuse of random numbers", "[random][error]") {
    require_message<CompileError>([] { random_float(Expr(0.5f)); }, {"random", "seed", "integer"});
}
