// Lesson 6: reductions.
//
// A reduction combines many values into one: a sum, a maximum, a histogram. You learn about RDom,
// the domain of a reduction, about update definitions, and how `where` excludes points.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

using namespace Pipe;

int main(int argc, char **argv) {
    const Buffer<uint8_t> photo = lesson::picture();
    const int width = photo.width(), height = photo.height();
    Var x("x"), y("y"), i("i");
    Func gray("gray");
    gray(x, y) = cast<uint8_t>((photo(x, y, 0) + 2.0f * photo(x, y, 1) + photo(x, y, 2)) / 4);

    // An RDom is a range of coordinates to iterate over; here all pixels. Its members x and y are
    // used like Vars. While a Var means "for every x, in any order", they mean "for all of these,
    // one after the other".
    RDom all(0, width, 0, height, "all");  // min and extent in x, then in y

    // The first definition gives the initial value, the second one is an update: it runs for every
    // point of the RDom. The histogram counts how often each of the 256 values occurs. The element
    // that is updated may depend on data.
    Func histogram("histogram");
    histogram(i) = 0;
    histogram(gray(all.x, all.y)) += 1;

    Buffer<int32_t> count = histogram.realize({256});
    int pixels = 0, highest = 0;
    count.for_each_value([&](int n) { pixels += n, highest = std::max(highest, n); });
    std::printf("%d pixels were counted; the most frequent value occurs %d times\n", pixels,
                highest);
    lesson::check(pixels == width * height, "every pixel is counted once");

    // Sums and similar reductions can be written inside an expression. The result has the type of
    // the summands, so make that wide enough first.
    Func mean("mean");
    mean() = sum(cast<float>(gray(all.x, all.y))) / (width * height);
    Buffer<float> overall = mean.realize();

    // `where` excludes points: here, only a circle in the middle of the picture counts. It must be
    // called before the RDom is used.
    const int radius = 100;
    RDom circle(0, width, 0, height, "circle");
    const Expr dx = circle.x - width / 2, dy = circle.y - height / 2;
    circle.where(dx * dx + dy * dy <= radius * radius);
    Func inside("inside"), area("area");
    area() = sum(circle, 1);
    inside() = sum(circle, cast<float>(gray(circle.x, circle.y))) / area();
    Buffer<float> middle = inside.realize();
    Buffer<int32_t> points = area.realize();
    std::printf("mean of the picture %.1f, of the %d pixels in the circle %.1f\n", overall(),
                points(), middle());

    double all_sum = 0, circle_sum = 0;
    int circle_points = 0;
    Buffer<uint8_t> values = gray.realize({width, height});
    values.for_each_element([&](int px, int py) {
        const int ex = px - width / 2, ey = py - height / 2;
        all_sum += values(px, py);
        if (ex * ex + ey * ey <= radius * radius)
            circle_sum += values(px, py), ++circle_points;
    });
    lesson::check(std::abs(overall() - all_sum / pixels) < 0.1, "the mean of all pixels");
    lesson::check(points() == circle_points, "the number of pixels in the circle");
    lesson::check(std::abs(middle() - circle_sum / circle_points) < 0.1, "their mean");

    // The histogram as a picture: column x is white up to the height of its count.
    Func chart("chart");
    chart(x, y) = cast<uint8_t>(select((199 - y) * highest < count(x) * 200, 255, 0));
    Buffer<uint8_t> bars = chart.realize({256, 200});
    save_image(bars, lesson::output_file(argc, argv, "lesson_06_histogram.png"));
    int white = 0;
    for (int column = 0; column < 256; ++column)
        white += bars(column, 0) == 255;
    lesson::check(white >= 1, "the highest bar reaches the top");
}
