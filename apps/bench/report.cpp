#include "apps/bench/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <thread>

namespace bench {
namespace {

std::string milliseconds(double ms) {
    return ms < 0 ? "-" : fmt::format("{:.1f}", ms);
}

std::string difference(double d) {
    return d < 0 ? "-" : d == 0 ? "0" : fmt::format("{:.1e}", d);
}

}  // namespace

double bandwidth_fraction(const AppResult &r, const Variant &v) {
    return r.copy_ms / median(v.times_ms);
}

double fma_fraction(const AppResult &r, const Variant &v) {
    return r.fma_ms / median(v.times_ms);
}

std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    std::string line;
    while (std::getline(in, line)) {
        if (line.starts_with("model name"))
            return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

const Variant *best_halide_autoscheduler(const AppResult &result) {
    const Variant *best = nullptr;
    for (const char *name :
         {"halide-mullapudi2016", "halide-mullapudi2016-defaults", "halide-adams2019"}) {
        const Variant *v = find_sampled(result.variants, name);
        if (v && (!best || median(v->times_ms) < median(best->times_ms)))
            best = v;
    }
    return best;
}

double best_peer_ms(const AppResult &result) {
    double best = 0;
    for (const Variant &v : result.variants) {
        if (v.ours || !was_sampled(v))
            continue;
        const double ms = median(v.times_ms);
        if (best == 0 || ms < best)
            best = ms;
    }
    return best;
}

std::string floating_point_flags() {
    return "floating point: hand and auto with Target::FastMath, which lets sums be regrouped; "
           "naive without. Halide without strict_float, its default, which allows that too; other "
           "libraries as they were built";
}

void print_ceilings(const Ceilings &c) {
    fmt::print("{}, {} of {} threads\n", processor(), c.threads,
               std::thread::hardware_concurrency());
    fmt::print("ceilings: FMA {:.0f} GFLOP/s ({}-bit vectors)", c.fma_gflops, c.vector_bits);
    for (const Level &l : c.levels) {
        fmt::print("; {} read {:.0f}, copy {:.0f} GB/s", l.name, l.read_gbps, l.best_gbps());
    }
    fmt::print("\n{}\n\n", floating_point_flags());
}

void print_result(const AppResult &r, const Ceilings &c) {
    fmt::print("{}: {}, {}x{}, {} threads; moves {:.0f} MB at least ({:.2f} ms to copy as many)\n",
               r.app->name, r.app->title, r.size.width, r.size.height, c.threads,
               double(r.bytes) / 1e6, r.copy_ms);
    fmt::print("  {:<30} {:>9} {:>9} {:>8} {:>6} {:>6} {:>8} {:>8} {:>8} {:>8}\n", "variant",
               "median ms", "min ms", "vs peer", "bandw.", "FMA", "max diff", "schedule", "lower",
               "LLVM");
    const double peer = best_peer_ms(r);
    for (const Variant &v : r.variants) {
        if (!was_sampled(v)) {
            fmt::print("  {:<30} {}\n", v.name, v.failure);
            continue;
        }
        const double ms = median(v.times_ms);
        fmt::print("  {:<30} {:>9.3f} {:>9.3f} {:>8} {:>6} {:>6} {:>8} {:>8} {:>8} {:>8}  {}\n",
                   v.name, ms, minimum(v.times_ms),
                   peer > 0 ? fmt::format("{:.2f}", ms / peer) : "-",
                   fmt::format("{:.0f} %", 100 * bandwidth_fraction(r, v)),
                   r.app->flops ? fmt::format("{:.0f} %", 100 * fma_fraction(r, v)) : "-",
                   difference(v.max_abs_diff), milliseconds(v.schedule_ms),
                   milliseconds(v.lower_ms), milliseconds(v.llvm_ms), v.note);
    }
    fmt::print("\n");
}

void print_figures(const std::vector<Figure> &figures) {
    if (figures.empty())
        return;
    fmt::print("  {:<64} {:>10} {:>10}\n", "promised", "measured", "limit");
    for (const Figure &f : figures) {
        fmt::print("  {:<64} {:>10.3f} {:>10.3f} {:<6} {}\n", f.name, f.value, f.limit, f.unit,
                   f.value <= f.limit ? "kept" : "NOT KEPT");
    }
}

nlohmann::json to_json(const Ceilings &c, const std::vector<std::string> &peers,
                       const std::vector<AppResult> &results, const std::vector<Figure> &figures) {
    using nlohmann::json;
    json machine = {{"processor", processor()},   {"cores", std::thread::hardware_concurrency()},
                    {"threads", c.threads},       {"vector_bits", c.vector_bits},
                    {"fma_gflops", c.fma_gflops}, {"peers", peers}};
    for (const Level &l : c.levels) {
        machine["bandwidth_gbps"][l.name] = {{"read", l.read_gbps},
                                             {"copy", l.copy_gbps},
                                             {"copy_non_temporal", l.stream_gbps},
                                             {"measured_on_bytes", l.measured_on}};
    }
    json rows = json::array();
    for (const AppResult &r : results) {
        for (const Variant &v : r.variants) {
            json row = {{"app", r.app->name},
                        {"width", r.size.width},
                        {"height", r.size.height},
                        {"variant", v.name},
                        {"threads", c.threads},
                        {"samples", v.times_ms.size()},
                        {"status", v.failure.empty() ? "ok" : "failed"},
                        {"note", v.failure.empty() ? v.note : v.failure}};
            auto known = [&](const char *key, double value) {
                row[key] = value < 0 ? json(nullptr) : json(value);
            };
            known("median_ms", was_sampled(v) ? median(v.times_ms) : -1);
            known("min_ms", was_sampled(v) ? minimum(v.times_ms) : -1);
            known("max_abs_diff", v.max_abs_diff);
            known("schedule_ms", v.schedule_ms);
            known("lower_ms", v.lower_ms);
            known("llvm_ms", v.llvm_ms);
            if (was_sampled(v)) {
                const double peer = best_peer_ms(r);
                known("ratio_to_best_peer", peer > 0 ? median(v.times_ms) / peer : -1);
                known("bandwidth_fraction", bandwidth_fraction(r, v));
                known("fma_fraction", r.app->flops ? fma_fraction(r, v) : -1);
            }
            rows.push_back(std::move(row));
        }
    }
    json promised = json::array();
    for (const Figure &f : figures) {
        promised.push_back(
            {{"name", f.name}, {"value", f.value}, {"unit", f.unit}, {"limit", f.limit}});
    }
    return {{"machine", machine}, {"results", rows}, {"figures", promised}};
}

}  // namespace bench
