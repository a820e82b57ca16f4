// Multiscale interpolation, local Laplacian, pyramid blending.
#include "apps/common/inputs.h"
#include "apps/interpolate/interpolate.h"
#include "apps/local_laplacian/local_laplacian.h"
#include "apps/pyramid_blend/pyramid_blend.h"
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

namespace {

double relative(double v) {
    return 1e-4 * std::abs(v) + 1e-6;
}

}  // namespace

TEST_CASE("interpolate: golden values of section 4.3, four levels") {
    for (Way way : all) {
        INFO(name_of(way));
        apps::Interpolate program(4);
        const Buffer<double> out = run("interpolate", program, {48, 32}, way);
        CHECK_NEAR(out(0, 0, 0), 0.0, 1e-6);
        CHECK_NEAR(out(7, 5, 0), 0.74624749, relative(0.74624749));
        CHECK_NEAR(out(47, 31, 2), 1.16968645, relative(1.16968645));
        CHECK_NEAR(out(23, 16, 1), 0.48241060, relative(0.48241060));
        CHECK_NEAR(sum(out), 3149.729718, relative(3149.729718));
        CHECK_NEAR(max(out), 1.69436479, relative(1.69436479));
    }
}

TEST_CASE("interpolate_halide: golden values of section 4.3, ten levels") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("interpolate_halide"), {48, 32}, way);
        CHECK_NEAR(out(7, 5, 0), 0.54513821, relative(0.54513821));
        CHECK_NEAR(out(47, 31, 2), 0.19607843, relative(0.19607843));
        CHECK_NEAR(out(23, 16, 1), 0.86666667, relative(0.86666667));
        CHECK_NEAR(sum(out), 2327.564790, relative(2327.564790));
    }
}

TEST_CASE("interpolate_halide: golden values of section 4.3, of older versions") {
    using Form = apps::InterpolateHalide::Form;
    struct Golden {
        Form form;
        double at_7_5, sum;
    };
    for (const Golden &golden : {Golden{Form::Of2020, 0.54514435, 2328.019288},
                                 Golden{Form::Of2018, 0.80769787, 3116.167965}}) {
        for (Way way : {Way::Reference, Way::Hand}) {
            INFO(name_of(way));
            apps::InterpolateHalide program(10, golden.form);
            const Buffer<double> out = run("interpolate_halide", program, {48, 32}, way);
            CHECK_NEAR(out(7, 5, 0), golden.at_7_5, 2e-6);  // 6e-6 from the form of 2021
            CHECK_NEAR(sum(out), golden.sum, relative(golden.sum));
        }
    }
}

TEST_CASE("interpolate keeps what is opaque, and spreads a single pixel everywhere") {
    const apps::Size size{64, 48};
    for (const char *name : {"interpolate", "interpolate_halide"}) {
        const apps::App &app = app_named(name);
        for (Way way : compiled) {
            INFO(name << " " << name_of(way));
            Scheduled interpolate(app, way);
            auto photo = [&](int x, int y, int k) {
                return k == 3 ? 1.0 : app.inputs[0].value({x, y, k}, size);
            };
            CHECK(error(interpolate.run(size, photo), photo) <= 1e-5);
            const Buffer<double> one = interpolate.run(size, [](int x, int y, int k) {
                return x == 37 && y == 21 ? (k == 3 ? 1 : 0.25) : 0;
            });
            // the form with 0 outside of the levels has nothing to divide by where none reaches
            const bool may_be_undefined = name == std::string("interpolate");
            int defined = 0;
            double largest = 0;
            one.for_each_value([&](double v) {
                if (may_be_undefined && std::isnan(v))
                    return;
                defined++;
                if (!(std::abs(v - 0.25) <= largest))
                    largest = std::abs(v - 0.25);
            });
            INFO(defined << " of " << one.number_of_elements() << " are defined");
            CHECK(largest <= 1e-5);
            CHECK(2 * defined > one.number_of_elements());
        }
    }
}

namespace {

using Laplacian = apps::LocalLaplacian;

Laplacian::Options four_levels(Laplacian::Form form, Laplacian::Color color) {
    Laplacian::Options options;
    options.form = form;
    options.color = color;
    options.levels = 4;
    return options;
}

/// One more count of the tolerance of section 6.4 for the pixel that is compared.
constexpr double counts = 3;

}  // namespace

TEST_CASE("local Laplacian: golden values of section 6.4, PolyMage form") {
    for (Way way : all) {
        INFO(name_of(way));
        Laplacian program(four_levels(Laplacian::Form::PolyMage, Laplacian::Color::Old));
        const Buffer<double> out = run("local_laplacian", program, {96, 64}, way);
        check_golden(out, {.tolerance = counts,
                           .elements = {{0, 0, 0, 650.0},
                                        {7, 5, 0, 42482.0},
                                        {95, 63, 2, 5786.0},
                                        {48, 32, 1, 15897.0}},
                           .sum = 600608416.0});
    }
    Laplacian program(four_levels(Laplacian::Form::PolyMage, Laplacian::Color::Old));
    apps::set_inputs(program, apps::make_inputs(app_named("local_laplacian"), program, {96, 64}));
    const Buffer<double> gray =
        run_stage(program, program.out[0], {{0, 96}, {0, 64}}, Way::Reference);
    check_golden(gray, {.tolerance = 1e-5,
                        .elements = {{0, 0, 0, 0.58431485},
                                     {7, 5, 0, 0.82221338},
                                     {95, 63, 0, 0.37240375},
                                     {48, 32, 0, 0.24663203}},
                        .sum = 3089.82813});
}

TEST_CASE("local Laplacian: golden values of section 6.4, Halide form") {
    struct Golden {
        Laplacian::Color color;
        double at[3], sum;
    };
    for (const Golden &golden : {Golden{Laplacian::Color::Old, {629, 30481, 8131}, 37305304},
                                 Golden{Laplacian::Color::Of2023, {0, 31367, 7591}, 37351177}}) {
        for (Way way : all) {
            INFO(name_of(way));
            Laplacian program(four_levels(Laplacian::Form::Halide, golden.color));
            const Buffer<double> out = run("local_laplacian_halide", program, {24, 16}, way);
            check_golden(out, {.tolerance = counts,
                               .elements = {{0, 0, 0, golden.at[0]},
                                            {7, 5, 0, golden.at[1]},
                                            {23, 15, 2, golden.at[2]}},
                               .sum = golden.sum});
        }
    }
}

TEST_CASE("local Laplacian without detail added keeps a gray picture") {
    for (Laplacian::Form form : {Laplacian::Form::PolyMage, Laplacian::Form::Halide}) {
        for (Way way : compiled) {
            INFO(name_of(way));
            Laplacian::Options options;
            options.form = form;
            options.alpha = 0;
            options.levels = 5;
            Laplacian program(options);
            auto photo = [](int x, int y, int) { return apps::u8(x, y, 0) * 256; };
            const Buffer<double> out =
                run(app_named("local_laplacian"), program, {70, 45}, photo, way);
            CHECK(error(out, photo) <= 1);
        }
    }
}

TEST_CASE("local Laplacian of a flat picture: the closed form of section 6.4") {
    const double v = 0.4, at = 7 * v;
    const int li = int(at);
    auto remapped = [&](int k) {
        const double f = (int(v * 1792) - 256 * k) / 256.0;
        return v + f * std::exp(-f * f / 2) / 7;
    };
    const double gray = (1 - (at - li)) * remapped(li) + (at - li) * remapped(li + 1);
    const double in = std::round(v * 65535);
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> out = run_on(
            "local_laplacian_halide", {50, 40}, [&](int, int, int) { return in; }, way);
        const double expected = 65535 * gray * (in / 65535 + 0.01) / (v + 0.01);
        CHECK(error(out, [&](int, int, int) { return expected; }) <= counts);
    }
}

TEST_CASE("pyramid blend: golden values of section 7.3") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("pyramid_blend"), {48, 32}, way);
        REQUIRE(out.number_of_elements() == 4608);
        check_golden(out, {.tolerance = 2e-6,
                           .elements = {{31, 31, 0, 0.49023798},
                                        {50, 40, 1, 0.47354668},
                                        {60, 50, 2, 0.43061882},
                                        {78, 62, 0, 0.87056090}},
                           .sum = 2284.328205,
                           .min = -0.04837975,
                           .max = 1.06541483});
    }
}

TEST_CASE("pyramid blend of a picture with itself, under masks of one value, and mirrored") {
    const apps::App &app = app_named("pyramid_blend");
    const apps::Size size{49, 35};
    // with the mask m, and with 1 - m and the pictures swapped
    auto blend_ramp = [&](Scheduled &scheduled, bool swapped) {
        std::vector<Buffer<>> inputs = apps::make_inputs(app, *app.make(), size);
        if (swapped)
            std::swap(inputs[0], inputs[1]);
        apps::fill(inputs[2], [&](const apps::Point &p) {
            const double m = apps::u8(p[0], p[1], 9) / 256.0;
            return swapped ? 1 - m : m;
        });
        return scheduled.run(size, inputs);
    };
    auto blend = [&](Scheduled &scheduled, double mask, bool same) {
        std::vector<Buffer<>> inputs = apps::make_inputs(app, *app.make(), size);
        if (same)
            inputs[1] = inputs[0];
        if (mask >= 0)
            apps::fill(inputs[2], [&](const apps::Point &) { return mask; });
        return scheduled.run(size, inputs);
    };
    auto picture = [&](size_t i) {
        return [&app, size, i](int x, int y, int c) {
            return app.inputs[i].value({x, y, c}, size);
        };
    };
    for (Way way : compiled) {
        INFO(name_of(way));
        Scheduled scheduled(app, way);
        CHECK(error(blend(scheduled, -1, true), picture(0)) <= 2e-6);
        CHECK(error(blend(scheduled, 1, false), picture(0)) <= 2e-6);
        CHECK(error(blend(scheduled, 0, false), picture(1)) <= 2e-6);
        const Buffer<double> ramp = blend_ramp(scheduled, false);
        CHECK(error(ramp, picture(0)) > 0.1);  // it is neither of the two
        CHECK(max_abs_difference(blend_ramp(scheduled, true), ramp) <= 2e-6);
    }
}
