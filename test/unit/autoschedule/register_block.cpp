// Register blocks: they fit the registers, use them, and their loops keep large operands in the cache.
#include <algorithm>
#include <array>
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "autoschedule/block_cache.h"
#include "autoschedule/register_block.h"
#include "autoschedule/row_sums.h"
#include "pipelines.h"
#include "poly/model.h"
#include "priced.h"
#include <pipe/pipeline.h>

using namespace test;

namespace {

struct Blocked {
    autoschedule::StageGraph graph;
    std::optional<autoschedule::RegisterBlock> block(const std::string &name,
                                                     const Machine &machine, int cores = 1) const {
        const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                       [&](const auto &n) { return n.name == name; });
        return autoschedule::register_block(*node, node->stages.size() - 1, node->extents, machine,
                                            cores);
    }
};

Blocked stages_of(const Func &output, const std::vector<poly::Range> &box) {
    const language::Frozen frozen = language::freeze({output});
    poly::ModelInput input;
    input.outputs = {box};
    return {autoschedule::build_stage_graph(frozen.graph, poly::model(frozen.graph, input), {},
                                            frozen.schedule)};
}

Var col("col"), row("row"), x("x"), y("y"), c("c");

Blocked product(int width, int height, int depth) {
    static ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom k(0, depth, "k");
    Func f("f");
    f(col, row) = 0.f;
    f(col, row) += a(k, row) * b(col, k);
    return stages_of(f, {{0, width - 1}, {0, height - 1}});
}

/// 32 channels from 512, 3 by 3, of a picture.
Blocked layer(int64_t width, int64_t height) {
    ImageParam in(Float(32), 3, "in"), filter(Float(32), 4, "filter");
    RDom r(0, 512, 0, 3, 0, 3, "r");
    Func conv("conv");
    conv(c, x, y) = 0.f;
    conv(c, x, y) += filter(c, r.x, r.y, r.z) * in(r.x, x + r.y, y + r.z);
    return stages_of(conv, {{0, 31}, {0, width - 1}, {0, height - 1}});
}

Machine with_registers(int count, int bytes) {
    Machine m = two_cores();
    m.vector_registers = count;
    m.vector_bytes = bytes;
    return m;
}

}  // namespace

TEST_CASE("a product of matrices keeps both units busy", "[autoschedule][register_block]") {
    const Blocked matrices = product(960, 960, 960);
    for (int registers : {16, 32}) {
        const Machine machine = with_registers(registers, registers == 16 ? 32 : 64);
        const auto block = matrices.block("f", machine);
        REQUIRE(block);
        CHECK(block->lanes == machine.vector_bytes / 4);
        CHECK(block->rows_dim == 1);
        const int64_t sums = block->vectors * block->rows;
        const int64_t held = block->holds_rows ? block->rows : block->vectors;
        CHECK(sums + held + 1 <= registers);
        CHECK(sums >= 8);  // four clocks of latency, two units
        // one fused operation per vector and iteration, two of them per clock
        const double limit = 0.5 / static_cast<double>(block->lanes);
        CHECK(block->clocks >= limit);
        CHECK(block->clocks <= 1.35 * limit);
    }
}

TEST_CASE("small extents have small blocks", "[autoschedule][register_block]") {
    const Machine machine = with_registers(32, 64);
    const auto two_rows = product(960, 2, 960).block("f", machine);
    REQUIRE(two_rows);
    CHECK(two_rows->rows <= 2);
    CHECK(two_rows->vectors * two_rows->rows >= 8);    // four clocks of latency, two units
    CHECK(!product(8, 960, 960).block("f", machine));  // less than a vector
    CHECK(!product(960, 960, 2).block("f", machine));  // hardly a sum
}

TEST_CASE("the operand that is large stays while the other one passes by",
          "[autoschedule][register_block]") {
    // A column panel of b is 1500 rows of one block; the rows of a are as long, but few at a time.
    const Machine machine = with_registers(32, 64);
    const auto block = product(4000, 4000, 1500).block("f", machine);
    REQUIRE(block);
    CHECK(block->loops == std::vector<int>{1, 0});
}

TEST_CASE("the outermost loop has iterations for all cores", "[autoschedule][register_block]") {
    Machine machine = with_registers(32, 64);
    const auto block = product(64, 4000, 500).block("f", machine, 16);
    REQUIRE(block);
    CHECK(block->loops.back() == 1);  // there is one block of columns only
}

TEST_CASE("a block that would need guards in its parts gives way to another one",
          "[autoschedule][register_block]") {
    Machine machine = with_registers(16, 32);
    machine.l1_bytes = 32 << 10;
    machine.l2_bytes = 512 << 10;
    machine.l3_bytes = 32 << 20;
    ImageParam in(Float(32), 4, "in"), filter(Float(32), 5, "filter");
    RDom r(0, in.dim(0).extent(), 0, 3, 0, 3, "r");
    Var n("n"), b("b");
    Func conv("conv");
    conv(c, x, y, n, b) = 0.f;
    conv(c, x, y, n, b) += filter(c, r.x, r.y, r.z, b) * in(r.x, x + r.y, y + r.z, n);
    const Priced layer = price(conv, {{0, 31}, {0, 6}, {0, 6}, {0, 0}, {0, 15}},
                               {{"in.extent.0", poly::Range::point(512)}});
    const auto &node = layer.node("conv");
    const auto block = autoschedule::register_block(node, 1, node.extents, machine, 2);
    REQUIRE(block);
    INFO(block->vectors << " vectors, " << block->rows << " rows, parts of " << block->part);
    CHECK((block->part == 0 || 7 % block->rows == 0));
    CHECK(block->clocks < 2 * 0.5 / 8);  // guarded ones take three times the limit
}

TEST_CASE("scans go row by row in tiles, and down strips where cores share them",
          "[autoschedule][register_block]") {
    ImageParam in(Float(32), 2, "in");
    RDom r(1, 999, "r");
    Func sums("sums");
    sums(x, y) = in(x, y);
    sums(x, r) += sums(x, r - 1);
    const Machine machine = with_registers(16, 32);
    auto has_block = [&](int64_t width, int cores) {
        return stages_of(sums, {{0, width - 1}, {0, 999}})
            .block("sums", machine, cores)
            .has_value();
    };
    CHECK_FALSE(has_block(352, 1));
    CHECK(has_block(352, 2));
    CHECK(has_block(24, 1));  // a strip
    // Of what comes from memory, cores read rows of a page or two.
    const auto wide = stages_of(sums, {{0, 4095}, {0, 999}});
    const auto &node = wide.graph.nodes.back();
    CHECK_FALSE(has_block(4096, 2));
    CHECK(autoschedule::strip_of_rows(node, 1, node.extents, machine, 2) == 2048);
    CHECK(autoschedule::strip_of_rows(node, 1, node.extents, machine, 4) == 1024);
    CHECK(autoschedule::strip_of_rows(node, 1, node.extents, machine, 64) == 0);
}

namespace {

constexpr int widths_of_strips[] = {2048, 2051, 1100};

AutoscheduleOptions two_cores_with_small_caches() {
    AutoscheduleOptions options;
    options.cores = 2;
    options.l2_bytes = 16 << 10;
    return options;
}

/// Whether the update, not only the pure definition, is parallel over strips of x.
bool update_has_strips(const std::string &source) {
    const size_t update = source.find("sums.update(0)\n");
    return update != std::string::npos &&
           source.substr(update, source.find(';', update) - update).find(".parallel(x_o)") !=
               std::string::npos;
}

}  // namespace

TEST_CASE("a scan in strips of pages is what the definition says", "[autoschedule]") {
    for (const int width : widths_of_strips) {
        ImageParam in(Int(32), 2, "in");
        RDom r(1, in.height() - 1, "r");
        Func sums("sums");
        sums(x, y) = in(x, y);
        sums(x, r) += sums(x, r - 1);
        Buffer<int> image(width, 403), result(width, 403), want(width, 403);
        image.fill([](int i, int j) { return (i * 31 + j * 17) % 1000 - 300; });
        in.set(image);
        Pipeline p(sums);
        p.autoschedule(get_host_target(), two_cores_with_small_caches());
        p.realize(result);
        p.realize_reference(want);
        INFO(p.schedule_source());
        CHECK(update_has_strips(p.schedule_source()));
        int wrong = 0;
        want.for_each_element([&](int i, int j) { wrong += result(i, j) != want(i, j); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("sums over the rows of what comes from memory go down strips that cores share",
          "[autoschedule][register_block]") {
    const Machine machine = with_registers(16, 32);
    auto strip = [&](int64_t width, int height, int cores) {
        ImageParam in(Float(32), 2, "in");
        RDom r(0, height, "r");
        Func sums("sums");
        sums(x) = 0.f;
        sums(x) += in(x, r);
        const auto stages = stages_of(sums, {{0, width - 1}});
        const auto &node = stages.graph.nodes.back();
        const int64_t rows = autoschedule::strip_of_rows(node, 1, node.extents, machine, cores);
        CHECK((rows > 0) != stages.block("sums", machine, cores).has_value());
        return rows;
    };
    CHECK(strip(4096, 999, 2) == 2048);
    CHECK(strip(4096, 999, 1) == 0);    // in a tile
    CHECK(strip(4096, 99, 2) == 0);     // the L2 caches hold it
    CHECK(strip(4096, 9999, 64) == 0);  // too short pieces
    // Nor has a single sum any, nor sums along the rows, nor those of several rows of results.
    ImageParam in(Float(32), 2, "in");
    RDom r(0, 4096, "r");
    Func along("along"), product("product"), total("total");
    total() = 0.f;
    total() += in(r, 0);
    const auto single = stages_of(total, {});
    CHECK(autoschedule::strip_of_rows(single.graph.nodes.back(), 1, {}, machine, 2) == 0);
    along(x) = 0.f;
    along(x) += in(r, x);
    product(x, y) = 0.f;
    product(x, y) += in(x, r) * in(r, y);
    for (const Blocked &other :
         {stages_of(along, {{0, 4095}}), stages_of(product, {{0, 4095}, {0, 4095}})}) {
        const auto &node = other.graph.nodes.back();
        CHECK(autoschedule::strip_of_rows(node, 1, node.extents, machine, 2) == 0);
    }
}

TEST_CASE("sums over rows in strips of pages are what the definition says", "[autoschedule]") {
    for (const int width : widths_of_strips) {
        ImageParam in(Int(32), 3, "in");
        RDom r(0, in.dim(1).extent(), 0, in.dim(2).extent(), "r");
        Func sums("sums");
        sums(x) = Tuple(x, 0);
        sums(x) =
            Tuple(sums(x)[0] + in(x, r.x, r.y), max(sums(x)[1], in(x, r.x, r.y) * (r.x - r.y)));
        Buffer<int> image(width, 43, 7), result(width), most(width), want(width), want_most(width);
        image.fill([](int i, int j, int k) { return (i * 31 + j * 17 + k * 5) % 1000 - 300; });
        in.set(image);
        Pipeline p(sums);
        p.autoschedule(get_host_target(), two_cores_with_small_caches());
        p.realize(result, most);
        p.realize_reference({want, want_most});
        INFO(p.schedule_source());
        CHECK(update_has_strips(p.schedule_source()));
        int wrong = 0;
        want.for_each_element(
            [&](int i) { wrong += result(i) != want(i) || most(i) != want_most(i); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("an update of one row is no scan", "[autoschedule]") {  // PIPE_FUZZ_SEED=580498
    AutoscheduleOptions options;
    options.cores = 2;
    options.l1_bytes = options.l2_bytes = 64;
    Func f("f");
    f(x, y) = x + y;
    f(x, 0) = f(x, 0) * 3;
    Pipeline p(f);
    p.autoschedule(get_host_target(), options);
    const Buffer<int> result = p.realize({1100, 2});
    CHECK(result(1000, 0) == 3000);
    CHECK(result(1000, 1) == 1001);
}

TEST_CASE("operands come from beyond the L1 cache unless all that is read in between fits",
          "[autoschedule][register_block]") {
    const Blocked matrices = product(960, 960, 960);
    auto near = [&](int64_t l1_bytes) {
        Machine machine = with_registers(16, 32);
        machine.l1_bytes = l1_bytes;
        const auto block = matrices.block("f", machine);
        REQUIRE(block);
        return block->near_clocks;
    };
    // A panel of each operand is 960 lines or more: neither stays, the other one alone does, all of them.
    const double none = near(4 << 10), one = near(320 << 10), all = near(16 << 20);
    CHECK(none > one);
    CHECK(one > 0);
    CHECK(all == 0);
}

TEST_CASE("long sums run in parts, for tiles that stay in the cache",
          "[autoschedule][register_block]") {
    const Machine machine = with_registers(32, 64);
    const Blocked matrices = product(4000, 4000, 6000);
    const auto block = matrices.block("f", machine, 2);
    REQUIRE(block);
    REQUIRE(block->part > 0);
    const int64_t columns = block->size(0) * block->tile[0], rows = block->size(1) * block->tile[1];
    const double bytes = 4.0 * double(columns * block->part + rows * block->part + columns * rows);
    CHECK(bytes <= double(machine.l2_bytes));
    CHECK(block->part < 6000 / 2);
    // Each operand is read once for each tile that needs it; the sums of a tile stay.
    const double expected =
        4.0 * 6000 * 4000 *
        (std::ceil(4000.0 / double(columns)) + std::ceil(4000.0 / double(rows)));
    CHECK(block->far_bytes >= 0.95 * expected);
    CHECK(block->far_bytes <= 1.1 * expected + 2 * 4.0 * 4000 * 4000);
    // What lies in the caches anyway, and on few pages, is not divided.
    CHECK(product(64, 64, 160).block("f", machine, 2)->part == 0);
}

TEST_CASE("sums over several RVars run in parts of the outermost one",
          "[autoschedule][register_block]") {
    // As many iterations of the inner ones as of a long RVar: one of the outermost is a part.
    Machine machine = with_registers(16, 32);
    machine.l2_bytes = 512 << 10;
    const auto block = layer(6, 6).block("conv", machine);
    REQUIRE(block);
    CHECK(block->part == 1);
    // The filter, 590 KB, comes once; of the input, rows that a part shares with the next one come again.
    const double filter_bytes = 4.0 * 32 * 512 * 9, in_bytes = 4.0 * 512 * 8 * 8;
    const double sums_bytes = 2 * 3 * 4.0 * 32 * 36;
    CHECK(block->far_bytes >= filter_bytes + in_bytes);
    CHECK(block->far_bytes <= filter_bytes + 3 * in_bytes + sums_bytes);
}

TEST_CASE("blocks whose guards stand in the loops over RVars are not worth parts",
          "[autoschedule][register_block]") {
    // 3 rows of 7 leave one, of which parts would test in each iteration whether it is there.
    Machine machine = with_registers(16, 32);
    machine.l2_bytes = 512 << 10;
    const auto block = layer(7, 7).block("conv", machine);
    REQUIRE(block);
    CHECK(block->part == 0);
    CHECK(layer(6, 6).block("conv", machine)->part > 0);
}

TEST_CASE("operands whose pieces lie apart take longer to load", "[autoschedule][register_block]") {
    // Vectors of 32 of 256 channels are pieces of their own, those of 32 channels follow one another.
    auto clocks = [](int channels) {
        static ImageParam in(Float(32), 2, "in");
        ImageParam filter(Float(32), 2, "filter");
        RDom r(0, 2000, "r");
        Func f("f"), conv("conv");
        filter.dim(0).set_bounds(0, channels);
        conv(c, x) = 0.f;
        conv(c, x) += filter(c, r) * in(r, x);
        const auto block =
            stages_of(conv, {{0, channels - 1}, {0, 5}}).block("conv", with_registers(16, 32));
        REQUIRE(block);
        REQUIRE_FALSE(block->packed);
        return block->apart_clocks;
    };
    CHECK(clocks(8) == 0);
    CHECK(clocks(256) > 0);
}

TEST_CASE("sums over several RVars in parts are what the definition says",
          "[autoschedule][register_block]") {
    ImageParam in(Int(32), 3, "in"), filter(Int(32), 4, "filter");
    RDom r(0, in.dim(0).extent(), 0, 3, 0, 3, "r");
    Func conv("conv");
    conv(c, x, y) = c - x;
    // What is read at two places cannot be copied instead.
    conv(c, x, y) +=
        filter(c, r.x, r.y, r.z) * in(r.x, x + r.y, y + r.z) - filter(c, r.x, 2 - r.y, r.z);
    AutoscheduleOptions options;
    options.l1_bytes = 4 << 10, options.l2_bytes = 48 << 10;
    Buffer<int> values(40, 26, 14), weights(192, 40, 3, 3), result(192, 24, 12);
    values.fill([](int i, int j, int k) { return (i * 7 + j * 5 + k) % 13 - 6; });
    weights.fill([](int i, int j, int k, int l) { return (i * 3 + j * 11 + k + 2 * l) % 17 - 8; });
    in.set(values), filter.set(weights);
    Pipeline pipeline(conv);
    pipeline.autoschedule(get_host_target(), options).realize(result);
    const std::string schedule = pipeline.schedule_source();
    INFO(schedule);
    CHECK(schedule.find("r_z_o") != std::string::npos);  // parts
    CHECK(schedule.find("r_x_u") != std::string::npos);  // and unrolled steps of the innermost RVar
    int wrong = 0;
    result.for_each_element([&](int i, int j, int k) {
        int sum = i - j;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int n = 0; n < 40; n++)
                    sum += weights(i, n, b, a) * values(n, j + b, k + a) - weights(i, n, 2 - b, a);
        wrong += result(i, j, k) != sum;
    });
    CHECK(wrong == 0);
}

TEST_CASE("sums in parts are what the definition says", "[autoschedule][register_block]") {
    ImageParam a(Int(32), 2, "a"), b(Int(32), 2, "b");
    AutoscheduleOptions options;
    options.l1_bytes = 4 << 10, options.l2_bytes = 16 << 10;  // so that small matrices are long
    const auto triangle = GENERATE(false, true);
    bool in_parts = false;
    for (const auto &[width, height, depth] :
         {std::array{514, 331, 600}, std::array{641, 129, 513}, std::array{320, 401, 1000}}) {
        INFO(width << " x " << height << ", sums of " << depth << (triangle ? ", triangle" : ""));
        RDom j(0, a.dim(0).extent(), "j");
        if (triangle)
            j.where(col >= row);
        Func sums("sums");
        sums(col, row) = col - row;
        sums(col, row) += a(j, row) * b(col, j);
        Buffer<int> left(depth, height), right(width, depth);
        left.fill([](int x, int y) { return (x * 7 + y * 5) % 13 - 6; });
        right.fill([](int x, int y) { return (x * 3 + y * 11) % 17 - 8; });
        a.set(left), b.set(right);
        Pipeline p(sums);
        p.autoschedule(get_host_target(), options);
        Buffer<int> got(width, height);
        p.realize(got);
        INFO(p.schedule_source());
        in_parts |= p.schedule_source().find("j_x_o") != std::string::npos;
        int64_t wrong = 0;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int sum = x - y;
                for (int i = 0; i < depth && (!triangle || x >= y); i++)
                    sum += left(i, y) * right(x, i);
                wrong += got(x, y) != sum;
            }
        CHECK(wrong == 0);
    }
    CHECK(in_parts);
}

TEST_CASE("no block where lanes are apart in memory", "[autoschedule][register_block]") {
    ImageParam a(Float(32), 2, "a");
    RDom k(0, 100, "k");
    Func columns("columns"), histogram("histogram");
    columns(x, y) = 0.f;
    columns(x, y) += a(k, x) * a(k, y);
    CHECK(!stages_of(columns, {{0, 511}, {0, 511}}).block("columns", two_cores()));
    histogram(x) = 0;
    histogram(cast<int>(a(k, 0))) += 1;
    CHECK(!stages_of(histogram, {{0, 255}}).block("histogram", two_cores()));
}

TEST_CASE("automatic blocks compute what the definition says", "[autoschedule][register_block]") {
    ImageParam in(Int(32), 3, "in"), weights(Int(32), 4, "weights");
    RDom r(0, 6, 0, 3, 0, 3, "r");
    Func sums("sums"), out("out");
    sums(c, x, y) = c;
    sums(c, x, y) += weights(c, r.y, r.z, r.x) * in(r.x, x + r.y, y + r.z);
    out(c, x, y) = max(sums(c, x, y), 0);
    for (const auto &[channels, width, height] : {std::array{64, 20, 9}, std::array{40, 7, 13},
                                                  std::array{33, 1, 1}, std::array{5, 11, 3}}) {
        INFO(channels << " channels, " << width << " x " << height);
        Buffer<int> image(6, width + 2, height + 2), w(channels, 3, 3, 6);
        image.fill([](int a, int b, int d) { return (a * 7 + b * 5 + d * 3) % 11 - 5; });
        w.fill([](int a, int b, int d, int e) { return (a + 3 * b + 2 * d + 5 * e) % 7 - 3; });
        in.set(image), weights.set(w);
        Pipeline p(out);
        p.autoschedule(get_host_target());
        Buffer<int> got(channels, width, height), want(channels, width, height);
        p.realize(got);
        p.realize_reference(want);
        int64_t wrong = 0;
        got.for_each_element([&](int a, int b, int d) { wrong += got(a, b, d) != want(a, b, d); });
        CHECK(wrong == 0);
    }
}

namespace {

/// Sums along the rows of a matrix.
struct RowSums {
    ImageParam a, v;
    RDom k;
    Func sums{"sums"};

    explicit RowSums(Type type, bool down_columns = false)
        : a(type, 2, "a"), v(type, 1, "v"), k(0, a.dim(0).extent(), "k") {
        sums(row) = cast(type, 0);
        sums(row) += (down_columns ? a(row, k) : a(k, row)) * v(k);
    }
    std::optional<autoschedule::RegisterBlock> block(bool fast_math) const {
        const language::Frozen frozen = language::freeze({sums});
        poly::ModelInput input;
        input.outputs = {{{0, 999}}};
        input.names = {{"a.min.0", poly::Range::point(0)},
                       {"a.extent.0", poly::Range::point(2000)}};
        const auto graph = autoschedule::build_stage_graph(
            frozen.graph, poly::model(frozen.graph, input), input.names, frozen.schedule);
        Machine machine = two_cores();
        machine.fast_math = fast_math;
        const autoschedule::Node &node = graph.nodes.back();
        return autoschedule::row_sums(node, 1, node.extents, machine, 2);
    }
};

}  // namespace

TEST_CASE("sums along rows have lanes along the RVar", "[autoschedule][register_block]") {
    const auto integers = RowSums(Int(32)).block(false);
    REQUIRE(integers);
    CHECK(integers->rvar == 0);
    CHECK(integers->lanes == 16);
    CHECK(integers->clocks < 0.5);  // a gather takes one per element
    CHECK(RowSums(Float(32)).block(true));
    CHECK_FALSE(RowSums(Float(32)).block(false));      // rounds otherwise
    CHECK_FALSE(RowSums(Int(32), true).block(false));  // dimension 0 is along the rows
}

TEST_CASE("sums along rows compute what the definition says", "[autoschedule][register_block]") {
    for (const auto &[width, height] :
         {std::array{1000, 50}, std::array{131, 3}, std::array{64, 1}, std::array{3, 40}}) {
        INFO(width << " x " << height);
        RowSums p(Int(32));
        Func scaled("scaled"), out("out");
        Buffer<int> a(width, height), v(width), want(height), got(height);
        a.fill([](int x, int y) { return (x * 7 + y * 13) % 29 - 9; });
        v.fill([](int x) { return x % 11 - 4; });
        for (int y = 0; y < height; y++) {
            want(y) = 0;
            for (int x = 0; x < width; x++)
                want(y) += a(x, y) * v(x);
        }
        p.a.set(a), p.v.set(v);
        Pipeline pipeline(p.sums);
        pipeline.autoschedule(get_host_target());
        pipeline.realize(got);
        int wrong = 0;
        for (int y = 0; y < height; y++)
            wrong += got(y) != want(y);
        CHECK(wrong == 0);
        if (width == 1000) {
            INFO(pipeline.loop_nest());
            CHECK(pipeline.loop_nest().find("vectorized k") != std::string::npos);
        }
    }
}

TEST_CASE("a matrix that two sums read is computed where they do", "[autoschedule]") {
    ImageParam a(Float(64), 2, "a"), u(Float(64), 1, "u"), v(Float(64), 1, "v");
    RDom i(0, a.dim(1).extent(), "i"), j(0, a.dim(0).extent(), "j");
    Func updated("updated"), down("down"), along("along");
    updated(col, row) = a(col, row) + u(row) * v(col);
    down(col) = Expr(0.0);
    down(col) += updated(col, i) * u(i);
    along(row) = Expr(0.0);
    along(row) += updated(j, row) * down(j);
    const language::Frozen frozen = language::freeze({along});
    Machine machine = two_cores();
    machine.fast_math = true;
    const Result r =
        autoschedule_for(frozen,
                         {{{{0, 4000}}},
                          {{"a", {{0, 4000}, {0, 4000}}}, {"u", {{0, 4000}}}, {"v", {{0, 4000}}}},
                          {}},
                         machine);
    INFO(r.report.text);
    CHECK(r.report.inlined == std::vector<std::string>{"updated"});
}

TEST_CASE("stages that do the same work share the search for their blocks",
          "[autoschedule][register_block]") {
    Var x("x"), y("y");
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom k(0, 300, "k");
    Func first("first"), second("second"), third("third"), all("all");
    first(x, y) += a(x, k) * b(k, y);
    second(x, y) += b(x, k) * a(k, y);
    third(x, y) += b(x, k) * a(k, y) * a(k, y);
    all(x, y) = first(x, y) + second(x, y) + third(x, y);
    const Priced p = price(all, {{0, 299}, {0, 299}});
    const Machine machine = two_cores();
    autoschedule::BlockCache cache;
    const auto &found = cache.block(p.node("first"), 1, {300, 300}, machine, 2);
    REQUIRE(found);
    CHECK(cache.size() == 1);
    CHECK(&cache.block(p.node("second"), 1, {300, 300}, machine, 2) == &found);
    CHECK(cache.size() == 1);
    CHECK(&cache.block(p.node("third"), 1, {300, 300}, machine, 2) != &found);
    CHECK(&cache.block(p.node("first"), 1, {300, 299}, machine, 2) != &found);
    CHECK(&cache.block(p.node("first"), 1, {300, 300}, machine, 1) != &found);
    CHECK(cache.size() == 4);
}

TEST_CASE("a scatter is not taken for a scan that does the same work",
          "[autoschedule][register_block]") {
    ImageParam in(Float(32), 2, "in"), which(Int(32), 1, "which");
    RDom r(0, 300, "r");
    Func scatter("scatter"), scan("scan"), both("both");
    const Expr row = which(r);
    scatter(x, y) = 0.f;
    scatter(x, row) = 0.5f * scatter(x, row) + in(x, r);
    scan(x, y) = 0.f;
    scan(x, r) = 0.5f * scan(x, row) + in(x, r);
    both(x, y) = scatter(x, y) + scan(x, y);
    const Priced p = price(both, {{0, 299}, {0, 299}});
    const Machine machine = two_cores();
    autoschedule::BlockCache cache;
    for (const char *name : {"scatter", "scan"}) {
        INFO(name);
        const autoschedule::Node &node = p.node(name);
        for (int cores : {1, 2})
            CHECK(cache.block(node, 1, node.extents, machine, cores).has_value() ==
                  autoschedule::reduction_block(node, 1, node.extents, machine, cores).has_value());
    }
    CHECK(p.node("scatter").stages[1].scatters);
    CHECK(p.node("scan").stages[1].is_scan);
}

TEST_CASE("parts of the planes of a layer are not short", "[autoschedule][register_block]") {
    // Each part is a stream that begins anew.
    ImageParam in(Float(32), 3, "in"), weights(Float(32), 4, "weights");
    RDom r(0, 64, 0, 3, 0, 3, "r");
    Func sums("sums"), layer("layer"), padded("padded"), next("next");
    sums(c, x, y) = 0.f;
    sums(c, x, y) += weights(c, r.y, r.z, r.x) * in(r.x, x + r.y, y + r.z);
    layer(c, x, y) = max(sums(c, x, y), 0.f);
    padded = BoundaryConditions::constant_exterior(layer, 0.f, {{0, 64}, {0, 256}, {0, 256}});
    next(c, x, y) = padded(c, x - 1, y - 1);
    Machine machine = with_registers(16, 32);
    machine.l1_bytes = 32 << 10, machine.l2_bytes = 512 << 10;
    const Result found =
        autoschedule_for(language::freeze({next}),
                         {{{{0, 64}, {0, 258}, {0, 258}}},
                          {{"in", {{0, 64, 1}, {0, 258, 64}, {0, 258, 64 * 258}}},
                           {"weights", {{0, 64, 1}, {0, 3, 64}, {0, 3, 64 * 3}, {0, 64, 64 * 9}}}},
                          {}},
                         machine);
    INFO(found.report.text);
    const auto &plans = found.report.plans;
    REQUIRE(!plans.empty());
    CHECK(64 * plans.back().tile[1] * 4 >= 4096);  // bytes, a page
}
