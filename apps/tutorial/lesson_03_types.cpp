// Lesson 3: types, casts and overflow.
//
// You learn which type an expression has, that small integers silently wrap around as they do in
// hardware, and how to avoid the artifacts that this causes in pictures.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

using namespace Pipe;

namespace {

/// Prints an expression, its type and its value, and checks the two.
void show(const char *text, const Expr &e, Type type, double expected) {
    Func value("value");
    value() = cast<double>(e);  // a Func without coordinates has one value
    Buffer<double> result = value.realize();
    std::printf("  %-36s %-8s %g\n", text, to_string(e.type()).c_str(), result());
    lesson::check(e.type() == type && result() == expected, text);
}

}  // namespace

int main(int argc, char **argv) {
    Buffer<uint8_t> bytes(2, "bytes");
    bytes(0) = 200, bytes(1) = 100;
    const Expr a = bytes(Expr(0)), b = bytes(Expr(1));  // 200 and 100, known only at run time
    const Expr n = cast<int>(b) - 107;                  // -7

    std::printf("a = 200 and b = 100 are bytes, n = -7 is an int\n");
    // Two operands of one type give that type. Bytes wrap around at 256: 300 becomes 44.
    show("a + b", a + b, UInt(8), 44);
    // An int literal takes the type of the other operand, so this wraps, too.
    show("a * 2", a * 2, UInt(8), 144);
    // Widen operands before the operation, not after it.
    show("cast<uint16_t>(a + b)", cast<uint16_t>(a + b), UInt(16), 44);
    show("cast<uint16_t>(a) + b", cast<uint16_t>(a) + b, UInt(16), 300);
    // The wider type wins, and a float wins over all integers.
    show("a + n", a + n, Int(32), 193);
    show("a * 1.5f", a * 1.5f, Float(32), 300);
    // Back to a byte: a cast drops the upper bits, a saturating cast clamps to the range of the
    // type.
    show("cast<uint8_t>(cast<int>(a) + b)", cast<uint8_t>(cast<int>(a) + b), UInt(8), 44);
    show("saturating_cast<uint8_t>(n)", saturating_cast<uint8_t>(n), UInt(8), 0);
    // Integer division rounds down, also for negative numbers, so that dividing an index treats all
    // pixels alike; the remainder is never negative. (C++ gives -3 and -1 here.)
    show("n / 2", n / 2, Int(32), -4);
    show("n % 2", n % 2, Int(32), 1);
    // Differences of unsigned values wrap, too. absd is |a - b| without that problem.
    show("b - a", b - a, UInt(8), 156);
    show("absd(a, b)", absd(a, b), UInt(8), 100);

    // A literal that does not fit into a byte is an error at compile time.
    try {
        const Expr impossible = a + 300;
        lesson::check(false, "300 fits no byte");
    } catch (const CompileError &error) {
        std::printf("\na + 300: %s\n", error.what());
    }

    // The effect on a picture: brighter by 80, wrong and right. In the wrong one, the brightest
    // areas turn dark.
    const Buffer<uint8_t> photo = lesson::picture();
    Var x("x"), y("y"), c("c");
    Func wrong("wrong"), right("right");
    wrong(x, y, c) = photo(x, y, c) + 80;
    right(x, y, c) = saturating_cast<uint8_t>(cast<int>(photo(x, y, c)) + 80);
    Buffer<uint8_t> wrapped = wrong.realize({photo.width(), photo.height(), 3});
    Buffer<uint8_t> brighter = right.realize({photo.width(), photo.height(), 3});
    save_image(wrapped, lesson::output_file(argc, argv, "lesson_03_wrapped.png"));
    save_image(brighter, lesson::output_file(argc, argv, "lesson_03_saturated.png"));
    photo.for_each_element([&](int i, int j, int k) {
        const int sum = photo(i, j, k) + 80;
        lesson::check(wrapped(i, j, k) == sum % 256, "uint8_t wraps around at 256");
        lesson::check(brighter(i, j, k) == std::min(sum, 255), "saturating_cast stays at 255");
    });
}
