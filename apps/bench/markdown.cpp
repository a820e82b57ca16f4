#include "apps/bench/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {
namespace {

/// Rounded to three digits.
std::string three_digits(double value) {
    const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string time_of(const Variant *v) {
    return v ? three_digits(median(v->times_ms)) : "";
}

std::string ratio(const Variant *ours, const Variant *theirs) {
    return ours && theirs ? fmt::format("{:.2f}", median(ours->times_ms) / median(theirs->times_ms))
                          : "";
}

/// The time, or the reason of the failure.
std::string time_or_failure(const AppResult &r, const char *name) {
    for (const Variant &v : r.variants) {
        if (v.name != name)
            continue;
        if (was_sampled(v))
            return time_of(&v);
        if (v.failure.starts_with("not finished"))
            return "too slow to compile";
        return v.failure.find("bad_alloc") != std::string::npos ? "out of memory" : "fails";
    }
    return "";
}

/// OpenCV, oneDNN or OpenBLAS: no application has two of them.
std::string library_time(const AppResult &r) {
    for (const char *name : {"opencv", "onednn", "openblas"})
        if (const Variant *v = find_sampled(r.variants, name))
            return fmt::format("{} ({})", time_of(v), name);
    return "";
}

std::string share_of_ceiling(const AppResult &r, const Variant *hand) {
    if (!hand)
        return "";
    const double bandwidth = bandwidth_fraction(r, *hand), fma = fma_fraction(r, *hand);
    return fma > bandwidth ? fmt::format("{:.0f} % FMA", 100 * fma)
                           : fmt::format("{:.0f} % copy", 100 * bandwidth);
}

std::string compile_times(const AppResult &r, const Variant *hand) {
    if (!hand)
        return "";
    std::string text = fmt::format("{:.0f}", hand->lower_ms + hand->llvm_ms);
    if (r.halide_jit_ms > 0)
        text += fmt::format(" / {:.0f}", r.halide_jit_ms);
    return text;
}

}  // namespace

std::string to_markdown(const std::vector<AppResult> &results) {
    std::string text =
        "| application | size | hand | **auto** | Halide, same hand schedule | Mullapudi2016 | the "
        "same, its defaults | Adams2019 | library | hand / Halide's | auto / best of Halide's | "
        "hand, % of peak | compiling hand, ours / Halide's JIT |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const AppResult &r : results) {
        const Variant *hand = find_sampled(r.variants, "hand");
        const Variant *own = find_sampled(r.variants, "auto");
        const Variant *halide = find_sampled(r.variants, "halide-hand");
        const std::string cells[] = {r.app->title,
                                     fmt::format("{}×{}", r.size.width, r.size.height),
                                     time_of(hand),
                                     "**" + time_of(own) + "**",
                                     time_or_failure(r, "halide-hand"),
                                     time_or_failure(r, "halide-mullapudi2016"),
                                     time_or_failure(r, "halide-mullapudi2016-defaults"),
                                     time_or_failure(r, "halide-adams2019"),
                                     library_time(r),
                                     ratio(hand, halide),
                                     ratio(own, best_halide_autoscheduler(r)),
                                     share_of_ceiling(r, hand),
                                     compile_times(r, hand)};
        text += fmt::format("| {} |\n", fmt::join(cells, " | "));
    }
    return text;
}

}  // namespace bench
