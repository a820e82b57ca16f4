#include "codegen/parts.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace Pipe::codegen {

using ir::Stmt;
using ir::StmtOp;

namespace {

struct Size {
    int stores = 0;
    bool loops = false;
};

class Parts {
  public:
    explicit Parts(int max_stores) : max_stores_(max_stores) {}

    std::unordered_set<const ir::StmtNode *> of(const Stmt &program) {
        cut(program, measure(program).stores > max_stores_, 0);
        return std::move(parts_);
    }

  private:
    /// Fills sizes_ with the statements that can become functions.
    Size measure(const Stmt &s) {
        Size size;
        if (!s.defined())
            return size;
        size.stores = s->op == StmtOp::Store;
        size.loops = s->op == StmtOp::For;
        for (const Stmt &child : s->stmts) {
            Size part = measure(child);
            size.stores += part.stores;
            size.loops |= part.loops;
        }
        if (begins_function(s))
            sizes_[s.get()] = size;
        return size;
    }

    static bool begins_function(const Stmt &s) {
        return s->op == StmtOp::Produce || (s->op == StmtOp::For && s->kind == LoopKind::Parallel);
    }

    /// \param depth  loops around `s` within its function
    void cut(const Stmt &s, bool too_large, int depth) {
        if (!s.defined())
            return;
        // another function could not keep it in registers
        constexpr int64_t bytes_of_registers =
            4096;  // 32 AVX-512 registers have 2048 bytes; some are spilled
        const bool in_registers =
            s->op == StmtOp::Allocate &&
            ir::constant_bytes(*s.get()).value_or(INT64_MAX) <= bytes_of_registers &&
            in_registers_.insert(s->name).second;
        // LLVM's scalar evolution takes time exponential in the depth of a nest whose loops depend
        // on outer ones, as in a chain of sliding windows.
        constexpr int deepest_nest = 16;
        if (begins_function(s)) {
            Size size = sizes_[s.get()];
            bool part = s->op == StmtOp::Produce && (too_large || depth >= deepest_nest) &&
                        size.loops && !in_registers_.count(s->name);
            if (part)
                parts_.insert(s.get());
            if (part || s->op == StmtOp::For) {
                too_large = size.stores > max_stores_;
                depth = 0;
            }
        }
        for (const Stmt &child : s->stmts)
            cut(child, too_large, depth + (s->op == StmtOp::For));
        if (in_registers)
            in_registers_.erase(s->name);
    }

    const int max_stores_;
    std::unordered_set<std::string> in_registers_;  ///< small arrays, while they are live
    std::unordered_map<const ir::StmtNode *, Size> sizes_;
    std::unordered_set<const ir::StmtNode *> parts_;
};

}  // namespace

std::unordered_set<const ir::StmtNode *> parts_of(const Stmt &program, int max_stores) {
    return Parts(max_stores).of(program);
}

}  // namespace Pipe::codegen
