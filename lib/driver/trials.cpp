#include "driver/trials.h"

#include <algorithm>

#include <fmt/format.h>

namespace Pipe::driver {

double Trial::median_ms() const {
    if (!measured())
        return 0;
    std::vector<double> times = info.times_ms;
    const auto middle = times.begin() + static_cast<long>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

double Trial::min_ms() const {
    return measured() ? *std::min_element(info.times_ms.begin(), info.times_ms.end()) : 0;
}

TuneCandidate Trial::candidate() const {
    return {info.name,
            info.predicted_ms,
            median_ms(),
            min_ms(),
            static_cast<int>(info.times_ms.size()),
            info.dropped,
            wrong};
}

const Trial *best_of(const std::vector<Trial> &trials) {
    const Trial *best = nullptr;
    for (const Trial &t : trials)
        if (t.measured() && t.info.dropped.empty() && (!best || t.min_ms() < best->min_ms()))
            best = &t;
    return best;
}

}  // namespace Pipe::driver

namespace Pipe {

std::string TuneResult::table() const {
    std::string text = fmt::format("{:>12} {:>12} {:>12} {:>8}  {}\n", "predicted ms", "median ms",
                                   "minimum ms", "samples", "schedule");
    auto number = [](double ms) { return ms > 0 ? fmt::format("{:.4g}", ms) : std::string("-"); };
    for (const TuneCandidate &c : candidates)
        text += fmt::format("{:>12} {:>12} {:>12} {:>8}  {}{}\n", number(c.predicted_ms),
                            number(c.median_ms), number(c.min_ms), c.samples, c.name,
                            c.dropped.empty() ? "" : " (" + c.dropped + ")");
    return text;
}

}  // namespace Pipe
