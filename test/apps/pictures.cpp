// Camera pipeline, max filter, non-local means, stencil chain, lens blur.
#include "apps/camera_pipe/camera_pipe.h"
#include "apps/common/inputs.h"
#include "apps/lens_blur/lens_blur.h"
#include "apps/max_filter/max_filter.h"
#include "apps/nl_means/nl_means.h"
#include "apps/stencil_chain/stencil_chain.h"
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

namespace {

const char *const cameras[] = {"camera_pipe", "camera_pipe_halide"};

}  // namespace

TEST_CASE("camera pipe: golden values of section 5.7, bit exact") {
    const double hashed[2][5] = {{78, 194, 255, 0, 308449}, {0, 213, 255, 0, 285811}};
    const double smooth[2][7] = {{163, 113, 200, 190, 285726, 111, 243},
                                 {157, 106, 196, 186, 279905, 104, 242}};
    for (int i = 0; i < 2; ++i) {
        for (Way way : all) {
            INFO(cameras[i] << " " << name_of(way));
            Scheduled camera(app_named(cameras[i]), way);
            const Buffer<double> a = camera.run({32, 16});
            CHECK(a(16, 12, 0) == hashed[i][0]);
            CHECK(a(17, 12, 1) == hashed[i][1]);
            CHECK(a(16, 13, 2) == hashed[i][2]);
            CHECK(a(30, 20, 0) == hashed[i][3]);
            CHECK(sum(a) == hashed[i][4]);
            const Buffer<double> b = run_on(
                cameras[i], {32, 16},
                [](int x, int y, int) {
                    return 100 + (5 * y + 7 * x) % 512 / 2 + (x + y) % 2 * 40;
                },
                way);
            CHECK(b(16, 12, 0) == smooth[i][0]);
            CHECK(b(17, 12, 1) == smooth[i][1]);
            CHECK(b(16, 13, 2) == smooth[i][2]);
            CHECK(b(30, 20, 0) == smooth[i][3]);
            CHECK(sum(b) == smooth[i][4]);
            CHECK(min(b) == smooth[i][5]);
            CHECK(max(b) == smooth[i][6]);
        }
    }
}

TEST_CASE("camera pipe of flat raw data, without and with a hot and a cold pixel") {
    struct Flat {
        int raw;
        int out[2][3];
    };
    for (int i = 0; i < 2; ++i) {
        for (Way way : compiled) {
            Scheduled camera(app_named(cameras[i]), way);
            for (const Flat &flat :
                 {Flat{100, {{82, 68, 111}, {73, 58, 103}}},
                  Flat{512, {{242, 216, 255}, {241, 214, 255}}}, Flat{0, {{0, 0, 0}, {0, 0, 0}}},
                  Flat{1000, {{255, 255, 255}, {255, 255, 255}}}}) {
                INFO(cameras[i] << " " << name_of(way) << " raw " << flat.raw);
                auto expected = [&](int, int, int c) { return flat.out[i][c]; };
                auto with_pixel = [&](int value) {
                    return camera.run({33, 18}, [&](int x, int y, int) {
                        return x == 30 && y == 21 ? value : flat.raw;
                    });
                };
                CHECK(error(with_pixel(flat.raw), expected) == 0);
                CHECK(error(with_pixel(1023), expected) == 0);
                const bool seen = i == 1 && flat.raw == 512;  // Halide keeps dark pixels
                if (i == 0 || seen)
                    CHECK((error(with_pixel(0), expected) > 0) == seen);
            }
        }
    }
}

TEST_CASE("camera pipe: the matrix of section 5.3") {
    using Matrix = std::array<std::array<int, 4>, 3>;
    const Matrix expected = {
        {{548, -103, 7, -10220}, {-96, 373, 61, -7254}, {-30, -260, 882, -5562}}};
    CHECK(apps::CameraPipe::color_matrix() == expected);
}

TEST_CASE("camera pipe: sample entries of the tone curves of section 5.4") {
    struct Curve {
        apps::CameraPipe::Form form;
        std::vector<std::pair<int, int>> entries;
    };
    const Curve curves[] = {
        {apps::CameraPipe::Form::PolyMage,
         {{0, 0},
          {1, 4},
          {16, 22},
          {64, 50},
          {100, 67},
          {128, 79},
          {255, 127},
          {256, 128},
          {257, 128},
          {400, 169},
          {512, 193},
          {700, 223},
          {900, 245},
          {1000, 254},
          {1023, 255}}},
        {apps::CameraPipe::Form::Halide,
         {{25, 0},
          {26, 5},
          {64, 38},
          {100, 57},
          {128, 70},
          {255, 120},
          {256, 121},
          {400, 166},
          {512, 191},
          {700, 222},
          {900, 245},
          {1000, 253},
          {1022, 255}}},
    };
    for (const Curve &curve : curves) {
        const Buffer<uint8_t> made = apps::CameraPipe(curve.form).curve.realize({1024});
        for (const auto &[value, entry] : curve.entries) {
            INFO("entry " << value);
            CHECK(int(made(value)) == entry);
        }
    }
}

namespace {

/// What the PolyMage form makes of gray light that the sensor counts as `v`, in channel c.
int developed(int v, int c) {
    const int matrix[3][4] = {
        {548, -103, 7, -10220}, {-96, 373, 61, -7254}, {-30, -260, 882, -5562}};
    const int *m = matrix[c];
    const int corrected = (m[3] + (m[0] + m[1] + m[2]) * v) / 256;  // toward zero
    const double g = std::sqrt(std::clamp(corrected / 1024.0, 0.0, 1.0)), h = 1 - g;
    const double b = 2 - std::sqrt(2.0), a = 2 - 2 * b;
    const double z = g > 0.5 ? 1 - (a * h * h + b * h) : a * g * g + b * g;
    return int(std::clamp(256 * z, 0.0, 255.0));
}

}  // namespace

// Raw data that change along one direction only: green is taken along the other one, all
// differences cancel, and every pixel has the raw value itself in its three channels.
TEST_CASE("camera pipe of raw data that depend on the row or on the column only") {
    for (Way way : compiled) {
        Scheduled camera(app_named("camera_pipe"), way);
        for (bool by_row : {true, false}) {
            INFO(name_of(way) << (by_row ? " rows" : " columns"));
            auto raw = [&](int x, int y, int) { return apps::u10(by_row ? y : x, 0, 5); };
            const Buffer<double> out = camera.run({70, 34}, raw);
            CHECK(error(out, [&](int x, int y, int c) { return developed(raw(x, y, 0), c); }) == 0);
        }
    }
}

TEST_CASE("max filter: golden values of section 17, radius 5") {
    for (Way way : all) {
        INFO(name_of(way));
        apps::MaxFilter program(5);
        const Buffer<double> out = run("max_filter", program, {48, 40}, way);
        CHECK_NEAR(out(0, 0, 0), 0.96470588, 1e-7);
        CHECK_NEAR(out(7, 5, 0), 0.99215686, 1e-7);
        CHECK_NEAR(out(47, 39, 0), 0.96470588, 1e-7);
        const Buffer<double> plane = out.cropped({{0, 48}, {0, 40}, {0, 1}});
        CHECK_NEAR(sum(plane), 1903.403922, 1920 * 1e-7);
    }
}

TEST_CASE("max filter lets one bright pixel grow to the disc of section 17") {
    const int heights[27] = {27, 27, 27, 27, 26, 26, 26, 26, 26, 25, 25, 24, 24, 23,
                             23, 22, 21, 21, 20, 19, 18, 16, 15, 13, 11, 9,  4};
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> out = run_on(
            "max_filter", {71, 67}, [](int x, int y, int) { return x == 33 && y == 31; }, way);
        auto disc = [&](int x, int y, int) {
            const int dx = std::abs(x - 33), dy = std::abs(y - 31);
            return dx <= 26 && dy <= heights[dx] ? 1 : 0;
        };
        CHECK(error(out, disc) == 0);
        CHECK(sum(out) == 3 * 2283);
    }
}

TEST_CASE("max filter: nowhere below the picture, and of brighter pixels nowhere darker") {
    const apps::App &app = app_named("max_filter");
    const apps::Size size{57, 39};
    auto picture = [&](int x, int y, int c) { return app.inputs[0].value({x, y, c}, size); };
    auto brighter = [&](int x, int y, int c) {
        return picture(x, y, c) + ((x + 2 * y) % 11 == 0 ? 0.25 : 0);
    };
    for (Way way : compiled) {
        INFO(name_of(way));
        apps::MaxFilter program(3), again(3);
        const Buffer<double> out = run(app, program, size, picture, way);
        const Buffer<double> of_brighter = run(app, again, size, brighter, way);
        int below = 0, darker = 0;
        out.for_each_element([&](int x, int y, int c) {
            below += out(x, y, c) < float(picture(x, y, c));
            darker += of_brighter(x, y, c) < out(x, y, c);
        });
        CHECK(below == 0);
        CHECK(darker == 0);
        CHECK(sum(of_brighter) > sum(out));
    }
}

TEST_CASE("non-local means: golden values of section 18") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("nl_means"), {20, 16}, way);
        check_golden(
            out,
            {.tolerance = 1e-4,
             .elements = {{0, 0, 0, 0.04773841}, {7, 5, 1, 0.16579422}, {19, 15, 2, 0.14913038}},
             .sum = 175.656725,
             .min = 0.04773841,
             .max = 0.28114417});
    }
}

TEST_CASE("non-local means of a flat picture, and with a sigma that tells nothing apart") {
    const apps::App &app = app_named("nl_means");
    const apps::Size size{41, 23};
    auto pixel = [&](int x, int y, int c) {
        return app.inputs[0].value(
            {std::clamp(x, 0, size.width - 1), std::clamp(y, 0, size.height - 1), c}, size);
    };
    auto mean = [&](int x, int y, int c) {
        double total = 0;
        for (int v = -3; v <= 3; ++v) {
            for (int u = -3; u <= 3; ++u)
                total += pixel(x + u, y + v, c);
        }
        return total / 49;
    };
    for (Way way : compiled) {
        INFO(name_of(way));
        auto flat = [](int, int, int c) { return 0.25 * (c + 1); };
        CHECK(error(run_on("nl_means", size, flat, way), flat) <= 1e-6);
        apps::NlMeans program(1e4f);
        CHECK(error(run("nl_means", program, size, way), mean) <= 1e-5);
        // whatever the weights, a mean lies between the smallest and the largest of its window
        const Buffer<double> out = run(app, size, way);
        const double outside = error(out, [&](int x, int y, int c) {
            double least = 1, most = 0;
            for (int v = -3; v <= 3; ++v) {
                for (int u = -3; u <= 3; ++u) {
                    least = std::min(least, pixel(x + u, y + v, c));
                    most = std::max(most, pixel(x + u, y + v, c));
                }
            }
            return std::clamp(out(x, y, c), least, most);
        });
        CHECK(outside <= 1e-6);
    }
}

TEST_CASE("stencil chain: constants, and a chain of two by hand") {
    uint16_t power = 1;
    for (int i = 0; i < 32; ++i)
        power = uint16_t(power * 25);
    const apps::App &app = app_named("stencil_chain");
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> flat = run_on(
            "stencil_chain", {35, 21}, [](int, int, int) { return 3; }, way);
        CHECK(min(flat) == uint16_t(3 * power));
        CHECK(max(flat) == uint16_t(3 * power));

        apps::StencilChain two(2);
        const apps::Size size{35, 21};
        const Buffer<double> out = run("stencil_chain", two, size, way);
        auto weight = [](int d) { return 5 - std::abs(d); };
        auto expected = [&](int x, int y, int) {
            double total = 0;
            for (int dy = -4; dy <= 4; ++dy) {
                for (int dx = -4; dx <= 4; ++dx) {
                    total += weight(dx) * weight(dy) * app.inputs[0].value({x + dx, y + dy}, size);
                }
            }
            return std::fmod(total, 65536);
        };
        CHECK(error(out, expected) == 0);
    }
}

TEST_CASE("lens blur: golden values of section 19") {
    apps::LensBlur::Options options;
    options.slices = 12;
    options.focus = 5;
    options.samples = 8;
    options.levels = 4;
    const double histogram[12] = {97, 22, 44, 2, 1, 602};
    for (Way way : all) {
        INFO(name_of(way));
        apps::LensBlur program(options);
        const Buffer<double> out = run("lens_blur", program, {48, 16}, way);
        check_golden(out, {.tolerance = 1e-6,
                           .elements = {{7, 5, 0, 0.52941176}, {40, 12, 2, 0.57882353}},
                           .sum = 1156.725175});
    }
    apps::LensBlur program(options);
    apps::set_inputs(program, apps::make_inputs(app_named("lens_blur"), program, {48, 16}));
    const Buffer<double> depth =
        run_stage(program, program.depth, {{0, 48}, {0, 16}}, Way::Reference);
    double counted[12] = {};
    depth.for_each_value([&](double d) { counted[int(d)] += 1; });
    for (int d = 0; d < 12; ++d)
        CHECK(counted[d] == histogram[d]);
}

TEST_CASE("lens blur finds a shift, and keeps what is in focus") {
    const apps::App &app = app_named("lens_blur");
    const apps::Size size{60, 24};
    const int shift = 4;
    apps::LensBlur::Options options;
    options.slices = 8;
    options.levels = 3;
    options.samples = 4;
    options.scale = 0;  // everything is in focus
    for (Way way : compiled) {
        INFO(name_of(way));
        apps::LensBlur program(options);
        std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
        auto left = [&](int x, int y, int c) { return apps::u8(x, y, c); };
        apps::fill(inputs[0], [&](const apps::Point &p) { return left(p[0], p[1], p[2]); });
        apps::fill(inputs[1],
                   [&](const apps::Point &p) { return left(p[0] - 2 * shift, p[1], p[2]); });
        const Buffer<double> out = run(app, program, size, inputs, way);
        CHECK(error(out, [&](int x, int y, int c) { return left(x, y, c) / 255.0; }) <= 1e-6);

        apps::LensBlur fresh(options);
        apps::set_inputs(fresh, inputs);
        // right of the last column that the right picture has, edges are compared with edges
        const Buffer<double> depth =
            run_stage(fresh, fresh.depth, {{0, size.width - 20}, {0, size.height}}, way);
        CHECK(min(depth) == shift);
        CHECK(max(depth) == shift);
    }
}
