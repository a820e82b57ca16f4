#pragma once
// The loop-nest half of the IR. (Expressions and their semantics: expr_node.h.)
//
//   s ::= let name = e { s }
//       | assert e, message...
//       | for[kind] name in [min, min + extent) { s }
//       | provide name(e, ...) = (e, ...) [if predicate]      multi-dimensional store, before flattening
//       | realize name [min, extent]... { s }                 multi-dimensional storage, before flattening
//       | store name[e] = e  [if predicate]                   flattened
//       | allocate name[type, elements...] { s }              flattened
//       | free name                                           last, in what it is allocated for, that names it
//       | produce name { s } | consume name { s }             delimit the production and use of a Func
//       | if e { s } [else { s }]
//       | prefetch name(e, ...)                               the element's cache line; before flattening
//       | prefetch name[e]                                    flattened
//       | fork name, e { s } { s }                            see Fork below
//       | acquire name | release name                         a semaphore of a fork
//       | memoize name (e, ...) { s } { s }                   see Memoize below
//       | launch name blocks (e, e, e) threads (e, e, e) shared e { s }     see Launch below
//       | barrier
//       | use name on device | use name on host
//       | s ; s ; ...
//       | evaluate e
//
// Fork runs its two statements concurrently, as tasks, and ends when both have ended. It has two
// semaphores: "<name>.ready", initially 0, and "<name>.free", initially e. `acquire` waits until
// its semaphore is positive and decrements it, `release` increments it; what was stored before a
// release is visible after the acquire that it permits.
//
// Memoize is storage in a cache that persists between runs. It looks up an entry by the name and
// the values of the key. If there is none, its first statement runs and fills new storage, which
// then becomes the entry. Its second statement always runs, and reads. If `used` is false, the
// second statement uses no value of it: the first does not run, and no entry is added.
//
// Launch is a kernel of a GPU: its statement runs once per thread of each block, all at once, with the free Variables
// ".block.x", ".block.y", ".block.z", ".thread.x", ".thread.y" and ".thread.z" (int32). Statements that follow it wait
// for its end. Barrier waits for all threads of the block; every thread of it has to come there. What a thread stored
// to memory of the block or of the device before a barrier is seen by the others after it. An Allocate in GPUShared is
// one array per block, any other one array per thread.
//
// `use` comes before an access to a buffer that both kernels and code of the host access: it makes the newest elements
// available there.

#include <atomic>
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr_node.h"
#include <pipe/loop_kind.h>

namespace Pipe::ir {

enum class StmtOp : uint8_t {
    Let,
    Assert,
    For,
    Provide,
    Realize,
    Store,
    Allocate,
    Free,
    Produce,
    Consume,
    If,
    Block,
    Evaluate,
    Prefetch,
    Fork,
    Acquire,
    Release,
    Exclusive,
    Memoize,
    Launch,
    Barrier,
    Use,
};

/// How a buffer is used.
enum class Access : uint8_t {
    Read,
    Write,      ///< and read, or written in part
    Overwrite,  ///< what it held before is not needed
};

struct StmtNode;
void retain(const StmtNode *node) noexcept;
void release(const StmtNode *node) noexcept;

/// Handle to an immutable statement. Undefined = nothing to do.
class Stmt {
  public:
    Stmt() = default;
    explicit Stmt(const StmtNode *node) : node_(node) { retain(node_); }
    Stmt(const Stmt &other) : node_(other.node_) { retain(node_); }
    Stmt(Stmt &&other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Stmt &operator=(Stmt other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Stmt() { release(node_); }
    bool defined() const { return node_ != nullptr; }
    const StmtNode *get() const { return node_; }
    const StmtNode *operator->() const { return node_; }
    bool same_as(const Stmt &other) const { return node_ == other.node_; }

  private:
    const StmtNode *node_ = nullptr;
};

/// The user's Partition of a loop, or what a pass says of a loop that it made.
enum class Partitioning : uint8_t {
    Auto,
    Never,
    Always,
    Remainder,  ///< the last few iterations of a loop that was split: nothing in it is worth a copy of outer loops
};
inline Partitioning partitioning(Partition p) {
    return p == Partition::Never    ? Partitioning::Never
           : p == Partition::Always ? Partitioning::Always
                                    : Partitioning::Auto;
}

/// The loop of a schedule from which a loop of the program was made, for messages.
struct LoopOrigin {
    std::string stage;     ///< with its source line: "blur.update(0) (blur.cpp:12)"
    std::string variable;  ///< "x", "r$x"
};

/// | op       | exprs                                   | stmts          | other                          |
/// |----------|-----------------------------------------|----------------|--------------------------------|
/// | Let      | value                                   | body           | name                           |
/// | Assert   | condition, message parts...             |                | code: error code               |
/// | For      | min, extent                             | body           | name, kind, partition, origin  |
/// | Provide  | predicate (may be undefined), values... (num_values), coordinates... |  | name        |
/// | Realize  | min0, extent0, min1, ...                | body           | name, types, memory            |
/// | Store    | value, index, predicate                 |                | name                           |
/// | Allocate | elements per dimension (product = size) | body           | name, types[0], memory, padding|
/// | Free     |                                         |                | name                           |
/// | Produce, Consume |                                 | body           | name                           |
/// | If       | condition                               | then, else     | else may be undefined          |
/// | Block    |                                         | statements     | never nested, never empty      |
/// | Evaluate | value                                   |                |                                |
/// | Prefetch | coordinates..., or index                |                | name; flattened: types[0]      |
/// | Fork     | slots                                   | producer, consumer | name                       |
/// | Acquire, Release |                                 |                | name (of the semaphore)        |
/// | Exclusive|                                         | body           | name: of the lock; one thread  |
/// |          |                                         |                | at a time holds it             |
/// | Memoize  | eviction key, used (both may be undefined), key... (num_values), shape as in Realize;
/// |          | flattened: as in Allocate               | production, consumer | name, types |
/// | Launch   | blocks x, y, z, threads x, y, z, bytes of shared memory (int64) | body | name     |
/// | Barrier  |                                         |                |                                |
/// | Use      |                                         |                | name, on_device, access        |
struct StmtNode {
    mutable std::atomic<int> references{0};
    StmtOp op;
    LoopKind kind = LoopKind::Serial;
    MemoryType memory = MemoryType::Auto;
    Partitioning partition = Partitioning::Auto;
    int32_t num_values = 0;
    int32_t code = 0;
    bool atomic = false;  ///< Provide, Store: reading the old value and writing the new one is
                          ///< one atomic step
    bool on_device = false;        ///< Use: by a kernel, not by host code. Allocate: only kernels access it
    Access access = Access::Read;  ///< Use
    std::shared_ptr<const LoopOrigin>
        origin;  ///< For; null if no loop of the schedule corresponds to it
    std::string name;
    std::vector<Expr> exprs;
    std::vector<Stmt> stmts;
    std::vector<Type> types;

    explicit StmtNode(StmtOp op_) : op(op_) {}

    // The children by their names in the table. Only of the given nodes: others have something else there.
    const Expr &value() const;         ///< Let, Store, Evaluate
    const Expr &condition() const;     ///< If, Assert
    const Expr &min() const;           ///< For
    const Expr &extent() const;        ///< For
    const Expr &initial() const;       ///< Let, For: the (first) value of the variable
    const Expr &index() const;         ///< Store, flattened Prefetch
    const Expr &predicate() const;     ///< Store, Provide
    const Expr &slots() const;         ///< Fork
    const Expr &eviction_key() const;  ///< Memoize
    const Expr &used() const;          ///< Memoize
    const Stmt &body() const;          ///< any node with one statement
    const Stmt &then_case() const;     ///< If
    const Stmt &else_case() const;     ///< If; may be undefined
    const Stmt &producer() const;      ///< Fork, Memoize
    const Stmt &consumer() const;      ///< Fork, Memoize
};

inline const Expr &StmtNode::value() const {
    assert(op == StmtOp::Let || op == StmtOp::Store || op == StmtOp::Evaluate);
    return exprs[0];
}
inline const Expr &StmtNode::condition() const {
    assert(op == StmtOp::If || op == StmtOp::Assert);
    return exprs[0];
}
inline const Expr &StmtNode::min() const {
    assert(op == StmtOp::For);
    return exprs[0];
}
inline const Expr &StmtNode::extent() const {
    assert(op == StmtOp::For);
    return exprs[1];
}
inline const Expr &StmtNode::initial() const {
    assert(op == StmtOp::Let || op == StmtOp::For);
    return exprs[0];
}
inline const Expr &StmtNode::index() const {
    assert(op == StmtOp::Store || (op == StmtOp::Prefetch && exprs.size() == 1));
    return exprs[op == StmtOp::Store ? 1 : 0];
}
inline const Expr &StmtNode::predicate() const {
    assert(op == StmtOp::Store || op == StmtOp::Provide);
    return exprs[op == StmtOp::Store ? 2 : 0];
}
inline const Expr &StmtNode::slots() const {
    assert(op == StmtOp::Fork);
    return exprs[0];
}
inline const Expr &StmtNode::eviction_key() const {
    assert(op == StmtOp::Memoize);
    return exprs[0];
}
inline const Expr &StmtNode::used() const {
    assert(op == StmtOp::Memoize);
    return exprs[1];
}
inline const Stmt &StmtNode::body() const {
    assert(stmts.size() == 1 && op != StmtOp::Block);
    return stmts[0];
}
inline const Stmt &StmtNode::then_case() const {
    assert(op == StmtOp::If);
    return stmts[0];
}
inline const Stmt &StmtNode::else_case() const {
    assert(op == StmtOp::If);
    return stmts[1];
}
inline const Stmt &StmtNode::producer() const {
    assert(op == StmtOp::Fork || op == StmtOp::Memoize);
    return stmts[0];
}
inline const Stmt &StmtNode::consumer() const {
    assert(op == StmtOp::Fork || op == StmtOp::Memoize);
    return stmts[1];
}

Stmt make_let(const std::string &name, Expr value, Stmt body);
/// `message`: StringImm and numeric Exprs, printed in sequence.
Stmt make_assert(Expr condition, int code, std::vector<Expr> message);
Stmt make_for(const std::string &name, Expr min, Expr extent, LoopKind kind, Stmt body,
              Partitioning partition = Partitioning::Auto,
              std::shared_ptr<const LoopOrigin> origin = nullptr);
/// The loop with another range and body, of its own or another kind, partitioned as any other.
Stmt make_for_like(const Stmt &loop, Expr min, Expr extent, Stmt body,
                   std::optional<LoopKind> kind = {});
Stmt make_provide(const std::string &name, std::vector<Expr> coordinates, std::vector<Expr> values,
                  Expr predicate = Expr());
Stmt make_realize(const std::string &name, std::vector<Type> types, std::vector<Expr> min_extents,
                  MemoryType memory, Stmt body);
Stmt make_store(const std::string &name, Expr index, Expr value, Expr predicate = Expr());
/// The Provide or Store as an atomic update.
Stmt as_atomic(const Stmt &s);
Stmt make_allocate(const std::string &name, Type type, std::vector<Expr> sizes, MemoryType memory,
                   Stmt body);
/// Bytes of an Allocate with constant sizes; nothing otherwise, or if they exceed INT32_MAX.
std::optional<int64_t> constant_bytes(const StmtNode &allocation);
Stmt make_free(const std::string &name);
Stmt make_produce(const std::string &name, Stmt body);
Stmt make_consume(const std::string &name, Stmt body);
Stmt make_if(Expr condition, Stmt then_case, Stmt else_case = Stmt());
/// Flattens nested blocks, drops undefined statements; undefined if nothing is left.
Stmt make_block(std::vector<Stmt> stmts);
Stmt make_evaluate(Expr value);
Stmt make_prefetch(const std::string &name, std::vector<Expr> coordinates, Type type = Type());
Stmt make_fork(const std::string &name, Expr slots, Stmt producer, Stmt consumer);
Stmt make_acquire(const std::string &semaphore);
Stmt make_release(const std::string &semaphore);
Stmt make_exclusive(const std::string &name, Stmt body);
Stmt make_memoize(const std::string &name, std::vector<Type> types, Expr eviction_key, Expr used,
                  const std::vector<Expr> &key, const std::vector<Expr> &shape, Stmt production,
                  Stmt consumer);
/// `sizes`: blocks x, y, z, threads x, y, z.
Stmt make_launch(const std::string &name, const std::vector<Expr> &sizes, Expr shared_bytes, Stmt body);
Stmt make_barrier();
Stmt make_use(const std::string &buffer, bool on_device, Access access);
/// The Allocate without host memory.
Stmt for_device(const Stmt &allocation);
/// The number of blocks or threads of a Launch in dimension d: 0 = x, 1 = y, 2 = z.
const Expr &blocks_of_launch(const StmtNode &s, size_t d);
const Expr &threads_of_launch(const StmtNode &s, size_t d);
const Expr &shared_bytes_of_launch(const StmtNode &s);
/// Where an array in shared memory that begins at byte `begin` ends (int64, in bytes): arrays are laid out one after the
/// other in the order in which they are nested, each aligned to 64 bytes.
Expr shared_array_end(const Expr &begin, const StmtNode &allocation);
/// The Variables of a block's and a thread's index.
Expr block_index(size_t d);
Expr thread_index(size_t d);
/// The parts of a Memoize's expressions: its key and its shape.
std::vector<Expr> key_of_memoize(const StmtNode &s);
std::vector<Expr> shape_of_memoize(const StmtNode &s);
/// The buffer that a flattened Memoize binds for its i-th type.
std::string buffer_of_memoize(const StmtNode &s, size_t i);
/// The same node with other children.
Stmt with_children(const Stmt &s, std::vector<Expr> exprs, std::vector<Stmt> stmts);

}  // namespace Pipe::ir
