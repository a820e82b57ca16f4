#include "reference/evaluate.h"

#include <functional>
#include <memory>
#include <optional>
#include <tuple>

#include "graph/extern_stage.h"
#include "graph/scatter.h"
#include "reference/buffers.h"
#include "reference/extern_stage.h"
#include "reference/formula.h"
#include "reference/grid.h"
#include "support/error_text.h"

namespace Pipe::reference {
namespace {

using graph::FuncNode;
using graph::Graph;
using graph::Stage;

/// A compiled stage: the roots of its formula are the predicate, followed for each of its stores
/// (scatter) by the coordinates and the values.
struct StageFormula {
    const Stage *stage;
    std::vector<size_t>
        loop_args;  ///< arguments (dimensions) that are pure variables in this stage
    std::vector<std::string> locals;  ///< RVars innermost first, followed by those pure variables
    std::unique_ptr<Formula> formula;
    size_t stores = 1;
};

struct FuncState {
    std::vector<StageFormula> stages;
    Grid grid;
    Box wanted;  ///< Funcs with updates, extern stages: hull of the requested points
    Box done;    ///< the same: the box in which `grid` is final
    std::vector<Point> pending;  ///< pure Funcs: requested points that are not yet Known

    FuncState(size_t dimensions, size_t elements)
        : grid(dimensions, elements), wanted(dimensions), done(dimensions) {}
};

/// Funcs that are evaluated on whole boxes.
bool is_boxed(const FuncNode &func) {
    return func.has_updates() || graph::is_extern(func);
}

Value undef() {
    Value value;
    value.state = Value::State::Undef;
    return value;
}

class Evaluator : public Source {
  public:
    Evaluator(const Graph &graph, const std::vector<BufferView> &outputs,
              const std::map<std::string, BufferView> &inputs,
              const std::map<std::string, const void *> &scalars, const Options &options);
    void run();

    Value func(FuncId id, int element, const Point &at) override;
    Value image(const std::string &name, const Point &at) override;
    void undefined(const char *what) override;
    [[noreturn]] void fail(const std::string &message) override;

  private:
    /// f(the Func, the index of the value in its Tuple, the Buffer)
    template <typename F> void for_each_output(const F &f) const {
        size_t i = 0;
        for (FuncId id : graph_.outputs)
            for (size_t e = 0; e < graph_[id].types.size(); e++)
                f(id, e, outputs_.at(i++));
    }
    void bind_images(const std::map<std::string, BufferView> &inputs);
    void bind_shape(const std::string &buffer, const BufferView &view);
    void bind_scalars(const std::map<std::string, const void *> &scalars);
    StageFormula prepare(const FuncNode &func, const Stage &stage, bool update);
    void want(FuncId id, const Point &at);
    bool evaluate_func(const FuncNode &func);
    void evaluate_pending(const FuncNode &func);
    bool evaluate_point(const FuncNode &func, const Point &at);
    void evaluate_box(const FuncNode &func);
    void evaluate_extern(const FuncNode &func);
    void run_pure(const Point &at);
    void run_update(StageFormula &stage);
    Box update_domain(const StageFormula &stage);
    void evaluate_update_at(StageFormula &stage, const Point &locals);
    Value left_alone(const Point &at, size_t element) const;
    std::string place() const;

    const Graph &graph_;
    const Options options_;
    const std::vector<BufferView> &outputs_;
    std::map<std::string, BufferView> images_;
    std::map<std::string, Value> globals_;
    std::vector<FuncState> states_;

    // The current Func, stage and point.
    const FuncNode *func_ = nullptr;
    size_t stage_ = 0;
    const Point *locals_ = nullptr;
    bool complete_ = true;  ///< no value was Unknown
    Box box_;               ///< of a Func with updates
    size_t progress_ = 0;   ///< total number of points requested or computed
};

Evaluator::Evaluator(const Graph &graph, const std::vector<BufferView> &outputs,
                     const std::map<std::string, BufferView> &inputs,
                     const std::map<std::string, const void *> &scalars, const Options &options)
    : graph_(graph), options_(options), outputs_(outputs) {
    for_each_output([&](FuncId id, size_t e, const BufferView &view) {
        bind_shape(graph::buffer_name(graph_[id], e), view);
    });
    bind_images(inputs);
    bind_scalars(scalars);
    for (const FuncNode &func : graph.funcs) {
        FuncState state(func.args.size(), func.types.size());
        for (const Stage &stage : func.stages)
            if (!graph::extern_definition(stage))
                state.stages.push_back(prepare(func, stage, &stage != &func.stages[0]));
        states_.push_back(std::move(state));
    }
}

void Evaluator::bind_images(const std::map<std::string, BufferView> &inputs) {
    for (const graph::Image &image : graph_.images) {
        auto found = inputs.find(image.name);
        if (found == inputs.end() && !image.bound.defined())
            throw RuntimeError("Input image " + quoted(image.name) + " was not given a buffer.");
        const BufferView &view = found != inputs.end() ? found->second : image.bound.view();
        if (view.type != image.type || view.dims.size() != static_cast<size_t>(image.dimensions)) {
            throw RuntimeError(
                "Input image " + quoted(image.name) + " needs " + std::to_string(image.dimensions) +
                " dimensions of " + to_string(image.type) + "; the buffer given has " +
                std::to_string(view.dims.size()) + " of " + to_string(view.type) + ".");
        }
        if (!view.host)
            throw RuntimeError("The buffer of input image " + quoted(image.name) +
                               " has no memory.");
        images_[image.name] = view;
        bind_shape(image.name, view);
    }
}

void Evaluator::bind_shape(const std::string &buffer, const BufferView &view) {
    for (size_t d = 0; d < view.dims.size(); d++) {
        auto field = [&](const char *what) {
            return buffer + "." + what + "." + std::to_string(d);
        };
        globals_[field("min")] = Value::of_int(view.dims[d].min);
        globals_[field("extent")] = Value::of_int(view.dims[d].extent);
        globals_[field("stride")] = Value::of_int(view.dims[d].stride);
    }
}

void Evaluator::bind_scalars(const std::map<std::string, const void *> &scalars) {
    for (const graph::Scalar &scalar : graph_.scalars) {
        auto found = scalars.find(scalar.name);
        if (found == scalars.end() || !found->second)
            throw RuntimeError("Param " + quoted(scalar.name) + " was not given a value.");
        globals_[scalar.name] = load(scalar.type, found->second);
    }
}

StageFormula Evaluator::prepare(const FuncNode &func, const Stage &stage, bool update) {
    StageFormula result{&stage, {}, {}, nullptr, graph::count_stores(stage)};
    for (const graph::ReductionVar &rvar : stage.rvars)
        result.locals.push_back(rvar.name);
    for (size_t d = 0; d < func.args.size(); d++) {
        const Expr &arg = stage.args[d];
        bool pure = !update || (arg->op == ir::Op::Variable && arg->name == func.args[d]);
        if (!pure)
            continue;
        result.loop_args.push_back(d);
        result.locals.push_back(func.args[d]);
    }
    std::vector<Expr> roots{stage.predicate};
    for (size_t n = 0; n < result.stores; n++) {
        for (const Expr &e : stage.args)
            roots.push_back(update ? graph::nth_of_scatter(e, n) : Expr());
        for (const Expr &e : stage.values)
            roots.push_back(update ? graph::nth_of_scatter(e, n) : e);
    }
    result.formula = std::make_unique<Formula>(roots, result.locals, globals_);
    return result;
}

/// "Func "f", update 1 (blur.cpp:12), at r = 3, x = 4"
std::string Evaluator::place() const {
    if (!func_)
        return "the bounds of an RDom";
    std::string text = "Func \"" + support::marked(support::Field::Func, func_->name) + "\"";
    if (stage_ > 0)
        text += ", update " + std::to_string(stage_ - 1);
    text += support::in_parentheses(func_->stages[stage_].where);
    if (graph::is_extern(*func_))
        return text;
    const StageFormula &stage = states_[static_cast<size_t>(func_->id)].stages[stage_];
    for (size_t i = 0; locals_ && i < locals_->size(); i++)
        text += (i ? ", " : ", at ") + stage.locals[i] + " = " + std::to_string((*locals_)[i]);
    return text;
}

void Evaluator::undefined(const char *what) {
    if (options_.reject_undefined)
        throw RuntimeError(std::string(what) + " in " + place() + ".");
}

void Evaluator::fail(const std::string &message) {
    throw RuntimeError(message + " in " + place() + ".");
}

Value Evaluator::image(const std::string &name, const Point &at) {
    const BufferView &view = images_.at(name);
    for (size_t d = 0; d < at.size(); d++) {
        const BufferDim &dim = view.dims[d];
        if (at[d] < dim.min || at[d] >= dim.min + dim.extent) {
            throw RuntimeError("Input image " + quoted(name) + " is read at " +
                               std::to_string(at[d]) + " in dimension " + std::to_string(d) +
                               ", but its range there is " + std::to_string(dim.min) + " .. " +
                               std::to_string(dim.min + dim.extent - 1) + "; by " + place() + ".");
        }
    }
    return load(view.type, address(view, at));
}

Value Evaluator::func(FuncId id, int element, const Point &at) {
    FuncState &state = states_[static_cast<size_t>(id)];
    auto e = static_cast<size_t>(element);
    if (func_ && id == func_->id) {  // an update that reads its own Func
        if (box_.contains(at))
            return state.grid.get(at, e);
        want(id, at);
        return Value();
    }
    Value value = state.grid.get(at, e);
    auto exists = [&] { return is_boxed(graph_[id]) ? state.done.contains(at) : value.known(); };
    if (!exists()) {
        want(id, at);
        value = state.grid.get(at, e);
        if (!exists())
            return Value();
    }
    return value.state == Value::State::Undef ? Value::of_int(0) : value;
}

/// Requests a point, of a pure Func with all that it reads.
void Evaluator::want(FuncId id, const Point &at) {
    const FuncNode &func = graph_[id];
    FuncState &state = states_[static_cast<size_t>(id)];
    if (is_boxed(func)) {
        if (state.wanted.contains(at))
            return;
        state.wanted.include(at);
    } else {
        if (state.grid.get(at, 0).state != Value::State::Fresh)
            return;
        state.grid.set(at, 0, Value());
        if (!evaluate_point(func, at))
            state.pending.push_back(at);
    }
    progress_++;
}

/// A pure Func, at one point: whether the value exists now.
bool Evaluator::evaluate_point(const FuncNode &func, const Point &at) {
    const auto outer = std::tuple(func_, stage_, locals_, complete_);
    func_ = &func;
    complete_ = true;
    run_pure(at);
    const bool exists = complete_;
    if (!exists)
        states_[static_cast<size_t>(func.id)].grid.set(at, 0, Value());
    progress_ += exists;
    std::tie(func_, stage_, locals_, complete_) = outer;
    return exists;
}

/// A pure Func, at the points that waited for others. Points that remain Unknown stay pending.
void Evaluator::evaluate_pending(const FuncNode &func) {
    FuncState &state = states_[static_cast<size_t>(func.id)];
    std::vector<Point> points = std::exchange(state.pending, {});
    for (const Point &at : points) {
        if (!evaluate_point(func, at))
            state.pending.push_back(at);
    }
}

/// Evaluates stage 0 of func_ at one point.
void Evaluator::run_pure(const Point &at) {
    FuncState &state = states_[static_cast<size_t>(func_->id)];
    stage_ = 0;
    locals_ = &at;
    Formula &formula = *state.stages[0].formula;
    formula.at(at, *this);
    for (size_t e = 0; e < func_->types.size(); e++) {
        Value value = formula.value(1 + at.size() + e);
        if (value.state == Value::State::Undef)
            value = left_alone(at, e);
        complete_ &= value.known();
        state.grid.set(at, e, value);
    }
}

/// The initial value of an element that is not stored: an output keeps the contents of its buffer;
/// elsewhere it is arbitrary.
Value Evaluator::left_alone(const Point &at, size_t element) const {
    size_t i = 0;
    for (FuncId id : graph_.outputs) {
        const BufferView &view = outputs_.at(i + (id == func_->id ? element : 0));
        if (id == func_->id && box_of(view.dims).contains(at))
            return load(view.type, address(view, at));
        i += graph_[id].types.size();
    }
    return Value::of_int(0);
}

/// A Func with updates, on the currently requested box.
void Evaluator::evaluate_box(const FuncNode &func) {
    FuncState &state = states_[static_cast<size_t>(func.id)];
    if (state.done == state.wanted)
        return;
    do {
        box_ = state.wanted;
        complete_ = true;
        state.grid.clear();
        state.grid.reserve(box_);
        for_each_point(box_, [&](const Point &at) { run_pure(at); });
        for (stage_ = 1; stage_ < func.stages.size(); stage_++)
            run_update(state.stages[stage_]);
    } while (box_ != state.wanted);
    state.done = complete_ ? box_ : Box(func.args.size());
    progress_ += complete_;
}

/// An extern stage, on the currently requested box, or the larger one that its C function requests.
void Evaluator::evaluate_extern(const FuncNode &func) {
    FuncState &state = states_[static_cast<size_t>(func.id)];
    if (state.done == state.wanted)
        return;
    stage_ = 0;
    locals_ = nullptr;
    ExternStage stage(graph_, func, images_, globals_, options_, *this);
    Box box = stage.ask(state.wanted);
    if (!stage.compute(box, state.grid))
        return;
    state.wanted = state.done = box;
    progress_++;
}

Box Evaluator::update_domain(const StageFormula &stage) {
    Box domain(stage.locals.size());
    domain.empty = false;
    for (size_t i = 0; i < stage.stage->rvars.size(); i++) {
        const graph::ReductionVar &rvar = stage.stage->rvars[i];
        Formula bounds({rvar.min, rvar.extent}, {}, globals_);
        bounds.at({}, *this);
        domain.lo[i] = bounds.value(0).i;
        domain.hi[i] = domain.lo[i] + bounds.value(1).i - 1;
    }
    for (size_t i = 0; i < stage.loop_args.size(); i++) {
        domain.lo[stage.stage->rvars.size() + i] = box_.lo[stage.loop_args[i]];
        domain.hi[stage.stage->rvars.size() + i] = box_.hi[stage.loop_args[i]];
    }
    return domain;
}

void Evaluator::run_update(StageFormula &stage) {
    locals_ = nullptr;
    for_each_point(update_domain(stage), [&](const Point &locals) {
        locals_ = &locals;
        evaluate_update_at(stage, locals);
    });
}

void Evaluator::evaluate_update_at(StageFormula &stage, const Point &locals) {
    FuncState &state = states_[static_cast<size_t>(func_->id)];
    Formula &formula = *stage.formula;
    size_t dimensions = func_->args.size(), elements = func_->types.size();
    formula.at(locals, *this);
    if (stage.stage->predicate.defined()) {
        Value predicate = formula.value(0);
        complete_ &= predicate.known();
        if (!predicate.known() || !predicate.i)
            return;
    }
    // All reads, before the first store.
    std::vector<Point> points;
    std::vector<Value> values;
    size_t root = 1;
    for (size_t n = 0; n < stage.stores; n++) {
        points.emplace_back();
        for (size_t d = 0; d < dimensions; d++) {
            Value coordinate = formula.value(root++);
            complete_ &= coordinate.known();
            if (!coordinate.known())
                return;
            points.back().push_back(coordinate.i);
        }
        for (size_t e = 0; e < elements; e++, root++)
            values.push_back(box_.contains(points.back()) ? formula.value(root) : undef());
    }
    for (size_t i = 0; i < values.size(); i++) {
        complete_ &= values[i].state != Value::State::Unknown;
        if (values[i].state != Value::State::Undef)
            state.grid.set(points[i / elements], i % elements, values[i]);
    }
}

/// Returns true if nothing is left to do for this Func at present.
bool Evaluator::evaluate_func(const FuncNode &func) {
    FuncState &state = states_[static_cast<size_t>(func.id)];
    func_ = &func;
    if (func.has_updates()) {
        evaluate_box(func);
    } else if (graph::is_extern(func)) {
        evaluate_extern(func);
    } else {
        evaluate_pending(func);
    }
    func_ = nullptr;
    return is_boxed(func) ? state.done == state.wanted : state.pending.empty();
}

void Evaluator::run() {
    for_each_output([&](FuncId id, size_t, const BufferView &view) {
        for_each_point(box_of(view.dims), [&](const Point &at) { want(id, at); });
    });
    bool finished = false;
    while (!finished) {
        size_t before = progress_;
        for (size_t i = graph_.funcs.size(); i-- > 0;) {
            if (is_boxed(graph_.funcs[i]))
                evaluate_func(graph_.funcs[i]);
        }
        finished = true;
        for (const FuncNode &func : graph_.funcs)
            finished &= evaluate_func(func);
        if (!finished && progress_ == before)
            throw InternalError("reference: values that depend on each other");
    }
    for_each_output([&](FuncId id, size_t e, const BufferView &view) {
        for_each_point(box_of(view.dims), [&](const Point &at) {
            store(view.type, address(view, at), func(id, static_cast<int>(e), at));
        });
    });
}

}  // namespace

void evaluate(const Graph &graph, const std::vector<BufferView> &outputs,
              const std::map<std::string, BufferView> &inputs,
              const std::map<std::string, const void *> &scalars, const Options &options) {
    check_outputs(graph, outputs);
    Evaluator(graph, outputs, inputs, scalars, options).run();
}

}  // namespace Pipe::reference
