#pragma once
// Rows, or vectors, of blocks of sums (whole_sums.h) that are computed a few at a time.

#include <string>
#include <utility>
#include <vector>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Arrays of sums, one inside of the other, and what uses them.
struct Sums {
    explicit Sums(const ir::Stmt &s);
    bool has(const std::string &name) const;
    /// The arrays around another statement.
    ir::Stmt around(ir::Stmt s) const;

    std::vector<ir::Stmt> arrays;
    ir::Stmt body;
};

/// A block whose rows are computed a few at a time: `row` is the loop over them.
class Rows {
  public:
    Rows(const Sums &sums, ir::Stmt row) : sums_(sums), row_(std::move(row)) {}

    /// Whether all statements have rows, which are independent.
    bool are_separate() { return separate().defined(); }
    /// So many of them, one after the other. To be called where they are separate.
    ir::Stmt one_by_one(const Expr &first, const Expr &count);
    /// So many of them at once, where all are needed.
    ir::Stmt together(const Expr &first, const Expr &count);
    /// Half of them at a time, where these are all needed, else one by one. Undefined where they are not separate.
    ir::Stmt few_at_a_time();

  private:
    const Sums &sums_;
    const ir::Stmt row_;
    Expr guard_;            ///< of a row
    bool is_first_ = true;  ///< row loop that is found

    /// What a row does; undefined where it cannot be done by itself.
    ir::Stmt separate();
    bool is_row(const ir::Stmt &s) const;
    static bool is_guarded(const ir::Stmt &s);
    /// Not so where it is another one for each iteration of a loop inside.
    bool guard_is_known_outside() const;
    Expr guard_of(const Expr &row) const;
    /// Whether all rows before one that is needed are.
    bool falls() const;
    ir::Stmt at(const ir::Stmt &s, const Expr &in_arrays, const Expr &elsewhere) const;
    /// The array's elements are those of the first row.
    ir::Stmt one_by_one(const ir::Stmt &single, const Expr &first, const Expr &count) const;
    /// Fewer rows, without guards.
    ir::Stmt with_rows(const ir::Stmt &s, const Expr &count) const;
    /// What a row does, without its guard, which is noted. Undefined if something is stored outside of the row's loop.
    ir::Stmt without_row(const ir::Stmt &s, bool inside);
    /// Whether each element of the arrays, and of what is stored, is used at one point only.
    static bool are_own(const ir::Stmt &body);
};

}  // namespace Pipe::lower
