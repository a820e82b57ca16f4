#include "lower/whole_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/equal.h"
#include "ir/lets.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/lanes.h"
#include "lower/margins.h"
#include "region/loop_tree.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// An unrolled loop with a vectorized one in it or none, each of which may be guarded.
struct Block {
    std::vector<Stmt> around;  ///< the serial loops, outermost first
    Stmt loop;                 ///< the unrolled one
    Stmt bare;                 ///< it without guards
    Stmt rest;                 ///< a serial loop in place of it
    Expr count;                ///< how many iterations of it are needed
    bool reorders = false;     ///< whether all these loops may be in any order
    Expr outside;  ///< guards that the loops around do not change, for all iterations of it
    Expr
        full;  ///< iterations of the innermost loop around, from the first, in which all others hold
};

class WholeBlocks : public Mutator {
  public:
    explicit WholeBlocks(const graph::Graph *graph) {
        if (!graph)
            return;
        for (const graph::FuncNode &func : graph->funcs)
            for (size_t i = 0; i < func.types.size(); i++)
                pure_[graph::buffer_name(func, i)] = region::stage_name(func, 0) + ".";
    }
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::Allocate)
            return within(allocated_, s);
        if (s->op != StmtOp::For)
            return Mutator::mutate(s);
        if (is_gpu(s->kind))
            return s;
        if (const auto block = block_in(s))
            return separated(*block);
        return is_host_loop(s->kind) ? within(serial_, s) : Mutator::mutate(s);
    }

  private:
    std::map<std::string, std::string>
        pure_;  ///< of every buffer: what its pure definition's loops begin with
    std::multiset<std::string> serial_;     ///< loops around, neither unrolled nor vectorized
    std::multiset<std::string> allocated_;  ///< buffers

    Stmt within(std::multiset<std::string> &names, const Stmt &s) {
        const auto at = names.insert(s->name);
        Stmt result = Mutator::mutate(s);
        names.erase(at);
        return result;
    }

    static Stmt inside_serial_loops(const Stmt &s, Block &block) {
        Stmt at = s;
        for (; at->op == StmtOp::For && at->kind == LoopKind::Serial; at = at->body())
            block.around.push_back(at);
        return at;
    }

    /// Nothing if `s` neither is the innermost loop around one nor leaves some of its guards unchanged.
    std::optional<Block> block_in(const Stmt &s) const {
        Block block;
        const Stmt at = inside_serial_loops(s, block);
        int64_t extent = 0;
        if (at->op != StmtOp::For || at->kind != LoopKind::Unrolled ||
            !as_const_int(at->extent(), &extent) || extent < 2)
            return {};
        block.loop = at;
        Expr count = at->extent(), others;
        const Stmt body = without_guards(at->body(), block, count, others);
        const bool here =
            block.outside.defined() || (block.full.defined() && block.around.size() == 1);
        if (!body.defined() || !here || needs_registers(block))
            return {};
        block.bare = with_children(at, at->exprs, {body});
        block.count = simplify(count);
        const Expr named = make_variable(count.type(), at->name + ".count");
        Stmt rest = at->body()->op == StmtOp::If ? at->body()->then_case() : at->body();
        rest = others.defined() ? make_if(others, rest) : rest;
        block.rest = make_for(at->name, at->min(), named, LoopKind::Serial, rest,
                              Partitioning::Never, at->origin);
        block.reorders =
            std::all_of(block.around.begin(), block.around.end(),
                        [&](const Stmt &loop) { return is_pure_over(rest, loop->name); }) &&
            is_pure_over(rest, at->name);
        return block;
    }

    /// Whether the loop is one of the pure definition of all that `s` stores, whose iterations may run in any order.
    bool is_pure_over(const Stmt &s, const std::string &loop) const {
        return !contains_stmt(s, [&](const StmtNode &c) {
            if (c.op != StmtOp::Store)
                return c.op != StmtOp::If && c.op != StmtOp::For && c.op != StmtOp::Let &&
                       c.op != StmtOp::Block;
            const auto pure = pure_.find(c.name);
            return pure == pure_.end() || loop.rfind(pure->second, 0) != 0 ||
                   std::any_of(c.exprs.begin(), c.exprs.end(),
                               [](const Expr &e) { return e.defined() && has_side_effect(e); });
        });
    }

    /// The body of the block where the guards hold. `count`: how many of its iterations are needed, where `others` of
    /// the guards hold.
    Stmt without_guards(const Stmt &s, Block &block, Expr &count, Expr &others) const {
        if (s->op == StmtOp::For && s->kind == LoopKind::Vectorized) {
            const Stmt &guard = s->body();
            if (guard->op != StmtOp::If ||
                !holds_for_all(*guard.get(), *s.get(), block, count, others))
                return s;
            return with_children(s, s->exprs, {guard->then_case()});
        }
        if (s->op != StmtOp::If)
            return s;
        return holds_for_all(*s.get(), *block.loop.get(), block, count, others)
                   ? without_guards(s->then_case(), block, count, others)
                   : Stmt();
    }

    static bool is_changed_by(const std::vector<Stmt> &loops, const Expr &e) {
        return std::any_of(loops.begin(), loops.end(),
                           [&](const Stmt &loop) { return uses_var(e, loop->name); });
    }

    /// Adds to the block's conditions that the guard holds for all iterations of the unrolled loop and
    /// of `loop`, in which it stands. False where that cannot be told.
    bool holds_for_all(const StmtNode &guard, const StmtNode &loop, Block &block, Expr &count,
                       Expr &others) const {
        const bool is_own = &loop == block.loop.get();
        if (guard.else_case().defined() || loads_or_calls(guard.condition()))
            return false;
        std::vector<Expr> parts;
        take_apart(guard.condition(), parts);
        for (const Expr &part : parts) {
            std::optional<Linear> margin = margin_of(part);
            const bool counted = is_own && margin && growth(*margin, loop.name) == -1 &&
                                 leaves_fewer(count, *margin, loop);
            margin = least(margin, {block.loop.get(), &loop});
            if (!margin)
                return false;
            if (is_own && !counted)
                others = both(others, part);
            if (!add_condition(*margin, block))
                return false;
        }
        return true;
    }

    /// Adds that the margin is positive.
    static bool add_condition(const Linear &margin, Block &block) {
        const bool changes =
            std::any_of(block.around.begin(), block.around.end(),
                        [&](const Stmt &around) { return depends_on(margin, around->name); });
        if (changes)
            return holds_from_first(margin, block);
        const Expr holds = make_binary(Op::GT, to_expr(margin), make_const(Int(64), 0));
        if (!block.outside.defined() || !implies(block.outside, holds))
            block.outside = both(block.outside, holds);
        return true;
    }

    /// Whether `holds` is one of the conjunction.
    static bool implies(const Expr &conjunction, const Expr &holds) {
        std::vector<Expr> parts;
        take_apart(conjunction, parts);
        return std::any_of(parts.begin(), parts.end(),
                           [&](const Expr &part) { return equal(part, holds); });
    }

    /// Adds to the block the iterations of the innermost loop around in which the margin is positive;
    /// not where these may begin later than the first.
    static bool holds_from_first(const Linear &margin, Block &block) {
        const StmtNode &loop = *block.around.back().get();
        const auto grows = growth(margin, loop.name);
        if (!grows || *grows >= 0)
            return false;
        const auto at_first = margin_at(margin, loop.name, loop.min());
        if (!at_first)
            return false;
        // at_first + grows * k > 0
        const Expr step = make_const(Int(64), -*grows), one = make_const(Int(64), 1);
        const Expr some = div(sub(add(to_expr(*at_first), step), one), step);
        block.full = at_most(block.full.defined() ? block.full : loop.extent(), some);
        return true;
    }

    /// No more iterations than leave the margin positive, which falls by one in each.
    static bool leaves_fewer(Expr &count, const Linear &margin, const StmtNode &loop) {
        const auto at_first = margin_at(margin, loop.name, loop.min());
        if (at_first)
            count = at_most(count, to_expr(*at_first));
        return at_first.has_value();
    }

    /// The count, or fewer (int64), but not less than none.
    static Expr at_most(const Expr &count, const Expr &fewer) {
        const Expr some = ir::min(fewer, make_cast(fewer.type(), count));
        return make_cast(count.type(), ir::max(some, make_const(fewer.type(), 0)));
    }

    /// Whether an element per iteration is in an array that should become registers.
    bool needs_registers(const Block &block) const {
        std::set<std::string> steps(serial_.begin(), serial_.end());
        for (const Stmt &loop : block.around)
            steps.insert(loop->name);
        bool found = false;
        auto note = [&](const std::string &buffer, const Expr &index) {
            if (found || !allocated_.count(buffer) || !uses_var(index, block.loop->name))
                return;
            const std::set<std::string> names = free_vars(index);
            found = std::none_of(names.begin(), names.end(),
                                 [&](const std::string &name) { return steps.count(name) > 0; });
        };
        walk(
            block.loop->body(),
            [&](const Stmt &s) {
                if (s->op == StmtOp::Store)
                    note(s->name, s->index());
                found |= s->op == StmtOp::Allocate;
                return !found;
            },
            [&](const Expr &e) {
                if (e->op == Op::Load)
                    note(e->name, e->element());
                return !found;
            });
        return found;
    }

    static Stmt in_loops(const std::vector<Stmt> &loops, Stmt body) {
        for (size_t i = loops.size(); i-- > 0;)
            body = with_children(loops[i], loops[i]->exprs, {body});
        return body;
    }

    /// The number of iterations has a name outside of the test: if it were a constant inside, LLVM
    /// would unroll the rest, too.
    Stmt separated(const Block &block) {
        const std::string count = block.loop->name + ".count";
        const bool changes = is_changed_by(block.around, block.count);
        const Stmt bare = Mutator::mutate(block.bare);
        Stmt rest = Mutator::mutate(block.rest);
        if (changes)
            rest = make_let(count, block.count, rest);
        Stmt result =
            block.full.defined() ? split(block, bare, rest) : in_loops(block.around, bare);
        if (block.outside.defined())
            result = make_if(block.outside, result, rest_of(block, rest));
        return changes ? result : make_let(count, block.count, result);
    }

    /// Where the order does not matter, the innermost loop stays innermost: what it does not change is computed once.
    static Stmt rest_of(const Block &block, const Stmt &rest) {
        if (!block.reorders || rest->op != StmtOp::For)
            return in_loops(block.around, rest);
        return with_children(rest, rest->exprs, {in_loops(block.around, rest->body())});
    }

    /// The innermost loop around runs the block as a whole, and then the rest.
    static Stmt split(const Block &block, const Stmt &bare, const Stmt &rest) {
        const StmtNode &loop = *block.around.back().get();
        const Expr full = make_variable(block.full.type(), loop.name + ".full");
        const Expr &min = loop.min();
        const Stmt both = make_block(
            {make_for(loop.name, min, full, loop.kind, bare, loop.partition, loop.origin),
             make_for(loop.name, add(min, full), sub(loop.extent(), full), loop.kind, rest,
                      Partitioning::Remainder, loop.origin)});
        const std::vector<Stmt> others(block.around.begin(), block.around.end() - 1);
        return in_loops(others, make_let(full->name, simplify(block.full), both));
    }
};

}  // namespace

Stmt whole_blocks(const Stmt &s, const graph::Graph *graph) {
    return WholeBlocks(graph).mutate(s);
}

}  // namespace Pipe::lower
