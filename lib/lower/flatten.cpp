#include "lower/flatten.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/extern_stage.h"
#include "graph/scatter.h"
#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/undef.h"
#include "support/error_text.h"
#include "support/target.h"

namespace Pipe::lower {

using namespace ir;

namespace {

class Flattener : public GraphMutator {
  public:
    Flattener(const graph::Graph &graph, const schedules::Schedule &schedule, const Target &target,
              const std::vector<KnownStride> &strides, const std::vector<InPlace> &in_place)
        : graph_(graph), schedule_(schedule), target_(target), in_place_(in_place) {
        for (const KnownStride &s : strides)
            strides_[{s.buffer, s.dim}] = s.value;
        for (const graph::FuncNode &f : graph.funcs)
            funcs_[f.name] = &f;
    }

    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::Realize || s->op == StmtOp::Memoize)
            return storage(s);
        if (s->op == StmtOp::Provide)
            return in_place(s, [&] { return provide(s); });
        if (s->op == StmtOp::Produce)
            return in_place(s, [&] { return Mutator::mutate(s); });
        if (s->op == StmtOp::Prefetch)
            return prefetch(s);
        if (s->op == StmtOp::For && is_gpu(s->kind) && !in_kernel_)
            return kernel(s);
        return Mutator::mutate(s);
    }

  protected:
    Expr rewrite(const Expr &e) override {
        Expr flat = GraphMutator::rewrite(e);
        if (flat->op != Op::Call)
            return flat;
        if (graph::is_whole(*flat))
            return raw_buffer(*flat);
        if (flat->call_kind == CallKind::Image) {
            auto same = overwrites_.find(flat->name);
            if (same != overwrites_.end())
                return read_itself(*flat, same->second);
            return make_load(flat.type(), flat->name, index(flat->name, flat->name, flat->args));
        }
        if (flat->call_kind == CallKind::Func) {
            const graph::FuncNode &f = *funcs_.at(flat->name);
            std::string buffer = graph::buffer_name(f, static_cast<size_t>(flat->index));
            return make_load(flat.type(), buffer, index(f.name, buffer, flat->args));
        }
        return flat;
    }

  private:
    Stmt kernel(const Stmt &s) {
        in_kernel_ = true;
        Stmt result = Mutator::mutate(s);
        in_kernel_ = false;
        return result;
    }

    /// f(), where what is computed in s reads itself instead of the inputs that it overwrites.
    template <typename F> Stmt in_place(const Stmt &s, F &&f) {
        std::map<std::string, Overwritten> here = overwrites_;
        const graph::FuncNode &func = *funcs_.at(s->name);
        for (const InPlace &pair : in_place_)
            for (size_t i = 0; i < func.types.size(); i++)
                if (pair.same_places && pair.output == graph::buffer_name(func, i))
                    here[pair.input] = {func.name, pair.output, func.types[i]};
        if (here.size() == overwrites_.size())
            return f();
        overwrites_.swap(here);
        forget();  // loads of the inputs look different inside
        Stmt result = f();
        overwrites_.swap(here);
        forget();
        return result;
    }

    /// What Builder::part_of() made, as plain data with the address of the first element.
    Expr raw_buffer(const ExprNode &part) {
        std::string name = part.name, buffer = name;
        Type element;
        size_t dimensions = 0;
        if (part.call_kind == CallKind::Func) {
            const graph::FuncNode &f = *funcs_.at(name);
            buffer = graph::buffer_name(f, static_cast<size_t>(part.index));
            element = f.types[static_cast<size_t>(part.index)];
            dimensions = f.args.size();
        } else {
            auto image = std::find_if(graph_.images.begin(), graph_.images.end(),
                                      [&](const graph::Image &i) { return i.name == name; });
            element = image->type;
            dimensions = static_cast<size_t>(image->dimensions);
        }
        auto first = part.args.begin() + static_cast<long>(2 * dimensions);
        Expr load = make_load(element, buffer, index(name, buffer, {first, part.args.end()}));
        std::vector<Expr> args{make_const(element, 0), make_call(Handle(), intrinsic::address_of,
                                                                 {load}, CallKind::Intrinsic)};
        for (size_t d = 0; d < dimensions; d++)
            args.insert(args.end(), {part.args[2 * d], part.args[2 * d + 1],
                                     make_cast(Int(64), stride(name, buffer, d))});
        return make_call(Handle(), extern_function::raw_buffer, std::move(args), CallKind::Extern);
    }

    /// `name`: the Func or image; `described`: the buffer that carries its min and stride.
    Expr index(const std::string &name, const std::string &described,
               const std::vector<Expr> &coordinates) {
        auto internal = internal_.find(name);
        bool is_internal = internal != internal_.end();
        const std::string &prefix = is_internal ? name : described;
        Type type = is_internal && internal->second.narrow ? Int(32) : Int(64);
        Expr sum = make_int(type, 0);
        for (size_t d = 0; d < coordinates.size(); d++) {
            std::string dim = std::to_string(d);
            Expr offset = sub(coordinates[d], make_variable(Int(32), prefix + ".min." + dim));
            sum = add(sum, mul(make_cast(type, offset), stride(name, described, d)));
        }
        return sum;
    }

    Expr stride(const std::string &name, const std::string &described, size_t d) const {
        auto internal = internal_.find(name);
        if (internal != internal_.end())
            return internal->second.strides[d];
        if (auto known = strides_.find({described, d}); known != strides_.end())
            return int64(known->second);
        return make_variable(Int(64), described + ".stride." + std::to_string(d));
    }

    Stmt provide(const Stmt &s) {
        const graph::FuncNode &f = *funcs_.at(s->name);
        auto first_coordinate = s->exprs.begin() + 1 + s->num_values;
        graph::Stage written{{first_coordinate, s->exprs.end()},
                             {s->exprs.begin() + 1, first_coordinate},
                             {},
                             {},
                             {}};
        size_t count = graph::count_stores(written);
        std::vector<Destination> targets;
        for (size_t n = 0; n < count; n++) {
            std::vector<Expr> coordinates;
            for (const Expr &e : written.args)
                coordinates.push_back(mutate(count == 1 ? e : graph::nth_of_scatter(e, n)));
            for (size_t i = 0; i < written.values.size(); i++) {
                const Expr &e = written.values[i];
                Stored stored = without_undef(mutate(count == 1 ? e : graph::nth_of_scatter(e, n)));
                if (!stored.value.defined())
                    continue;
                std::string buffer = graph::buffer_name(f, i);
                targets.push_back({buffer, index(f.name, buffer, coordinates), stored});
            }
        }
        if (targets.empty())
            return make_evaluate(int32(0));
        Expr predicate = s->predicate().defined() ? mutate(s->predicate()) : Expr();
        if (s->atomic && count == 1 && are_separate(targets)) {
            std::vector<Stmt> steps;
            for (const Destination &t : targets)
                steps.push_back(one_step(f, stores(f.name, {t}, false, predicate)));
            return make_block(std::move(steps));
        }
        Stmt body = stores(f.name, targets, some_index_reads(targets), predicate);
        return s->atomic ? one_step(f, body) : body;
    }

    /// An update that stores one element, under a condition or not, is atomic where its store is;
    /// one of several elements (a Tuple whose values need each other, a scatter), that reads another element
    /// than it stores, or whose condition reads what is stored, runs in one thread at a time.
    static Stmt one_step(const graph::FuncNode &f, const Stmt &body) {
        const bool always = body->op == StmtOp::Store, maybe = body->op == StmtOp::If;
        const Stmt &store = maybe ? body->then_case() : body;
        const bool one_element = store->op == StmtOp::Store && !reads_other_element(*store.get());
        if (always && one_element)
            return as_atomic(store);
        if (maybe && one_element && !reads_stored(body->condition(), *store.get()))
            return make_if(body->condition(), as_atomic(store));
        if (fails(body))
            throw CompileError(support::marked(support::Field::Func, f.name) + ".atomic" +
                               support::in_parentheses(f.where) +
                               ": require() cannot be used in an atomic update of several "
                               "elements, which holds a lock. "
                               "Use add_requirement() of the Pipeline, or rfactor().");
        return make_exclusive(f.name, body);
    }

    static bool reads_stored(const Expr &e, const StmtNode &store) {
        return contains(
            e, [&](const ExprNode &n) { return n.op == Op::Load && n.name == store.name; });
    }

    static bool reads_other_element(const StmtNode &store) {
        const Expr &value = store.value(), &index = store.index();
        return reads_stored(index, store) || contains(value, [&](const ExprNode &n) {
                   return n.op == Op::Load && n.name == store.name && !equal(n.element(), index);
               });
    }

    /// Whether evaluating it may end the run.
    static bool fails(const Stmt &s) {
        bool found = false;
        walk(
            s, [](const Stmt &) { return true; },
            [&](const Expr &e) {
                found |= e->op == Op::Call && e->call_kind == CallKind::Extern &&
                         e->name == extern_function::require;
                return true;
            });
        return found;
    }

    /// What lies in the place of an input.
    struct Overwritten {
        std::string func, buffer;
        Type type;
    };
    Expr read_itself(const ExprNode &read, const Overwritten &by) {
        Expr load = make_load(by.type, by.buffer, index(by.func, by.buffer, read.args));
        return by.type == read.type ? load : make_reinterpret(read.type, load);
    }

    struct Destination {
        std::string buffer;
        Expr index;
        Stored stored;
    };

    /// Whether no value of a Tuple depends on what is stored of another.
    static bool are_separate(const std::vector<Destination> &targets) {
        auto reads_other = [&](const Destination &t, const Expr &e) {
            return e.defined() && contains(e, [&](const ExprNode &n) {
                       return n.op == Op::Load && n.name != t.buffer &&
                              std::any_of(targets.begin(), targets.end(),
                                          [&](const Destination &o) { return o.buffer == n.name; });
                   });
        };
        return std::none_of(targets.begin(), targets.end(), [&](const Destination &t) {
            return reads_other(t, t.index) || reads_other(t, t.stored.value) ||
                   reads_other(t, t.stored.condition);
        });
    }

    /// Whether where one value goes may change when another one is stored.
    static bool some_index_reads(const std::vector<Destination> &targets) {
        return targets.size() > 1 &&
               std::any_of(targets.begin(), targets.end(), [](const Destination &t) {
                   return contains(t.index, [](const ExprNode &n) { return n.op == Op::Load; });
               });
    }

    /// All is read before anything is written. `apart`: the indices, too.
    static Stmt stores(const std::string &func, const std::vector<Destination> &targets, bool apart,
                       const Expr &predicate) {
        std::vector<std::pair<std::string, Expr>> lets;
        auto named = [&](const char *what, const Expr &e) {
            if (!e.defined() || targets.size() == 1)
                return e;
            lets.emplace_back(func + "." + what + "." + std::to_string(lets.size()), e);
            return make_variable(e.type(), lets.back().first);
        };
        std::vector<Stmt> parts;
        for (const Destination &t : targets) {
            Expr value = named("value", t.stored.value);
            Expr at = apart ? named("at", t.index) : t.index,
                 condition = named("if", t.stored.condition);
            Stmt store = make_store(t.buffer, at, value, predicate);
            parts.push_back(condition.defined() ? make_if(condition, store) : store);
        }
        Stmt body = make_block(std::move(parts));
        for (size_t i = lets.size(); i-- > 0;)
            body = make_let(lets[i].first, lets[i].second, std::move(body));
        return body;
    }

    /// Of a tuple, all elements.
    Stmt prefetch(const Stmt &s) {
        std::vector<Expr> coordinates;
        for (const Expr &e : s->exprs)
            coordinates.push_back(mutate(e));
        auto func = funcs_.find(s->name);
        if (func == funcs_.end()) {
            auto image = std::find_if(graph_.images.begin(), graph_.images.end(),
                                      [&](const graph::Image &i) { return i.name == s->name; });
            return make_prefetch(s->name, {index(s->name, s->name, coordinates)}, image->type);
        }
        std::vector<Stmt> all;
        for (size_t i = 0; i < func->second->types.size(); i++) {
            std::string buffer = graph::buffer_name(*func->second, i);
            all.push_back(make_prefetch(buffer, {index(s->name, buffer, coordinates)},
                                        func->second->types[i]));
        }
        return make_block(std::move(all));
    }

    struct Internal {
        std::vector<Expr> strides;  ///< per dimension of the Func
        bool narrow = false;        ///< every index fits int32
    };

    Stmt storage(const Stmt &s) {
        const graph::FuncNode &f = *funcs_.at(s->name);
        std::vector<Expr> mins, extents,
            shape = s->op == StmtOp::Realize ? s->exprs : shape_of_memoize(*s.get());
        for (size_t i = 0; i < shape.size(); i += 2) {
            mins.push_back(mutate(shape[i]));
            extents.push_back(mutate(shape[i + 1]));
        }
        std::vector<size_t> order = storage_order(f);
        while (order.size() < extents.size())
            order.push_back(order.size());  // the copies of a ring buffer
        Internal internal;
        internal.narrow = fits_int32(extents);
        internal.strides.resize(order.size());
        Type type = internal.narrow ? Int(32) : Int(64);
        Expr stride = make_int(type, 1);
        std::vector<Expr> sizes;
        std::vector<std::pair<std::string, Expr>> lets;
        for (size_t d : order) {
            int64_t constant = 0;
            bool named = !as_const_int(stride, &constant);
            std::string name = f.name + ".stride." + std::to_string(d);
            if (named)
                lets.emplace_back(name, stride);
            internal.strides[d] = named ? make_variable(type, name) : stride;
            const bool outermost = d == order.back();
            Expr extent = outermost || in_kernel_ || fixed_storage(f, d)
                              ? extents[d]
                              : with_padding(internal.strides[d], extents[d], d == order[0],
                                             f.types[0].bytes());
            if (!extent.same_as(extents[d]) && !as_const_int(extent, &constant)) {
                lets.emplace_back(f.name + ".extent." + std::to_string(d), extent);
                extent = make_variable(Int(32), lets.back().first);
            }
            stride = simplify(mul(internal.strides[d], make_cast(type, extent)));
            sizes.push_back(extent);
        }
        internal_[f.name] = internal;
        forget();  // loads of f look different inside
        Stmt body = s->op == StmtOp::Realize ? allocate(s, f, sizes) : memoize(s, sizes);
        internal_.erase(f.name);
        forget();
        for (auto let = lets.rbegin(); let != lets.rend(); ++let)
            body = make_let(let->first, let->second, std::move(body));
        for (size_t d = 0; d < mins.size(); d++)
            body = make_let(f.name + ".min." + std::to_string(d), mins[d], std::move(body));
        return body;
    }

    /// Elements of a dimension such that those of the dimension outside do not all share a few sets of the
    /// first cache, whose ways are of a page each: a line more, of rows one row more.
    Expr with_padding(const Expr &stride, const Expr &extent, bool innermost, int bytes) const {
        constexpr int least = 16;
        const int page = support::page_bytes(target_), line = support::cache_line_bytes(target_);
        const Type type = Int(64);  // bytes of what int32 counts may be more than int32 does
        const Expr slice =
            mul(mul(make_cast(type, stride), make_cast(type, extent)), make_int(type, bytes));
        Expr conflicts = make_binary(Op::EQ, make_binary(Op::Mod, slice, make_int(type, page)),
                                     make_int(type, 0));
        if (!innermost)  // where one row more is little
            conflicts = make_binary(Op::And, conflicts,
                                    make_binary(Op::GE, extent, make_int(Int(32), least)));
        const Expr more = make_int(Int(32), innermost ? line / bytes : 1);
        return simplify(add(extent, make_select(conflicts, more, make_int(Int(32), 0))));
    }

    /// Whether the user has said how many elements the storage has in this dimension.
    bool fixed_storage(const graph::FuncNode &f, size_t d) const {
        const auto &dims = schedule_[f.id].storage_dims;
        return d < f.args.size() &&
               std::any_of(dims.begin(), dims.end(),
                           [&](const schedules::StorageDim &s) { return s.var == f.args[d]; });
    }

    Stmt allocate(const Stmt &s, const graph::FuncNode &f, const std::vector<Expr> &sizes) {
        Stmt body = mutate(s->body());
        for (size_t i = 0; i < f.types.size(); i++)
            body = make_allocate(graph::buffer_name(f, i), f.types[i], sizes, s->memory,
                                 std::move(body));
        return body;
    }

    Stmt memoize(const Stmt &s, const std::vector<Expr> &sizes) {
        std::vector<Expr> key;
        for (const Expr &e : ir::key_of_memoize(*s.get()))
            key.push_back(mutate(e));
        Stmt production = mutate(s->producer()), consumer = mutate(s->consumer());
        return make_memoize(s->name, s->types, s->eviction_key(), s->used(), key, sizes, production,
                            consumer);
    }

    std::vector<size_t> storage_order(const graph::FuncNode &f) const {
        std::vector<size_t> order;
        for (const std::string &var : schedule_[f.id].storage_order) {
            auto at = std::find(f.args.begin(), f.args.end(), var);
            if (at != f.args.end())
                order.push_back(static_cast<size_t>(at - f.args.begin()));
        }
        for (size_t d = 0; d < f.args.size(); d++)
            if (std::find(order.begin(), order.end(), d) == order.end())
                order.push_back(d);
        return order;
    }

    static bool fits_int32(const std::vector<Expr> &extents) {
        int64_t elements = 1;
        for (const Expr &e : extents) {
            int64_t extent = 0;
            if (!as_const_int(e, &extent) || __builtin_mul_overflow(elements, extent, &elements))
                return false;
        }
        return elements < (int64_t{1} << 30);
    }

    const graph::Graph &graph_;
    const schedules::Schedule &schedule_;
    const Target &target_;
    std::map<std::pair<std::string, size_t>, int64_t> strides_;  ///< of inputs and outputs
    std::map<std::string, const graph::FuncNode *> funcs_;
    std::map<std::string, Internal> internal_;
    const std::vector<InPlace> &in_place_;
    bool in_kernel_ = false;  ///< its arrays lie in no cache: they need no padding
    std::map<std::string, Overwritten> overwrites_;  ///< by the name of the input
};

}  // namespace

Stmt flatten(const Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule,
             const Target &target, const std::vector<KnownStride> &strides,
             const std::vector<InPlace> &in_place) {
    return Flattener(graph, schedule, target, strides, in_place).mutate(s);
}

}  // namespace Pipe::lower
