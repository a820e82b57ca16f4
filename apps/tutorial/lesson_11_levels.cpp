// Lesson 11: schedules II, where a stage is computed and stored.
//
// You learn the choice that matters most for speed: a stage that other stages read can be
// recomputed at each use (much work, no memory), computed once as a whole (little work, much
// memory), or computed in parts, just before they are needed. The program prints work, memory and
// time for each choice.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <atomic>
#include <functional>
#include <iostream>

using namespace Pipe;

namespace {

const int width = 1024, height = 768;
Var x("x"), y("y"), yi("yi");
std::atomic<int64_t> rows_stored = 0;

/// A blur in two steps: rows is the mean of three neighbors in x, blurred that of three rows.
struct Blur {
    Func rows{"rows"}, blurred{"blurred"};
    explicit Blur(const Buffer<uint16_t> &input) {
        rows(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
        blurred(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / 3;
    }
};

/// Counts the stores to rows. Tracing calls a function for each store; this makes the program slow,
/// so times are measured without it.
int64_t count_stores(Blur blur, const Buffer<uint16_t> &result) {
    blur.rows.trace_stores();
    Pipeline pipeline(blur.blurred);
    pipeline.jit_handlers().custom_trace = [](JITUserContext *, const TraceEvent *event) {
        rows_stored += event->event == TraceEventCode::Store;
        return int32_t(0);
    };
    rows_stored = 0;
    pipeline.realize(result);
    return rows_stored;
}

}  // namespace

int main() {
    Buffer<uint16_t> input(width + 2, height + 2), result(width, height);
    input.fill([](int i, int j) { return uint16_t((i * i + 7 * j) & 4095); });
    Buffer<uint16_t> expected = Blur(input).blurred.realize({width, height});

    // The number of pixels of rows that are computed, and the maximum scratch memory in bytes that
    // the threads use at the same time.
    struct Cost {
        int64_t pixels, bytes;
    };
    const auto measure = [&](const char *what, const std::function<void(Blur &)> &schedule) {
        Blur blur(input), traced(input);
        schedule(blur), schedule(traced);
        Pipeline pipeline(blur.blurred);
        const double ms = lesson::milliseconds([&] { pipeline.realize(result); });
        const Cost cost{count_stores(traced, result), pipeline.peak_scratch_bytes()};
        std::cout << what << "\n" << pipeline.loop_nest();
        std::printf("%.2f ms; rows: %lld pixels computed and stored, %lld bytes of memory\n\n", ms,
                    (long long)cost.pixels, (long long)cost.bytes);
        result.for_each_value([](int a, int b) { lesson::check(a == b, "same result"); }, expected);
        return cost;
    };
    // All rows that are needed: two more than the picture has.
    const int64_t needed = int64_t(width) * (height + 2), row_bytes = width * sizeof(uint16_t);

    // Inlined, as every Func is by default: rows is never stored. It is computed three times for
    // each pixel of blurred, as part of its formula.
    Cost cost = measure("inlined", [](Blur &) {});
    lesson::check(cost.pixels == 0 && cost.bytes == 0, "nothing is stored");

    // All of rows first. Each pixel is computed once, but by the time it is read, it has been
    // evicted from the cache and must be fetched from memory.
    cost = measure("rows.compute_root()", [](Blur &b) { b.rows.compute_root(); });
    lesson::check(cost.pixels == needed && cost.bytes >= needed * 2, "everything is kept");

    // Inside the loop over y, just before a row of blurred needs them: three rows of rows. They
    // stay in the cache, but each is computed three times.
    cost = measure("rows.compute_at(blurred, y)", [](Blur &b) { b.rows.compute_at(b.blurred, y); });
    lesson::check(cost.pixels == 3 * width * height, "each row is computed three times");
    lesson::check(cost.bytes <= 3 * row_bytes, "three rows are kept");

    // Computed there, but stored outside of the loop: the rows computed for the previous row of
    // blurred still exist, so only one new row is computed each time. This is a sliding window.
    // Pipe infers that three rows are needed at a time, and stores only four, which it reuses in
    // turn.
    cost = measure("rows.store_root().compute_at(blurred, y)",
                   [](Blur &b) { b.rows.store_root().compute_at(b.blurred, y); });
    lesson::check(cost.pixels == needed, "each row is computed once");
    lesson::check(cost.bytes <= 4 * row_bytes, "four rows are kept");

    // A sliding window needs its rows in order, so its loop cannot be parallel. But strips of 64
    // rows can be: the window slides within each strip, and two rows of the neighboring strip are
    // recomputed.
    cost = measure("strips of 64 rows, in parallel, sliding inside", [](Blur &b) {
        b.blurred.split(y, y, yi, 64).parallel(y).vectorize(x, 16);
        b.rows.store_at(b.blurred, y).compute_at(b.blurred, yi).vectorize(x, 16);
    });
    lesson::check(cost.pixels == int64_t(width) * (height + 2 * (height / 64)),
                  "two rows for each strip are computed twice");
}
