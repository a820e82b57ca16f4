// Sums of bytes and of products of int16, of which the processor adds up neighboring lanes by one instruction: the
// values, at the ends of the types and at tails, and the instructions.
#include <cstring>
#include <functional>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/targets.h"
#include "test/support/temp_folder.h"

using namespace Pipe;

namespace {

/// Random, and often at the ends of the type.
template <typename T> Buffer<T> operand(int width, int height, uint32_t seed) {
    Buffer<T> image(width, height);
    uint32_t state = seed;
    image.fill([&](int, int) {
        state = state * 1664525u + 1013904223u;
        const uint32_t kind = state >> 30;
        return kind == 0   ? std::numeric_limits<T>::min()
               : kind == 1 ? std::numeric_limits<T>::max()
                           : static_cast<T>(state >> 12);
    });
    return image;
}

/// A sum over rows of two operands.
struct Form {
    const char *name, *instruction;  ///< "" where none is expected
    Type sum;
    std::function<Expr(Expr, Expr)> term;
    Buffer<void> a, b;
};

constexpr int width = 80, height = 9;

std::vector<Form> forms() {
    const Buffer<uint8_t> a8 = operand<uint8_t>(width, height, 1),
                          b8 = operand<uint8_t>(width, height, 2);
    const Buffer<int8_t> s8 = operand<int8_t>(width, height, 3);
    const Buffer<int16_t> a16 = operand<int16_t>(width, height, 4),
                          b16 = operand<int16_t>(width, height, 5);
    auto wide = [](const Expr &e) { return cast<int>(e); };
    return {
        {"absd", "psadbw", UInt(16), [](Expr a, Expr b) { return cast<uint16_t>(absd(a, b)); }, a8,
         b8},
        {"abs", "psadbw", Int(32),
         [=](Expr a, Expr b) { return cast<int>(abs(wide(a) - wide(b))); }, a8, b8},
        {"bytes", "psadbw", UInt(64), [](Expr a, Expr) { return cast<uint64_t>(a); }, a8, b8},
        {"count", "psadbw", Int(32), [](Expr a, Expr b) { return cast<int>(a > b); }, a8, b8},
        {"int16", "pmadd", Int(32), [=](Expr a, Expr b) { return wide(a) * wide(b); }, a16, b16},
        {"bytes of two kinds", "pmadd", Int(32), [=](Expr a, Expr b) { return wide(a) * wide(b); },
         a8, s8},
        {"square", "pmadd", Int(32), [=](Expr a, Expr) { return (wide(a) - 7) * (wide(a) - 7); },
         a8, b8},
        {"one int16", "pmadd", Int(32), [=](Expr a, Expr) { return wide(a); }, a16, b16},
        {"float", "", Float(32), [](Expr a, Expr b) { return cast<float>(a) * cast<float>(b); }, a8,
         b8}};
}

std::string assembly(const Func &f, const Target &target) {
    const TempFolder folder;
    Func(f).compile_to_assembly(folder / "f.s", {}, "f", target);
    return folder.read("f.s");
}

/// The Func gives what the definition says; its code has the instruction.
void check(const Form &form, Func f, std::vector<int> size, bool has_instruction) {
    const Realization right = f.realize_reference(size);
    for (const Target &target : testing::runnable_targets()) {
        INFO(target.to_string());
        const Realization got = f.realize(size, target);
        REQUIRE(got[0].size_in_bytes() == right[0].size_in_bytes());
        CHECK(std::memcmp(got[0].data(), right[0].data(), got[0].size_in_bytes()) == 0);
        if (target.arch != Target::X86 || !has_instruction || !*form.instruction)
            continue;
        const std::string text = assembly(f, target);
        // (vpdpwssd adds the sums, too.)
        CHECK((text.find(form.instruction) != std::string::npos ||
               (form.instruction == std::string("pmadd") &&
                text.find("vpdpwssd") != std::string::npos)));
    }
}

}  // namespace

TEST_CASE("sums along the lanes of narrow terms", "[narrow_sums]") {
    Var y("y");
    for (const Form &form : forms())
        for (int extent : {80, 77, 16})
            for (bool atomic : {false, true})
                for (int lanes : {16, 64}) {
                    if (form.sum.is_float() && !atomic)
                        continue;
                    INFO(form.name << ", extent " << extent << ", atomic " << atomic << ", lanes "
                                   << lanes);
                    RDom r(0, extent, 0, 3, "r");
                    RVar ro("ro"), ri("ri");
                    Func f("f");
                    f(y) = cast(form.sum, y);
                    f(y) += form.term(form.a(r.x, y + r.y), form.b(r.x, y + r.y));
                    Stage update = f.update();
                    if (atomic)
                        update.atomic();
                    update.split(r.x, ro, ri, lanes, TailStrategy::GuardWithIf).vectorize(ri);
                    check(form, f, {height - 2}, extent % lanes == 0);
                }
}

TEST_CASE("lanes along a Var and an RVar, whose terms are added up", "[narrow_sums]") {
    Var x("x"), y("y"), xo("xo"), xi("xi");
    for (const Form &form : forms())
        for (int extent : {8, 9})
            for (int size : {64, 53})
                for (int terms : {2, 8}) {
                    INFO(form.name << ", extent " << extent << ", size " << size << ", terms "
                                   << terms);
                    RDom r(0, extent, "r");
                    RVar ro("ro"), ri("ri");
                    Func f("f");
                    f(x, y) = cast(form.sum, x);
                    f(x, y) += form.term(form.a(x + y, r), form.b(2 * y, r));
                    f.update()
                        .split(r, ro, ri, terms, TailStrategy::GuardWithIf)
                        .split(x, xo, xi, 16, TailStrategy::GuardWithIf)
                        .reorder(ri, xi, ro, xo, y)
                        .atomic()
                        .vectorize(ri)
                        .vectorize(xi);
                    const bool pairs = form.instruction == std::string("pmadd") || terms == 8;
                    check(form, f, {size, 3}, extent == 8 && pairs);
                }
}

TEST_CASE("sums of other operators along a Var and an RVar", "[narrow_sums]") {
    Var x("x"), xo("xo"), xi("xi");
    const Buffer<uint8_t> a = operand<uint8_t>(64, 16, 6);
    for (int kind : {0, 1, 2, 3})
        for (int extent : {16, 13}) {
            INFO("kind " << kind << ", extent " << extent);
            RDom r(0, extent, "r");
            RVar ro("ro"), ri("ri");
            Func f("f");
            const Expr term = cast<int>(a(x, r));
            f(x) = x;
            f(x) = kind == 0   ? max(f(x), term)
                   : kind == 1 ? min(f(x), term)
                   : kind == 2 ? f(x) - term
                               : f(x) | term;
            f.update()
                .split(r, ro, ri, 4, TailStrategy::GuardWithIf)
                .split(x, xo, xi, 8, TailStrategy::GuardWithIf)
                .reorder(ri, xi, ro, xo)
                .atomic()
                .vectorize(ri)
                .vectorize(xi);
            for (int size : {64, 50}) {
                const Buffer<int> got = f.realize({size}), right = f.realize_reference({size});
                for (int i = 0; i < size; i++)
                    REQUIRE(got(i) == right(i));
            }
        }
}

TEST_CASE("two vectorized loops of which the inner one says what is stored", "[narrow_sums]") {
    Var x("x"), y("y"), xo("xo"), xi("xi");
    const Buffer<uint8_t> a = operand<uint8_t>(64, 16, 7);
    for (int size : {64, 50}) {
        RDom r(0, 16, "r");
        RVar ro("ro"), ri("ri");
        Func f("f");
        f(x, y) = x + y;
        f(x, r) += cast<int>(a(x, r));
        f.update()
            .split(r, ro, ri, 8)
            .split(x, xo, xi, 8, TailStrategy::GuardWithIf)
            .reorder(ri, xi, ro, xo)
            .vectorize(ri)
            .vectorize(xi);
        const Buffer<int> got = f.realize({size, 16}), right = f.realize_reference({size, 16});
        got.for_each_element([&](int i, int j) { REQUIRE(got(i, j) == right(i, j)); });
    }
}
