// Random pipelines under the strategies ReuseAnalysis and PostTiling give the reference's pixels, and the
// schedules are used: larger pictures than those of the other cases, so that there are several tiles.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "fuzz/algorithm.h"
#include "fuzz/pixels.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

constexpr double most_points = 2e5;  // of all Funcs, for the reference

std::vector<Box> boxes_of(const Algorithm &algorithm, const std::vector<Box> &sizes,
                          std::vector<Box> *of_outputs = nullptr) {
    std::vector<std::vector<Slack>> none;
    for (const Source &s : algorithm.sources)
        none.emplace_back(static_cast<size_t>(s.dimensions));
    return required_boxes(algorithm, sizes, none, of_outputs);
}

/// One box per output: several tiles, with parts of tiles at the end; and what their updates
/// write beside it.
std::vector<Box> sizes_of(const Algorithm &algorithm) {
    const Interval of_line[] = {{-3, 700}}, of_plane[] = {{-3, 290}, {2, 74}},
                   of_volume[] = {{-3, 66}, {2, 74}, {0, 2}};
    std::vector<Box> sizes;
    for (int output : algorithm.outputs) {
        const int dims = algorithm.sources[static_cast<size_t>(output)].dimensions;
        const Interval *box = dims == 3 ? of_volume : dims == 2 ? of_plane : of_line;
        sizes.emplace_back(box, box + dims);
    }
    std::vector<Box> before, written;
    do {  // what is read of one output may grow with another
        before = sizes;
        boxes_of(algorithm, sizes, &written);
        for (size_t i = 0; i < sizes.size(); i++)
            for (size_t d = 0; d < sizes[i].size(); d++)
                sizes[i][d].include(written[i][d]);
    } while (before != sizes);
    return sizes;
}

double work(const Algorithm &algorithm, const std::vector<Box> &boxes) {
    double sum = 0;
    for (size_t i = 0; i < boxes.size(); i++)
        for (const StageInfo &stage : algorithm.sources[i].stages)
            sum += points(boxes[i]) * (1 + points(stage.rvars));
    return sum;
}

class Case {
  public:
    Case(Choices &choices, Algorithm algorithm)
        : choices_(choices), algorithm_(std::move(algorithm)), sizes_(sizes_of(algorithm_)),
          boxes_(boxes_of(algorithm_, sizes_)) {}

    bool worth_it() const {
        const bool rounds = std::any_of(algorithm_.sources.begin(), algorithm_.sources.end(),
                                        [](const Source &s) { return s.rounding > 1; });
        return algorithm_.sources.size() > 3 && !rounds && work(algorithm_, boxes_) < most_points;
    }
    std::string text() const {
        std::string result;
        for (const std::string &line : algorithm_.text)
            result += line + "\n";
        return result;
    }

    void run() {
        set_images();
        const std::vector<GuardedBuffer> expected = outputs();
        pipeline().realize_reference(Realization(buffers(expected)));
        using Strategy = AutoscheduleOptions::Strategy;
        for (const Strategy strategy : {Strategy::ReuseAnalysis, Strategy::PostTiling}) {
            for (const int64_t cache : {1 << 13, 1 << 20}) {
                INFO("strategy " << int(strategy) << ", caches of " << cache << " bytes");
                AutoscheduleOptions options;
                options.strategy = strategy;
                options.l2_bytes = options.l3_bytes = cache;
                compare(options, expected);
            }
        }
    }

  private:
    void set_images() {
        for (size_t i = 0; i < boxes_.size(); i++) {
            Source &source = algorithm_.sources[i];
            if (!source.is_image)
                continue;
            for (Interval &v : boxes_[i])
                if (v.empty())
                    v = {0, 0};
            images_.push_back(allocate(source.image.type(), boxes_[i], choices_));
            fill(images_.back().buffer, i);
            source.image.set(images_.back().buffer);
        }
        algorithm_.param.set(3);
    }

    void compare(const AutoscheduleOptions &options, const std::vector<GuardedBuffer> &expected) {
        Target target = get_host_target();
        target.set_feature(Target::QuickCompile);
        Pipeline p = pipeline();
        p.autoschedule(target, options);
        const std::vector<GuardedBuffer> got = outputs();
        p.realize(Realization(buffers(got)), target);
        const std::string report = p.schedule_report();
        INFO(report);
        CHECK(report.find("no usable schedule") == report.npos);
        size_t i = 0;
        for (int output : algorithm_.outputs) {
            const Source &s = algorithm_.sources[static_cast<size_t>(output)];
            for (const Value &element : s.elements) {
                CHECK(difference(s.name, got[i], expected[i], element.error) == "");
                i++;
            }
        }
    }

    Pipeline pipeline() const {
        std::vector<Func> funcs;
        for (int output : algorithm_.outputs)
            funcs.push_back(algorithm_.sources[static_cast<size_t>(output)].func);
        return Pipeline(funcs);
    }

    std::vector<GuardedBuffer> outputs() {
        std::vector<GuardedBuffer> result;
        for (size_t i = 0; i < sizes_.size(); i++)
            for (Type type :
                 algorithm_.sources[static_cast<size_t>(algorithm_.outputs[i])].func.types())
                result.push_back(allocate(type, sizes_[i], choices_));
        return result;
    }

    static std::vector<Buffer<void>> buffers(const std::vector<GuardedBuffer> &guarded) {
        std::vector<Buffer<void>> result;
        for (const GuardedBuffer &g : guarded)
            result.push_back(g.buffer);
        return result;
    }

    Choices &choices_;
    Algorithm algorithm_;
    std::vector<Box> sizes_, boxes_;
    std::vector<GuardedBuffer> images_;
};

}  // namespace

TEST_CASE("random pipelines by reuse analysis and post-tiling fusion equal the reference",
          "[fuzz]") {
    int done = 0;
    for (uint64_t seed = 1; done < 12 && seed < 200; seed++) {
        Choices choices(seed);
        Case c(choices, generate(choices));
        if (!c.worth_it())
            continue;
        INFO("seed " << seed << "\n" << c.text());
        c.run();
        done++;
    }
    CHECK(done == 12);
}
