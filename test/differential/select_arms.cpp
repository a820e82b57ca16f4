// A select whose condition bounds what its arms read: nothing else is computed, asked of an input,
// or read. Inputs hold just what is read, between pages that may not be touched.
#include <pipe/pipe.h>

#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "support/guarded_memory.h"

using namespace Pipe;
using testing::GuardedBuffer;

namespace {

Var x("x"), y("y");

struct Shape {
    int width, left;
};
const Shape shapes[] = {{1, 0}, {7, -3}, {16, 5}, {33, -20}};

/// f of an input whose element at i is 3 * i + 1.
struct Form {
    const char *name;
    int first, last;  ///< all that it may read
    std::function<Expr(const std::function<Expr(Expr)> &in)> definition;
};

/// Numbers that say what to read, most of them far outside of any image.
Expr wild(const Buffer<int> &numbers, const Expr &i) {
    return numbers(clamp(i, 0, numbers.width() - 1));
}

std::vector<Form> forms(const Buffer<int> &numbers, const Buffer<uint8_t> &bytes) {
    return {
        {"an end", -100, 9, [](auto in) { return select(x < 10, in(x), -1); }},
        {"used in a formula", -100, 9,
         [](auto in) { return 2 * select(x < 10, in(x) + x, x) - 1; }},
        {"two ends", -2, 4, [](auto in) { return select(x >= -2 && x <= 4, in(x), x); }},
        {"the other arm", -100, 3, [](auto in) { return select(x > 3, 0, in(x)); }},
        {"several arms", 0, 8,
         [](auto in) { return select(x < 0, -x, x < 5, in(x), x < 10, in(13 - x), 7 * x); }},
        {"a sum", -3, 11, [](auto in) { return select(x + y < 12 && x + y > -4, in(x + y), y); }},
        {"one in another", -1, 5,
         [](auto in) { return select(x > -2, select(x < 6, in(x), 1), select(x < -8, 2, 3)); }},
        {"the number read, in bounds", 0, 9,
         [numbers](auto in) {
             Expr i = wild(numbers, x);
             return select(i >= 0 && i < 10, in(i), -i);
         }},
        {"a byte", 0, 9,
         [bytes](auto in) {
             Expr i = bytes(clamp(x, 0, bytes.width() - 1));
             return select(i < 10, in(cast<int>(i)), -1);
         }},
        {"a clamp of data", 3, 7,
         [numbers](auto in) {
             Expr i = wild(numbers, x);
             return in(select(i<3, 3, i> 7, 7, i));
         }},
        {"a clamp of data, from above", 3, 7,
         [numbers](auto in) {
             Expr i = wild(numbers, x);
             return in(select(i >= 3, select(i <= 7, i, 7), 3));
         }},
    };
}

/// `inner` is what f reads, if that is a Func.
using Schedule = std::function<void(Func f, Func inner)>;
const std::pair<const char *, Schedule> ways[] = {
    {"as defined", [](Func, Func) {}},
    {"vectors", [](Func f, Func) { f.vectorize(x, 8, TailStrategy::GuardWithIf); }},
    {"vectors of rows", [](Func f, Func) { f.vectorize(y, 4, TailStrategy::GuardWithIf); }},
    {"unrolled", [](Func f, Func) { f.unroll(x, 3, TailStrategy::GuardWithIf); }},
    {"parallel", [](Func f, Func) { f.parallel(y); }},
    {"inner at root",
     [](Func f, Func inner) {
         inner.compute_root().vectorize(x, 4, TailStrategy::GuardWithIf);
         f.vectorize(x, 8, TailStrategy::GuardWithIf);
     }},
    {"inner at a row", [](Func f, Func inner) { inner.compute_at(f, y); }},
    {"inner at a point", [](Func f, Func inner) { inner.compute_at(f, x).store_root(); }},
};

int64_t wrong_elements(Func f, const Shape &s) {
    std::vector<std::pair<int, int>> shape{{s.left, s.width}, {-1, 3}};
    GuardedBuffer got(Int(32), shape, 0, false), expected(Int(32), shape, 0, false);
    testing::GuardedContext context;
    f.realize(&context, Realization(got.buffer));
    CHECK(context.overrun() == 0);
    Pipeline(f).realize_reference(Realization(expected.buffer));
    int64_t wrong = 0;
    Buffer<int>(got.buffer)
        .for_each_value([&](int a, int b) { wrong += a != b; }, Buffer<int>(expected.buffer));
    return wrong;
}

/// `stored`: f reads a Func that reads the input.
void check(const Form &form, bool stored, const Schedule &schedule) {
    ImageParam in(Int(32), 1, "in");
    Func inner("inner"), f("f");
    inner(x) = in(x);
    f(x, y) = form.definition([&](Expr i) { return stored ? Expr(inner(i)) : in(i); });
    schedule(f, inner);
    for (const Shape &s : shapes) {
        INFO("width " << s.width << " from " << s.left);
        in.reset();
        Buffer<void> shape(Int(32), {s.width, 3});
        shape.set_min({s.left, -1});
        f.infer_input_bounds(Realization(shape));
        const Buffer<int> asked = in.get();
        const bool any = asked.width() > 0;
        CHECK((!any || (asked.min(0) >= form.first && asked.max(0) <= form.last)));
        int first = any ? static_cast<int>(asked.min(0)) : form.first;
        GuardedBuffer exact(Int(32), {{first, any ? static_cast<int>(asked.width()) : 1}}, 0,
                            s.width % 2 == 0);
        Buffer<int>(exact.buffer).for_each_element([&](int i) {
            Buffer<int>(exact.buffer)(i) = 3 * i + 1;
        });
        in.set(exact.buffer);
        CHECK(wrong_elements(f, s) == 0);
    }
}

}  // namespace

TEST_CASE("an arm of a select reads nothing where its condition does not choose it",
          "[differential]") {
    Buffer<int> numbers(25);
    numbers.fill([](int i) {
        return i % 3 == 0 ? 1000000000 : i % 3 == 1 ? -(i % 20) * 100000000 : i % 10;
    });
    Buffer<uint8_t> bytes(25);
    bytes.fill([](int i) { return i * 37; });
    int refused = 0;
    for (const Form &form : forms(numbers, bytes))
        for (const auto &[how, schedule] : ways)
            for (bool stored : {false, true}) {
                if (!stored && std::string(how).starts_with("inner"))
                    continue;
                INFO(form.name << ", " << how << (stored ? ", of a Func" : ", of an input"));
                try {
                    check(form, stored, schedule);
                } catch (const CompileError &e) {  // it is read both ways
                    CHECK(std::string(how) == "inner at a point");
                    CHECK(std::string(e.what()).find("cannot slide") != std::string::npos);
                    refused++;
                }
            }
    CHECK(refused <= 2);
}
