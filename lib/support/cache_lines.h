#pragma once
// Where runs of memory lie in a cache.

#include <array>
#include <cstddef>
#include <utility>

namespace Pipe::support::cache {

inline constexpr double line_bytes = 64, page_bytes = 4096;

/// Runs of equal length at regular distances, which may be nested: (distance in bytes, how many), the shortest distance
/// first.
class Steps {
  public:
    using Step = std::pair<double, double>;

    /// A further distance, not shorter than those before. Where it is a multiple of one of them, and not beyond its
    /// end, the runs are more of the same.
    void add(double distance, double count);

    bool empty() const { return size_ == 0; }
    const Step *begin() const { return steps_.data(); }
    const Step *end() const { return steps_.data() + size_; }

  private:
    std::array<Step, 12> steps_;
    size_t size_ = 0;
};

/// The largest share of the sets of a cache that such runs can be in. Only the position in a page
/// is the same in virtual and physical addresses.
double share_of_sets(double run_bytes, const Steps &steps);

/// Bytes of the lines of one run: if all distances are whole lines and it begins `offset` bytes after the beginning of
/// one; else anywhere in a line.
double in_lines(double offset, double run_bytes, double element_bytes, const Steps &steps);

/// Elements from one long row to the next for which rows begin in all sets in turn: an odd number of lines. A short row stays
/// as it is.
double row_in_all_sets(double elements, int bytes_of_element);

}  // namespace Pipe::support::cache
