#include "lower/partition_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "ir/intrinsics.h"
#include "ir/shared.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/describe_loop.h"
#include "lower/lanes.h"
#include "lower/likely.h"
#include "lower/steady_state.h"
#include <pipe/error.h>

namespace Pipe::lower {

using namespace ir;

namespace {

/// Nodes of a steady body, which is one more. Beyond it, compile time costs more than the tests.
constexpr int max_body_nodes = 20000;
/// Nodes of a body that may be doubled to save one scalar operation per iteration: a single min in the
/// index of a stencil of dozens of loads costs the addresses of all of them (5 to 10 % of Harris).
constexpr int max_nodes_per_saving = 1000;
/// Nodes of a body that may be tripled: in a larger one, a test per iteration is nothing, and loops of
/// their own keep their addresses in registers.
constexpr int max_tripled_nodes = 2000;
/// Versions of a body with other arms than the usual ones: each is one more copy of it.
constexpr size_t max_other_arms = 3;

bool has_long_loop(const Stmt &s) {
    return contains_stmt(s, is_long_loop);
}

/// Expression nodes below s, shared ones counted once; stops at the limit.
int count_nodes(const Stmt &s, int limit) {
    int count = 0;
    std::unordered_set<const ExprNode *> seen;
    auto count_expr = [&](const Expr &e) {
        return count <= limit && (!is_shared(e) || seen.insert(e.get()).second) && ++count > 0;
    };
    walk(
        s, [&](const Stmt &) { return count <= limit; }, count_expr);
    return count;
}

using Lets = std::vector<std::pair<std::string, Expr>>;

/// Loops with always_partition(), and those of them that were. (Copies have the same name.)
struct PartitionPromises {
    std::map<std::string, std::string> asked;  ///< by name: its description
    std::set<std::string> kept;
};

class PartitionLoops : public Mutator {
  public:
    PartitionLoops(bool at_edge, PartitionPromises &promised)
        : at_edge_(at_edge), promised_(promised) {}

    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        bool always = s->partition == Partitioning::Always && !at_edge_;
        if (s->op == StmtOp::For && always)
            promised_.asked.emplace(s->name, describe_loop(*s.get()));
        if (s->op == StmtOp::If && s->else_case().defined() && is_likely(s->condition()))
            return make_if(s->condition(), mutate(s->then_case()),
                           PartitionLoops(true, promised_).mutate(s->else_case()));
        bool may =
            s->op == StmtOp::For && (always || is_long_loop(*s.get())) && is_host_loop(s->kind);
        if (!may)
            return Mutator::mutate(s);
        if (!buffers_read(add(s->min(), s->extent())).empty())
            return Mutator::mutate(s);
        bool innermost = !has_long_loop(s->body());
        if (at_edge_ && !innermost)
            return Mutator::mutate(s);
        auto steady = find_steady_state(s, innermost);
        if (!steady)
            return Mutator::mutate(s);
        // (Without tests, it is smaller than the body: that of mirrored coordinates a tenth of it.)
        const Stmt &more = steady->body.defined() ? steady->body : s->body();
        const int nodes = count_nodes(more, max_body_nodes);
        if (!(pays(*steady, nodes) || always))
            return Mutator::mutate(s);
        if (always)
            promised_.kept.insert(s->name);
        bool has_one_end = !steady->first.defined() || !steady->last.defined();
        bool three = innermost && s->kind == LoopKind::Serial && !at_edge_ &&
                     (has_one_end || is_small_for(s, 0));
        return three ? three_loops(s, *steady) : two_bodies(s, *steady, innermost);
    }

  private:
    static bool pays(const SteadyState &steady, int nodes) {
        return nodes <= max_body_nodes && nodes / max_nodes_per_saving < steady.saved;
    }

    /// `e`, which may be an int64, as a value of the loop variable's type, which has at least the bounds
    /// lo <= hi.
    static Expr clamped(const Expr &e, const Expr &lo, const Expr &hi) {
        Type type = e.type(), narrow = lo.type();
        return make_cast(narrow, ir::max(ir::min(e, make_cast(type, hi)), make_cast(type, lo)));
    }

    /// `level`: how many of the loop's conditions chose another arm before.
    static Stmt three_loops(const Stmt &s, const SteadyState &steady, size_t level = 0) {
        const Expr &min = s->min();
        Type type = min.type();
        Expr stop = simplify(add(min, s->extent()));
        Expr begin = min, end = stop;
        const std::string number = level == 0 ? "" : std::to_string(level);
        std::vector<Stmt> loops;
        if (steady.first.defined()) {
            begin = make_variable(type, s->name + ".begin" + number);
            loops.push_back(rest_of(make_for_like(s, min, sub(begin, min), s->body()),
                                    steady.before, level + 1));
        }
        if (steady.last.defined())
            end = make_variable(type, s->name + ".end" + number);
        if (steady.body.defined())
            loops.push_back(make_for_like(s, begin, sub(end, begin), steady.body));
        if (steady.last.defined())
            loops.push_back(
                rest_of(make_for_like(s, end, sub(stop, end), s->body()), steady.after, level + 1));
        Stmt result = make_block(std::move(loops));
        if (steady.last.defined()) {
            Expr after = add(steady.last, make_const(steady.last.type(), 1));
            result = make_let(end->name, simplify(clamped(after, begin, stop)), result);
        }
        if (steady.first.defined())
            result = make_let(begin->name, simplify(clamped(steady.first, min, stop)), result);
        return result;
    }

    /// Whether a body may have 2^n times the copies: each level of other arms may have two ends.
    static bool is_small_for(const Stmt &loop, size_t n) {
        return count_nodes(loop->body(), max_tripled_nodes) << n <= max_tripled_nodes;
    }

    /// The loop over what a steady state leaves at one end; in parts where another arm is chosen there.
    static Stmt rest_of(const Stmt &loop, const Rest &known, size_t level) {
        const int nodes = count_nodes(loop->body(), max_tripled_nodes);
        if (known.outcomes.empty() || level > max_other_arms || !is_small_for(loop, level))
            return loop;
        auto steady = find_steady_state(loop, true, known);
        return steady && steady->body.defined() && pays(*steady, nodes)
                   ? three_loops(loop, *steady, level)
                   : loop;
    }

    Stmt two_bodies(const Stmt &s, const SteadyState &steady, bool innermost) {
        Choice choice{s, innermost, steady, test_of(s, steady, ""), {}, {}, {}, 0};
        auto rests = at_edge_ ? std::vector<Rest>() : rests_of(steady, {});
        if (is_small_for(s, rests.size()))
            choice.rests = std::move(rests);
        Stmt body = either(choice, s->body(), steady.body);
        return within(choice.test, with_children(s, s->exprs, {body}));
    }

    /// Whether an iteration is one of a steady state.
    struct Test {
        Expr value;  ///< undefined: it is
        Lets lets;   ///< around it
    };

    static Test test_of(const Stmt &s, const SteadyState &steady, const std::string &number) {
        Expr variable = make_variable(s->min().type(), s->name);
        Test result;
        auto test = [&](const Expr &end, const std::string &suffix, Op op) {
            if (!end.defined())
                return;
            result.lets.emplace_back(s->name + suffix + number, simplify(end));
            Expr at = make_cast(end.type(), variable);
            result.value =
                both(result.value,
                     make_binary(op, at, make_variable(end.type(), result.lets.back().first)));
        };
        test(steady.first, ".first", Op::GE);
        test(steady.last, ".last", Op::LE);
        return result;
    }

    static Stmt within(const Test &test, Stmt s) {
        for (const auto &[name, value] : test.lets)
            s = make_let(name, value, s);
        return s;
    }

    /// What is known at each end where a steady state of `known` does not hold. (That it ends at one end is not known
    /// at the other.)
    static std::vector<Rest> rests_of(const SteadyState &steady, const Rest &known) {
        std::vector<Rest> result;
        const bool has_two_ends = steady.first.defined() && steady.last.defined();
        for (const Rest *rest : {&steady.before, &steady.after})
            if (!rest->outcomes.empty())
                result.push_back({has_two_ends ? known.bounds : rest->bounds, rest->outcomes});
        return result;
    }

    struct Choice {
        Stmt loop;
        bool innermost;
        const SteadyState &steady;
        Test test;
        std::vector<Rest> rests;  ///< where other arms are taken
        /// Lets around what is chosen, outermost first; those whose values differ in the steady state, with these.
        Lets lets, steady_lets;
        int loops = 0;  ///< around both, inside of the loop: what is in them is not partitioned yet
    };

    /// The steady statement where the test holds, else the general one. What both have in common stands
    /// once: the test is pushed inwards to where they differ.
    Stmt either(Choice &choice, const Stmt &general, const Stmt &steady) {
        if (general.same_as(steady))
            return choice.loops > 0 ? general : mutate(general);
        if (!have_common_part(choice, general, steady))
            return choose(choice, general, steady);
        if (general->op == StmtOp::Block)
            return either_of_block(choice, general->stmts, choice.steady.blocks.at(steady.get()));
        const bool is_let = general->op == StmtOp::Let;
        const bool differs = is_let && !general->value().same_as(steady->value());
        if (is_let)
            choice.lets.emplace_back(general->name, general->value());
        if (differs)
            choice.steady_lets.emplace_back(general->name, steady->value());
        if (general->op == StmtOp::For)
            return either_in_loop(choice, general, steady);
        Stmt body = either(choice, general->body(), steady->body());
        if (is_let)
            choice.lets.pop_back();
        if (differs)
            choice.steady_lets.pop_back();
        return with_children(general, general->exprs, {body});
    }

    /// A loop around both, which is partitioned itself when what is in it is known.
    Stmt either_in_loop(Choice &choice, const Stmt &general, const Stmt &steady) {
        std::vector<Rest>
            rests;  // where other arms are taken is known for the loop in question only
        rests.swap(choice.rests);
        choice.loops++;
        Stmt body = either(choice, general->body(), steady->body());
        choice.loops--;
        rests.swap(choice.rests);
        Stmt loop = with_children(general, general->exprs, {body});
        return choice.loops > 0 ? loop : mutate(loop);
    }

    Stmt either_of_block(Choice &choice, const std::vector<Stmt> &general,
                         const std::vector<Stmt> &steady) {
        std::vector<Stmt> result;
        for (size_t i = 0; i < general.size();) {
            size_t end = i;  // neighbors that differ share a test
            while (end < general.size() && !have_common_part(choice, general[end], steady[end]))
                end++;
            auto from = static_cast<std::ptrdiff_t>(i), to = static_cast<std::ptrdiff_t>(end);
            if (i < end)
                result.push_back(choose(choice,
                                        make_block({general.begin() + from, general.begin() + to}),
                                        make_block({steady.begin() + from, steady.begin() + to})));
            else
                result.push_back(either(choice, general[end], steady[end])), end++;
            i = end;
        }
        return make_block(std::move(result));
    }

    static bool have_common_part(const Choice &choice, const Stmt &general, const Stmt &steady) {
        if (!steady.defined() || general.same_as(steady))
            return steady.defined();
        if (general->op == StmtOp::Block) {
            const auto parts = choice.steady.blocks.find(steady.get());
            return parts != choice.steady.blocks.end() &&
                   !std::equal(general->stmts.begin(), general->stmts.end(), parts->second.begin(),
                               parts->second.end(),
                               [&](auto &g, auto &s) { return !have_common_part(choice, g, s); });
        }
        if (general->op != steady->op)
            return false;
        switch (general->op) {
        case StmtOp::Let:
            if (!general->value().same_as(steady->value()) && !is_repeatable(general, steady))
                return false;
            [[fallthrough]];
        case StmtOp::Allocate:
        case StmtOp::Produce:
        case StmtOp::Consume:
            return have_common_part(choice, general->body(), steady->body());
        case StmtOp::For:  // around what takes long a test costs nothing
            return contains_stmt(steady->body(), takes_long) && has_long_loop(general->body()) &&
                   have_common_part(choice, general->body(), steady->body());
        default:
            return false;
        }
    }

    /// Whether the steady value of a let may be computed later than the let.
    static bool is_repeatable(const Stmt &general, const Stmt &steady) {
        const Expr &value = steady->value();
        return general->value().type() == value.type() && is_repeatable(value);
    }
    static bool is_repeatable(const Expr &value) {
        return buffers_read(value).empty() && !has_side_effect(value);
    }

    /// What runs where the steady state does not hold: versions with the other arms, each behind a test; else the
    /// general one.
    Stmt otherwise(const Choice &choice, const Stmt &general) {
        Stmt result = PartitionLoops(true, promised_).mutate(general);
        const auto versions = versions_of_other_arms(choice, general);
        for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
            const auto &[test, body] = *version;
            Stmt clean = mutate(body);
            result =
                test.value.defined() ? within(test, make_if(test.value, clean, result)) : clean;
        }
        return result;
    }

    static std::vector<std::pair<Test, Stmt>> versions_of_other_arms(const Choice &choice,
                                                                     const Stmt &general) {
        std::vector<std::pair<Test, Stmt>> versions;
        std::vector<Rest> rests = choice.rests;
        Stmt body = general;
        for (auto let = choice.lets.rbegin(); let != choice.lets.rend(); ++let) {
            if (!is_repeatable(let->second))
                return versions;
            body = make_let(let->first, let->second, body);
        }
        const Stmt loop = with_children(choice.loop, choice.loop->exprs, {body});
        const int nodes = count_nodes(body, max_body_nodes);
        for (size_t i = 0; i < rests.size() && versions.size() < max_other_arms; i++) {
            const Rest known = rests[i];
            auto steady = find_steady_state(loop, choice.innermost, known);
            if (!steady || !steady->body.defined() || !pays(*steady, nodes))
                continue;
            const std::string number = std::to_string(versions.size() + 1);
            versions.emplace_back(test_of(loop, *steady, number), steady->body);
            for (Rest &next : rests_of(*steady, known))
                rests.push_back(std::move(next));
        }
        return versions;
    }

    Stmt choose(const Choice &choice, const Stmt &general, const Stmt &steady) {
        const bool later = choice.loops > 0;
        Stmt at_edge = later ? general : otherwise(choice, general);
        if (!steady.defined())
            return make_if(negated(choice.test.value), at_edge);
        Stmt clean = later ? steady : mutate(steady);
        for (auto let = choice.steady_lets.rbegin(); let != choice.steady_lets.rend(); ++let) {
            const auto &[name, value] = *let;  // outside of the test it has its general value
            if (!uses_var(clean, name))
                continue;
            std::string steady_name = name + ".steady";
            clean = substitute(name, make_variable(value.type(), steady_name), clean);
            clean = make_let(steady_name, value, clean);
        }
        const Expr &test = choice.test.value;
        return make_if(later ? make_call(Bool(), intrinsic::likely, {test}, CallKind::Intrinsic)
                             : test,
                       clean, at_edge);
    }

    const bool at_edge_;
    PartitionPromises &promised_;
};

}  // namespace

Stmt partition_loops(const Stmt &s) {
    PartitionPromises promised;
    Stmt result = without_likely(PartitionLoops(false, promised).mutate(s));
    for (const auto &[loop, description] : promised.asked)
        if (!promised.kept.count(loop))
            throw CompileError("always_partition of " + description +
                               ": nothing in the loop is different at its ends, or the ends "
                               "cannot be determined. Leave the directive out.");
    return result;
}

}  // namespace Pipe::lower
