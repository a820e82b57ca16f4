// Double precision: multigrid, MiniFluxDiv, PolyBench.
#include "apps/common/inputs.h"
#include "apps/multigrid/multigrid.h"
#include "apps/polybench/polybench.h"
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

namespace {

/// Multigrid cycles of one way, which is compiled once.
class Cycles {
  public:
    Cycles(const apps::App &app, int n, Way way, bool quickly = false)
        : app_(app), size_{n, n}, way_(way), program_(app.make()), pipeline_(program_->output()) {
        schedule(*program_, pipeline_, way);
        if (quickly)
            target_.set_feature(Pipe::Target::QuickCompile);
    }

    /// Outputs of so many cycles, each starting from the one before.
    std::vector<Buffer<double>> run(int count, const Pixel &guess = nullptr,
                                    const Pixel &rhs = nullptr) {
        std::vector<Buffer<>> inputs = apps::make_inputs(app_, *program_, size_);
        fill(inputs[0], guess);
        fill(inputs[1], rhs);
        std::vector<Buffer<double>> outputs;
        for (int i = 0; i < count; ++i) {
            apps::set_inputs(*program_, inputs);
            const Buffer<> out = apps::make_output(app_, *program_, size_);
            way_ == Way::Reference ? pipeline_.realize_reference(out)
                                   : pipeline_.realize(out, target_);
            outputs.push_back(apps::as_doubles(out));
            inputs[0] = out;
        }
        return outputs;
    }

  private:
    static void fill(const Buffer<> &input, const Pixel &f) {
        if (f)
            apps::fill(input, [&](const apps::Point &p) { return f(p[0], p[1], p[2]); });
    }

    const apps::App &app_;
    const apps::Size size_;
    const Way way_;
    const std::unique_ptr<apps::Program> program_;
    Pipe::Pipeline pipeline_;
    Pipe::Target target_ = Pipe::get_host_target();
};

struct Golden {
    const char *name;
    int n;
    std::vector<double> largest;  ///< |u| after each cycle
    double at_corner;             ///< u at 1, 1(, 1) after the last
    /// Beside the reference: programs of up to a hundred stages take up to a minute to compile. (Every way of
    /// each is compiled in a reduced form, see every.cpp.)
    std::vector<Way> compiled;
    bool quickly = false;  ///< with QuickCompile
};

const Golden goldens[] = {
    {"multigrid_2d_v_4_4_4",
     31,
     {0.334776507064, 0.088143298304, 0.021756342674},
     3.339163698e-4,
     {Way::Naive, Way::Hand, Way::Auto}},
    {"multigrid_2d_v_10_0_0",
     31,
     {0.698107119442, 0.328049600050, 0.150723518777},
     1.595161855e-3,
     {}},
    {"multigrid_2d_w_4_4_4",
     31,
     {0.058521769135, 0.003380442252, 0.000205307752},
     6.414056909e-5,
     {Way::Auto},
     true},
    {"multigrid_2d_w_10_0_0",
     31,
     {0.106033045522, 0.008642507728, 0.000638374499},
     5.633034488e-5,
     {Way::Hand},
     true},
    {"multigrid_3d_v_4_4_4",
     15,
     {0.168867969737, 0.027595945038},
     2.684469255e-3,
     {Way::Hand, Way::Auto}},
    {"multigrid_3d_v_10_0_0",
     15,
     {0.200238346886, 0.026397351503},
     2.120610058e-3,
     {Way::Auto},
     true},
    {"multigrid_3d_w_4_4_4",
     15,
     {0.100969692078, 0.009126135338},
     2.075671227e-3,
     {Way::Hand},
     true},
    {"multigrid_3d_w_10_0_0", 15, {0.143790345120, 0.010619776046}, 1.548381913e-3, {}},
};

void check_cycles(const Golden &golden, Way way) {
    INFO(golden.name << " " << name_of(way));
    const int count = int(golden.largest.size());
    const std::vector<Buffer<double>> u =
        Cycles(app_named(golden.name), golden.n, way, golden.quickly).run(count);
    for (int i = 0; i < count; ++i)
        CHECK_NEAR(max_abs(u[size_t(i)]), golden.largest[size_t(i)], 1e-10);
    const Buffer<double> &last = u.back();
    const double corner = last.dimensions() == 2 ? last(1, 1) : last(1, 1, 1);
    CHECK_NEAR(corner, golden.at_corner, 1e-10);
}

}  // namespace

TEST_CASE("multigrid: golden values of section 8.3") {
    for (const Golden &golden : goldens) {
        check_cycles(golden, Way::Reference);
        for (Way way : golden.compiled)
            check_cycles(golden, way);
    }
}

TEST_CASE("multigrid: as many stages as the paper counts") {
    const size_t stages[] = {37, 36, 109, 79};
    for (int dimensions : {2, 3}) {
        for (int i = 0; i < 4; ++i) {
            apps::Multigrid::Options options;
            options.dimensions = dimensions;
            options.w_cycle = i >= 2;
            if (i % 2)
                options.before = 10, options.coarsest = options.after = 0;
            // and one that copies the result to the output
            CHECK(apps::Multigrid(options).stages.size() == stages[i] + 1);
        }
    }
}

namespace {

/// A solution that is made up, 0 on the boundary of a grid of n points along each edge, and the right
/// hand side that has it.
struct Problem {
    int n, dimensions;

    double u(int x, int y, int z) const { return inside(x, y, z) ? apps::u8(x, y, z) / 255.0 : 0; }
    double f(int x, int y, int z) const {
        if (!inside(x, y, z))
            return 0;
        double sum = u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z);
        if (dimensions == 3)
            sum += u(x, y, z - 1) + u(x, y, z + 1);
        return (2 * dimensions * u(x, y, z) - sum) * (n + 1) * (n + 1);
    }

  private:
    bool inside(int x, int y, int z) const {
        auto within = [&](int i) { return i >= 1 && i <= n; };
        return within(x) && within(y) && (dimensions == 2 || within(z));
    }
};

void check_solution_and_symmetry(const apps::App &app, const Problem &problem, Way way,
                                 bool quickly = false) {
    INFO(app.name << " " << name_of(way));
    const int n = problem.n;
    auto u = [&](int x, int y, int z) { return problem.u(x, y, z); };
    auto f = [&](int x, int y, int z) { return problem.f(x, y, z); };
    Cycles cycles(app, n, way, quickly);
    CHECK(error(cycles.run(2, u, f)[1], u) <= 1e-12);
    const Buffer<double> ones = cycles.run(1)[0];
    auto at = [&](int x, int y, int z) {
        return problem.dimensions == 2 ? ones(x, y) : ones(x, y, z);
    };
    CHECK(error(ones, [&](int x, int y, int z) { return at(y, x, z); }) <= 1e-14);
    CHECK(error(ones, [&](int x, int y, int z) { return at(n + 1 - x, y, z); }) <= 1e-14);
    if (problem.dimensions == 3)
        CHECK(error(ones, [&](int x, int y, int z) { return at(x, z, y); }) <= 1e-14);
}

}  // namespace

TEST_CASE("multigrid: the solution stays, and the problem's symmetry too") {
    for (Way way : compiled)
        check_solution_and_symmetry(app_named("multigrid_2d_v_4_4_4"), {31, 2}, way);
    for (const char *name :
         {"multigrid_2d_w_4_4_4", "multigrid_3d_v_4_4_4", "multigrid_3d_w_4_4_4"}) {
        const apps::App &app = app_named(name);
        check_solution_and_symmetry(*app.reduced, {7, name[10] - '0'}, Way::Hand, true);
    }
}

TEST_CASE("the examples of the hash of section 0.4") {
    CHECK(apps::u8(0, 0, 0) == 0);
    CHECK(apps::u8(1, 2, 0) == 179);
    CHECK(apps::u8(5, 7, 1) == 182);
    CHECK(apps::u10(3, 4, 0) == 12);
}

TEST_CASE("MiniFluxDiv of linear and of constant fields") {
    const apps::App &app = app_named("flux_div");
    const apps::Size size{19, 9};
    auto run_on_field = [&](const std::function<double(const apps::Point &)> &field, Way way) {
        const std::unique_ptr<apps::Program> program = app.make();
        std::vector<Buffer<>> inputs = apps::make_inputs(app, *program, size);
        apps::fill(inputs[0], field);
        return run(app, *program, size, inputs, way);
    };
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> linear = run_on_field(
            [](const apps::Point &p) { return p[3] + (p[0] + p[1] + p[2]) / 2.0; }, way);
        const Buffer<double> flat =
            run_on_field([](const apps::Point &p) { return p[3] * 0.75; }, way);
        double largest = 0;
        linear.for_each_element([&](int x, int y, int z, int k) {
            const double s = (x + y + z) / 2.0, expected = k + s + 16.0 / 3 * (k + 3 + 2 * s);
            largest = std::max(largest, std::abs(linear(x, y, z, k) - expected) / expected);
            largest = std::max(largest, std::abs(flat(x, y, z, k) - k * 0.75));
        });
        CHECK(largest <= 1e-12);
    }
}

namespace {

/// matrix · vector, for a matrix (column, row).
std::vector<double> product(const Buffer<double> &matrix, const std::vector<double> &vector) {
    std::vector<double> result(size_t(matrix.extent(1)));
    matrix.for_each_element([&](int column, int row) {
        result[size_t(row)] += matrix(column, row) * vector[size_t(column)];
    });
    return result;
}

std::vector<double> values(const Buffer<double> &vector) {
    return {vector.begin(), vector.end()};
}

}  // namespace

TEST_CASE("2mm times a vector is three products with vectors") {
    const apps::App &app = app_named("2mm");
    // the second has several tiles of the hand schedule, and several parts of each sum
    for (const apps::Size size : {apps::Size{60, 40}, apps::Size{245, 205}}) {
        const std::unique_ptr<apps::Program> program = app.make();
        const std::vector<Buffer<>> in = apps::make_inputs(app, *program, size);
        std::vector<double> x;
        for (int i = 0; i < size.width; ++i)
            x.push_back(apps::u8(i, 0, 0) / 255.0);
        const std::vector<double> abcx = product(in[0], product(in[1], product(in[2], x)));
        const std::vector<double> dx = product(in[3], x);
        for (Way way : compiled) {
            INFO(name_of(way) << ", " << size.width << "x" << size.height);
            const std::vector<double> got = product(run(app, size, way), x);
            for (size_t i = 0; i < got.size(); ++i) {
                const double expected = 1.5 * abcx[i] + 1.2 * dx[i];
                CHECK_NEAR(got[i], expected, 1e-10 * std::abs(expected));
            }
        }
    }
}

TEST_CASE("gemver without forming the sum of matrices") {
    const apps::App &app = app_named("gemver");
    const int n = 67;
    const std::unique_ptr<apps::Program> program = app.make();
    const std::vector<Buffer<>> in = apps::make_inputs(app, *program, {n, n});
    const Buffer<double> a = in[0];
    const std::vector<double> u1 = values(in[1]), v1 = values(in[2]), u2 = values(in[3]),
                              v2 = values(in[4]), y = values(in[5]), z = values(in[6]);
    auto dot = [](const std::vector<double> &p, const std::vector<double> &q) {
        double sum = 0;
        for (size_t i = 0; i < p.size(); ++i)
            sum += p[i] * q[i];
        return sum;
    };
    const std::vector<double> aty = product(a.transposed(0, 1), y);
    std::vector<double> x(size_t(n), 0.0);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = 1.2 * (aty[i] + v1[i] * dot(u1, y) + v2[i] * dot(u2, y)) + z[i];
    }
    const std::vector<double> ax = product(a, x);
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> w = run(app, {n, n}, way);
        for (size_t i = 0; i < x.size(); ++i) {
            const double expected = 1.5 * (ax[i] + u1[i] * dot(v1, x) + u2[i] * dot(v2, x));
            CHECK_NEAR(w(int(i)), expected, 1e-10 * std::abs(expected));
        }
    }
}

TEST_CASE("covariance: the closed forms of section 11") {
    const apps::App &app = app_named("covariance");
    for (apps::Size size : {apps::Size{37, 45}, {64, 20}}) {
        const double m = size.width, n = size.height;
        for (Way way : compiled) {
            INFO(name_of(way));
            apps::Covariance program;
            apps::set_inputs(program, apps::make_inputs(app, program, size));
            const Buffer<double> mean = run_stage(program, program.mean, {{0, size.width}}, way);
            for (int j = 0; j < size.width; ++j)
                CHECK_NEAR(mean(j), j * (n - 1) / (2 * m), 1e-9 * (n - 1) / 2);
            const Buffer<double> out = run(app, size, way);
            const double largest = m * m * n * (n + 1) / (12 * m * m);
            CHECK(error(out, [&](int i, int j, int) {
                      return i * j * n * (n + 1) / (12 * m * m);
                  }) <= 1e-9 * largest);
        }
    }
}
