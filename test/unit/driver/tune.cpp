// Pipeline::tune: what it tries, drops, keeps and applies. Nothing here depends on which schedule is the
// fastest.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>

#include <pipe/pipe.h>

#include "driver/compare_outputs.h"
#include "test/support/require_message.h"
#include "test/support/temp_folder.h"

using namespace Pipe;

namespace {

struct Program {
    ImageParam in{UInt(8), 2, "in"};
    Param<int> offset{"offset"};
    Var x{"x"}, y{"y"};
    Func rows{"rows"}, both{"both"};
    Buffer<int> out{width, height};

    static constexpr int width = 640, height = 480;

    Program() {
        rows(x, y) = cast<int>(in(x, y)) + cast<int>(in(x + 1, y)) * 2;
        both(x, y) = rows(x, y) * rows(x, y + 1) + offset;
        Buffer<uint8_t> image(width + 1, height + 1);
        image.for_each_element([&](int i, int j) { image(i, j) = pixel(i, j); });
        in.set(image);
    }

    static uint8_t pixel(int i, int j) { return static_cast<uint8_t>(i * 31 + j * 17); }

    static int expected(int i, int j, int offset) {
        auto row = [&](int b) { return pixel(i, b) + pixel(i + 1, b) * 2; };
        return row(j) * row(j + 1) + offset;
    }

    int wrong_pixels(int offset) const {
        int wrong = 0;
        for (int j = 0; j < height; j++)
            for (int i = 0; i < width; i++)
                wrong += out(i, j) != expected(i, j, offset);
        return wrong;
    }
};

/// Ends as soon as everything has been tried and measured a little.
TuneOptions quick(const std::string &file = "") {
    TuneOptions options;
    options.seconds = 1000;
    options.candidates = 6;
    options.samples = 2;
    options.file = file;
    return options;
}

const TuneCandidate *find(const TuneResult &result, const std::string &name) {
    for (const TuneCandidate &c : result.candidates)
        if (c.name == name)
            return &c;
    return nullptr;
}

int candidates_in(const std::string &file) {
    int count = 0;
    for (size_t at = file.find("\"key\""); at != std::string::npos;
         at = file.find("\"key\"", at + 1))
        count++;
    return count;
}

}  // namespace

TEST_CASE("the fastest schedule is applied, and computes the outputs", "[tune]") {
    Program p;
    p.offset.set(5);
    Pipeline pipeline(p.both);
    const TuneResult result = pipeline.tune(p.out, quick());
    CHECK(result.complete);
    CHECK(p.wrong_pixels(5) == 0);
    CHECK(result.candidates.size() >= 2);
    CHECK(result.candidates.size() <= 6);
    CHECK(find(result, "auto"));
    CHECK_FALSE(find(result, "hand"));  // there are no directives
    CHECK(result.best().samples >= 1);
    CHECK(result.best().dropped.empty());
    for (const TuneCandidate &c : result.candidates) {
        CHECK_FALSE(c.wrong);
        CHECK(c.min_ms <= c.median_ms);
        CHECK(c.predicted_ms > 0);
        if (c.dropped.empty())
            CHECK(result.best().min_ms <= c.min_ms);
    }
    CHECK(result.table().find("auto") != std::string::npos);
    // The schedule now stands as directives, for every size and value.
    p.offset.set(7);
    p.out.fill(0);
    pipeline.realize(p.out);
    CHECK(p.wrong_pixels(7) == 0);
    CHECK(pipeline.schedule_report() == "");
}

TEST_CASE("the candidates differ, and the directives are one of them", "[tune]") {
    Program p;
    p.offset.set(1);
    p.rows.compute_root();
    p.both.parallel(p.y);
    const TuneResult result = Pipeline(p.both).tune(p.out, quick());
    REQUIRE(find(result, "hand"));
    CHECK(find(result, "hand")->predicted_ms > 0);
    CHECK(result.candidates.size() >= 3);
    std::set<std::string> names;
    for (const TuneCandidate &c : result.candidates)
        CHECK(names.insert(c.name).second);
}

TEST_CASE("the published schedulers are tried", "[tune]") {
    Program p;
    p.offset.set(1);
    const TuneResult result = Pipeline(p.both).tune(p.out, quick());
    CHECK(std::any_of(result.candidates.begin(), result.candidates.end(),
                      [](const TuneCandidate &c) { return c.name.starts_with("strategy "); }));
}

TEST_CASE("only the directives, if no others are wanted", "[tune]") {
    Program p;
    p.offset.set(1);
    p.rows.compute_root().vectorize(p.x, 8);
    TuneOptions options = quick();
    options.candidates = 0;
    Pipeline pipeline(p.both);
    const std::string before = pipeline.schedule_source();
    const TuneResult result = pipeline.tune(p.out, options);
    CHECK(result.candidates.size() == 1);
    CHECK(result.best().name == "hand");
    CHECK(pipeline.schedule_source() == before);
    CHECK(p.wrong_pixels(1) == 0);
    Program none;
    none.offset.set(1);
    require_message<RuntimeError>([&] { Pipeline(none.both).tune(none.out, options); },
                                  {"there is no schedule to try"});
}

TEST_CASE("directives may be kept by all candidates", "[tune]") {
    Program p;
    p.offset.set(1);
    p.rows.compute_root().unroll(p.x, 3);
    TuneOptions options = quick();
    options.keep_directives = true;
    Pipeline pipeline(p.both);
    const TuneResult result = pipeline.tune(p.out, options);
    CHECK(result.candidates.size() >= 2);
    const std::string source = pipeline.schedule_source();
    CHECK(source.find("compute_root()") != std::string::npos);
    CHECK(source.find(".split(rows_x, rows_x, x_copy, 3)") != std::string::npos);
    CHECK(p.wrong_pixels(1) == 0);
}

TEST_CASE("a candidate whose result differs is dropped", "[tune]") {
    Program p;
    p.offset.set(3);
    TuneOptions options = quick();
    // The results of the candidates that are tried third differ: they are computed for another value.
    options.progress = [&](const TuneProgress &progress) {
        p.offset.set(progress.round == 0 && progress.tried == 2 ? 4 : 3);
    };
    const TuneResult result = Pipeline(p.both).tune(p.out, options);
    int wrong = 0;
    for (const TuneCandidate &c : result.candidates) {
        wrong += c.wrong;
        if (!c.wrong)
            continue;
        CHECK(c.samples == 0);
        CHECK(c.dropped.find("its result differs: output 0 is " +
                             std::to_string(Program::expected(0, 0, 4)) + " at (0, 0), but " +
                             std::to_string(Program::expected(0, 0, 3)) + " was expected; " +
                             std::to_string(Program::width * Program::height) + " of") !=
              std::string::npos);
    }
    CHECK(wrong == 1);
    CHECK_FALSE(result.best().wrong);
    CHECK(p.wrong_pixels(3) == 0);
}

TEST_CASE("a candidate that cannot be used is dropped", "[tune]") {
    Program p;
    p.offset.set(2);
    p.both.bound(p.x, 0, Program::width);
    p.rows.compute_root().bound_storage(p.x, 8);  // too small: an error when it runs
    static int errors;
    errors = 0;
    Pipeline pipeline(p.both);
    pipeline.jit_handlers().custom_error = [](JITUserContext *, const char *) { errors++; };
    const TuneResult result = pipeline.tune(p.out, quick());
    CHECK(errors == 0);
    REQUIRE(find(result, "hand"));
    CHECK(find(result, "hand")->dropped.find("it cannot be used: ") == 0);
    CHECK(result.best().name != "hand");
    CHECK(p.wrong_pixels(2) == 0);
}

TEST_CASE("tuning that is interrupted is taken up again", "[tune]") {
    TempFolder folder;
    const std::string file = folder / "tuned.json";
    Program p;
    p.offset.set(9);
    TuneOptions options = quick(file);
    int tried = 0;
    options.progress = [&](const TuneProgress &progress) { tried = progress.tried; };
    options.stop = [&] { return tried >= 2; };
    const TuneResult first = Pipeline(p.both).tune(p.out, options);
    CHECK_FALSE(first.complete);
    CHECK(p.wrong_pixels(9) == 0);
    CHECK(first.best().samples >= 1);
    const std::string begun = folder.read("tuned.json");
    const auto run = std::count_if(first.candidates.begin(), first.candidates.end(),
                                   [](const TuneCandidate &c) { return c.samples > 0; });
    CHECK(run == 2);

    Program again;
    again.offset.set(9);
    TuneOptions rest = quick(file);
    rest.samples = 3;  // the first ones need another sample
    const TuneResult second = Pipeline(again.both).tune(again.out, rest);
    CHECK(second.complete);
    for (const TuneCandidate &c : second.candidates)
        CHECK((c.samples >= 3 || !c.dropped.empty()));
    CHECK(again.wrong_pixels(9) == 0);

    // Now everything is known: nothing is measured, and the same schedule is applied.
    const std::string complete = folder.read("tuned.json");
    CHECK(candidates_in(complete) == static_cast<int>(second.candidates.size()));
    Program known;
    known.offset.set(9);
    const TuneResult third = Pipeline(known.both).tune(known.out, rest);
    CHECK(folder.read("tuned.json") == complete);
    CHECK(third.best().name == second.best().name);
    CHECK(third.best().samples == second.best().samples);
    CHECK(known.wrong_pixels(9) == 0);

    Program applied;
    applied.offset.set(9);
    Pipeline pipeline(applied.both);
    pipeline.apply_schedule(file).realize(applied.out);
    CHECK(applied.wrong_pixels(9) == 0);
    CHECK(pipeline.schedule_source() == Pipeline(known.both).schedule_source());
}

TEST_CASE("the fastest schedule of the file is used even if it is not found again", "[tune]") {
    TempFolder folder;
    const std::string file = folder / "tuned.json";
    std::string source;
    {
        Program p;
        p.offset.set(9);
        p.rows.compute_root().vectorize(p.x, 4);
        TuneOptions options = quick(file);
        options.candidates = 0;
        Pipeline(p.both).tune(p.out, options);
        source = Pipeline(p.both).schedule_source();
    }
    Program p;
    p.offset.set(9);
    TuneOptions options = quick(file);
    options.candidates = 0;
    const TuneResult result = Pipeline(p.both).tune(p.out, options);
    CHECK(result.best().name == "hand");
    CHECK(Pipeline(p.both).schedule_source() == source);
    CHECK(p.wrong_pixels(9) == 0);
}

TEST_CASE("a time limit of nothing still gives a schedule", "[tune]") {
    Program p;
    p.offset.set(9);
    TuneOptions options = quick();
    options.seconds = 0;
    const TuneResult result = Pipeline(p.both).tune(p.out, options);
    CHECK_FALSE(result.complete);
    CHECK(result.best().samples >= 1);
    CHECK(p.wrong_pixels(9) == 0);
}

TEST_CASE("what cannot be tuned is refused, and changes nothing", "[tune]") {
    Program p;
    p.offset.set(9);
    p.rows.compute_root();
    Pipeline pipeline(p.both);
    const std::string before = pipeline.schedule_source();
    TuneOptions gpu = quick();
    gpu.target = get_host_target().with_feature(Target::CUDA);
    require_message<CompileError>([&] { pipeline.tune(p.out, gpu); },
                                  {"Pipeline::tune", "has a GPU", "autoschedule()"});
    require_message<RuntimeError>([&] { pipeline.tune(Buffer<float>(8, 8), quick()); }, {"both"});
    TempFolder folder;
    folder.write("other.json", "{}");
    require_message<CompileError>([&] { pipeline.tune(p.out, quick(folder / "other.json")); },
                                  {"other.json", "it is not a schedule"});
    {
        Func another("both");
        another(p.x, p.y) = p.x + p.y;
        TuneOptions options = quick(folder / "another.json");
        Pipeline(another).tune(p.out, options);
    }
    require_message<CompileError>([&] { pipeline.tune(p.out, quick(folder / "another.json")); },
                                  {"another.json", "another algorithm", "Func 'rows' is new"});
    ImageParam image(Int(32), 2, "image");
    Func in_place("in_place");
    in_place(p.x, p.y) = image(p.x, p.y) + 1;
    image.set(p.out);
    require_message<RuntimeError>([&] { Pipeline(in_place).tune(p.out, quick()); },
                                  {"shares memory with an input"});
    CHECK(pipeline.schedule_source() == before);
}

TEST_CASE("results are compared by type", "[tune]") {
    using driver::output_difference;
    Buffer<float> f(4, 3), g(4, 3);
    f.fill(1000), g.fill(1000);
    g(2, 1) = 1000.05f;
    const auto expected = driver::copy_of(f);
    CHECK(output_difference(g, expected, 1e-4) == "");
    CHECK(
        output_difference(g, expected, 1e-5) ==
        "output 0 is 1000.0499877929688 at (2, 1), but 1000 was expected; 1 of 12 elements differ");
    g(2, 1) = NAN;
    CHECK(output_difference(g, expected, 1) != "");
    const auto nan = driver::copy_of(g);
    CHECK(output_difference(g, nan, 1e-4) == "");
    CHECK(output_difference(f, nan, 1e-4) != "");

    Buffer<int8_t> i(5), j(5);
    i.fill(-3), j.fill(-3);
    CHECK(output_difference(j, driver::copy_of(i), 1) == "");
    j(4) = -2;
    CHECK(output_difference(j, driver::copy_of(i), 1) ==
          "output 0 is -2 at (4), but -3 was expected; 1 of 5 elements differ");
    // Also in crops, whose elements do not lie together.
    Buffer<int> large(8, 8);
    large.fill(1);
    const Buffer<int> part = large.cropped(0, 2, 3).cropped(1, 4, 2);
    const auto ones = driver::copy_of(part);
    driver::poison(part);
    CHECK(output_difference(part, ones, 0).find("6 of 6 elements differ") != std::string::npos);
    CHECK(large(1, 4) == 1);
    CHECK(large(5, 4) == 1);
}
