#pragma once
// Accesses of evenly spaced elements, and which of them share elements.

#include <cstdint>
#include <optional>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The elements base, base + stride, ... of a buffer: one per lane. Scalar indices have one lane.
struct Strided {
    Expr base;
    int64_t stride = 1;
    int lanes = 1;

    /// Index of the last element, relative to the base.
    int64_t last() const { return stride * (lanes - 1); }
};

/// Nothing where the index does not advance by a constant.
std::optional<Strided> strided(const Expr &index);

/// Strides that are taken to be those of neighboring channels.
constexpr int64_t max_channels = 8;
/// A vector access with the stride of interleaved channels.
bool has_channel_stride(const Expr &index);

/// base, base + 1, ...: `lanes` of them.
Expr dense_index(const Expr &base, int64_t offset, int lanes);

/// The same predicate, or none.
bool same_predicate(const Expr &a, const Expr &b);

/// Whether what the Store loads is loaded whatever its predicate says: one that is the same in all lanes is a
/// branch around the store and the loads.
bool loads_always(const ir::StmtNode &store);

/// True if no element is accessed by both: provably so.
bool are_disjoint(const Expr &index, const Expr &other);
/// Whether two Stores of the same block may be done in either order: neither writes what the other reads
/// or writes.
bool may_swap(const ir::Stmt &a, const ir::Stmt &b);

}  // namespace Pipe::lower
