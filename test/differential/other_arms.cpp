// Conditions on a loop's variable that choose between arms of which none is usual: each has a loop of its own
// (lower/partition_loops.h). And partial vectors of elements that are far apart.
#include <functional>
#include <string>
#include <vector>

#include "against_reference.h"
#include "support/targets.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

struct Form {
    const char *name;
    std::function<Expr(const Expr &i, const Func &a, const Func &b)> definition;
};
const Form forms[] = {
    {"<", [](auto &i, auto &a, auto &b) { return select(i < 21, a(x, y), b(x + 7, y)); }},
    {"<=", [](auto &i, auto &a, auto &b) { return select(i <= 16, a(x, y), b(y, x)); }},
    {">", [](auto &i, auto &a, auto &b) { return select(i > 5, a(x, y), b(x, y)); }},
    {">=", [](auto &i, auto &a, auto &b) { return select(i >= 24, a(x, y), b(x - 24, y)); }},
    {"!", [](auto &i, auto &a, auto &b) { return select(!(i < 13), a(x, y), b(x, y)); }},
    {"&&", [](auto &i, auto &a, auto &b) { return select(i >= 9 && i < 30, a(x, y), b(x, y)); }},
    {"&& reversed",
     [](auto &i, auto &a, auto &b) { return select(i < 30 && i >= 9, a(x, y), b(x, y)); }},
    {"||", [](auto &i, auto &a, auto &b) { return select(i < 9 || i > 30, a(x, y), b(x, y)); }},
    {"empty &&",
     [](auto &i, auto &a, auto &b) { return select(i >= 30 && i < 9, a(x, y), b(x, y)); }},
    {"three arms",
     [](auto &i, auto &a, auto &b) {
         return select(i < 10, a(x, y), i < 26, b(x, y), a(x, y) * b(x - 26, y));
     }},
    {"five arms",
     [](auto &i, auto &a, auto &b) {
         return select(i >= 33, a(x, y), i >= 25, b(x, y), i >= 12, a(y, x), i >= 3, b(y, x), i);
     }},
    {"one in another",
     [](auto &i, auto &a, auto &b) {
         return select(i < 20, select(i < 8, a(x, y), b(x, y)), select(i < 31, 3, a(y, x)));
     }},
    {"different ones",
     [](auto &i, auto &a, auto &b) {
         return select(i < 12, a(x, y), b(x, y)) + select(i < 24, 5, b(y, x)) +
                select(2 * i > 40, a(x, y), 7);
     }},
};

const std::pair<const char *, std::function<void(Func f)>> ways[] = {
    {"as defined", [](Func) {}},
    {"vectors", [](Func f) { f.vectorize(x, 8, TailStrategy::GuardWithIf); }},
    {"vectors, shifted", [](Func f) { f.vectorize(x, 4, TailStrategy::ShiftInwards); }},
    {"vectors of rows", [](Func f) { f.vectorize(y, 4, TailStrategy::GuardWithIf); }},
    {"parallel", [](Func f) { f.vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y); }},
    {"columns outside", [](Func f) { f.reorder(y, x).parallel(x); }},
    {"tiles",
     [](Func f) {
         Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
         f.tile(x, y, xo, yo, xi, yi, 12, 3, TailStrategy::GuardWithIf).vectorize(xi, 4);
     }},
};

}  // namespace

TEST_CASE("each arm of a condition on a loop's variable, in vectors and loops") {
    const testing::GuardedBuffer image = noise<int>({{-40, 100}, {-40, 100}});
    Buffer<int> pixels(image.buffer);
    for (const auto &[form, definition] : forms)
        for (const auto &[way, schedule] : ways)
            for (bool of_rows : {false, true}) {
                Func a("a"), b("b"), f("f");
                a(x, y) = pixels(x, y);
                b(x, y) = pixels(x, y) * 3 + 1;
                f(x, y) = definition(Expr(of_rows ? y : x), a, b);
                schedule(f);
                const Pipeline pipeline(f);
                INFO(form << ", " << way << (of_rows ? ", of rows" : ""));
                for (const Shape &shape :
                     {Shape{{0, 40}, {0, 37}}, Shape{{5, 11}, {-3, 17}}, Shape{{-9, 50}, {13, 21}},
                      Shape{{22, 4}, {22, 6}}, Shape{{36, 4}, {30, 9}}})
                    CHECK(wrong_elements(pipeline, {shape}) == 0);
            }
}

TEST_CASE("a value that all lanes of a partial vector share, in the arm of some of them") {
    const testing::GuardedBuffer image = noise<int>({{0, 40}, {0, 40}});
    Buffer<int> pixels(image.buffer);
    for (const Target &target : testing::runnable_targets()) {
        Func f("f");
        f(x, y) = select(x < 13, pixels(x, y) * pixels(y, y), pixels(x - 13, y) + pixels(y, 3));
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        for (int width : {3, 13, 21, 40})
            check_against_reference<int>(f, {width, 20}, target);
    }
}

TEST_CASE("partial vectors of elements that are far apart read no others") {
    Var i("i");
    for (const Target &target : testing::runnable_targets())
        for (int apart : {5, 8, 16, 50})
            for (int width : {1, 7, 32, 36, 40}) {
                const testing::GuardedBuffer bytes = noise<uint8_t>({{0, apart * width}, {0, 5}}),
                                             words = noise<uint16_t>({{0, apart * width}, {0, 5}});
                Func f("f"), g("g");
                RDom r(0, apart, "r");
                f(x, y) = sum(cast<int>(Buffer<uint8_t>(bytes.buffer)(apart * x + r, y)));
                g(x, y) = sum(cast<int>(Buffer<uint16_t>(words.buffer)(apart * x + r, y)));
                for (Func h : {f, g}) {
                    h.vectorize(x, 32, TailStrategy::GuardWithIf);
                    INFO(target.to_string() << ", " << apart << " apart, " << width);
                    check_against_reference<int>(h, {width, 5}, target);
                }
            }
}
