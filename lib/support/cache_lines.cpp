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
    // All runs begin at multiples of `common` in a page, as long as distances are whole lines.
    int64_t common = static_cast<int64_t>(page_bytes);
    double places = 1;
    for (const auto &[distance, count] : steps) {
        const bool whole_lines = std::fmod(distance, line_bytes) == 0;
        const int64_t at = whole_lines ? static_cast<int64_t>(std::fmod(distance, page_bytes))
                                       : static_cast<int64_t>(line_bytes);
        const double of_step = page_bytes / double(std::gcd(at, static_cast<int64_t>(page_bytes)));
        common = std::gcd(at, common);
        places = std::min(places * std::min(count, of_step), page_bytes / double(common));
    }
    const double lines = std::max(1.0, run_bytes / line_bytes);
    return std::min(1.0, lines * places / sets);
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
