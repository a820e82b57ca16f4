#include "language/freeze.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "graph/names.h"
#include "graph/unroll_updates.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "language/callees_first.h"
#include "language/contents.h"
#include "language/cpp_names.h"
#include "language/loop_names.h"
#include "language/memoize.h"
#include "language/resolve_levels.h"
#include "language/stage_copies.h"
#include "language/target_queries.h"
#include "language/wrap.h"

namespace Pipe::language {
namespace {

Stamp stamp(const std::shared_ptr<Identity> &identity) {
    return {identity, identity->version.load()};
}

/// Images and Params, in the order of first use.
class Inputs {
  public:
    Inputs(Frozen &result, std::set<std::string> taken)
        : result_(result), graph_(result.graph), taken_(std::move(taken)) {}

    const std::string &image(const std::shared_ptr<const ImageContents> &contents) {
        auto found = image_of_.find(contents.get());
        if (found != image_of_.end())
            return graph_.images[found->second].name;
        size_t index = contents->bound ? find_bound(*contents) : graph_.images.size();
        if (index == graph_.images.size())
            add(contents);
        image_of_[contents.get()] = index;
        return graph_.images[index].name;
    }

    const std::string &scalar(const std::shared_ptr<const ParamContents> &contents) {
        for (size_t i = 0; i < graph_.scalars.size(); i++)
            if (result_.scalars[i] == contents)
                return graph_.scalars[i].name;
        std::string name =
            graph::unique_name(graph::without_dots(contents->identity->name), taken_);
        graph_.scalars.push_back({name, contents->type});
        result_.scalars.push_back(contents);
        result_.stamps.push_back(stamp(contents->identity));
        return graph_.scalars.back().name;
    }

  private:
    Frozen &result_;
    Graph &graph_;
    std::set<std::string> taken_;
    std::unordered_map<const ImageContents *, size_t> image_of_;

    /// A Buffer is one image, however often it is used, as long as its number of dimensions is the
    /// same.
    size_t find_bound(const ImageContents &contents) const {
        auto found =
            std::find_if(graph_.images.begin(), graph_.images.end(), [&](const Image &image) {
                return image.bound.defined() && image.bound.same_as(contents.buffer) &&
                       image.type == contents.type && image.dimensions == contents.dimensions;
            });
        return static_cast<size_t>(found - graph_.images.begin());
    }

    void add(const std::shared_ptr<const ImageContents> &contents) {
        Image image;
        image.name = graph::unique_name(graph::without_dots(contents->identity->name), taken_);
        image.type = contents->type;
        image.dimensions = contents->dimensions;
        if (contents->bound)
            image.bound = contents->buffer;
        image.promise = contents->promise;
        image.trace_loads = contents->trace_loads;
        image.trace_tags = contents->trace_tags;
        image.where = contents->where;
        image.is_named = !contents->bound && !contents->identity->given.empty();
        graph_.images.push_back(image);
        result_.images.push_back(contents->bound ? nullptr : contents);
        result_.stamps.push_back(stamp(contents->identity));
    }
};

class Freezer {
  public:
    Freezer(const std::vector<Func> &outputs, const Target &target, const ExternNames &extern_names)
        : target_(target), extern_names_(extern_names) {
        for (const Func &f : outputs) {
            if (!f.defined())
                throw CompileError(fmt::format(
                    "The output Func '{}'{} has no definition. Give it one, as in f(x, y) = x + y, "
                    "before it is realized.",
                    func_field(f.name()), at(f.contents()->where)));
            if (std::count(outputs_.begin(), outputs_.end(), f.contents()) > 0)
                throw CompileError(fmt::format(
                    "The Func '{}'{} is listed twice as an output. List each Func once.",
                    func_field(f.name()), at(f.contents()->where)));
            outputs_.push_back(f.contents());
        }
    }

    std::vector<std::shared_ptr<const FuncContents>> funcs() {
        for (const auto &f : outputs_)
            visit(f);
        return funcs_;
    }

    Frozen freeze(const std::vector<Requirement> &requirements) {
        funcs();
        name_everything();
        Inputs inputs(result_, taken_);
        for (size_t i = 0; i < funcs_.size(); i++)
            freeze_func(i, inputs);
        for (const Requirement &r : requirements)
            freeze_requirement(r, inputs);
        for (const auto &f : outputs_)
            freeze_output(static_cast<size_t>(ids_.at(f.get())), inputs);
        for (size_t i = 0; i < result_.graph.images.size(); i++)
            freeze_promise(result_.graph.images[i].promise, result_.images[i], inputs,
                           [&](BufferPromise &&promise) {
                               // Images may have been reallocated.
                               result_.graph.images[i].promise = std::move(promise);
                           });
        for (const auto &f : outputs_)
            freeze_aliases(*f);
        find_memoize_keys(result_.graph, result_.schedule);
        if (has_tags_)
            remove_memoize_tags(result_.graph);
        connect();
        unroll_updates();
        resolve_levels(result_, funcs_, loop_names_);
        copy_for_stages(result_);
        return std::move(result_);
    }

  private:
    const Target &target_;
    const ExternNames &extern_names_;
    std::vector<std::shared_ptr<const FuncContents>> outputs_, funcs_;
    std::unordered_map<const FuncContents *, FuncId> ids_;
    std::vector<LoopNames> loop_names_;
    std::set<std::string> taken_;
    bool has_tags_ = false;  ///< whether a definition contains memoize_tag()
    Frozen result_;

    void visit(const std::shared_ptr<const FuncContents> &output) {
        visit_callees_first(
            output, entered_,
            [&](const FuncContents &f) {
                check_wrappers(f);
                return callees(f);
            },
            [&](const std::shared_ptr<const FuncContents> &f) {
                ids_[f.get()] = static_cast<FuncId>(funcs_.size());
                funcs_.push_back(f);
            });
    }
    EnteredFuncs entered_;

    /// The names of the Funcs, before they are made unique. An inline reduction without a name is named
    /// after the Func whose definition has it: "mean_sum".
    std::vector<std::string> base_names() const {
        std::vector<std::string> names(funcs_.size());
        for (size_t i = funcs_.size(); i-- > 0;) {  // consumers first: they come later
            names[i] = funcs_[i]->name();
            for (size_t k = i + 1; funcs_[i]->reduction && k < funcs_.size(); k++)
                if (const auto &read = funcs_[k]->callees;
                    std::find(read.begin(), read.end(), funcs_[i]) != read.end()) {
                    names[i] = names[k] + "_" + funcs_[i]->reduction;
                    break;
                }
        }
        return names;
    }

    /// User's names are not changed for the sake of generated ones.
    std::vector<std::string> unique_names() {
        std::vector<std::string> names = base_names();
        for (bool given : {true, false})
            for (size_t i = 0; i < funcs_.size(); i++)
                if (!funcs_[i]->identity->given.empty() == given)
                    names[i] = graph::unique_name(graph::without_dots(names[i]), taken_);
        return names;
    }

    void name_everything() {
        std::set<std::string> loops;
        const std::vector<std::string> func_names = unique_names();
        for (const auto &f : funcs_) {
            loop_names_.emplace_back(*f);
            const auto &names = loop_names_.back().taken();
            loops.insert(names.begin(), names.end());
            FuncNode node;
            node.id = static_cast<FuncId>(result_.graph.funcs.size());
            node.name = func_names[result_.graph.funcs.size()];
            result_.stamps.push_back(stamp(f->identity));
            result_.graph.funcs.push_back(std::move(node));
        }
        name_in_cpp(result_.graph, funcs_);
        taken_.insert(loops.begin(), loops.end());  // a Param must not be mistaken for a Var
    }

    /// Converts the expressions of one stage.
    class Rewriter : public ir::GraphMutator {
      public:
        Rewriter(const Freezer &freezer, size_t func, int stage, Inputs &inputs)
            : freezer_(freezer), func_(func), stage_(stage), inputs_(inputs) {}

        bool met_tag = false;

        Expr operator()(const Expr &e) { return e.defined() ? mutate(e) : e; }
        bool definition = false;  ///< else of a schedule: without memoize_tag(), which is for keys

      protected:
        Expr rewrite(const Expr &e) override {
            if (e->op == ir::Op::Variable)
                return variable(e);
            Expr now = ir::GraphMutator::rewrite(e);
            if (is_memoize_tag(*now)) {
                if (!definition)
                    return now->args[0];
                met_tag = true;
            }
            if (ir::is_intrinsic(*now.get(), ir::intrinsic::target_query))
                return answer(*now, freezer_.target_);
            if (now->op == ir::Op::Call && !freezer_.extern_names_.empty())
                now = renamed_extern(now);
            bool reads = now->op == ir::Op::Call && (now->call_kind == ir::CallKind::Func ||
                                                     now->call_kind == ir::CallKind::Image);
            return reads ? call(now) : now;
        }

      private:
        const Freezer &freezer_;
        size_t func_;
        int stage_;
        Inputs &inputs_;

        /// The call of a C function, or an extern stage, with the function that replaces it.
        Expr renamed_extern(const Expr &e) const {
            bool calls =
                e->call_kind == ir::CallKind::Extern || e->call_kind == ir::CallKind::PureExtern;
            bool stage = calls && e->name == ir::extern_function::extern_definition;
            auto other = freezer_.extern_names_.find(stage ? e->args[0]->name : e->name);
            if (!calls || other == freezer_.extern_names_.end())
                return e;
            std::vector<Expr> args = e->args;
            if (stage)
                args[0] = ir::make_string(other->second);
            return ir::make_call(e.type(), stage ? e->name : other->second, args, e->call_kind,
                                 e->index);
        }

        Expr variable(const Expr &e) {
            if (auto param = std::dynamic_pointer_cast<const ParamContents>(e->referent))
                return ir::make_param(e.type(), inputs_.scalar(param));
            if (auto image = std::dynamic_pointer_cast<const ImageContents>(e->referent)) {
                if (image->is_output)
                    return freezer_.output_variable(e, *image);
                return ir::make_variable(
                    e.type(), inputs_.image(image) + e->name.substr(image->identity->name.size()));
            }
            const std::string &name = freezer_.loop_names_[func_](stage_, e->name);
            return name == e->name && !e->referent ? e : ir::make_variable(e.type(), name);
        }

        /// The object that is read, after applying wrappers. No referent: the object that the Func
        /// wraps, else the Func itself.
        Expr call(const Expr &e) {
            const FuncContents &reader = *freezer_.funcs_[func_];
            auto named = std::dynamic_pointer_cast<const Wrappable>(e->referent);
            if (!named)
                named = reader.wrapped.lock();
            if (named)
                named = language::resolve(named, reader);
            if (auto image = std::dynamic_pointer_cast<const ImageContents>(named))
                return ir::make_call(e.type(), inputs_.image(image), e->args, ir::CallKind::Image);
            auto callee = named ? freezer_.ids_.at(dynamic_cast<const FuncContents *>(named.get()))
                                : static_cast<FuncId>(func_);
            auto *node = new ir::ExprNode(ir::Op::Call, e.type());
            node->call_kind = ir::CallKind::Func;
            node->index = e->index;
            node->int_value = static_cast<int64_t>(callee);
            node->args = e->args;
            node->name = freezer_.result_.graph[callee].name;
            return Expr(node);
        }
    };

    /// "f.extent.0" of the Buffer passed for an output.
    Expr output_variable(const Expr &e, const ImageContents &image) const {
        for (const auto &f : outputs_)
            for (size_t i = 0; i < f->output_buffers.size(); i++)
                if (f->output_buffers[i].get() == &image) {
                    const FuncNode &node = result_.graph[ids_.at(f.get())];
                    std::string value = f->types.size() == 1 ? "" : fmt::format(".{}", i);
                    return ir::make_variable(
                        e.type(), node.name + value + e->name.substr(image.identity->name.size()));
                }
        throw CompileError(fmt::format("The size of the output buffer of Func '{}'{} is used in a "
                                       "pipeline of which that Func is not an output. Make it an "
                                       "output too, or pass the size as a Param.",
                                       func_field(image.identity->name), at(image.where)));
    }

    void freeze_func(size_t i, Inputs &inputs) {
        const FuncContents &from = *funcs_[i];
        FuncNode &node = result_.graph.funcs[i];
        node.types = from.types;
        node.where = from.where;
        for (const std::string &arg : from.args)
            node.args.push_back(loop_names_[i](arg));
        for (size_t s = 0; s < from.stages.size(); s++) {
            Rewriter rewrite(*this, i, static_cast<int>(s), inputs);
            rewrite.definition = true;
            const Stage &old = from.stages[s];
            Stage stage;
            for (const Expr &e : old.args)
                stage.args.push_back(rewrite(e));
            for (const Expr &e : old.values)
                stage.values.push_back(rewrite(e));
            for (const ReductionVar &r : old.rvars)
                stage.rvars.push_back({loop_names_[i](static_cast<int>(s), r.name), rewrite(r.min),
                                       rewrite(r.extent)});
            stage.predicate = rewrite(old.predicate);
            has_tags_ |= rewrite.met_tag;
            stage.where = old.where;
            node.stages.push_back(std::move(stage));
        }
        result_.schedule.funcs.push_back(freeze_schedule(i, inputs));
    }

    schedules::FuncSchedule freeze_schedule(size_t i, Inputs &inputs) {
        schedules::FuncSchedule s = funcs_[i]->schedule;
        const LoopNames &names = loop_names_[i];
        Rewriter rewrite(*this, i, 0, inputs);
        for (auto *bounds : {&s.bounds, &s.estimates})
            for (schedules::Bound &b : *bounds)
                b = {names(b.var), rewrite(b.min), rewrite(b.extent)};
        for (schedules::Alignment &a : s.alignments)
            a = {names(a.var), rewrite(a.modulus), rewrite(a.remainder)};
        for (schedules::FoldedDim &f : s.folds)
            f = {names(f.var), rewrite(f.factor), f.forward};
        for (schedules::StorageDim &d : s.storage_dims)
            d = {names(d.var), rewrite(d.alignment), rewrite(d.bound)};
        if (s.memoize)
            s.memoize->eviction_key = rewrite(s.memoize->eviction_key);
        for (std::string &dim : s.storage_order)
            dim = names(dim);
        for (size_t k = 0; k < s.stages.size(); k++)
            freeze_loops(s.stages[k], i, static_cast<int>(k), rewrite);
        return s;
    }

    void freeze_loops(schedules::StageSchedule &s, size_t func, int stage, Rewriter &rewrite) {
        auto name = [&](std::string &n) { n = loop_names_[func](stage, n); };
        for (schedules::Transform &t : s.transforms) {
            name(t.old_name), name(t.outer), name(t.inner);
            t.factor = rewrite(t.factor);
        }
        // Of several vectorized loops, the innermost fills vectors; with the next one, if that one is over terms that are
        // added up (lower/vectorize_sums.h).
        const schedules::Dim *inner = nullptr;
        bool fills_vectors = false;
        for (schedules::Dim &d : s.dims) {
            name(d.name);
            if (d.kind != LoopKind::Vectorized)
                continue;
            const bool adds_up =
                inner == &d - 1 && inner->is_reduction && !d.is_reduction && inner == s.dims.data();
            if (fills_vectors && !adds_up)
                d.kind = LoopKind::Unrolled;
            fills_vectors = true;
            inner = &d;
        }
        for (auto &[loop, strategy] : s.fuse_align)
            name(loop);
        for (schedules::Prefetch &p : s.prefetches) {
            name(p.at), name(p.from);
            p.offset = rewrite(p.offset);
        }
        for (schedules::Specialization &special : s.specializations) {
            special.condition = rewrite(special.condition);
            freeze_loops(special.schedule, func, stage, rewrite);
        }
    }

    /// Exprs outside of all definitions: of Params and sizes of images.
    Expr freeze_outside(const Expr &e, Inputs &inputs) { return Rewriter(*this, 0, 0, inputs)(e); }

    /// A promise may refer to a new image, so it is inserted only when it is complete.
    template <typename Put>
    void freeze_promise(BufferPromise promise, const std::shared_ptr<const ImageContents> &image,
                        Inputs &inputs, const Put &put) {
        for (ShapePromise &p : promise.dims)
            for (Expr *e : {&p.min, &p.extent, &p.stride, &p.estimate_min, &p.estimate_extent})
                if (e->defined())
                    *e = freeze_outside(image ? with_referent(*e, image) : *e, inputs);
        put(std::move(promise));
    }

    void freeze_requirement(const Requirement &r, Inputs &inputs) {
        Requirement frozen{freeze_outside(r.condition, inputs), {}};
        for (const Expr &e : r.message)
            frozen.message.push_back(freeze_outside(e, inputs));
        result_.graph.requirements.push_back(std::move(frozen));
    }

    /// Promises made with output_buffer(). Estimates of the first value are the Func's.
    void freeze_output(size_t i, Inputs &inputs) {
        FuncNode &node = result_.graph.funcs[i];
        for (const auto &buffer : funcs_[i]->output_buffers)
            freeze_promise(buffer->promise, buffer, inputs, [&](BufferPromise &&promise) {
                node.output_promises.push_back(std::move(promise));
            });
        if (node.output_promises.empty())
            return;
        for (size_t d = 0; d < node.args.size(); d++) {
            const ShapePromise &p = node.output_promises[0].dims[d];
            if (p.estimate_min.defined())
                result_.schedule.funcs[i].estimates.push_back(
                    {node.args[d], p.estimate_min, p.estimate_extent});
        }
    }

    /// The images named by may_alias(); one that the pipeline does not read cannot be overwritten
    /// too early.
    void freeze_aliases(const FuncContents &f) {
        FuncNode &node = result_.graph.funcs[static_cast<size_t>(ids_.at(&f))];
        for (size_t i = 0; i < f.output_buffers.size(); i++)
            for (const auto &input : f.output_buffers[i]->may_alias)
                for (size_t k = 0; k < result_.images.size(); k++)
                    if (const Image &image = result_.graph.images[k];
                        result_.images[k] == input ||
                        (input->bound && image.bound.same_as(input->buffer)))
                        node.output_promises[i].may_alias.push_back(image.name);
    }

    void unroll_updates() {
        std::vector<FuncId> unrolled;
        for (const FuncNode &f : result_.graph.funcs)
            if (result_.schedule[f.id].unroll_updates)
                unrolled.push_back(f.id);
        graph::unroll_updates(result_.graph, result_.schedule, unrolled);
    }

    void connect() {
        Graph &graph = result_.graph;
        for (const auto &f : outputs_) {
            FuncId id = ids_.at(f.get());
            graph.outputs.push_back(id);
            graph.funcs[static_cast<size_t>(id)].is_output = true;
            result_.schedule[id].async = false;  // the caller waits for it
        }
        graph::connect(graph, [](const FuncNode &) { return true; });
    }
};

}  // namespace

std::vector<std::shared_ptr<const FuncContents>> funcs_of(const std::vector<Func> &outputs) {
    const Target target;
    const ExternNames names;
    return Freezer(outputs, target, names).funcs();
}

Frozen freeze(const std::vector<Func> &outputs, const Target &target,
              const std::vector<Requirement> &requirements, const ExternNames &extern_names) {
    if (outputs.empty())
        throw CompileError("A Pipeline needs at least one output Func, but the list is empty.");
    return Freezer(outputs, target, extern_names).freeze(requirements);
}

}  // namespace Pipe::language
