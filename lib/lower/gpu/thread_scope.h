#pragma once
// Indices in a kernel in terms of threads.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// A part of an index that runs over 0, coefficient, .., (count - 1) * coefficient.
struct Digit {
    int64_t coefficient = 0, count = 0;  ///< count: INT64_MAX where it is not known
    Expr
        counter;  ///< its value / coefficient, in terms of the names at the access; undefined for lanes of a ramp

    bool same_range(const Digit &other) const {
        return coefficient == other.coefficient && count == other.count;
    }
};

/// The index of an access: rest + constant + sum of thread[d] * (index of the thread in dimension d) + digits.
struct ThreadIndex {
    Expr rest;
    int64_t thread[3] = {0, 0, 0};
    std::vector<Digit> digits;
    int64_t constant = 0;
    bool strided =
        false;  ///< a thread takes several iterations of some loop over threads around it
    int lanes = 1;
    /// Whether threads that differ in a dimension access it: else the first one only does.
    std::array<bool, 3> by_several{};
};

/// What the names around a place in a kernel mean.
class ThreadScope {
  public:
    /// Of a Launch.
    explicit ThreadScope(const ir::StmtNode &launch);

    /// Calls visit() for what is inside of `s`, with what s binds known.
    template <typename F> void inside(const ir::Stmt &s, F &&visit) {
        const Outer outer = enter(s);
        visit();
        leave(s, outer);
    }

    /// Nothing where the index is a vector other than a ramp.
    std::optional<ThreadIndex> index(const Expr &e) const;
    /// Number of threads in a dimension; -1: not known when it is compiled.
    int64_t threads(size_t d) const { return threads_[d]; }
    /// Whether a rest depends on loops, or on memory, so that it differs from step to step.
    static bool is_same_in_all_steps(const Expr &rest);
    static bool depends_on_thread(const Expr &rest);

  private:
    struct Counter {
        int64_t count;
        Expr value;  ///< in terms of the loop's variable
        bool strided;
    };
    using Outer = std::optional<Expr>;

    Outer enter(const ir::Stmt &s);
    void leave(const ir::Stmt &s, const Outer &outer);
    std::optional<Expr> meaning(const ir::Stmt &s);
    Expr counter(const ir::StmtNode &loop, int64_t count, bool strided);

    int64_t threads_[3];
    std::map<std::string, Expr> meaning_;
    std::map<std::string, Counter> counters_;
};

}  // namespace Pipe::lower
