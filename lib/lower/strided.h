#pragma once
// Strided accesses, and which of them share elements.

#include <cstdint>
#include <optional>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The elements base, base + stride, ... of a buffer, one per lane. Scalar indices have one lane.
struct Strided {
    Expr base;
    int64_t stride = 1;
    int lanes = 1;

    /// Index of the last element, relative to the base.
    int64_t last() const { return stride * (lanes - 1); }
};

/// Nothing if the lanes of the index are not evenly spaced by a constant.
std::optional<Strided> strided(const Expr &index);

/// The maximum stride that is treated as a number of interleaved channels.
constexpr int64_t max_channels = 8;
/// A vector access with the stride of interleaved channels.
bool has_channel_stride(const Expr &index);

/// The index of `lanes` elements: base + offset, base + offset + 1, ...
Expr dense_index(const Expr &base, int64_t offset, int lanes);

/// Whether both predicates are equal, or absent.
bool same_predicate(const Expr &a, const Expr &b);

/// Whether the loads of the Store are executed regardless of its predicate: a uniform predicate is
/// a branch around the store and the loads.
bool loads_always(const ir::StmtNode &store);

/// Whether the two provably access no common element.
bool are_disjoint(const Expr &index, const Expr &other);
/// Whether two Stores of a block commute: neither writes elements that the other reads or writes.
bool may_swap(const ir::Stmt &a, const ir::Stmt &b);

}  // namespace Pipe::lower
