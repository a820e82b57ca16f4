// Lesson 17: checking and debugging.
//
// You learn to compare a result with a second, simple way to compute it, to observe a pipeline
// while it runs, and to write its loops to a file.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <fstream>
#include <iostream>
#include <sstream>

using namespace Pipe;

namespace {

Var x("x"), y("y"), xi("xi");

std::string lines;  // the events of the trace

}  // namespace

int main(int argc, char **argv) {
    Func squares("squares"), sums("sums");
    squares(x, y) = x * x + y;
    sums(x, y) = squares(x, y) + squares(x + 1, y);
    squares.compute_at(sums, y).vectorize(x, 4);
    sums.vectorize(x, 4);

    // realize_reference computes each value directly from its definition, without any schedule. It
    // is slow and simple. If it does not agree with realize, then either one of your promises is
    // wrong, or you have found a bug in Pipe: please report it.
    Pipeline pipeline(sums);
    Buffer<int32_t> fast = pipeline.realize({37, 5});
    Buffer<int32_t> simple = pipeline.realize_reference({37, 5});
    fast.for_each_value([](int a, int b) { lesson::check(a == b, "both ways agree"); }, simple);
    std::cout << "realize and realize_reference agree\n\n";

    // Tracing reports what happens to a Func, in order of time. By default, each event is printed
    // as a line. Alternatively, a function of your own receives the events; this one makes lines of
    // the stores.
    squares.trace_stores();
    pipeline.jit_handlers().custom_trace = [](JITUserContext *, const TraceEvent *event) {
        if (event->event == TraceEventCode::Store) {
            std::ostringstream line;
            line << event->func << "(" << event->coordinates[0] << ", " << event->coordinates[1]
                 << ") = " << *static_cast<const int32_t *>(event->value) << "\n";
            lines += line.str();
        }
        return int32_t(0);
    };
    pipeline.realize({3, 2});
    std::cout << "Stores into squares for a result of 3 x 2:\n" << lines << "\n";
    lesson::check(lesson::contains(lines, "squares(3, 0) = 9\n"), "one more than the result needs");
    lesson::check(!lesson::contains(lines, "squares(0, 2)"), "and nothing below the result");

    // The loops as a page for the browser: with the actual bounds, tests and storage, after all
    // passes of the compiler. As text, without HTML, they can be compared with diff.
    const std::string page = lesson::output_file(argc, argv, "lesson_17_loops.html");
    pipeline.compile_to_lowered_stmt(page, {}, HTML);
    std::stringstream text;
    text << std::ifstream(page).rdbuf();
    lesson::check(lesson::contains(text.str(), "squares"), "the page shows the loops");

    // If the environment variable PIPE_DUMP names a directory, everything that is compiled is
    // written there: the loops after each pass of the compiler, the LLVM IR and the assembly. All
    // variables:
    std::cout << describe_environment();
}
