#include "lower/gpu/own_elements.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ir/equal.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/gpu/kernels.h"
#include "lower/gpu/thread_scope.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using Indices = std::vector<std::optional<ThreadIndex>>;

/// All accesses of a kernel.
class Accesses {
  public:
    explicit Accesses(const StmtNode &launch) : scope(launch) { visit(launch.body()); }

    ThreadScope scope;
    std::map<std::string, Indices> indices;
    std::set<std::string> stored;

  private:
    void visit(const Stmt &s) {
        if (!s.defined())
            return;
        // What stands outside of loops over threads is done by all of them (map_threads).
        const bool by_all =
            contains_stmt(s, [](const StmtNode &n) { return is_thread_loop(n); });
        for (const Expr &e : s->exprs)
            if (e.defined())
                each_node(e, [&](const ExprNode &n) {
                    if (n.op == Op::Load)
                        note(n.name, n.element(), by_all);
                    return true;
                });
        if (s->op == StmtOp::Store) {
            stored.insert(s->name);
            note(s->name, s->index(), by_all);
        }
        const std::array<bool, 3> outside = in_loop_;
        if (is_thread_loop(*s.get()))
            in_loop_[std::min<size_t>(thread_dimension(*s.get()), 2)] = true;
        scope.inside(s, [&] {
            for (const Stmt &child : s->stmts)
                visit(child);
        });
        in_loop_ = outside;
    }

    void note(const std::string &buffer, const Expr &index, bool by_all) {
        std::optional<ThreadIndex> i = scope.index(index);
        for (size_t d = 0; d < 3 && i; d++)
            i->by_several[d] = (by_all || in_loop_[d]) && scope.threads(d) != 1;
        indices[buffer].push_back(std::move(i));
    }

    std::array<bool, 3> in_loop_{};  ///< over threads, by dimension
};

bool same_threads(const ThreadIndex &a, const ThreadIndex &b) {
    return std::equal(a.thread, a.thread + 3, b.thread) && equal(a.rest, b.rest);
}

/// The same threads access the same elements in all steps. (That two threads have one in common within a step is a matter of
/// the step.)
bool are_the_same(const Indices &indices) {
    const ThreadIndex &first = *indices[0];
    return std::all_of(indices.begin(), indices.end(), [&](const std::optional<ThreadIndex> &i) {
        auto same_range = [](const Digit &a, const Digit &b) { return a.same_range(b); };
        return i->by_several == first.by_several && i->constant == first.constant && same_threads(*i, first) &&
               std::equal(i->digits.begin(), i->digits.end(), first.digits.begin(),
                          first.digits.end(), same_range) &&
               ThreadScope::is_same_in_all_steps(i->rest);
    });
}

/// The places between those of the threads; nothing where these overlap.
std::optional<std::vector<OwnArray::Place>> places_between(const ThreadIndex &index,
                                                           const ThreadScope &scope) {
    std::map<int64_t, int64_t> threads;  // by coefficient
    for (size_t d = 0; d < 3; d++) {
        if (scope.threads(d) == 1)
            continue;
        if (scope.threads(d) < 0 || index.thread[d] <= 0 ||
            !threads.emplace(index.thread[d], scope.threads(d)).second)
            return std::nullopt;
    }
    std::vector<OwnArray::Place> places;
    int64_t unit = 1;
    for (const auto &[coefficient, count] : threads) {
        if (coefficient < unit || coefficient % unit != 0)
            return std::nullopt;
        places.push_back({unit, coefficient, 0, 1});
        unit = coefficient * count;
    }
    places.push_back({unit, INT64_MAX, 0, 1});
    return places;
}

/// The parts of a value at each place; nothing where something is left.
std::optional<std::vector<int64_t>> parts_at(const std::vector<OwnArray::Place> &places,
                                             int64_t value) {
    std::vector<int64_t> parts(places.size());
    for (size_t i = places.size(); i-- > 0;) {
        parts[i] = value / places[i].unit * places[i].unit;
        if (parts[i] >= places[i].end)
            return std::nullopt;
        value -= parts[i];
    }
    return parts;
}

/// Counts what an access counts at each place.
bool note_counts(const ThreadIndex &index, OwnArray &array) {
    std::optional<std::vector<int64_t>> most = parts_at(array.places, index.constant - array.least);
    if (!most)
        return false;
    for (const Digit &d : index.digits) {
        if (d.count <= 1)
            continue;
        size_t i = 0;
        while (i < array.places.size() && d.coefficient >= array.places[i].end)
            i++;
        int64_t range = 0;
        const bool fits = d.coefficient > 0 && d.coefficient % array.places[i].unit == 0 &&
                          !__builtin_mul_overflow(d.coefficient, d.count - 1, &range) &&
                          !__builtin_add_overflow((*most)[i], range, &(*most)[i]);
        if (!fits)
            return false;
    }
    for (size_t i = 0; i < array.places.size(); i++) {
        array.places[i].most = std::max(array.places[i].most, (*most)[i]);
        if (array.places[i].most >= array.places[i].end)
            return false;
    }
    return true;
}

/// Where the index tells the thread.
std::optional<OwnArray> own_array(const Indices &indices, const ThreadScope &scope) {
    const ThreadIndex &first = *indices[0];
    OwnArray array;
    array.least = first.constant;
    for (const auto &i : indices) {
        array.least = std::min(array.least, i->constant);
        if (!same_threads(*i, first) || !ThreadScope::is_same_in_all_steps(i->rest) ||
            ThreadScope::depends_on_thread(i->rest))
            return std::nullopt;
    }
    auto places = places_between(first, scope);
    if (!places)
        return std::nullopt;
    array.places = std::move(*places);
    for (const auto &i : indices)
        if (!note_counts(*i, array))
            return std::nullopt;
    for (OwnArray::Place &p : array.places) {
        p.base = array.elements;
        if (__builtin_mul_overflow(array.elements, p.most / p.unit + 1, &array.elements))
            return std::nullopt;
    }
    return array;
}

class WithOwnArrays : public Mutator {
  public:
    WithOwnArrays(const StmtNode &launch, const std::map<std::string, OwnArray> &arrays)
        : scope_(launch), arrays_(arrays) {}

    Stmt mutate(const Stmt &s) override {
        std::vector<Expr> exprs;
        for (const Expr &e : s->exprs)
            exprs.push_back(e.defined() ? mutate(e) : e);
        if (auto array = arrays_.find(s->name); s->op == StmtOp::Store && array != arrays_.end())
            exprs[1] = index(s->index(), array->second);
        std::vector<Stmt> stmts;
        scope_.inside(s, [&] {
            for (const Stmt &child : s->stmts)
                stmts.push_back(child.defined() ? mutate(child) : child);
        });
        return with_children(s, std::move(exprs), std::move(stmts));
    }

    Expr mutate(const Expr &e) override {
        auto array = e->op == Op::Load ? arrays_.find(e->name) : arrays_.end();
        if (array == arrays_.end())
            return Mutator::mutate(e);
        std::vector<Expr> args = e->args;
        args[0] = index(e->element(), array->second);
        if (args[1].defined())
            args[1] = mutate(args[1]);
        return with_args(e, std::move(args));
    }

  private:
    Expr index(const Expr &e, const OwnArray &array) const {
        const ThreadIndex i = *scope_.index(e);
        const Type type = e.type().element_of();
        auto constant = [&](int64_t value) { return make_int(type, *array.own_index(value)); };
        Expr sum = constant(i.constant - array.least), stride;
        for (const Digit &d : i.digits)
            if (d.counter.defined())
                sum = d.count <= 1
                          ? sum
                          : add(sum, mul(constant(d.coefficient), make_cast(type, d.counter)));
            else
                stride = constant(d.coefficient);
        return stride.defined() ? make_ramp(simplify(sum), stride, i.lanes) : simplify(sum);
    }

    ThreadScope scope_;
    const std::map<std::string, OwnArray> &arrays_;
};

}  // namespace

std::optional<int64_t> OwnArray::own_index(int64_t value) const {
    const std::optional<std::vector<int64_t>> parts = parts_at(places, value);
    if (!parts)
        return std::nullopt;
    int64_t index = 0;
    for (size_t i = 0; i < places.size(); i++)
        index += (*parts)[i] / places[i].unit * places[i].base;
    return index;
}

OwnElements own_elements(const Stmt &launch) {
    const Accesses accesses(*launch.get());
    OwnElements own;
    for (const auto &[name, indices] : accesses.indices) {
        const bool known = std::all_of(indices.begin(), indices.end(),
                                       [](const auto &i) { return i.has_value(); });
        if (!accesses.stored.count(name) || !known)
            continue;
        const std::optional<OwnArray> array = own_array(indices, accesses.scope);
        if (array || are_the_same(indices))
            own.buffers.insert(name);
        if (array &&
            std::none_of(indices.begin(), indices.end(), [](const auto &i) { return i->strided; }))
            own.arrays.emplace(name, *array);
    }
    return own;
}

Stmt with_own_arrays(const Stmt &launch, const std::map<std::string, OwnArray> &arrays) {
    return arrays.empty() ? launch->body()
                          : WithOwnArrays(*launch.get(), arrays).mutate(launch->body());
}

}  // namespace Pipe::lower
