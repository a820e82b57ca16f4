// Programs of many nodes and many stages: right, and without recursion that a stack cannot hold.
#include <pipe/pipe.h>

#include <cmath>
#include <thread>
#include <vector>

#include <pthread.h>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe;

namespace {

Var x("x"), y("y");

int64_t wrong_elements(const Func &f, int width, int height) {
    Pipeline pipeline(f);
    Buffer<int> got(width, height), expected(width, height);
    pipeline.realize(got);
    pipeline.realize_reference(expected);
    int64_t wrong = 0;
    got.for_each_value([&](int &a, int &b) { wrong += a != b; }, expected);
    return wrong;
}

/// Calls `work` in a thread whose stack is small: 256 KiB.
void on_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_t thread;
    auto run = [](void *w) -> void * {
        (*static_cast<std::function<void()> *>(w))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("an expression of ten thousand nodes", "[differential][large]") {
    int64_t wrong = -1;
    on_small_stack([&] {
        Func f("f");
        Expr e = x;
        for (int i = 0; i < 5000; i++)
            e = (e ^ y) + i;
        f(x, y) = e;
        wrong = wrong_elements(f, 9, 3);
    });
    CHECK(wrong == 0);
}

TEST_CASE("a thousand inlined Funcs", "[differential][large]") {
    int64_t wrong = -1;
    on_small_stack([&] {
        std::vector<Func> stages;
        for (int i = 0; i < 1000; i++) {
            Func f;
            f(x, y) = i == 0 ? Expr(x + 7 * y) : (stages.back()(x, y) ^ x) + i;
            stages.push_back(f);
        }
        wrong = wrong_elements(stages.back(), 9, 3);
    });
    CHECK(wrong == 0);
}

// There are 2^40 ways through the arms.
TEST_CASE("forty selects, each in both arms of the next", "[differential]") {
    std::vector<Func> terms;
    Expr e = 0;
    for (int i = 0; i < 40; i++) {
        Func f;
        f(x, y) = x * i + y;
        f.compute_root();
        terms.push_back(f);
        e = select(x > i, e + f(x, y), e);
    }
    Func out("out");
    out(x, y) = e;
    for (bool vectors : {false, true}) {
        if (vectors)
            out.vectorize(x, 8, TailStrategy::GuardWithIf);
        CHECK(wrong_elements(out, 51, 2) == 0);
    }
}

// Cut into functions by codegen: parts_of; these are compiled at the same time: share_functions.
TEST_CASE("two hundred stages at root, or in one tile", "[differential][large]") {
    set_num_threads(3);
    for (bool fused : {false, true}) {
        Var xo, yo, xi, yi;
        std::vector<Func> stages;
        for (int i = 0; i < 200; i++) {
            Func f;
            if (i == 0) {
                f(x, y) = x * 3 + y;
            } else {
                Func before = stages.back();
                f(x, y) = (before(x, y) ^ before(x + i % 2, y)) + i;
            }
            stages.push_back(f);
        }
        Func out = stages.back();
        if (fused)
            out.tile(x, y, xo, yo, xi, yi, 16, 4).parallel(yo).vectorize(xi, 8);
        for (size_t i = 0; i + 1 < stages.size(); i++) {
            if (fused)
                stages[i].compute_at(out, xo).vectorize(x, 8);
            else
                stages[i].compute_root().vectorize(x, 8);
        }
        CHECK(wrong_elements(out, 37, 9) == 0);
    }
    set_num_threads(0);
}
