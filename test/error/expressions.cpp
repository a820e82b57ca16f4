// What is done wrong in expressions. They know no line of their own: a message says after which
// line the mistake came, what the operands are, and what to do. One misuse per section.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

struct Operands {
    Var x{"x"};
    Func f{"f"};
    Expr i = x, u8 = cast<uint8_t>(x), real = cast<float>(x), yes = x > 1, none;
    /// The last line that is known is that of the call of f.
    void require_near(const std::function<void()> &misuse, std::vector<std::string> parts) {
        parts.push_back("at or after");
        parts.push_back("@");
        require_message<CompileError>(misuse, parts);
    }
    Operands() {
        f(x) = cast<uint8_t>(x);
        here(), f(x);
    }
};

extern "C" int32_t pipe_test_add(int32_t a, uint8_t b) {
    return a + b;
}
HalideExtern_2(int32_t, pipe_test_add, int32_t, uint8_t);

}  // namespace

TEST_CASE_METHOD(Operands, "constants that do not fit", "[error][expressions]") {
    SECTION("too large") {
        require_near([&] { u8 + 256; },
                     {"Operator +", "uint8(x)", "256", "does not fit into uint8", "wider"});
    }
    SECTION("negative") {
        require_near([&] { u8 * -1; }, {"Operator *", "-1", "does not fit into uint8", "wider"});
    }
    SECTION("as an arm of select") {
        require_near([&] { select(yes, u8, 300); },
                     {"select", "300", "does not fit into uint8", "wider type"});
    }
    SECTION("as a bound of clamp") {
        require_near([&] { clamp(u8, -5, 3); },
                     {"clamp", "-5", "does not fit into uint8", "Cast the value first"});
    }
    SECTION("as a bound of clamp that is a float") {
        require_near([&] { clamp(i, 0, 1.5f); },
                     {"clamp", "'1.5f'", "does not fit into int32", "Cast the value first"});
    }
}

TEST_CASE_METHOD(Operands, "operands of wrong types", "[error][expressions]") {
    SECTION("&& of a number") {
        require_near([&] { i &&yes; },
                     {"Operator &&", "'x' (int32)", "'x > 1' (bool)", "Compare with 0"});
    }
    SECTION("! of a number") {
        require_near([&] { !i; }, {"Operator !", "int32", "x == 0"});
    }
    SECTION("+ of bools") {
        require_near([&] { yes + yes; }, {"Operator +", "(bool)", "on numbers", "Cast them"});
    }
    SECTION("a number and a bool") {
        require_near([&] { yes + 1; }, {"Operator +", "'x > 1' (bool) and '1' (int32)",
                                        "on numbers", "Cast the bool"});
        require_near([&] { 1 - yes; }, {"Operator -", "'1' (int32)", "Cast the bool"});
        require_near([&] { yes * 2; }, {"Operator *", "'2' (int32)", "Cast the bool"});
        require_near([&] { max(yes, 0); }, {"max", "'0' (int32)", "Cast the bool"});
        require_near([&] { clamp(yes, 0, 1); }, {"clamp", "'x > 1' (bool)", "Cast the bool"});
    }
    SECTION("- of a bool") {
        require_near([&] { -yes; }, {"Unary operator -", "(bool)", "Use !"});
    }
    SECTION("& of a float") {
        require_near([&] { real &i; },
                     {"Operator &", "(float32)", "works on integers", "Cast them first"});
    }
    SECTION("~ of a float") {
        require_near([&] { ~real; }, {"Operator ~", "(float32)", "works on integers", "Cast it"});
    }
    SECTION("a shift by a float") {
        require_near([&] { i << real; }, {"Operator <<", "(float32)", "integers", "Cast them"});
    }
    SECTION("select by a number") {
        require_near([&] { select(i, 1, 2); }, {"select", "'x' (int32)", "must be bool", "x != 0"});
    }
    SECTION("select of two types") {
        require_near([&] { select(yes, i, real); },
                     {"select", "'x' (int32)", "(float32)", "one type", "Cast one of them"});
    }
    SECTION("a cast to no type") {
        require_near([&] { cast(Type(), i); },
                     {"cast", "'x' (int32)", "undefined type", "Use a numeric type"});
    }
    SECTION("a cast to a handle") {
        require_near([&] { cast(Handle(), i); }, {"cast", "handle", "Use a numeric type"});
    }
    SECTION("reinterpret to another size") {
        require_near(
            [&] { reinterpret<int64_t>(real); },
            {"reinterpret", "(float32)", "size differs from that of int64", "as many bits"});
    }
}

TEST_CASE_METHOD(Operands, "bounds of clamp of other types", "[error][expressions]") {
    ImageParam in(UInt(8), 2, "in");
    here(), f(x);
    SECTION("an int for a float") {
        require_near([&] { clamp(real, 0, in.width() - 1); },
                     {"clamp", "'float32(x)' (float32)", "'in.width() - 1' (int32)",
                      "float32 does not represent all values of int32",
                      "Cast the bound to float32."});
    }
    SECTION("a double for a float") {
        require_near([&] { clamp(real, 0, cast<double>(x)); },
                     {"float32 does not represent all values of float64",
                      "Cast the bound to float32, or the value to float64."});
    }
    SECTION("an int for a byte") {
        require_near([&] { clamp(u8, 0, in.height() - 1); },
                     {"'in.height() - 1' (int32)", "uint8 does not represent all values of int32",
                      "Cast the bound to uint8, or the value to int32."});
    }
    SECTION("a float for an int") {
        require_near([&] { clamp(i, 0, real); },
                     {"Cast the bound to int32, or the value to float32."});
    }
}

TEST_CASE_METHOD(Operands, "sizes of images", "[error][expressions]") {
    ImageParam in(UInt(8), 3, "in");
    here(), f(x);
    SECTION("of an input") {
        require_near([&] { !(in.width() + in.height() + in.channels()); },
                     {"'in.width() + in.height() + in.dim(2).extent()' (int32)"});
        require_near([&] { !(in.dim(0).min() + in.dim(1).stride()); },
                     {"'in.dim(0).min() + int32(in.dim(1).stride())' (int32)"});
    }
    SECTION("of an output") {
        require_near([&] { !f.output_buffer().width(); }, {"'f.width()' (int32)"});
    }
}

TEST_CASE_METHOD(Operands, "undefined operands", "[error][expressions]") {
    SECTION("of an operator") {
        require_near([&] { i + none; },
                     {"Operator +", "'x' (int32)", "an undefined Expr", "Give both a value"});
    }
    SECTION("of a function") {
        require_near([&] { sqrt(none); }, {"sqrt", "undefined Expr", "Give it a value"});
    }
    SECTION("asked for its type") {
        require_near([&] { none.type(); }, {"undefined Expr", "give it a value"});
    }
    SECTION("of select") {
        require_near([&] { select(none, i, i); }, {"select", "undefined", "Give it a value"});
    }
}

TEST_CASE_METHOD(Operands, "functions", "[error][expressions]") {
    SECTION("fma of integers") {
        require_near([&] { fma(i, i, i); }, {"fma", "'x' (int32)", "works on floats", "Cast it"});
    }
    SECTION("reductions of bools") {
        RDom r(0, 4);
        const Expr is_odd = f(x + r) % 2 == 1;
        require_near([&] { here(), sum(is_odd); },
                     {"sum", "(bool)", "on numbers", "Cast the bool"});
        require_near([&] { here(), product(is_odd); }, {"product", "Cast the bool"});
        require_near([&] { here(), maximum(r, is_odd); }, {"maximum", "Cast the bool"});
        require_near([&] { here(), minimum(r, is_odd); }, {"minimum", "Cast the bool"});
        require_near([&] { here(), saturating_sum(is_odd); }, {"saturating_sum", "Cast the bool"});
    }
    SECTION("functions that take bools as numbers") {
        CHECK(pow(yes, 2).type() == Float(32));
        CHECK(saturating_cast<uint8_t>(yes).type() == UInt(8));
    }
    SECTION("fast_exp of a double") {
        require_near([&] { fast_exp(cast<double>(x)); }, {"fast_exp", "(float64)", "Cast"});
    }
    SECTION("lerp by a signed weight") {
        require_near([&] { lerp(u8, u8, i); }, {"lerp", "unsigned or float", "Cast it"});
    }
    SECTION("lerp of two types") {
        require_near([&] { lerp(u8, i, real); }, {"lerp", "uint8", "int32", "Cast one of them"});
    }
    SECTION("lerp beyond its ends") {
        require_near([&] { lerp(u8, u8, 1.5f); }, {"lerp", "1.5", "in [0, 1]", "Divide"});
    }
    SECTION("a widening operation of 64 bits") {
        require_near([&] { widening_mul(cast<int64_t>(x), cast<int64_t>(x)); },
                     {"widening_mul", "int64", "no type has twice as many bits", "narrower"});
    }
    SECTION("a saturating operation of floats") {
        require_near([&] { saturating_add(real, real); },
                     {"saturating_add", "(float32)", "works on integers", "Cast it"});
    }
    SECTION("a negative shift of a product") {
        require_near([&] { mul_shift_right(i, i, -1); },
                     {"mul_shift_right", "-1", "must fit uint32", "at least 0"});
    }
    SECTION("three values side by side") {
        require_near(
            [&] {
                concat_bits({u8, u8, u8});
            },
            {"concat_bits", "1, 2, 4 or 8 values, not 3", "zeros"});
    }
    SECTION("a random seed that is a float") {
        require_near([&] { random_float(real); }, {"random_float", "(float32)", "integer", "Cast"});
    }
    SECTION("mux by a float") {
        require_near([&] { mux(real, {i, i}); }, {"mux", "(float32)", "an integer", "Cast it"});
    }
    SECTION("mux of two types") {
        require_near(
            [&] {
                mux(i, {u8, i, 3});
            },
            {"mux", "'uint8(x)' (uint8)", "'x' (int32)", "one type", "Cast"});
        require_near(
            [&] {
                mux(i, {u8, 300, u8});
            },
            {"mux", "'300' (int32)", "does not fit into uint8"});
    }
    SECTION("mux of Tuples of two types") {
        require_near(
            [&] {
                mux(i, {Tuple(i, u8), Tuple(i, real)});
            },
            {"mux", "(uint8)", "(float32)", "one type", "Cast"});
    }
    SECTION("mux of an undefined value") {
        require_near([&] { mux(i, {i, none}); }, {"mux", "undefined Expr", "Give it a value"});
    }
    SECTION("mux by an index that is too narrow") {
        require_near([&] { mux(u8, std::vector<Expr>(300, i)); },
                     {"mux", "'uint8(x)' (uint8)", "the list has 300 values",
                      "Cast the index to a wider type"});
    }
    SECTION("print of text alone") {
        require_near([&] { print(detail::text("hello")); },
                     {"print", "must be a number", "Put text after it"});
    }
    SECTION("require of a number") {
        require_near([&] { require(i, x); }, {"require", "must be bool", "x != 0"});
    }
    SECTION("a C function with a wider argument") {
        require_near([&] { pipe_test_add(i, i); }, {"Argument 2 of the C function 'pipe_test_add'",
                                                    "int32", "takes uint8", "Cast it"});
    }
}
