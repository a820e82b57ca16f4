#include "lower/checks.h"

#include <unordered_set>

#include "graph/extern_stage.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;
using region::Box;
using support::begin;
using support::end;
using support::Field;
using support::marked;

namespace {

Expr text(const std::string &s) {
    return make_string(s);
}

Expr of_buffer(const std::string &name, const char *what, size_t dim) {
    Type type = std::string(what) == "stride" ? Int(64) : Int(32);
    return make_variable(type, name + "." + what + "." + std::to_string(dim));
}

bool reads(const graph::Stage &stage, const std::string &name) {
    bool found = false;
    graph::for_each_expr(stage, [&](const Expr &e) { found |= calls(e, name); });
    return found;
}

/// " where a (f.cpp:2), b (f.cpp:3) are inlined": those of which the readers are made; "" for none.
std::string inlined_readers(const region::LoopTree &tree, const std::string &name) {
    std::string found;
    int count = 0;
    for (const graph::FuncNode &func : tree.graph().funcs) {
        bool inlined =
            func.name != name && !tree.place(func.id).computed && reads(func.stages[0], name);
        if (inlined && ++count > 0)
            found += (found.empty() ? "" : ", ") + graph::located_name(func, 0);
    }
    return count == 0 ? "" : ", where " + found + (count == 1 ? " is" : " are") + " inlined";
}

/// An offer, where data decide at which coordinate of this dimension the stage reads or writes `name`:
/// the range of the type of the data may be much larger than that of their values.
std::string or_clamp(const graph::Stage &stage, const std::string &name, bool writes, size_t dim) {
    bool found = writes && reads_elements(stage.args[dim]);
    graph::for_each_expr(stage, [&](const Expr &e) {
        found |= contains(e, [&](const ExprNode &n) {
            return n.op == Op::Call && n.name == name && dim < n.args.size() &&
                   reads_elements(n.args[dim]);
        });
    });
    return found ? ", or limit the coordinate, which depends on data, with clamp()" : "";
}

class Checks {
  public:
    explicit Checks(const region::RegionPlan &plan)
        : plan_(plan), tree_(plan.tree), graph_(plan.tree.graph()) {}

    Stmt shapes(const std::vector<KnownStride> &strides) {
        for (const KnownStride &s : strides)
            known_stride(s);
        for (const graph::Image &image : graph_.images)
            promised(image.name, image.promise,
                     image.where.known()
                         ? "ImageParam " + marked(Field::Place, to_string(image.where))
                         : "");
        for (FuncId output : graph_.outputs) {
            const graph::FuncNode &func = graph_[output];
            for (size_t i = 0; i < func.output_promises.size(); i++)
                promised(graph::buffer_name(func, i), func.output_promises[i],
                         graph::located_name(func, 0));
            bounds(graph_[output]);
            same_shape(graph_[output]);
        }
        for (const graph::FuncNode &func : graph_.funcs)
            split_factors(func);
        for (const graph::Requirement &r : graph_.requirements)
            require(r.condition, Failure::RequirementFailed, r.message);
        return make_block(std::move(asserts_));
    }

    Stmt regions() {
        for (const graph::Image &image : graph_.images)
            input_region(image);
        for (const graph::FuncNode &func : graph_.funcs) {
            bool inside = is_computed_inside(func);
            within_bounds(func, true, false);
            if (!inside)
                within_bounds(func, false, false);
            fused_loops(func);
        }
        for (FuncId output : graph_.outputs) {
            shifted_tails(graph_[output]);
            output_region(graph_[output]);
        }
        return make_block(std::move(asserts_));
    }

    Box needed_output(const graph::FuncNode &func) {
        Box box = written(func);
        region::merge(box, demand(func, func.stages.size() - 1).domain);
        if (const Box &read = plan_.demand.outputs_read.at(func.id); !read.empty())
            region::merge(box, read);
        for (const region::StageNest &nest : tree_.place(func.id).stages)
            for_each_shift(nest, [&](const schedules::Transform &split,
                                     const region::Range &range) {
                for (size_t d = 0; d < box.size(); d++)
                    if (func.args[d] == split.old_name)
                        box[d].max = max(box[d].max, sub(add(range.min, split.factor), int32(1)));
            });
        return box;
    }

    Stmt computation(const graph::FuncNode &func) {
        if (is_computed_inside(func))
            within_bounds(func, false, true);
        return make_block(std::move(asserts_));
    }

  private:
    /// The driver puts the pipeline before the message.
    void require(const Expr &condition, Failure failure, std::vector<Expr> message) {
        if (can_prove(condition))
            return;
        asserts_.push_back(
            make_assert(simplify(condition), static_cast<int>(failure), std::move(message)));
    }

    void split_factors(const graph::FuncNode &func) {
        if (!func.is_output && func.consumers.empty())
            return;  // inlined
        const auto &stages = tree_.schedule()[func.id].stages;
        for (size_t s = 0; s < stages.size(); s++)
            for (const schedules::Transform &t : stages[s].transforms) {
                if (t.kind != schedules::Transform::Kind::Split)
                    continue;
                require(make_binary(Op::GE, t.factor, make_const(t.factor.type(), 1)),
                        Failure::BadConstraint,
                        {text(graph::located_name(func, s) + ": the loop " +
                              marked(Field::Dimension, t.old_name) + " is split by " +
                              begin(Field::Given)),
                         t.factor, text(end() + ", but the factor must be at least 1.")});
            }
    }

    void known_stride(const KnownStride &known) {
        const std::string dim = std::to_string(known.dim), value = std::to_string(known.value);
        Expr stride = of_buffer(known.buffer, "stride", static_cast<int>(known.dim));
        require(make_binary(Op::EQ, stride, make_int(Int(64), known.value)), Failure::BadConstraint,
                {text("Buffer " + marked(Field::Func, known.buffer) +
                      " was assumed to have the stride " + marked(Field::Needed, value) +
                      " in dimension " + marked(Field::Dimension, dim) + ", but its stride is " +
                      begin(Field::Given)),
                 stride, text(end() + ".")});
    }

    void equals(const std::string &name, const char *what, size_t dim, const Expr &promised,
                const std::string &of, const std::string &because = "was promised to be ") {
        if (!promised.defined())
            return;
        Expr actual = of_buffer(name, what, dim);
        Expr wanted = make_cast(actual.type(), promised);
        require(make_binary(Op::EQ, actual, wanted), Failure::BadConstraint,
                {text("Buffer " + marked(Field::Func, name) + (of.empty() ? "" : " of " + of) +
                      ": the " + what + " of dimension " +
                      marked(Field::Dimension, std::to_string(dim)) + " " + because +
                      begin(Field::Needed)),
                 wanted, text(end() + ", but is " + begin(Field::Given)), actual,
                 text(end() + ". Pass a Buffer of that shape, or remove the promise.")});
    }

    void promised(const std::string &buffer, const graph::BufferPromise &promise,
                  const std::string &of) {
        for (size_t d = 0; d < promise.dims.size(); d++) {
            equals(buffer, "min", d, promise.dims[d].min, of);
            equals(buffer, "extent", d, promise.dims[d].extent, of);
            equals(buffer, "stride", d, promise.dims[d].stride, of);
        }
    }

    void bounds(const graph::FuncNode &func) {
        for (const schedules::Bound &bound : tree_.schedule()[func.id].bounds)
            for (size_t d = 0; d < func.args.size(); d++) {
                if (func.args[d] != bound.var)
                    continue;
                if (!func.is_output)
                    continue;
                const std::string of = graph::located_name(func, 0);
                equals(graph::buffer_name(func, 0), "min", d, bound.min, of);
                equals(graph::buffer_name(func, 0), "extent", d, bound.extent, of);
            }
    }

    /// Several computations, each with a min of its own.
    bool is_computed_inside(const graph::FuncNode &func) const {
        return !tree_.place(func.id).compute.empty();
    }

    /// What is needed of a Func inside the pipeline lies in its bound: no more is stored. Those bounds
    /// that fix the min, or those that leave it open.
    void within_bounds(const graph::FuncNode &func, bool fixed, bool one_computation) {
        if (func.is_output || !tree_.place(func.id).computed)
            return;
        for (const schedules::Bound &bound : tree_.schedule()[func.id].bounds)
            for (size_t d = 0; d < func.args.size(); d++)
                for (size_t s = func.stages.size(); s-- > 0;) {
                    if (func.args[d] != bound.var || bound.min.defined() != fixed)
                        continue;
                    bool last = s + 1 == func.stages.size();
                    within(
                        func, bound,
                        (one_computation ? demand(func, s).needed_once : demand(func, s).needed)[d],
                        last ? "read" : "touched",
                        last ? " Read by " + readers_of(tree_, func.name)
                             : " By " + graph::located_name(func, s + 1));
                }
    }

    /// Loops count with 32 bits: two that are fused may be too many iterations together.
    void fused_loops(const graph::FuncNode &func) {
        const region::LoopTree &tree = tree_;
        if (!tree.place(func.id).computed || !tree.place(func.id).compute.empty())
            return;
        for (const region::StageNest &nest : tree.place(func.id).stages) {
            const std::map<std::string, region::Range> &ranges = plan_.demand.of(nest).ranges;
            for (const schedules::Transform &t : nest.transforms) {
                if (t.kind != schedules::Transform::Kind::Fuse)
                    continue;
                Expr inner = ranges.at(t.inner).extent, outer = ranges.at(t.outer).extent;
                Expr all = mul(make_cast(Int(64), max(inner, int32(0))), make_cast(Int(64), outer));
                require(make_binary(Op::LE, all, make_int(Int(64), INT32_MAX)),
                        Failure::BadConstraint,
                        {text("the loop " + marked(Field::Dimension, t.old_name) + " of " +
                              graph::located_name(func, static_cast<size_t>(nest.stage)) +
                              " fuses " + t.inner + " and " + t.outer + ", with extents "),
                         inner, text(" and "), outer,
                         text(": more than 2^31 - 1 iterations. Fuse loops that are outside of a "
                              "split.")});
            }
        }
    }

    void within(const graph::FuncNode &func, const schedules::Bound &bound,
                const region::Interval &needed, const std::string &use, const std::string &user) {
        Expr min = bound.min.defined() ? bound.min : needed.min;
        Expr max = sub(add(min, bound.extent), int32(1));
        Expr inside = make_binary(Op::And, make_binary(Op::GE, needed.min, min),
                                  make_binary(Op::LE, needed.max, max));
        require(make_binary(Op::Or, inside, make_binary(Op::GT, needed.min, needed.max)),
                Failure::BadConstraint,
                {text(marked(Field::Func, func.name) + ": dimension " +
                      marked(Field::Dimension, bound.var) +
                      " was promised (bound) to be computed only from " + begin(Field::Given)),
                 simplify(min), text(" to "), simplify(max),
                 text(end() + ", but is " + use + " from " + begin(Field::Needed)),
                 simplify(needed.min), text(" to "), simplify(needed.max),
                 text(end() + "." + user + ".")});
    }

    /// The buffers of a tuple's elements lie over the same coordinates.
    void same_shape(const graph::FuncNode &func) {
        for (size_t i = 1; i < func.types.size(); i++)
            for (size_t d = 0; d < func.args.size(); d++)
                for (const char *what : {"min", "extent"})
                    equals(graph::buffer_name(func, i), what, d,
                           of_buffer(graph::buffer_name(func, 0), what, d),
                           graph::located_name(func, 0),
                           "must be that of " + graph::buffer_name(func, 0) + ", ");
    }

    void input_region(const graph::Image &image) {
        const Box &box = plan_.demand.images.at(image.name);
        if (box.empty())
            return;
        for (size_t d = 0; d < box.size(); d++) {
            std::vector<Expr> advice = ranges_of_readers(image.name, d);
            std::string clamp;
            for (const graph::FuncNode &func : graph_.funcs)
                for (const graph::Stage &stage : func.stages)
                    if (clamp.empty())
                        clamp = or_clamp(stage, image.name, false, d);
            advice.push_back(text(". Pass a larger input, realize a smaller output, or give the "
                                  "input a boundary condition (BoundaryConditions::repeat_edge, "
                                  "...)" +
                                  clamp + "."));
            holds(image.name, "Input " + graph::located_name(image), "is read", d, box[d],
                  Failure::InputTooSmall, std::move(advice));
        }
    }

    /// " Read by f (f.cpp:3) from 0 to 8, g (f.cpp:4) from 1 to 9": which of them reads too far. Where
    /// there are many, which is found by size of code, only their names.
    std::vector<Expr> ranges_of_readers(const std::string &image, size_t dim) {
        constexpr size_t most = 4;
        std::vector<std::pair<std::string, region::Interval>> readers;
        for (const graph::FuncNode &func : graph_.funcs)
            for (const region::StageNest &nest : tree_.place(func.id).stages)
                if (const auto &read = plan_.demand.of(nest).images; read.count(image))
                    readers.emplace_back(graph::located_name(func, static_cast<size_t>(nest.stage)),
                                         read.at(image)[dim]);
        std::string inlined = inlined_readers(tree_, image);
        if (readers.size() < 2 || readers.size() > most)
            return {text(" Read by " + readers_of(tree_, image) + inlined)};
        std::vector<Expr> parts;
        for (const auto &[name, range] : readers)
            parts.insert(parts.end(), {text((parts.empty() ? " Read by " : ", ") + name + " from "),
                                       simplify(range.min), text(" to "), simplify(range.max)});
        parts.push_back(text(inlined));
        return parts;
    }

    /// Calls f(split, range of what it splits) for the loops that shift inwards.
    template <typename F> void for_each_shift(const region::StageNest &nest, const F &f) {
        const std::map<std::string, region::Range> &ranges = plan_.demand.of(nest).ranges;
        const std::vector<region::Tail> &tails = plan_.tails.of(nest).tails;
        for (size_t i = 0; i < tails.size(); i++)
            if (region::shifts(tails[i]))
                f(nest.transforms[i], ranges.at(nest.transforms[i].old_name));
    }

    /// A loop that shifts inwards needs at least one whole factor.
    void shifted_tails(const graph::FuncNode &func) {
        for (const region::StageNest &nest : tree_.place(func.id).stages)
            for_each_shift(nest, [&](const schedules::Transform &split,
                                     const region::Range &range) {
                require(
                    make_binary(Op::LE, split.factor, range.extent), Failure::OutputTooSmall,
                    {text("Output " + graph::located_name(func, static_cast<size_t>(nest.stage)) +
                          " has an extent of " + begin(Field::Given)),
                     range.extent,
                     text(end() + " in dimension " + marked(Field::Dimension, split.old_name) +
                          ", less than the factor " + begin(Field::Needed)),
                     split.factor,
                     text(end() +
                          " by which its schedule splits it with TailStrategy::ShiftInwards. "
                          "Realize a larger "
                          "region, or use TailStrategy::GuardWithIf.")});
            });
    }

    /// What the stages of an output write, together.
    Box written(const graph::FuncNode &func) {
        Box box = demand(func, 0).computed;
        for (size_t s = 1; s < func.stages.size(); s++)
            region::merge(box, demand(func, s).computed);
        return box;
    }

    void output_region(const graph::FuncNode &func) {
        const std::string buffer = graph::buffer_name(func, 0),
                          output = "Output " + marked(Field::Func, buffer);
        auto written = [&](const Box &box, size_t stage, const auto &why) {
            for (size_t d = 0; d < box.size(); d++)
                holds(buffer, output, "is written", d, box[d], Failure::OutputTooSmall,
                      {text(" Written by " + graph::located_name(func, stage) + ": " + why(d))});
        };
        // The last one first: those before it compute what it touches.
        for (size_t s = func.stages.size(); s-- > 0;) {
            if (s + 1 < func.stages.size())
                written(demand(func, s).needed, s + 1, [&](size_t d) {
                    return "it accesses more than the buffer. Pass a larger one" +
                           or_clamp(func.stages[s + 1], func.name, true, d) + ".";
                });
            written(demand(func, s).computed, s, [&](size_t) {
                return graph::is_extern(func)
                           ? "the C function requests to compute more than the buffer. Pass a "
                             "larger one."
                           : "its tail strategy goes beyond the buffer. Pass a larger one, or use "
                             "TailStrategy::GuardWithIf.";
            });
        }
        const Box &read = plan_.demand.outputs_read.at(func.id);
        for (size_t d = 0; d < read.size(); d++)
            holds(buffer, output, "is read", d, read[d], Failure::OutputTooSmall,
                  {text(" Read by " + readers_of(tree_, func.name) +
                        ". Pass a larger buffer for it.")});
    }

    /// `described`: "Input photo", "Output f".
    void holds(const std::string &name, const std::string &described, const char *use, size_t dim,
               const region::Interval &needed, Failure failure, std::vector<Expr> advice) {
        Expr min = of_buffer(name, "min", dim), extent = of_buffer(name, "extent", dim);
        Expr max = sub(add(min, extent), int32(1));
        Expr inside = make_binary(Op::And, make_binary(Op::GE, needed.min, min),
                                  make_binary(Op::LE, needed.max, max));
        std::vector<Expr> message{text(described + " " + use + " from " + begin(Field::Needed)),
                                  simplify(needed.min),
                                  text(" to "),
                                  simplify(needed.max),
                                  text(end() + " in dimension " +
                                       marked(Field::Dimension, std::to_string(dim)) +
                                       ", but it holds only " + begin(Field::Given)),
                                  min,
                                  text(" to "),
                                  max,
                                  text(end() + ".")};
        message.insert(message.end(), advice.begin(), advice.end());
        // Nothing is read where nothing is asked for.
        require(make_binary(Op::Or, inside, make_binary(Op::GT, needed.min, needed.max)), failure,
                std::move(message));
    }

    const region::StageDemand &demand(const graph::FuncNode &func, size_t stage) const {
        return plan_.demand.of(func.id, static_cast<int>(stage));
    }

    const region::RegionPlan &plan_;
    const region::LoopTree &tree_;
    const graph::Graph &graph_;
    std::vector<Stmt> asserts_;
};

}  // namespace

std::string readers_of(const region::LoopTree &tree, const std::string &name) {
    std::string readers;
    for (const graph::FuncNode &func : tree.graph().funcs) {
        if (func.name == name || !tree.place(func.id).computed)
            continue;
        for (size_t s = 0; s < func.stages.size(); s++)
            if (reads(func.stages[s], name))
                readers += (readers.empty() ? "" : ", ") + graph::located_name(func, s);
    }
    return readers;
}

Stmt shape_checks(const region::RegionPlan &plan, const std::vector<KnownStride> &strides) {
    return Checks(plan).shapes(strides);
}

Stmt region_checks(const region::RegionPlan &plan) {
    return Checks(plan).regions();
}

Box needed_output(const region::RegionPlan &plan, FuncId output) {
    return Checks(plan).needed_output(plan.tree.graph()[output]);
}

Stmt computation_checks(const region::RegionPlan &plan, FuncId func) {
    return Checks(plan).computation(plan.tree.graph()[func]);
}

}  // namespace Pipe::lower
