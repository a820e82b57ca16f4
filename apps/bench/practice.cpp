#include "apps/bench/practice.h"

#include "apps/bench/ours.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace bench {

double PracticeResult::ratio() const {
    return median(automatic().times_ms) / median(loops().times_ms);
}

PracticeResult measure_practice(const practice::Practice &practice, int threads, int samples,
                                double budget_s,
                                const std::function<void(const std::string &)> &progress) {
    omp_set_num_threads(threads);
    progress(practice.name + ": making the input");
    const auto program = std::make_shared<practice::Program>(practice.make());
    const practice::Arrays arrays = make_arrays(practice, *program, practice.size);
    set_inputs(*program, arrays);

    progress(practice.name + ": compiling");
    Variant loops;
    loops.name = "loops";
    loops.run = [&] { practice.loops(arrays, practice.size); };
    const Pipe::Target target = Pipe::get_host_target().with_feature(Pipe::Target::FastMath);
    PracticeResult result{&practice, {loops}};
    result.variants.push_back(pipe_variant("auto", target, arrays.output, [&] {
        return Pipe::Pipeline(program->output).autoschedule(target);
    }));
    check(result.variants, arrays.output, practice.tolerance, [](int) {});
    sample(result.variants, samples, budget_s, [&](int round) {
        progress(fmt::format("{}: round {} of {}", practice.name, round, samples));
    });
    progress("");
    for (Variant &v : result.variants)  // the closures refer to arrays that no longer exist
        v.run = nullptr;
    return result;
}

void print_practice_header(int threads) {
    fmt::print("{}, {} threads\n"
               "loops: C++ with OpenMP, -O3 -march={} -ffast-math; auto: the autoscheduler, "
               "with Target::FastMath\n\n"
               "  {:<62} {:>11} {:>9} {:>9} {:>7} {:>9} {:>9}\n",
               processor(), threads, PIPE_PRACTICE_ARCH,
               "medians of the samples; min: ratio of the fastest", "size", "loops ms", "auto ms",
               "ratio", "min", "max diff");
}

void print_practice(const PracticeResult &r) {
    const std::string size = fmt::format("{}x{}", r.practice->size.width, r.practice->size.height);
    fmt::print("  {:<62} {:>11} ", r.practice->name + ": " + r.practice->title, size);
    if (!r.good()) {
        for (const Variant &v : r.variants)
            if (!v.failure.empty())
                fmt::print("{} {}", v.name, v.failure);
        fmt::print("\n");
        return;
    }
    fmt::print("{:>9.3f} {:>9.3f} {:>7.2f} {:>9.2f} {:>9.1e}\n", median(r.loops().times_ms),
               median(r.automatic().times_ms), r.ratio(),
               minimum(r.automatic().times_ms) / minimum(r.loops().times_ms),
               r.automatic().max_abs_diff);
}

std::vector<Figure> practice_figures(const std::vector<PracticeResult> &results) {
    double logarithms = 0, largest = 0;
    int count = 0;
    for (const PracticeResult &r : results) {
        if (!r.good())
            continue;
        logarithms += std::log(r.ratio());
        largest = std::max(largest, r.ratio());
        count++;
    }
    if (count == 0)
        return {};
    return {{fmt::format("auto / loops: geometric mean of {}", count), std::exp(logarithms / count),
             "", 0.7},
            {"auto / loops: the largest", largest, "", 1}};
}

nlohmann::json practice_to_json(int threads, const std::vector<PracticeResult> &results) {
    using nlohmann::json;
    json rows = json::array();
    for (const PracticeResult &r : results) {
        for (const Variant &v : r.variants) {
            json row = {{"practice", r.practice->name},
                        {"width", r.practice->size.width},
                        {"height", r.practice->size.height},
                        {"variant", v.name},
                        {"samples", v.times_ms.size()},
                        {"status", v.failure.empty() ? "ok" : "failed"},
                        {"note", v.failure}};
            if (was_sampled(v)) {
                row["median_ms"] = median(v.times_ms);
                row["min_ms"] = minimum(v.times_ms);
                row["max_abs_diff"] = v.max_abs_diff;
            }
            rows.push_back(std::move(row));
        }
    }
    json figures = json::array();
    for (const Figure &f : practice_figures(results))
        figures.push_back({{"name", f.name}, {"value", f.value}, {"limit", f.limit}});
    return {{"machine", {{"processor", processor()}, {"threads", threads}}},
            {"results", rows},
            {"figures", figures}};
}

}  // namespace bench
