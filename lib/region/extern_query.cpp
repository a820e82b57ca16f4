#include "region/extern_query.h"

#include "graph/extern_stage.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

namespace {

Expr extent_of(const Interval &i) {
    return simplify(add(sub(i.max, i.min), int32(1)));
}

class Asking {
  public:
    Asking(const graph::Graph &graph, const graph::FuncNode &func, const std::string &prefix,
           const Box &output)
        : graph_(graph), func_(func), prefix_(prefix), output_(output) {}

    Query ask() {
        std::vector<Expr> args;
        std::vector<std::pair<std::string, Expr>> inputs;
        for (const Expr &arg : graph::extern_args(*graph::extern_definition(func_.stages[0]))) {
            args.push_back(graph::is_whole(*arg) ? input(*arg, "in" + std::to_string(inputs.size()))
                                                 : arg);
            if (graph::is_whole(*arg))
                inputs.emplace_back(arg->name, args.back());
        }
        for (size_t i = 0; i < func_.types.size(); i++)
            args.push_back(buffer("out" + std::to_string(i), func_.types[i], output_));
        Expr first_output = args[args.size() - func_.types.size()];
        Expr call = graph::call_extern_stage(func_, args);
        define("code", make_call(Int(32), intrinsic::if_then_else, {is_not_empty(), call, int32(0)},
                                 CallKind::Intrinsic));
        for (const auto &[name, raw] : inputs)
            merge(query_.answer.inputs[name], box_in(raw));
        query_.answer.output = box_in(first_output);
        return std::move(query_);
    }

  private:
    Expr define(const std::string &name, const Expr &value) {
        query_.lets.emplace_back(prefix_ + "." + name, value);
        return make_variable(value.type(), query_.lets.back().first);
    }

    Expr is_not_empty() const {
        Expr result = make_const(Bool(), 1);
        for (const Interval &i : output_)
            result = make_binary(Op::And, result, make_binary(Op::LE, i.min, i.max));
        return simplify(result);
    }

    /// A raw buffer without memory.
    Expr buffer(const std::string &name, Type element, const Box &box) {
        std::vector<Expr> args{make_const(element, 0),
                               make_reinterpret(Handle(), make_const(UInt(64), 0))};
        for (const Interval &i : box)
            args.insert(args.end(), {i.min, extent_of(i), make_int(Int(64), 0)});
        dimensions_[prefix_ + "." + name] = box.size();
        return define(name,
                      make_call(Handle(), extern_function::raw_buffer, args, CallKind::Extern));
    }

    Expr input(const ExprNode &whole, const std::string &name) {
        Box box;
        if (whole.call_kind == CallKind::Func) {
            const graph::FuncNode &read = graph_[static_cast<FuncId>(whole.int_value)];
            for (size_t d = 0; d < read.args.size(); d++)
                box.push_back(d < output_.size() ? output_[d] : Interval::point(int32(0)));
            return buffer(name, read.types[static_cast<size_t>(whole.index)], box);
        }
        for (const graph::Image &image : graph_.images) {
            if (image.name != whole.name)
                continue;
            for (size_t d = 0; d < static_cast<size_t>(image.dimensions); d++) {
                Expr min = make_variable(Int(32), min_name(image.name, d));
                Expr extent = make_variable(Int(32), extent_name(image.name, d));
                box.push_back({min, sub(add(min, extent), int32(1))});
            }
            return buffer(name, image.type, box);
        }
        throw InternalError("an extern stage reads the unknown image " + whole.name);
    }

    /// The contents of a raw buffer after the call.
    Box box_in(const Expr &raw) {
        Box box;
        for (size_t d = 0; d < dimensions_.at(raw->name); d++) {
            std::string name = raw->name.substr(prefix_.size() + 1);
            auto field = [&](const char *what, const char *function) {
                return define(name + what + std::to_string(d),
                              make_call(Int(32), function, {raw, int32(static_cast<int64_t>(d))},
                                        CallKind::Extern));
            };
            Expr min = field(".min.", extern_function::raw_min);
            box.push_back(
                {min, sub(add(min, field(".extent.", extern_function::raw_extent)), int32(1))});
        }
        return box;
    }

    const graph::Graph &graph_;
    const graph::FuncNode &func_;
    const std::string prefix_;
    const Box output_;
    std::map<std::string, size_t> dimensions_;  // of the buffers
    Query query_;
};

/// The part of `box` inside `outer`; at least one point.
Box within(const Box &box, const Box &outer) {
    Box result;
    for (size_t d = 0; d < box.size(); d++)
        result.push_back({max(min(box[d].min, outer[d].max), outer[d].min),
                          min(max(box[d].max, outer[d].min), outer[d].max)});
    return result;
}

/// The interval, moved into `outer` and limited to its size.
Interval moved_into(const Interval &i, const Interval &outer) {
    Expr beyond = max(sub(i.max, outer.max), int32(0));
    Expr before = max(sub(outer.min, i.min), int32(0));
    return {max(sub(i.min, beyond), outer.min), min(add(i.max, before), outer.max)};
}

}  // namespace

Query extern_query(const graph::Graph &graph, const graph::FuncNode &func,
                   const std::string &prefix, const Box &output) {
    return Asking(graph, func, prefix, output).ask();
}

/// The lets of the query at the level, and its result.
ExternRegions RegionSolver::answer(const Level &level, const Query &query) {
    for (const auto &[name, value] : query.lets)
        lets_.bind_query(level, name, value);
    return query.answer;
}

/// Queries twice, as Halide does: the function may request to compute more than is needed, and is
/// then asked what it reads for that. If only part of the stage is computed at a time (compute_at),
/// the region that the function requests for the part, and the region it reads, are moved into
/// those requested for the whole: storage further out does not hold more.
const Box &RegionSolver::ask(FuncId id, const Level &level, const std::string &prefix,
                             const Box &needed) {
    const graph::FuncNode &func = graph_[id];
    const ExternRegions *around = nullptr;
    if (!level.empty()) {
        const std::vector<Level> &path = tree_.path_to(level);
        Level outer = path.size() > 1 ? path[path.size() - 2] : Level();
        domain_at(id, 0, outer);
        around = &extern_regions_.at({id, outer});
    }
    Box requested = bind(level, prefix + ".needed", func, needed);
    Box more = answer(level, extern_query(graph_, func, prefix + ".query", requested)).output;
    // (An iteration that needs nothing stays empty.)
    for (size_t d = 0; d < more.size(); d++) {
        if (around)
            more[d] = moved_into(more[d], around->output[d]);
        more[d] = hull(requested[d], more[d]);
    }
    ExternRegions &result = extern_regions_[{id, level}];
    result.output = bind(level, prefix, func, more);
    result.inputs =
        answer(level, extern_query(graph_, func, prefix + ".query2", result.output)).inputs;
    if (!around)
        return result.output;
    for (auto &[name, box] : result.inputs) {
        Box inside = within(box, around->inputs.at(name));
        for (size_t d = 0; d < box.size(); d++) {
            std::string let = prefix + ".reads." + name + "." + std::to_string(d);
            box[d] = {lets_.bind(level, let + ".min", inside[d].min),
                      lets_.bind(level, let + ".max", inside[d].max)};
        }
    }
    return result.output;
}

}  // namespace Pipe::region
