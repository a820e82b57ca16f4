// Lesson 16: reading errors.
//
// Six common mistakes, and how Pipe reports them. Errors are exceptions: a CompileError if the
// definitions or the schedule are wrong, a RuntimeError if the Buffers or sizes are. A message
// gives the Func, the line of your program, what is wrong, and what to do.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <functional>
#include <vector>

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

/// Runs code with a mistake, prints the message, and checks that it contains these parts.
void mistake(const char *what, const std::function<void()> &wrong,
             const std::vector<const char *> &parts) {
    try {
        wrong();
    } catch (const Error &error) {
        std::printf("%s\n    %s\n\n", what, error.what());
        for (const char *part : parts)
            lesson::check(lesson::contains(error.what(), part), part);
        return;
    }
    lesson::check(false, what);
}

}  // namespace

int main() {
    Buffer<uint8_t> photo(100, 80, "photo");
    photo.fill(7);

    // The picture is read beyond its edge. Remedy: a boundary condition (lesson 4), or a smaller
    // result.
    mistake("1. A neighbor that does not exist",
            [&] {
                Func smooth("smooth");
                smooth(x, y) = photo(x - 1, y) / 2 + photo(x + 1, y) / 2;
                smooth.realize({100, 80});
            },
            {"smooth", "-1", "100", "dimension 0"});

    // Coordinates are integers. Remedy: specify the rounding.
    mistake("2. A coordinate that is a float",
            [&] {
                Func half("half");
                half(x, y) = photo(x * 0.5f, y);
            },
            {"float32", "cast<int>"});

    // Remedy: as many coordinates as the Func has dimensions.
    mistake("3. A coordinate forgotten",
            [&] {
                Func bright("bright"), result("result");
                bright(x, y) = photo(x, y) * 2;
                result(x, y) = bright(x) + 1;
            },
            {"bright", "lesson_16_errors.cpp", "2 dimensions (x, y)", "1 argument"});

    // split replaces the loop x by xo and xi: the loop x no longer exists. Remedy: parallel(xo).
    mistake("4. A loop that is no longer there",
            [&] {
                Func bright("bright");
                bright(x, y) = photo(x, y) * 2;
                bright.split(x, xo, xi, 16).parallel(x);
            },
            {"bright", "parallel", "'x'", "xi, xo, y"});

    // first is needed by second and by third; inside the loops of second, only second can access
    // it. Remedy: compute_at a loop that encloses all uses, or compute_root.
    mistake("5. Computed in a place that not all readers can see",
            [&] {
                Func first("first"), second("second"), third("third");
                first(x, y) = photo(x, y) + 1;
                second(x, y) = first(x, y) * 2;
                third(x, y) = first(x, y) + second(x, y);
                second.compute_root();
                first.compute_at(second, y);
                third.realize({100, 80});
            },
            {"first", "compute_at(second, y)", "third"});

    // The index is computed from data, so any element of the table might be needed. Remedy: clamp
    // it.
    mistake("6. An index that could be anything",
            [&] {
                Func index("index"), table("table"), looked_up("looked_up");
                table(x) = x * x;
                index(x) = x * 1000;
                looked_up(x) = table(index(x) * index(x));
                index.compute_root(), table.compute_root();
                looked_up.realize({10});
            },
            {"table", "clamp"});

    // After an error, everything remains usable.
    Func fine("fine");
    fine(x, y) = photo(x, y) * 2;
    Buffer<uint8_t> result = fine.realize({100, 80});
    lesson::check(result.all_equal(14), "the program continues");
}
