#include "lower/gpu/own_elements.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/gpu/kernels.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// A part of an index that runs over 0, coefficient, .., (count - 1) * coefficient.
struct Digit {
    int64_t coefficient = 0, count = 0;
    bool operator==(const Digit &) const = default;
};

/// The index of an access: the same part for all accesses, a part per dimension of threads, and what loops in the thread
/// add.
struct Form {
    Expr rest;  ///< what is neither
    int64_t thread[3] = {0, 0, 0};
    std::vector<Digit> digits;
    int64_t constant = 0;
};

class Accesses {
  public:
    explicit Accesses(const StmtNode &launch) {
        for (size_t d = 0; d < 3; d++)
            if (!as_const_int(threads_of_launch(launch, d), &threads_[d]))
                threads_[d] = -1;
        visit(launch.stmts[0]);
    }

    std::set<std::string> own() const {
        std::set<std::string> names;
        for (const auto &[name, accesses] : accesses_)
            if (stored_.count(name) &&
                std::all_of(accesses.begin(), accesses.end(), [](auto &a) { return bool(a); }) &&
                (is_same_for_all(accesses) || is_one_to_one(accesses)))
                names.insert(name);
        return names;
    }

  private:
    using List = std::vector<std::optional<Form>>;

    void visit(const Stmt &s) {
        if (!s.defined())
            return;
        for (const Expr &e : s->exprs)
            if (e.defined())
                note_loads(e);
        if (s->op == StmtOp::Store) {
            stored_.insert(s->name);
            note(s->name, s->exprs[1]);
        }
        std::optional<Expr> outer;
        if (binds_variable(s)) {
            if (auto known = meaning_.find(s->name); known != meaning_.end())
                outer = known->second;
            if (std::optional<Expr> m = meaning(s))
                meaning_[s->name] = *m;
            else
                meaning_.erase(s->name);
        }
        for (const Stmt &child : s->stmts)
            visit(child);
        if (binds_variable(s))
            meaning_.erase(s->name);
        if (outer)
            meaning_[s->name] = *outer;
    }

    void note_loads(const Expr &e) {
        each_node(e, [&](const ExprNode &n) {
            if (n.op == Op::Load)
                note(n.name, n.args[0]);
            return true;
        });
    }

    /// A let, or a loop's variable, in terms of places of threads (".thread.x") and of counters that begin at 0.
    std::optional<Expr> meaning(const Stmt &s) {
        const Expr first = substitute(meaning_, s->exprs[0]);
        if (s->op == StmtOp::Let)
            return first.type().is_int() && !contains(first, may_change) ? std::optional(first)
                                                                         : std::nullopt;
        const Type type = first.type();
        const int64_t extent = constant_bounds(simplify(substitute(meaning_, s->exprs[1]))).hi;
        if (!is_thread_loop(*s.get()))
            return add(first, counter(type, extent));
        const size_t d = thread_dimension(*s.get());
        if (d >= 3 || threads_[d] < 0)
            return std::nullopt;
        Expr place = add(first, make_cast(type, thread_index(d)));
        if (extent > threads_[d]) {
            const int64_t times =
                extent == INT64_MAX ? extent : (extent + threads_[d] - 1) / threads_[d];
            place = add(place, mul(counter(type, times), make_int(type, threads_[d])));
        }
        return place;
    }

    Expr counter(Type type, int64_t count) {
        std::string name = ".counter." + std::to_string(counts_.size());
        counts_[name] = count;
        return make_variable(type, name);
    }

    void note(const std::string &buffer, const Expr &index) {
        accesses_[buffer].push_back(form(simplify(substitute(meaning_, index))));
    }

    std::optional<Form> form(Expr index) const {
        Form result;
        if (index->op == Op::Ramp) {
            int64_t stride = 0;
            if (!as_const_int(index->args[1], &stride))
                return std::nullopt;
            result.digits.push_back({stride, index.type().lanes()});
            index = index->args[0];
        }
        if (!index.type().is_scalar() || !has_no_overflow(index.type()))
            return std::nullopt;
        Linear sum = Linear::from_expr(index), rest = Linear::from_constant(index.type(), 0);
        for (const Linear::Term &t : sum.terms) {
            const ExprNode *atom = t.atom.get();
            while (atom->op == Op::Cast)
                atom = atom->args[0].get();
            const size_t d = dimension_of(*atom);
            auto count = counts_.find(atom->name);
            if (d < 3)
                result.thread[d] += t.coefficient;
            else if (atom->op == Op::Variable && count != counts_.end() &&
                     count->second < INT32_MAX)
                add_digit(result.digits, {t.coefficient, count->second});
            else
                rest.terms.push_back(t);
        }
        result.constant = sum.constant;
        result.rest = rest.to_expr();
        return result;
    }

    static void add_digit(std::vector<Digit> &digits, const Digit &digit) {
        for (Digit &d : digits)
            if (d.coefficient == digit.coefficient) {
                d.count += digit.count - 1;
                return;
            }
        digits.push_back(digit);
    }

    static size_t dimension_of(const ExprNode &atom) {
        for (size_t d = 0; d < 3; d++)
            if (atom.op == Op::Variable && atom.name == thread_index(d)->name)
                return d;
        return 3;
    }

    /// Each thread accesses the same elements in all steps. (That two threads have one in common within a step is a
    /// matter of the step.)
    bool is_same_for_all(const List &accesses) const {
        return std::all_of(accesses.begin(), accesses.end(), [&](const std::optional<Form> &a) {
            const Form &first = *accesses[0];
            return a->digits == first.digits && a->constant == first.constant &&
                   equal(a->rest, first.rest) &&
                   std::equal(a->thread, a->thread + 3, first.thread) &&
                   is_same_in_all_steps(a->rest);
        });
    }

    bool is_same_in_all_steps(const Expr &e) const {
        return !contains(e, [&](const ExprNode &n) {
            return n.op == Op::Load || (n.op == Op::Variable && counts_.count(n.name));
        });
    }

    static bool depends_on_thread(const Expr &e) {
        return contains(e, [](const ExprNode &n) { return dimension_of(n) < 3; });
    }

    /// The index tells the thread: the parts of all accesses are the digits of a number with several bases.
    bool is_one_to_one(const List &accesses) const {
        const Form &first = *accesses[0];
        int64_t least = INT64_MAX, step = 0;
        for (const std::optional<Form> &a : accesses)
            least = std::min(least, a->constant);
        std::vector<Digit> digits;
        for (size_t d = 0; d < 3; d++) {
            if (threads_[d] < 0 || (threads_[d] > 1 && first.thread[d] <= 0))
                return false;
            if (threads_[d] > 1)
                digits.push_back({first.thread[d], threads_[d]});
        }
        const size_t of_threads = digits.size();
        int64_t farthest = 0;
        for (const std::optional<Form> &a : accesses) {
            const bool same =
                std::equal(a->thread, a->thread + 3, first.thread) && equal(a->rest, first.rest);
            if (!same || !is_same_in_all_steps(a->rest) || depends_on_thread(a->rest))
                return false;
            step = std::gcd(step, a->constant - least);
            farthest = std::max(farthest, a->constant - least);
            digits.insert(digits.end(), a->digits.begin(), a->digits.end());
        }
        if (step > 0)
            digits.push_back({step, farthest / step + 1});
        return are_separate(digits, of_threads);
    }

    /// Whether sums with different first digits (of threads) are different.
    static bool are_separate(std::vector<Digit> digits, size_t of_threads) {
        std::map<int64_t, std::pair<int64_t, bool>>
            places;  // by coefficient: count, whether it is of threads
        for (size_t i = 0; i < digits.size(); i++) {
            auto [coefficient, count] = digits[i];
            if (count <= 1)
                continue;
            if (coefficient <= 0)
                return false;
            auto [place, is_new] = places.try_emplace(coefficient, count, i < of_threads);
            if (!is_new && place->second.second)
                return false;
            place->second.first = std::max(place->second.first, count);
        }
        int64_t end = 1;  // of the sums of the lower digits, from 0
        for (const auto &[coefficient, place] : places) {
            if (coefficient < end)
                return false;
            end = coefficient * (place.first - 1) + end;
        }
        return true;
    }

    int64_t threads_[3];
    std::map<std::string, Expr> meaning_;
    std::map<std::string, int64_t> counts_;  ///< of counters: how many values they take
    std::map<std::string, List> accesses_;
    std::set<std::string> stored_;
};

}  // namespace

std::set<std::string> accessed_by_one_thread(const Stmt &launch) {
    return Accesses(*launch.get()).own();
}

}  // namespace Pipe::lower
