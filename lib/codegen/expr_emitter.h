#pragma once
// Emits expressions as LLVM values. Internal to codegen/.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/frame.h"
#include "ir/stmt_node.h"

namespace Pipe::codegen {

/// The values computed for nodes. Can be rewound to an earlier state.
template <typename T> class Memo {
  public:
    const T *find(const Expr &e) const {
        auto found = known_.find(e.get());
        return found == known_.end() ? nullptr : &found->second;
    }
    void add(const Expr &e, T value) {
        if (known_.emplace(e.get(), value).second)
            order_.push_back(e);
    }
    size_t mark() const { return order_.size(); }
    void roll_back(size_t mark) {
        for (; order_.size() > mark; order_.pop_back())
            known_.erase(order_.back().get());
    }

  private:
    std::unordered_map<const ir::ExprNode *, T> known_;
    std::vector<Expr> order_;  // keeps the nodes alive, whose addresses are the keys
};

/// Emits code at the insertion point of a Frame. A node with several uses is emitted once, until
/// `forget`, which must be called wherever earlier values are no longer valid: after each statement
/// and where control flow splits.
class ExprEmitter {
  public:
    ExprEmitter(Unit &unit, Frame &frame) : unit_(unit), frame_(frame), b_(frame.b) {}

    llvm::Value *emit(const Expr &e);
    /// A scalar integer as an index, split into a constant and terms (int32 never overflows).
    Offset offset(const Expr &e);
    /// A scalar integer in 64 bits.
    llvm::Value *wide(const Expr &e);
    /// Where a loop begins, or its extent: of the index type, but for loops of 64 bits.
    llvm::Value *counter(const Expr &e);
    llvm::Value *materialize(const Offset &o);
    /// The same with at most one term per depth: computed here, once for all uses.
    Offset settled(const Offset &o);
    /// The depth of the innermost loop in which the value may change; examines `levels` levels of
    /// the expression.
    int depth_of(const Expr &e, int levels = 8) const;

    /// The statement `store`.
    void emit_store(const ir::StmtNode &store);
    /// The statement `prefetch`.
    void emit_prefetch(const ir::StmtNode &prefetch);

    /// Calls pipe_fail with a message of strings and numbers, separated by `between`; returns the
    /// code.
    llvm::Value *emit_fail(int code, const std::vector<Expr> &parts, const char *between = "");

    /// The binding of a name for `let name = e`.
    Binding bind(const Expr &e);
    /// The value of a let around stores, for these.
    llvm::Value *whole_for_stores(llvm::Value *value);
    ir::ConstantInterval range(const Expr &e) const;
    /// Whether it is computed from elements of buffers.
    bool depends_on_data(const Expr &e) const;
    void forget() { memo_ = strict_ = {}; }

  private:
    // expr_emitter.cpp
    llvm::Value *compute(const Expr &e);
    llvm::Value *select(const ir::ExprNode &e);
    llvm::Value *call(const Expr &e);
    llvm::Value *intrinsic(const Expr &e);
    llvm::Value *trace(const ir::ExprNode &e);  // trace.cpp
    // extern_stage.cpp
    llvm::Value *extern_stage(const ir::ExprNode &e);
    llvm::Value *call_pipeline(const std::string &name, const std::vector<Type> &types,
                               const std::vector<llvm::Value *> &args);
    llvm::Value *raw_buffer(const ir::ExprNode &e);
    llvm::Value *raw_field(const ir::ExprNode &e);
    bool is_branch_free(const Expr &arm) const;
    bool is_own_constant(const ir::ExprNode &load) const;
    llvm::Value *emit_where(llvm::Value *condition, const Expr &arm);
    llvm::Value *if_then_else(const ir::ExprNode &e);
    llvm::Value *ramp(const ir::ExprNode &e);
    const Binding &variable(const ir::ExprNode &e) const;
    llvm::Value *let(const ir::ExprNode &e);
    llvm::Value *repeat(const ir::ExprNode &e);
    llvm::Value *vector_reduce(const ir::ExprNode &e);
    llvm::Value *multiply_by_reciprocal(const ir::ExprNode &e);

    // effects.cpp
    struct Message {
        llvm::Value *text, *values;
    };
    Message message(const std::vector<Expr> &parts, const char *between);
    llvm::Value *print(const ir::ExprNode &e);
    llvm::Value *require(const ir::ExprNode &e);

    // index.cpp
    Offset compute_offset(const Expr &e);
    llvm::Value *index(int64_t value);
    llvm::Value *sum_of(const std::vector<Term> &terms);
    Offset product(const Offset &a, const Offset &b);
    std::optional<Affine> affine(const Expr &e);

    // memory.cpp
    /// What a load accesses.
    struct Active {
        llvm::Value *lanes = nullptr;      ///< null: all
        llvm::Value *condition = nullptr;  ///< all of these or nothing; null: always
    };
    llvm::Value *load(const Expr &e);
    llvm::Value *load_dense(const ir::ExprNode &e, Type type, const Offset &start,
                            const Active &active);
    void for_each_register(
        Type type, llvm::Value *p, llvm::Align align,
        const std::function<void(llvm::Value *, llvm::Align, int begin, int lanes)> &access);
    llvm::Value *load_pieces(Type type, const std::function<llvm::Value *(Type, int begin)> &load);
    llvm::Value *load_same(const ir::ExprNode &e, const Offset &place, const Active &active);
    llvm::Value *gather(const ir::ExprNode &e, llvm::Value *mask);
    llvm::Value *gather_at(const ir::ExprNode &e, Type type, const Expr &index, llvm::Value *mask);
    llvm::Value *look_up(const ir::ExprNode &e);  // lookup.cpp
    // permuted_loads.cpp
    llvm::Value *load_permuted(const ir::ExprNode &e, llvm::Value *mask);
    llvm::Value *load_window(const ir::ExprNode &e, llvm::Intrinsic::ID permute,
                             const Offset &first, llvm::Value *which, llvm::Value *on,
                             llvm::Value *mask);
    llvm::Value *load_clamped(const ir::ExprNode &e, llvm::Intrinsic::ID permute, const Expr &base,
                              const Expr &ramp, int begin, int lanes, llvm::Value *mask);
    llvm::Value *load_near(const ir::ExprNode &e, llvm::Intrinsic::ID permute, const Expr &base,
                           const Expr &index, int lanes, llvm::Value *mask);
    llvm::Value *place_in_window(const Expr &ramp, const Expr &first, int begin, Type number);
    llvm::Value *load_where_active(const ir::ExprNode &e);
    llvm::Value *load_scalar_if(const ir::ExprNode &e, llvm::Value *condition);
    void store_atomic(const ir::StmtNode &s);
    void mark_atomic(llvm::Instruction *access, const std::string &buffer);
    void store_lanes(const ir::StmtNode &s, llvm::Value *mask);
    void store_dense(const ir::StmtNode &s, const Offset &start, llvm::Value *value,
                     llvm::Value *mask);
    bool is_in_own_array(Type type, const Expr &index, llvm::Value *begin) const;
    void scatter(const ir::StmtNode &s, llvm::Value *value, llvm::Value *mask);
    llvm::Value *address(const std::string &buffer, Type element, const Offset &index);
    llvm::Value *narrow_address(llvm::Type *element, llvm::Value *base, const Offset &index);
    llvm::Value *addresses(const std::string &buffer, Type element, const Expr &index);
    llvm::Align alignment(const std::string &buffer, Type element, const Expr &index);
    llvm::Value *mask_of(const Expr &predicate, int lanes);
    Active active_of(const Expr &predicate, int lanes);
    void mark(llvm::Instruction *access, const std::string &buffer, llvm::Value *active = nullptr);
    void tell_emulator(llvm::Instruction *access, const std::string &buffer,
                       llvm::Value *active = nullptr);  // device/emulation.cpp
    bool masks_by_signs(Type type) const;
    bool has_fast_gather(Type type) const;

    // strided_loads.cpp
    int strided_width(Type type, int64_t stride) const;
    bool takes_dense_loads(Type type, int64_t stride, bool all_or_none) const;
    llvm::Value *load_strided(const ir::ExprNode &e, const Offset &start, int stride,
                              const Active &active);

    // nontemporal.cpp
    void bypass_caches(llvm::Instruction *access);
    void bypass_caches_if_possible(llvm::Instruction *load);
    void store_whole(const std::string &buffer, llvm::Value *value, llvm::Value *p,
                     llvm::Align align);

    Unit &unit_;
    Frame &frame_;
    Builder &b_;

    struct Memos {
        Memo<llvm::Value *> values;
        Memo<Offset> offsets;

        std::pair<size_t, size_t> mark() const { return {values.mark(), offsets.mark()}; }
        void roll_back(const std::pair<size_t, size_t> &to) {
            values.roll_back(to.first);
            offsets.roll_back(to.second);
        }
    };
    /// Runs f and discards the values that it computed.
    template <typename F> auto with_scoped_memo(F &&f) {
        const std::array marks{memo_.mark(), strict_.mark()};
        auto result = f();
        memo_.roll_back(marks[0]);
        strict_.roll_back(marks[1]);
        return result;
    }
    /// The same, and f does not use values computed before.
    template <typename F> auto with_empty_memo(F &&f) {
        Memos before = std::exchange(memo_, {}), before_strict = std::exchange(strict_, {});
        auto result = f();
        memo_ = std::move(before);
        strict_ = std::move(before_strict);
        return result;
    }
    /// Runs f under the rules of strict_float, under which a node has a different value than
    /// outside.
    template <typename F> auto strictly(F &&f) {
        if (is_strict_)
            return f();
        llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
        b_.clearFastMathFlags();
        std::swap(memo_, strict_);
        is_strict_ = true;
        auto result = f();
        is_strict_ = false;
        std::swap(memo_, strict_);
        return result;
    }
    Memos memo_;
    Memos
        strict_;  ///< the values for the other mode: inside strict_float those computed outside, and vice versa
    bool is_strict_ = false;
    llvm::Value *active_ = nullptr;  ///< in a kernel: where loads are executed; null: everywhere
};

}  // namespace Pipe::codegen
