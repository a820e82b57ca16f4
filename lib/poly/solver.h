#pragma once
// The interface to isl: converts an index expression to a Coordinate.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poly/access.h"
#include "poly/range.h"

namespace Pipe::poly {

/// One loop of a stage.
struct Iterator {
    std::string name;
    Range range;  ///< unbounded if unknown
    bool is_reduction = false;
};

/// Gives exact results, or none. A solver holds one isl context and serves one thread.
class Solver {
  public:
    /// At most `max_operations` of isl's elementary operations are spent per query; 0 = no limit.
    explicit Solver(unsigned long max_operations);
    ~Solver();
    Solver(const Solver &) = delete;
    Solver &operator=(const Solver &) = delete;

    /// The iterators of the stage for the following queries, pure ones first.
    void set_stage(std::vector<Iterator> iterators);

    /// `index` as a function of the stage's iterators; names with a single value in `names` count
    /// as constants. Supports +, -, multiplication by constants, floor division and modulo by
    /// positive constants, min, max and select on affine conditions. Nothing if the index is not of
    /// this form, or if the quota was exhausted.
    std::optional<Coordinate> coordinate(const Expr &index, const Environment &names);

    /// The number of times that the quota was exhausted.
    int exhausted() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace Pipe::poly
