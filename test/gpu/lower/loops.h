#pragma once
// Terse construction of kernels, for tests of the passes that make them.

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "ir/int32.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/stmt_node.h"

namespace gpu_lower {

using namespace Pipe;
using ir::int32;
using ir::Stmt;

inline Expr var(const std::string &name) {
    return ir::make_variable(Int(32), name);
}
inline Expr load(const std::string &buffer, const Expr &index) {
    return ir::make_load(Int(32), buffer, index);
}
/// buffer[index] = load(from, from_index)
inline Stmt copy(const std::string &buffer, const Expr &index, const std::string &from,
                 const Expr &from_index) {
    return ir::make_store(buffer, index, load(from, from_index));
}
inline Stmt loop(const std::string &name, const Expr &min, const Expr &extent, LoopKind kind,
                 const Stmt &body) {
    return ir::make_for(name, min, extent, kind, body);
}
inline Stmt threads(const std::string &name, const Expr &extent, const Stmt &body) {
    return loop(name, int32(0), extent, LoopKind::GPUThread, body);
}
inline Stmt threads(const std::string &name, int extent, const Stmt &body) {
    return threads(name, int32(extent), body);
}
inline Stmt serial(const std::string &name, int extent, const Stmt &body) {
    return loop(name, int32(0), int32(extent), LoopKind::Serial, body);
}
inline Stmt blocks(const std::string &name, const Expr &extent, const Stmt &body) {
    return loop(name, int32(0), extent, LoopKind::GPUBlock, body);
}
inline Stmt array(const std::string &name, const Expr &size, const Stmt &body,
                  MemoryType memory = MemoryType::Auto) {
    return ir::make_allocate(name, Int(32), {size}, memory, body);
}
inline Stmt array(const std::string &name, int size, const Stmt &body,
                  MemoryType memory = MemoryType::Auto) {
    return array(name, int32(size), body, memory);
}
inline Stmt shared(const std::string &name, int size, const Stmt &body) {
    return array(name, size, body, MemoryType::GPUShared);
}
inline Stmt both(const Stmt &first, const Stmt &second) {
    return ir::make_block({first, second});
}
/// A kernel of so many blocks in dimension x, and so many threads.
inline Stmt kernel(int blocks, const std::vector<int> &threads, const Stmt &body) {
    std::vector<Expr> sizes{int32(blocks), int32(1), int32(1)};
    for (size_t d = 0; d < 3; d++)
        sizes.push_back(int32(d < threads.size() ? threads[d] : 1));
    return ir::make_launch("f.s0", sizes, ir::make_int(Int(64), 0), body);
}

}  // namespace gpu_lower
