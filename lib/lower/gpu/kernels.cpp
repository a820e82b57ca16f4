#include "lower/gpu/kernels.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/extern_functions.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/gpu/uniform.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Of one block, on all GPUs that CUDA 12 knows.
constexpr int64_t max_threads = 1024, max_threads_z = 64, max_blocks_yz = 65535, warp_size = 32;

bool is_block_loop(const StmtNode &s) {
    return s.op == StmtOp::For && s.kind == LoopKind::GPUBlock;
}

/// "out.s0" of "out.s0.x".
std::string stage_of(const std::string &loop) {
    return loop.substr(0, loop.rfind('.'));
}

/// "out" of "out.s0".
std::string func_of_stage(const std::string &stage) {
    return stage.substr(0, stage.rfind('.'));
}

/// Refuses what code for a GPU cannot contain.
class KernelCheck {
  public:
    explicit KernelCheck(const std::string &kernel) : kernel_(kernel) {}

    void check(const Stmt &body) const {
        walk(
            body,
            [&](const Stmt &s) {
                check_statement(*s.get());
                return true;
            },
            [&](const Expr &e) {
                check_call(*e.get());
                return true;
            });
    }

  private:
    [[noreturn]] void refuse(const std::string &what, const std::string &advice) const {
        throw CompileError("The kernel over the blocks of " + kernel_ + " contains " + what + ". " +
                           advice);
    }

    void check_statement(const StmtNode &s) const {
        switch (s.op) {
        case StmtOp::For:
            if (s.kind == LoopKind::Parallel)
                refuse("the loop " + describe_loop(s) + ", which is parallel on the CPU",
                       "Use gpu_threads() for it, or compute its Func outside of the kernel.");
            if (is_block_loop(s))
                refuse("the loop " + describe_loop(s) + ", which is a loop over blocks, too",
                       "Compute its Func outside of the kernel (compute_root), or use "
                       "gpu_threads() for the loop.");
            return;
        case StmtOp::Fork:
        case StmtOp::Acquire:
        case StmtOp::Release:
            refuse("the async Func " + support::marked(support::Field::Func, s.name),
                   "Leave async() out, or compute the Func at root.");
        case StmtOp::Memoize:
            refuse("the memoized Func " + support::marked(support::Field::Func, s.name),
                   "Compute it at root (compute_root()).");
        case StmtOp::Exclusive:
            refuse("an atomic update of several elements of " +
                       support::marked(support::Field::Func, s.name),
                   "Only updates that add to, or otherwise replace, one element can be atomic in a "
                   "kernel. Use rfactor().");
        case StmtOp::Assert:
            refuse("a test that ends the run",
                   "bound_storage() and require() of what is computed in a kernel are not "
                   "possible.");
        default:
            return;
        }
    }

    void check_call(const ExprNode &e) const {
        if (e.op != Op::Call)
            return;
        if (e.call_kind == CallKind::Extern && e.name == extern_function::extern_stage)
            refuse("what a C function computes (" + e.args[1]->name + ")",
                   "Compute the Func of the extern stage, and what it reads, outside of the kernel "
                   "(compute_root()).");
        // A description of a buffer, for a C function.
        if (e.call_kind == CallKind::Extern && e.name != extern_function::raw_buffer)
            refuse(what_is_called(e.name), "Compute the Func that calls it outside of the kernel.");
        if (e.call_kind == CallKind::PureExtern && e.index == users_function)
            refuse("a call of the C function " + e.name,
                   "Compute the Func that calls it outside of the kernel.");
    }

    static std::string what_is_called(const std::string &function) {
        const bool traces =
            function == extern_function::trace || function == extern_function::trace_value;
        return traces ? "a trace (trace_loads(), trace_stores(), trace_realizations())"
                      : function + "()";
    }

    const std::string &kernel_;
};

/// One kernel.
class Kernel {
  public:
    Kernel(const Stmt &outermost, const std::set<std::string> &parts)
        : name_(outermost->name), title_(describe_loop(*outermost.get())), parts_(parts) {
        enter_blocks(outermost);
    }

    Stmt launch() {
        KernelCheck(title_).check(body_);
        std::vector<Expr> sizes = blocks_, threads = thread_counts();
        std::vector<Stmt> parts = tests(sizes, threads);
        sizes.insert(sizes.end(), threads.begin(), threads.end());
        parts.push_back(
            make_launch(stage_of(name_), sizes, make_int(Int(64), 0), with_block_indices(body_)));
        return make_block(std::move(parts));
    }

  private:
    /// Let or loop over blocks, from outside in.
    struct Around {
        Stmt stmt;
        bool is_exact = true;  ///< loop: all blocks of the launch are in its range
    };

    void enter_blocks(const Stmt &outermost) {
        // Those of other stages are a matter of KernelCheck.
        auto is_block = [&](const StmtNode &s) {
            return is_block_loop(s) && stage_of(s.name) == stage_of(name_);
        };
        Stmt at = outermost;
        while (is_block(*at.get()) ||
               (at->op == StmtOp::Let && contains_stmt(at->body(), is_block))) {
            if (at->op == StmtOp::Let) {
                uniform_.learn_let(at->name, at->value());
                around_.push_back({at});
            } else {
                enter_block_loop(at);
            }
            at = at->body();
        }
        body_ = at;
        if (contains_stmt(body_, is_block))
            throw CompileError("Between the loops over blocks of " + title_ +
                               " there is another loop, or something else is computed. Loops over "
                               "blocks must be directly nested, "
                               "outside of all others: reorder() them, and compute what each block "
                               "needs at the innermost one.");
        if (blocks_.size() > 3)
            throw CompileError(title_ +
                               ": a kernel has at most 3 loops over blocks, but here are " +
                               std::to_string(blocks_.size()) + ". fuse() some of them.");
        blocks_.resize(3, int32(1));
    }

    void enter_block_loop(const Stmt &loop) {
        const Expr &min = loop->min(), &extent = loop->extent();
        std::optional<Expr> most = uniform_.most(extent);
        if (!most)
            throw CompileError(
                title_ + ": the number of blocks of " + describe_loop(*loop.get()) +
                " is not known before the kernel starts. Split the loop by a constant.");
        blocks_.insert(blocks_.begin(), as_int32(*most));
        around_.push_back({loop, equal(simplify(extent), *most)});
        uniform_.learn_loop(loop->name, min, extent);
    }

    Stmt with_block_indices(Stmt body) const {
        size_t d = 0;
        for (auto a = around_.rbegin(); a != around_.rend(); ++a) {
            const StmtNode &s = *a->stmt.get();
            if (s.op == StmtOp::Let) {
                body = make_let(s.name, s.value(), body);
                continue;
            }
            const Type type = s.min().type();
            Expr block = make_cast(type, block_index(d++));
            if (!a->is_exact)
                body = make_if(make_binary(Op::LT, block, s.extent()), body);
            body = make_let(s.name, add(s.min(), block), body);
        }
        return body;
    }

    static Expr as_int32(const Expr &e) { return simplify(make_cast(Int(32), e)); }

    /// The extents of thread loops of the stage and of parts of reductions; of all, if no stage is given.
    std::vector<Expr> thread_extents(const Stmt &s, const std::string &stage) {
        std::vector<Expr> sizes(3);
        UniformScope scope(uniform_);
        visit_threads(s, stage, scope, sizes);
        return sizes;
    }

    void visit_threads(const Stmt &s, const std::string &stage, UniformScope &scope,
                       std::vector<Expr> &sizes) {
        if (!s.defined())
            return;
        if (is_thread_loop(*s.get()) && has_own_threads(stage_of(s->name), stage)) {
            const size_t d = thread_dimension(*s.get());
            if (d >= 3)
                throw CompileError(
                    "The kernel over the blocks of " + title_ + ": " + describe_loop(*s.get()) +
                    " is the fourth of the loops over threads in its nest, but at most 3 are "
                    "possible. fuse() some of them.");
            std::optional<Expr> most = scope.most(s->extent());
            if (!most)
                throw CompileError(
                    title_ + ": the number of threads of " + describe_loop(*s.get()) +
                    " is not known before the kernel starts. Split the loop by a constant.");
            Expr size = as_int32(*most);
            check_lanes(*s.get(), size);
            sizes[d] = sizes[d].defined() ? simplify(max(sizes[d], size)) : size;
        }
        scope.inside(s, [&](const Stmt &child) { visit_threads(child, stage, scope, sizes); });
    }

    static void check_lanes(const StmtNode &loop, const Expr &size) {
        int64_t lanes = 0;
        const bool known = as_const_int(size, &lanes);
        if (loop.kind == LoopKind::GPULane && (!known || lanes > warp_size))
            throw CompileError(fmt::format("gpu_lanes: {} has {} iterations, but the lanes of a "
                                           "warp are at most {}. Split the loop by {}, or use "
                                           "gpu_threads().",
                                           describe_loop(loop),
                                           known ? std::to_string(lanes) : "an unknown number of",
                                           warp_size, warp_size));
    }

    bool has_own_threads(const std::string &looped, const std::string &stage) const {
        return stage.empty() || looped == stage || parts_.count(func_of_stage(looped)) > 0;
    }

    std::vector<Expr> thread_counts() {
        std::vector<Expr> sizes = thread_extents(body_, stage_of(name_));
        if (!sizes[0].defined())
            sizes = thread_extents(body_, "");
        for (Expr &size : sizes)
            if (!size.defined())
                size = int32(1);
        return sizes;
    }

    /// Of the limits of the hardware: what is known now is a CompileError.
    std::vector<Stmt> tests(const std::vector<Expr> &blocks,
                            const std::vector<Expr> &threads) const {
        std::vector<Stmt> result;
        auto test = [&](const Expr &size, int64_t limit, const std::string &what,
                        const std::string &advice) {
            Expr enough = simplify(make_binary(Op::LE, size, int32(limit)));
            const std::string before = "The kernel over the blocks of " + title_ + " has ",
                              after = " " + what + ", but at most " + std::to_string(limit) +
                                      " are possible. " + advice;
            int64_t known = 0;
            if (is_const(enough, 0) && as_const_int(size, &known))
                throw CompileError(before + support::marked(support::Field::Needed, known) + after);
            if (!is_const(enough, 1))
                result.push_back(make_assert(enough, static_cast<int>(Failure::BadConstraint),
                                             {make_string(before), size, make_string(after)}));
        };
        const std::string smaller =
            "Make the tiles smaller, or let each thread compute several points "
            "(split(), vectorize() or unroll() inside of the loops over threads).";
        test(simplify(mul(mul(threads[0], threads[1]), threads[2])), max_threads,
             "threads per block", smaller);
        test(threads[2], max_threads_z, "threads per block in dimension z", smaller);
        for (size_t d : {size_t(1), size_t(2)})
            test(blocks[d], max_blocks_yz, std::string("blocks in dimension ") + "xyz"[d],
                 "Reorder the loops so that this one is the innermost, or fuse() it.");
        return result;
    }

    const std::string name_, title_;
    const std::set<std::string> &parts_;
    std::vector<Around> around_;
    std::vector<Expr> blocks_;  ///< x, y, z
    Stmt body_;
    UniformScope uniform_;
};

class Kernels : public Mutator {
  public:
    explicit Kernels(const std::set<std::string> &parts) : parts_(parts) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::For && is_gpu(s->kind))
            return Kernel(s, parts_).launch();
        return Mutator::mutate(s);
    }

  private:
    const std::set<std::string> &parts_;
};

}  // namespace

size_t thread_dimension(const StmtNode &loop) {
    size_t deepest = 0;
    auto visit = [&](auto &self, const Stmt &s, size_t depth) -> void {
        if (!s.defined())
            return;
        depth += is_thread_loop(*s.get());
        deepest = std::max(deepest, depth);
        for (const Stmt &child : s->stmts)
            self(self, child, depth);
    };
    visit(visit, loop.body(), 0);
    return deepest;
}

Stmt make_kernels(const Stmt &s, const std::set<std::string> &parts) {
    return s.defined() ? Kernels(parts).mutate(s) : s;
}

}  // namespace Pipe::lower
