#include "lower/gpu/shared_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/gpu/kernels.h"
#include "lower/gpu/own_elements.h"
#include "lower/gpu/uniform.h"
#include "schedule/print.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;
using support::Field;
using support::marked;

namespace {

/// Bytes of shared memory that a block can have.
int64_t shared_memory_of(const Target &target) {
    struct Entry {
        Target::Feature capability;
        int64_t kilobytes;
    };
    constexpr Entry table[] = {{Target::CUDACapability90, 227},
                               {Target::CUDACapability89, 99},
                               {Target::CUDACapability86, 99},
                               {Target::CUDACapability80, 163},
                               {Target::CUDACapability75, 64}};
    for (const Entry &e : table)
        if (target.has_feature(e.capability))
            return e.kilobytes << 10;
    return 227 << 10;  // the most of all: the run time knows the GPU
}

struct Array {
    std::string name;
    int64_t bytes;  ///< -1: known at the launch
};

class ArraysOfKernel {
  public:
    ArraysOfKernel(const Stmt &launch, const Target &target)
        : launch_(launch), limit_(shared_memory_of(target)), total_(int64(0)) {
        for (size_t d = 0; d < 3; d++) {
            scope_.learn_loop(block_index(d)->name, int32(0), blocks_of_launch(*launch.get(), d));
            scope_.learn_loop(thread_index(d)->name, int32(0), threads_of_launch(*launch.get(), d));
        }
    }

    Stmt run() {
        choose_own_arrays();
        measure(launch_->body());
        Stmt body = visit(with_own_arrays(launch_, own_), false, int64(0));
        std::vector<Expr> exprs = launch_->exprs;
        exprs.back() = simplify(total_);
        Stmt launch = with_children(launch_, exprs, {body});
        for (const auto &[name, array] : global_)
            launch = make_allocate(name, array.type, {simplify(mul(blocks(), array.size))},
                                   MemoryType::Heap, launch);
        return with_maxima(launch);
    }

  private:
    struct Global {
        Type type;
        Expr size;  ///< elements of each block
    };

    /// Finds the sizes of the arrays in global memory. Of a loop that was taken apart there are several of a name,
    /// which do not live at the same time: there is one place for all of them.
    void measure(const Stmt &s) {
        if (is_thread_loop(*s.get()))
            return;
        if (s->op == StmtOp::Allocate && s->memory == MemoryType::Heap)
            if (std::optional<Expr> size = elements(s)) {
                auto [array, is_new] = global_.try_emplace(s->name, Global{s->types[0], *size});
                if (!is_new)
                    array->second.size = simplify(max(array->second.size, *size));
            }
        scope_.inside(s, [&](const Stmt &child) { measure(child); });
    }

    /// The user says that threads have their own.
    static bool is_for_thread(const StmtNode &s) {
        return s.memory == MemoryType::Stack || s.memory == MemoryType::Register;
    }

    /// Arrays that are small enough for the registers of a thread, or of which the user says so.
    void choose_own_arrays() {
        constexpr int64_t max_bytes = 512;  // 128 registers
        const std::map<std::string, OwnArray> all = own_elements(launch_).arrays;
        walk(
            launch_->body(),
            [&](const Stmt &s) {
                auto own = s->op == StmtOp::Allocate ? all.find(s->name) : all.end();
                if (own != all.end() && (is_for_thread(*s.get()) ||
                                         (s->memory == MemoryType::Auto &&
                                          own->second.elements * s->types[0].bytes() <= max_bytes)))
                    own_.insert(*own);
                return !is_thread_loop(*s.get());
            },
            [](const Expr &) { return false; });
    }

    /// \param in_thread  inside of a loop over threads
    /// \param begin      bytes of shared memory that are used around here
    Stmt visit(const Stmt &s, bool in_thread, const Expr &begin) {
        in_thread |= is_thread_loop(*s.get());
        if (s->op == StmtOp::Allocate)
            return in_thread ? private_array(s, begin) : block_array(s, begin);
        return visit_children(s, in_thread, begin);
    }

    Stmt visit_children(const Stmt &s, bool in_thread, const Expr &begin) {
        std::vector<Stmt> children;
        scope_.inside(
            s, [&](const Stmt &child) { children.push_back(visit(child, in_thread, begin)); });
        if (s->op == StmtOp::If && children.size() < s->stmts.size())
            children.resize(s->stmts.size());
        return with_children(s, s->exprs, children);
    }

    Stmt private_array(const Stmt &s, const Expr &begin) {
        int64_t known = 0;
        std::optional<Expr> size = elements(s);
        if (!size || !as_const_int(*size, &known))
            throw CompileError(
                marked(Field::Func, s->name) +
                " is computed by each thread of a kernel by itself, but how many elements it "
                "needs is not known when it is compiled. Bound it (bound(), splits by "
                "constants), or compute it at a loop over blocks, where the threads share it.");
        if (s->memory == MemoryType::GPUShared)
            throw CompileError(
                marked(Field::Func, s->name) +
                ".store_in(MemoryType::GPUShared): it is stored inside of a loop over threads, "
                "so that each thread has its own. Store it at a loop over blocks (store_at, "
                "compute_at).");
        take_private(s, known);
        return array(s, *size, MemoryType::Stack, visit(s->body(), true, begin));
    }

    void take_private(const Stmt &s, int64_t elements) {
        constexpr int64_t limit = 128 << 10;
        const int64_t bytes = elements * s->types[0].bytes();
        if (bytes > limit || (private_bytes_ += bytes) > limit)
            throw CompileError("Each thread of the kernel " + launch_->name + " needs " +
                               marked(Field::Needed, bytes) + " bytes for itself for " +
                               marked(Field::Func, s->name) + ", but at most " +
                               marked(Field::Given, limit) +
                               " are possible for all Funcs together. Compute it at a loop over "
                               "blocks, where the threads share it, or at root.");
    }

    Stmt block_array(const Stmt &s, const Expr &begin) {
        if (auto own = own_.find(s->name); own != own_.end())
            return array(s, int64(own->second.elements), MemoryType::Stack,
                         visit(s->body(), false, begin));
        if (is_for_thread(*s.get()))
            throw CompileError(marked(Field::Func, s->name) +
                               ".store_in(MemoryType::" + schedules::to_string(s->memory) +
                               "): it is stored at a loop over blocks, and threads read "
                               "what others computed: it "
                               "cannot lie in their registers or stacks. Use MemoryType::GPUShared "
                               "or Heap, or store "
                               "it at a loop over threads.");
        std::optional<Expr> size = elements(s);
        if (!size)
            throw CompileError(marked(Field::Func, s->name) +
                               ": how many elements a block of threads needs is not known before "
                               "the kernel starts. "
                               "Bound it (bound(), splits by constants), or compute it at root.");
        if (s->memory == MemoryType::Heap)
            return global_array(s, begin);
        arrays_.push_back({s->name, -1});
        if (int64_t known = 0; as_const_int(*size, &known))
            arrays_.back().bytes = known * s->types[0].bytes();
        Stmt sized = array(s, *size, MemoryType::GPUShared, s->body());
        Expr end = shared_array_end(begin, *sized.get());
        check_total(end);
        total_ = simplify(max(total_, end));
        Stmt body = visit(s->body(), false, end);
        arrays_.pop_back();
        return array(s, *size, MemoryType::GPUShared, body);
    }

    /// In an allocation before the launch, with a part for each block.
    Stmt global_array(const Stmt &s, const Expr &begin) {
        Expr block = int64(0);
        for (size_t d = 3; d-- > 0;)
            block = add(mul(block, blocks(d)), make_cast(Int(64), block_index(d)));
        return Shifted(s->name, mul(block, global_.at(s->name).size))
            .mutate(visit(s->body(), false, begin));
    }

    Expr blocks(size_t d) const { return make_cast(Int(64), blocks_of_launch(*launch_.get(), d)); }
    Expr blocks() const { return mul(mul(blocks(0), blocks(1)), blocks(2)); }

    /// Adds to each index of a buffer.
    class Shifted : public GraphMutator {
      public:
        Shifted(const std::string &buffer, Expr offset)
            : buffer_(buffer), offset_(std::move(offset)) {}
        using GraphMutator::mutate;
        Stmt mutate(const Stmt &s) override {
            Stmt now = GraphMutator::mutate(s);
            if (now->op != StmtOp::Store || now->name != buffer_)
                return now;
            std::vector<Expr> exprs = now->exprs;
            exprs[1] = shifted(exprs[1]);
            return with_children(now, exprs, {});
        }

      protected:
        Expr rewrite(const Expr &e) override {
            Expr now = GraphMutator::rewrite(e);
            if (now->op != Op::Load || now->name != buffer_)
                return now;
            std::vector<Expr> args = now->args;
            args[0] = shifted(args[0]);
            return with_args(now, args);
        }

      private:
        Expr shifted(const Expr &index) const {
            const Type type = Int(64).with_lanes(index.type().lanes());
            Expr offset = type.is_vector() ? make_broadcast(offset_, type.lanes()) : offset_;
            return add(make_cast(type, index), offset);
        }
        const std::string &buffer_;
        const Expr offset_;
    };

    static Stmt array(const Stmt &s, const Expr &size, MemoryType memory, const Stmt &body) {
        return make_allocate(s->name, s->types[0], {size}, memory, body);
    }

    std::optional<Expr> elements(const Stmt &s) {
        Expr product = int64(1);
        for (const Expr &size : s->exprs) {
            const Expr wide = make_cast(Int(64), size);
            std::optional<Expr> most = scope_.most(wide);
            if (!most)
                most = scope_.most(size);
            int64_t known = 0;
            if (!most || !as_const_int(*most, &known))
                if (std::optional<Expr> exact = most_of_blocks(scope_.with_lets(wide)))
                    most = exact;
            if (!most)
                return std::nullopt;
            product = mul(product, make_cast(Int(64), *most));
        }
        return simplify(product);
    }

    /// A size that is different in different blocks, which are numbered in one dimension.
    struct Maximum {
        std::string name;
        Expr size;
        size_t dimension;
    };

    /// The largest one, if it depends on one dimension of blocks: an interval may be far from it where a region is cut off
    /// at the ends of a picture.
    std::optional<Expr> most_of_blocks(const Expr &size) {
        std::optional<size_t> dimension;
        for (size_t d = 0; d < 3; d++) {
            if (uses_var(size, thread_index(d)->name))
                return std::nullopt;
            if (!uses_var(size, block_index(d)->name))
                continue;
            if (dimension)
                return std::nullopt;
            dimension = d;
        }
        if (!dimension ||
            !scope_.is_uniform(substitute(block_index(*dimension)->name, int32(0), size)))
            return std::nullopt;
        auto same = std::find_if(maxima_.begin(), maxima_.end(),
                                 [&](const Maximum &m) { return equal(m.size, size); });
        if (same == maxima_.end()) {
            maxima_.push_back(
                {launch_->name + ".most." + std::to_string(maxima_.size()), size, *dimension});
            same = std::prev(maxima_.end());
        }
        return make_variable(Int(64), same->name);
    }

    /// The host computes them before the launch.
    Stmt with_maxima(Stmt launch) const {
        for (const Maximum &m : maxima_) {
            const std::string array = m.name + ".array", block = m.name + ".block";
            const Expr now = make_load(Int(64), array, int64(0));
            const Expr size =
                substitute(block_index(m.dimension)->name, make_variable(Int(32), block), m.size);
            const Stmt loop =
                make_for(block, int32(0), blocks_of_launch(*launch_.get(), m.dimension),
                         LoopKind::Serial, make_store(array, int64(0), max(now, size)));
            launch = make_allocate(array, Int(64), {int64(1)}, MemoryType::Stack,
                                   make_block({make_store(array, int64(0), int64(0)), loop,
                                               make_let(m.name, now, launch)}));
        }
        return launch;
    }

    void check_total(const Expr &end) const {
        int64_t bytes = 0;
        if (!as_const_int(simplify(end), &bytes) || bytes <= limit_)
            return;
        std::string which;
        for (const Array &a : arrays_)
            which += (which.empty() ? "" : ", ") + marked(Field::Func, a.name) + " " +
                     std::to_string(a.bytes);
        throw CompileError("The kernel " + launch_->name + " needs " +
                           marked(Field::Needed, bytes) + " bytes of shared memory per block (" +
                           which + "), but the GPU has " + marked(Field::Given, limit_) +
                           ". Make the tiles smaller, or store some of it in MemoryType::Heap or "
                           "compute it at root.");
    }

    const Stmt &launch_;
    const int64_t limit_;
    Expr total_;
    int64_t private_bytes_ = 0;  ///< of each thread
    std::map<std::string, OwnArray> own_;
    std::vector<Array> arrays_;  ///< in shared memory, around here
    std::map<std::string, Global> global_;
    std::vector<Maximum> maxima_;
    UniformScope scope_;
};

class Arrays : public Mutator {
  public:
    explicit Arrays(const Target &target) : target_(target) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        return s->op == StmtOp::Launch ? ArraysOfKernel(s, target_).run() : Mutator::mutate(s);
    }

  private:
    const Target &target_;
};

}  // namespace

Stmt place_arrays(const Stmt &s, const Target &target) {
    return s.defined() ? Arrays(target).mutate(s) : s;
}

}  // namespace Pipe::lower
