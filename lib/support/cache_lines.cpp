#include "support/cache_lines.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace Pipe::support::cache {

void Steps::add(double distance, double count) {
    for (size_t i = size_; i-- > 0;) {
        auto &[step, steps] = steps_[i];
        const double k = std::round(distance / step);
        if (std::abs(distance - k * step) < 0.01 * step && k <= steps) {
            steps += k * (count - 1);
            return;
        }
    }
    if (size_ == steps_.size())
        steps_.back().second *= count;
    else
        steps_[size_++] = {distance, count};
}

double share_of_sets(double run_bytes, const Steps &steps) {
    constexpr double sets = page_bytes / line_bytes;
    double reached = std::max(1.0, run_bytes / line_bytes);
    for (const auto &[distance, count] : steps) {
        const double at = std::fmod(distance, page_bytes);
        double places = std::fmod(distance, line_bytes) != 0 ? sets : 1;
        if (at != 0 && places == 1)
            places =
                page_bytes / std::gcd(static_cast<int64_t>(at), static_cast<int64_t>(page_bytes));
        reached *= std::min(count, places);
    }
    return std::min(1.0, reached / sets);
}

double in_lines(double offset, double run_bytes, double element_bytes, const Steps &steps) {
    const bool same = std::all_of(steps.begin(), steps.end(), [](const auto &step) {
        return std::fmod(step.first, line_bytes) == 0;
    });
    if (!same)
        return run_bytes + line_bytes - element_bytes;
    return line_bytes * std::ceil((offset + run_bytes) / line_bytes);
}

double row_in_all_sets(double elements, int bytes_of_element) {
    constexpr double long_row = 256;  // bytes
    if (elements * bytes_of_element < long_row)
        return elements;
    const double in_line = line_bytes / bytes_of_element;
    const double lines = std::ceil(elements / in_line);
    return in_line * (lines + (std::fmod(lines, 2) == 0 ? 1 : 0));
}

}  // namespace Pipe::support::cache
