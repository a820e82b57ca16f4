// Operands of sums that the autoscheduler copies to where their elements lie side by side.
#include <algorithm>
#include <array>
#include <random>
#include <regex>

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/inlining.h"
#include "pipelines.h"
#include "priced.h"
#include "test/support/temp_folder.h"
#include <pipe/pipeline.h>

using namespace test;

namespace {

Var x("x"), y("y");

/// A product of matrices whose right operand has rows of `width` elements.
struct Matrices {
    ImageParam a, b;
    RDom k{0, a.dim(0).extent(), "k"};
    Func sums{"sums"}, out{"out"};

    explicit Matrices(Type type = Int(32)) : a(type, 2, "a"), b(type, 2, "b") {
        sums(x, y) = cast(type, 0);
        sums(x, y) += a(k, y) * b(x, k);
        out(x, y) = sums(x, y) + 1;
    }
    Result schedule(int64_t width, int64_t height, int64_t depth, const Machine &machine) const {
        return autoschedule_for(language::freeze({out}),
                                {{{{0, width}, {0, height}}},
                                 {{"a", {{0, depth, 1}, {0, height, depth}}},
                                  {"b", {{0, width, 1}, {0, depth, width}}}},
                                 {{}}},
                                machine);
    }
};

Machine small_caches() {
    Machine machine = two_cores();
    machine.vector_bytes = 32, machine.vector_registers = 16;
    machine.l1_bytes = 32 << 10, machine.l2_bytes = 512 << 10;
    return machine;
}

/// The same choices on every machine: of registers, cores and caches, so small that small matrices are large.
Target avx2() {
    const Target host = get_host_target();
    return host.has_feature(Target::AVX2) ? Target("x86-64-linux-avx2-fma-f16c") : host;
}

AutoscheduleOptions tiny_caches() {
    AutoscheduleOptions options;
    options.cores = 2;
    options.l1_bytes = 2 << 10, options.l2_bytes = 16 << 10, options.l3_bytes = 1 << 20;
    return options;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("columns of a large matrix are copied", "[autoschedule][packing]") {
    const Matrices matrices;
    const Result large = matrices.schedule(4096, 2000, 2000, small_caches());
    INFO(large.report.text);
    CHECK(large.report.packed == Names{"b.in(sums)"});
    CHECK(large.report.text.find("copied, elements side by side: b.in(sums)") != std::string::npos);
    const auto &funcs = large.graph.funcs;
    const auto copy = std::find_if(funcs.begin(), funcs.end(),
                                   [](const auto &f) { return f.name == "b_in_sums"; });
    REQUIRE(copy != funcs.end());
    CHECK(large.schedule[copy->id].compute.at());
    CHECK(large.schedule[copy->id].stages[0].dims[0].kind == LoopKind::Vectorized);
    // What lies in the caches anyway is not.
    CHECK(matrices.schedule(64, 64, 64, small_caches()).report.packed.empty());
}

TEST_CASE("a copy that many blocks read has rows in different sets of the caches",
          "[autoschedule][packing]") {
    const Result r = Matrices(Float(64)).schedule(1800, 1600, 2200, small_caches());
    INFO(r.report.text);
    const auto &funcs = r.graph.funcs;
    const auto copy = std::find_if(funcs.begin(), funcs.end(),
                                   [](const auto &f) { return f.name == "b_in_sums"; });
    REQUIRE(copy != funcs.end());
    const schedules::FuncSchedule &f = r.schedule[copy->id];
    REQUIRE(f.storage_dims.size() == 1);
    int64_t row = 0;
    REQUIRE(ir::as_const_int(f.storage_dims[0].alignment, &row));
    CHECK(row * 8 % 64 == 0);
    CHECK(row * 8 / 64 % 2 == 1);
}

TEST_CASE("only what in() can replace is copied", "[autoschedule][packing]") {
    const Machine machine = small_caches();
    SECTION("not what a Func reads that was inlined") {
        ImageParam a(Int(32), 2, "a"), b(Int(32), 2, "b");
        RDom k(0, 2000, "k");
        Func shifted("shifted"), sums("sums");
        shifted(x, y) = b(x, y) + 1;
        shifted.compute_inline();
        sums(x, y) = 0;
        sums(x, y) += a(k, y) * shifted(x, k);
        const Result r = autoschedule_for(
            language::freeze({sums}),
            {{{{0, 4096}, {0, 2000}}},
             {{"a", {{0, 2000, 1}, {0, 2000, 2000}}}, {"b", {{0, 4096, 1}, {0, 2000, 4096}}}},
             {}},
            machine);
        INFO(r.report.text);
        CHECK(r.report.packed.empty());
    }
    SECTION("not an image without a name, which a schedule file cannot refer to") {
        ImageParam a(Int(32), 2, "a"), b(Int(32), 2);
        RDom k(0, 2000, "k");
        Func sums("sums");
        sums(x, y) = 0;
        sums(x, y) += a(k, y) * b(x, k);
        const language::Frozen frozen = language::freeze({sums});
        const Result r =
            autoschedule_for(frozen,
                             {{{{0, 4096}, {0, 2000}}},
                              {{"a", {{0, 2000, 1}, {0, 2000, 2000}}},
                               {frozen.graph.images[1].name, {{0, 4096, 1}, {0, 2000, 4096}}}},
                              {}},
                             machine);
        INFO(r.report.text);
        CHECK(r.report.packed.empty());
    }
}

TEST_CASE("sums of copies are what the definition says", "[autoschedule][packing]") {
    int copies = 0;
    for (const auto &[width, height, depth] :
         {std::array{512, 70, 300}, std::array{1024, 33, 200}, std::array{500, 200, 130}}) {
        INFO(width << " x " << height << ", sums of " << depth);
        Matrices p;
        Buffer<int> left(depth, height), right(width, depth), got(width, height);
        left.fill([](int x, int y) { return (x * 7 + y * 5) % 13 - 6; });
        right.fill([](int x, int y) { return (x * 3 + y * 11) % 17 - 8; });
        p.a.set(left), p.b.set(right);
        Pipeline pipeline(p.out);
        pipeline.autoschedule(avx2(), tiny_caches());
        auto wrong = [&, width = width, height = height, depth = depth] {
            int64_t count = 0;
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++) {
                    int sum = 1;
                    for (int k = 0; k < depth; k++)
                        sum += left(k, y) * right(x, k);
                    count += got(x, y) != sum;
                }
            return count;
        };
        pipeline.realize(got);
        CHECK(wrong() == 0);
        const std::string source = pipeline.schedule_source(), loops = pipeline.loop_nest();
        INFO(source);
        if (source.find("b.in(sums)") == std::string::npos)
            continue;
        copies++;
        // A file keeps them.
        TempFolder folder;
        pipeline.save_schedule(folder / "schedule.json");
        Matrices other;
        other.a.set(left), other.b.set(right);
        Pipeline again(other.out);
        again.apply_schedule(folder / "schedule.json");
        // (While both are alive, the names of the second one end in $1.)
        CHECK(std::regex_replace(again.loop_nest(), std::regex("\\$1"), "") == loops);
        got.fill(0);
        again.realize(got);
        CHECK(wrong() == 0);
        // As does the page.
        pipeline.report(folder / "report.html");
        CHECK(folder.read("report.html").find("b_in_sums") != std::string::npos);
    }
    CHECK(copies >= 2);
}

TEST_CASE("copies among Funcs that the user added keep their place in schedule files",
          "[autoschedule][packing][schedule_file]") {
    Matrices p;
    Buffer<int> left(300, 70), right(512, 300);
    left.fill(1), right.fill(2);
    p.a.set(left), p.b.set(right);
    RDom r(0, 64, "r");
    Func rows("rows");
    rows(x) += right(x, r);
    RVar ro("ro"), ri("ri");
    rows.update().split(r, ro, ri, 8).rfactor(ro, y).compute_root();
    Pipeline pipeline({p.out, rows});
    pipeline.autoschedule(avx2(), tiny_caches());
    REQUIRE(pipeline.schedule_source().find("b.in(sums)") != std::string::npos);
    TempFolder folder;
    pipeline.save_schedule(folder / "schedule.json");
    pipeline.apply_schedule(folder / "schedule.json");
    pipeline.save_schedule(folder / "again.json");
    CHECK(folder.read("again.json") == folder.read("schedule.json"));
}

TEST_CASE("a copy for a Func that rfactor() added", "[autoschedule][packing][schedule_file]") {
    Matrices p;
    Buffer<int> left(300, 70), right(512, 300);
    left.fill(1), right.fill(2);
    p.a.set(left), p.b.set(right);
    RVar ko("ko"), ki("ki");
    Var part("part");
    Func sums_intm = p.sums.update().split(p.k, ko, ki, 150).rfactor(ko, part);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(avx2(), tiny_caches());
    const std::string source = pipeline.schedule_source();
    INFO(source);
    // It is declared before the copy that mentions it.
    const size_t copy = source.find("= b.in(sums_intm)");
    REQUIRE(copy != std::string::npos);
    CHECK(source.find("Func sums_intm = ") < copy);
    // A file keeps all of it, and the place that messages name.
    TempFolder folder;
    auto place = [&] {
        pipeline.compile_to_lowered_stmt(folder / "loops.txt", pipeline.infer_arguments(), Text,
                                         avx2());
        const std::string loops = folder.read("loops.txt");
        const size_t at = loops.find("Read by b_in_sums_intm (");
        REQUIRE(at != std::string::npos);
        return loops.substr(at, loops.find(')', at) - at);
    };
    const std::string before = pipeline.loop_nest(), place_before = place();
    pipeline.save_schedule(folder / "schedule.json");
    pipeline.apply_schedule(folder / "schedule.json");
    CHECK(pipeline.loop_nest() == before);
    CHECK(place() == place_before);
    Buffer<int> got(512, 70);
    pipeline.realize(got);
    CHECK(got(511, 69) == 601);
}

TEST_CASE("convolutions of random layouts with copies", "[autoschedule][packing]") {
    std::mt19937 random(7);
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    int copies = 0;
    for (int trial = 0; trial < 12; trial++) {
        const int channels = 64 * (1 + below(6)) + below(2), sums_of = 60 + below(100);
        const int taps = 1 + below(3);
        const int width = 1 + below(20), height = 1 + below(12), stride = 1 + below(2);
        const int layout = below(3);
        INFO("trial " << trial << ": " << channels << " channels, sums of " << sums_of << ", "
                      << taps << " taps, " << width << " x " << height << ", layout " << layout);
        const Var c("c");
        ImageParam in(Int(16), 3, "in"), weights(Int(16), 4, "weights");
        RDom r(0, in.dim(0).extent(), 0, taps, 0, taps, "r");
        const Expr weight = layout == 0   ? weights(c, r.y, r.z, r.x)
                            : layout == 1 ? weights(c, r.x, r.y, r.z)
                                          : weights(c, r.z, r.x, r.y);
        Func sums("sums"), out("out");
        sums(c, x, y) = 3;
        sums(c, x, y) += cast<int>(weight) * in(r.x, x * stride + r.y, y * stride + r.z);
        out(c, x, y) = max(sums(c, x, y), 0);
        Buffer<int16_t> image(sums_of, width * stride + 2, height * stride + 2);
        Buffer<int16_t> w = layout == 0   ? Buffer<int16_t>(channels, taps, taps, sums_of)
                            : layout == 1 ? Buffer<int16_t>(channels, sums_of, taps, taps)
                                          : Buffer<int16_t>(channels, taps, sums_of, taps);
        image.fill([](int a, int b, int d) { return int16_t((a * 7 + b * 5 + d * 3) % 11 - 5); });
        w.fill([](int a, int b, int d, int e) {
            return int16_t((a + 3 * b + 2 * d + 5 * e) % 7 - 3);
        });
        in.set(image), weights.set(w);
        Pipeline p(out);
        p.autoschedule(avx2(), tiny_caches());
        Buffer<int> got(channels, width, height);
        p.realize(got);
        INFO(p.schedule_source());
        copies += p.schedule_source().find(".in(sums)") != std::string::npos;
        int64_t wrong = 0;
        got.for_each_element([&](int a, int b, int d) {
            int sum = 3;
            for (int k = 0; k < sums_of; k++)
                for (int i = 0; i < taps; i++)
                    for (int j = 0; j < taps; j++)
                        sum += (layout == 0   ? w(a, i, j, k)
                                : layout == 1 ? w(a, k, i, j)
                                              : w(a, j, k, i)) *
                               image(k, b * stride + i, d * stride + j);
            wrong += got(a, b, d) != std::max(sum, 0);
        });
        CHECK(wrong == 0);
    }
    CHECK(copies >= 2);
}

TEST_CASE("the transpose of a matrix that a product reads, too, may be stored",
          "[autoschedule][packing]") {
    Var i("i"), j("j");
    ImageParam data(Float(64), 2, "data");
    RDom k(0, data.dim(1).extent(), "k");
    Func centered("centered"), transposed("transposed"), product("product"), out("out");
    centered(i, j) = sqrt(data(i, j));
    transposed(i, j) = centered(j, i);
    product(i, j) += transposed(k, j) * centered(i, k);
    out(i, j) = product(i, j) + 1;
    Priced p = price(out, {{0, 2599}, {0, 2599}});
    autoschedule::inline_free_of_cost(p.graph);
    CHECK_FALSE(p.node("transposed").inlined);
    CHECK(autoschedule::is_inlining_choice(p.graph, static_cast<int>(p.node("transposed").id)));

    const int size = 70;
    Buffer<double> in(size, size), got(size, size), want(size, size);
    in.fill([](int x, int y) { return double((x * 7 + y * 3) % 11); });
    data.set(in);
    Pipeline pipeline(out);
    pipeline.autoschedule(get_host_target());
    pipeline.realize(got);
    pipeline.realize_reference(want);
    int wrong = 0;
    got.for_each_element([&](int x, int y) {
        wrong += std::abs(got(x, y) - want(x, y)) > 1e-9 * std::abs(want(x, y));
    });
    CHECK(wrong == 0);
}

namespace {

/// The product of a matrix and the transpose of another one: rows are as long as the sums.
struct RowProducts {
    ImageParam a, b;
    RDom k{0, a.dim(0).extent(), "k"};
    Func sums{"sums"}, out{"out"};

    explicit RowProducts(Type type = Int(32)) : a(type, 2, "a"), b(type, 2, "b") {
        sums(x, y) = cast(type, 0);
        sums(x, y) += a(k, y) * b(k, x);
        out(x, y) = sums(x, y) + 1;
    }
};

}  // namespace

TEST_CASE("an operand whose rows are as long as the sums is copied in the order of the lanes",
          "[autoschedule][packing]") {
    int copies = 0;
    for (const auto &[width, height, depth] : {std::array{64, 70, 300}, std::array{129, 33, 200},
                                               std::array{500, 200, 65}, std::array{3, 2, 5}}) {
        INFO(width << " x " << height << ", sums of " << depth);
        RowProducts p;
        Buffer<int> left(depth, height), right(depth, width), got(width, height);
        left.fill([](int x, int y) { return (x * 7 + y * 5) % 13 - 6; });
        right.fill([](int x, int y) { return (x * 3 + y * 11) % 17 - 8; });
        p.a.set(left), p.b.set(right);
        Pipeline pipeline(p.out);
        pipeline.autoschedule(avx2());
        auto wrong = [&] {
            int64_t count = 0;
            got.for_each_element([&, depth = depth](int x, int y) {
                int sum = 1;
                for (int k = 0; k < depth; k++)
                    sum += left(k, y) * right(k, x);
                count += got(x, y) != sum;
            });
            return count;
        };
        pipeline.realize(got);
        CHECK(wrong() == 0);
        const std::string source = pipeline.schedule_source(), loops = pipeline.loop_nest();
        INFO(source);
        if (source.find("b.in(sums)") == std::string::npos)
            continue;
        copies++;
        CHECK(source.find(".reorder_storage({b_in_sums__1, b_in_sums__0})") != std::string::npos);
        TempFolder folder;
        pipeline.save_schedule(folder / "schedule.json");
        RowProducts other;
        other.a.set(left), other.b.set(right);
        Pipeline again(other.out);
        again.apply_schedule(folder / "schedule.json");
        CHECK(std::regex_replace(again.loop_nest(), std::regex("\\$1"), "") == loops);
        got.fill(0);
        again.realize(got);
        CHECK(wrong() == 0);
    }
    CHECK(copies == 3);
}

TEST_CASE("what is read of copies of Funcs, in other orders, and twice",
          "[autoschedule][packing]") {
    Var z("z");
    ImageParam a(Float(32), 3, "a"), b(Float(32), 3, "b");
    RDom k(0, a.dim(0).extent(), "k");
    Func shifted("shifted"), sums("sums"), out("out");
    bool copied = true;
    SECTION("of a Func that has other readers") {
        shifted(x, y, z) = sqrt(b(x, y, z)) + 1.0f;
        sums(x, y, z) += a(k, y, z) * shifted(k, x, z);
        out(x, y, z) = sums(x, y, z) + shifted(x, y, z);
    }
    SECTION("along a middle dimension") {
        sums(z, x, y) += a(k, x, y) * b(k, z, y);
        out(x, y, z) = sums(x, y, z);
    }
    SECTION("along the last dimension") {
        sums(z, x, y) += a(k, x, y) * b(k, y, z);
        out(x, y, z) = sums(x, y, z);
    }
    SECTION("of one image, in both ways: as it is") {
        sums(x, y, z) += a(k, y, z) * a(k, x, z);
        out(x, y, z) = sums(x, y, z);
        copied = false;
    }
    SECTION("where each element is read for one point only: as it is") {
        sums(x, y, z) += b(k, x, clamp(y + z, 0, 39)) * a(k, y, z);
        out(x, y, z) = sums(x, y, z);
        copied = false;
    }
    SECTION("where the user computes the Func in the loops of its reader: as it is") {
        shifted(x, y, z) = b(x, y, z) + 1.0f;
        sums(x, y, z) += a(k, y, z) * shifted(k, x, z);
        shifted.compute_at(sums.update(), z);
        out(x, y, z) = sums(x, y, z);
        copied = false;
    }
    Buffer<float> left(40, 40, 40), right(40, 40, 40), got(40, 40, 40), want(40, 40, 40);
    left.fill([](int p, int q, int r) { return float((p * 7 + q * 5 + r) % 13 - 6); });
    right.fill([](int p, int q, int r) { return float((p * 3 + q * 11 + r * 2) % 17); });
    a.set(left), b.set(right);
    Pipeline pipeline(out);
    pipeline.autoschedule(avx2());
    pipeline.realize(got);
    INFO(pipeline.schedule_source());
    CHECK((pipeline.schedule_source().find(".in(sums)") != std::string::npos) == copied);
    pipeline.realize_reference(want);
    int wrong = 0;
    got.for_each_element([&](int x, int y, int z) {
        wrong += std::abs(got(x, y, z) - want(x, y, z)) > 1e-4f * std::abs(want(x, y, z)) + 1e-2f;
    });
    CHECK(wrong == 0);
}
