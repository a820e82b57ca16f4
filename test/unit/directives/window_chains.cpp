// Chains of sliding windows, each computed in the loop of the next: every row is computed once, however long
// the chain is.
#include <atomic>
#include <functional>
#include <map>
#include <vector>

#include "compare.h"

namespace {

constexpr int width = 4;

/// How often each row of each stage was computed, `width` elements each.
std::map<std::pair<int, int>, int> computed;

}  // namespace

extern "C" inline int pipe_count_row(int stage, int row, int value) {
    computed[{stage, row}]++;
    return value;
}
HalideExtern_3(int, pipe_count_row, int, int, int);

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), yo("yo"), yi("yi");

/// What one stage reads of the one before.
using Stencil = std::function<Expr(Func)>;

Expr three_rows(Func f) {
    return f(x, y - 1) + f(x, y) + f(x, y + 1);
}

/// Stages that each count their rows and slide in the loop `y` of the next.
struct Chain {
    std::vector<Func> f;

    Chain(int depth, const Stencil &stencil) : f(static_cast<size_t>(depth) + 1) {
        for (size_t k = 0; k < f.size(); k++) {
            Expr value = k == 0 ? x * 3 + y * y : stencil(f[k - 1]) % 1001;
            f[k](x, y) = pipe_count_row(static_cast<int>(k), y, value);
        }
        for (size_t k = 0; k + 1 < f.size(); k++)
            f[k].compute_at(f[k + 1], y);
    }
    void store_root() {
        for (Func &stage : f)
            stage.store_root();
    }
    Func &out() { return f.back(); }

    /// Realizes so many rows, and says how often the row was computed that was computed most often.
    int most_often(int height) {
        Buffer<int> got(width, height), expected(width, height);
        out().realize_reference(expected);
        computed.clear();
        out().realize(got);
        int most = 0;
        for (const auto &[row, elements] : computed)
            most = std::max(most, elements / width);
        for (int j = 0; j < height; j++)
            for (int i = 0; i < width; i++)
                REQUIRE(got(i, j) == expected(i, j));
        return most;
    }
};

}  // namespace

TEST_CASE("a chain of windows computes each row once", "[storage]") {
    for (int depth : {2, 3, 9, 40}) {
        Chain chain(depth, three_rows);
        chain.store_root();
        INFO("depth " << depth);
        for (int height : {1, 2, 7})
            CHECK(chain.most_often(height) == 1);
    }
}

TEST_CASE("a chain of windows in strips begins anew in each of them", "[storage]") {
    Chain chain(5, three_rows);
    chain.out().split(y, yo, yi, 8, TailStrategy::GuardWithIf);
    chain.f[4].compute_at(chain.out(), yi);
    for (size_t k = 0; k < 5; k++)
        chain.f[k].store_at(chain.out(), yo);
    // Two strips need each row around the line between them.
    CHECK(chain.most_often(8) == 1);
    CHECK(chain.most_often(16) == 2);
    chain.most_often(19);
}

TEST_CASE("a window that is stored further out than its consumer begins anew with it",
          "[storage]") {
    Chain chain(4, three_rows);
    chain.out().split(y, yo, yi, 8, TailStrategy::GuardWithIf);
    chain.f[3].compute_at(chain.out(), yi);
    for (size_t k : {1, 2, 3})
        chain.f[k].store_at(chain.out(), yo);
    chain.f[0].store_root();
    CHECK(chain.most_often(16) == 2);
    Chain inner(4, three_rows);  // and the other way round
    inner.out().split(y, yo, yi, 8, TailStrategy::GuardWithIf);
    inner.f[3].compute_at(inner.out(), yi);
    for (size_t k : {1, 2, 3})
        inner.f[k].store_root();
    inner.f[0].store_at(inner.out(), yo);
    inner.most_often(16);
}

TEST_CASE("chains of windows that move by more or by less than their consumer", "[storage]") {
    const Stencil down = [](Func f) { return f(x, 2 * y) + f(x, 2 * y + 1) + f(x, 2 * y + 2); };
    const Stencil up = [](Func f) { return f(x, y / 2) + f(x, (y + 1) / 2); };
    const Stencil apart = [](Func f) { return f(x, 4 * y - 1) + f(x, 4 * y + 1); };
    const Stencil clamped = [](Func f) {
        return f(x, clamp(y - 1, 0, 15)) + f(x, clamp(y, 0, 15)) + f(x, clamp(y + 1, 0, 15));
    };
    for (const Stencil &stencil : {down, up, apart, clamped}) {
        Chain chain(4, stencil);
        chain.store_root();
        for (int height : {1, 2, 7, 16})
            chain.most_often(height);
    }
    for (const Stencil &stencil : {down, up}) {
        Chain chain(6, stencil);
        chain.store_root();
        CHECK(chain.most_often(9) == 1);
    }
}

TEST_CASE("a chain of windows with updates", "[storage]") {
    std::vector<Func> f(7);
    f[0](x, y) = x + y * y;
    for (size_t k = 1; k < f.size(); k++) {
        f[k](x, y) = three_rows(f[k - 1]) % 1001;
        f[k](x, y) += f[k - 1](x, y + 2) % 7;
    }
    for (size_t k = 0; k + 1 < f.size(); k++)
        f[k].store_root().compute_at(f[k + 1], y);
    check_equal(f.back(), {{0, width}, {-2, 9}});
}
