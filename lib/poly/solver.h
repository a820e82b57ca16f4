#pragma once
// The door to isl: turns one index expression into a Coordinate.

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
    Range range;  ///< unbounded where unknown
    bool is_reduction = false;
};

/// Answers exactly, or says that it cannot. One solver holds one isl context and serves one thread.
class Solver {
  public:
    /// At most `max_operations` of isl's elementary operations are spent on one question; 0 = no limit.
    explicit Solver(unsigned long max_operations);
    ~Solver();
    Solver(const Solver &) = delete;
    Solver &operator=(const Solver &) = delete;

    /// The iterators of the stage that the next questions are about, pure ones first.
    void set_stage(std::vector<Iterator> iterators);

    /// What `index` is as a function of the stage's iterators; names that have one value in `names`
    /// count as constants. Understands +, -, multiplication by constants, floor division and modulo by
    /// positive constants, min, max and select on affine conditions.
    /// Nothing where the index is not of that kind, or where the quota was exhausted.
    std::optional<Coordinate> coordinate(const Expr &index, const Environment &names);

    /// How often the quota was exhausted so far.
    int exhausted() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace Pipe::poly
