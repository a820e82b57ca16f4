#include "ir/stmt_node.h"

#include <algorithm>
#include <cstdint>

#include "ir/release.h"

namespace Pipe::ir {
namespace {

StmtNode *new_node(StmtOp op, std::vector<Expr> exprs, std::vector<Stmt> stmts) {
    auto *node = new StmtNode(op);
    node->exprs = std::move(exprs);
    node->stmts = std::move(stmts);
    return node;
}

Stmt named(StmtOp op, const std::string &name, std::vector<Expr> exprs, std::vector<Stmt> stmts) {
    StmtNode *node = new_node(op, std::move(exprs), std::move(stmts));
    node->name = name;
    return Stmt(node);
}

}  // namespace

void retain(const StmtNode *node) noexcept {
    if (node)
        node->references.fetch_add(1, std::memory_order_relaxed);
}

void release(const StmtNode *node) noexcept {
    if (node && node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete_tree(node);
}

Stmt make_let(const std::string &name, Expr value, Stmt body) {
    return named(StmtOp::Let, name, {std::move(value)}, {std::move(body)});
}

Stmt make_assert(Expr condition, int code, std::vector<Expr> message) {
    message.insert(message.begin(), std::move(condition));
    StmtNode *node = new_node(StmtOp::Assert, std::move(message), {});
    node->code = code;
    return Stmt(node);
}

Stmt make_for(const std::string &name, Expr min, Expr extent, LoopKind kind, Stmt body,
              Partitioning partition, std::shared_ptr<const LoopOrigin> origin) {
    StmtNode *node = new_node(StmtOp::For, {std::move(min), std::move(extent)}, {std::move(body)});
    node->name = name;
    node->kind = kind;
    node->partition = partition;
    node->origin = std::move(origin);
    return Stmt(node);
}

Stmt make_for_like(const Stmt &loop, Expr min, Expr extent, Stmt body,
                   std::optional<LoopKind> kind) {
    return make_for(loop->name, std::move(min), std::move(extent), kind.value_or(loop->kind),
                    std::move(body), Partitioning::Auto, loop->origin);
}

Stmt make_provide(const std::string &name, std::vector<Expr> coordinates, std::vector<Expr> values,
                  Expr predicate) {
    std::vector<Expr> exprs{std::move(predicate)};
    exprs.insert(exprs.end(), values.begin(), values.end());
    exprs.insert(exprs.end(), coordinates.begin(), coordinates.end());
    StmtNode *node = new_node(StmtOp::Provide, std::move(exprs), {});
    node->name = name;
    node->num_values = static_cast<int32_t>(values.size());
    return Stmt(node);
}

Stmt make_realize(const std::string &name, std::vector<Type> types, std::vector<Expr> min_extents,
                  MemoryType memory, Stmt body) {
    StmtNode *node = new_node(StmtOp::Realize, std::move(min_extents), {std::move(body)});
    node->name = name;
    node->types = std::move(types);
    node->memory = memory;
    return Stmt(node);
}

Stmt make_store(const std::string &name, Expr index, Expr value, Expr predicate) {
    return named(StmtOp::Store, name, {std::move(value), std::move(index), std::move(predicate)},
                 {});
}

Stmt as_atomic(const Stmt &s) {
    StmtNode *node = new_node(s->op, s->exprs, {});
    node->num_values = s->num_values;
    node->name = s->name;
    node->atomic = true;
    return Stmt(node);
}

Stmt make_allocate(const std::string &name, Type type, std::vector<Expr> sizes, MemoryType memory,
                   Stmt body) {
    StmtNode *node = new_node(StmtOp::Allocate, std::move(sizes), {std::move(body)});
    node->name = name;
    node->types = {type};
    node->memory = memory;
    return Stmt(node);
}

Stmt make_produce(const std::string &name, Stmt body) {
    return named(StmtOp::Produce, name, {}, {std::move(body)});
}

Stmt make_consume(const std::string &name, Stmt body) {
    return named(StmtOp::Consume, name, {}, {std::move(body)});
}

Stmt make_if(Expr condition, Stmt then_case, Stmt else_case) {
    return Stmt(
        new_node(StmtOp::If, {std::move(condition)}, {std::move(then_case), std::move(else_case)}));
}

Stmt make_block(std::vector<Stmt> stmts) {
    std::vector<Stmt> flat;
    for (Stmt &s : stmts) {
        if (!s.defined())
            continue;
        if (s->op == StmtOp::Block)
            flat.insert(flat.end(), s->stmts.begin(), s->stmts.end());
        else
            flat.push_back(std::move(s));
    }
    if (flat.empty())
        return Stmt();
    if (flat.size() == 1)
        return flat[0];
    return Stmt(new_node(StmtOp::Block, {}, std::move(flat)));
}

Stmt make_evaluate(Expr value) {
    return Stmt(new_node(StmtOp::Evaluate, {std::move(value)}, {}));
}

Stmt make_prefetch(const std::string &name, std::vector<Expr> coordinates, Type type) {
    StmtNode *node = new_node(StmtOp::Prefetch, std::move(coordinates), {});
    node->name = name;
    node->types = {type};
    return Stmt(node);
}

Stmt make_fork(const std::string &name, Expr slots, Stmt producer, Stmt consumer) {
    return named(StmtOp::Fork, name, {std::move(slots)},
                 {std::move(producer), std::move(consumer)});
}

std::optional<int64_t> constant_bytes(const StmtNode &allocation) {
    __int128 bytes = allocation.types[0].bytes();
    for (const Expr &size : allocation.exprs) {
        int64_t n = 0;
        if (!as_const_int(size, &n))
            return std::nullopt;
        bytes *= std::max<int64_t>(n, 0);
        if (bytes > INT32_MAX)
            return std::nullopt;
    }
    return static_cast<int64_t>(bytes);
}

Stmt make_free(const std::string &name) {
    return named(StmtOp::Free, name, {}, {});
}

Stmt make_acquire(const std::string &semaphore) {
    return named(StmtOp::Acquire, semaphore, {}, {});
}

Stmt make_release(const std::string &semaphore) {
    return named(StmtOp::Release, semaphore, {}, {});
}

Stmt make_exclusive(const std::string &name, Stmt body) {
    return named(StmtOp::Exclusive, name, {}, {std::move(body)});
}

Stmt make_memoize(const std::string &name, std::vector<Type> types, Expr eviction_key, Expr used,
                  const std::vector<Expr> &key, const std::vector<Expr> &shape, Stmt production,
                  Stmt consumer) {
    std::vector<Expr> exprs{std::move(eviction_key), std::move(used)};
    exprs.insert(exprs.end(), key.begin(), key.end());
    exprs.insert(exprs.end(), shape.begin(), shape.end());
    StmtNode *node =
        new_node(StmtOp::Memoize, std::move(exprs), {std::move(production), std::move(consumer)});
    node->num_values = static_cast<int32_t>(key.size());
    node->name = name;
    node->types = std::move(types);
    return Stmt(node);
}

Stmt make_launch(const std::string &name, const std::vector<Expr> &sizes, Expr shared_bytes, Stmt body) {
    std::vector<Expr> exprs = sizes;
    exprs.push_back(std::move(shared_bytes));
    return named(StmtOp::Launch, name, std::move(exprs), {std::move(body)});
}

Stmt for_device(const Stmt &allocation) {
    StmtNode *node = new_node(StmtOp::Allocate, allocation->exprs, allocation->stmts);
    node->memory = allocation->memory;
    node->name = allocation->name;
    node->types = allocation->types;
    node->on_device = true;
    return Stmt(node);
}

Stmt make_barrier() {
    return Stmt(new_node(StmtOp::Barrier, {}, {}));
}

Stmt make_use(const std::string &buffer, bool on_device, Access access) {
    StmtNode *node = new_node(StmtOp::Use, {}, {});
    node->name = buffer;
    node->on_device = on_device;
    node->access = access;
    return Stmt(node);
}

const Expr &blocks_of_launch(const StmtNode &s, size_t d) {
    return s.exprs[d];
}

const Expr &threads_of_launch(const StmtNode &s, size_t d) {
    return s.exprs[3 + d];
}

const Expr &shared_bytes_of_launch(const StmtNode &s) {
    return s.exprs[6];
}

Expr shared_array_end(const Expr &begin, const StmtNode &allocation) {
    Expr bytes = make_int(Int(64), allocation.types[0].bytes());
    for (const Expr &size : allocation.exprs)
        bytes = mul(bytes, make_cast(Int(64), size));
    const Expr alignment = make_int(Int(64), 64);
    Expr end = add(add(begin, bytes), make_int(Int(64), 63));
    return mul(div(end, alignment), alignment);
}

Expr block_index(size_t d) {
    return make_variable(Int(32), std::string(".block.") + "xyz"[d]);
}

Expr thread_index(size_t d) {
    return make_variable(Int(32), std::string(".thread.") + "xyz"[d]);
}

std::vector<Expr> key_of_memoize(const StmtNode &s) {
    return {s.exprs.begin() + 2, s.exprs.begin() + 2 + s.num_values};
}

std::vector<Expr> shape_of_memoize(const StmtNode &s) {
    return {s.exprs.begin() + 2 + s.num_values, s.exprs.end()};
}

std::string buffer_of_memoize(const StmtNode &s, size_t i) {
    return s.types.size() == 1 ? s.name : s.name + "." + std::to_string(i);
}

Stmt with_children(const Stmt &s, std::vector<Expr> exprs, std::vector<Stmt> stmts) {
    if (s->op == StmtOp::Block)
        return make_block(std::move(stmts));
    StmtNode *node = new_node(s->op, std::move(exprs), std::move(stmts));
    node->kind = s->kind;
    node->memory = s->memory;
    node->partition = s->partition;
    node->num_values = s->num_values;
    node->code = s->code;
    node->atomic = s->atomic;
    node->on_device = s->on_device;
    node->access = s->access;
    node->origin = s->origin;
    node->name = s->name;
    node->types = s->types;
    return Stmt(node);
}

}  // namespace Pipe::ir
