#include "reference/extern_stage.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "reference/buffers.h"
#include <pipe/raw_buffer.h>

namespace Pipe::reference {

ExternStage::ExternStage(const graph::Graph &graph, const graph::FuncNode &func,
                         const std::map<std::string, BufferView> &images,
                         const std::map<std::string, Value> &globals, const Options &options,
                         Source &source)
    : graph_(graph), func_(func), images_(images), options_(options), source_(source) {
    for (const Expr &e : graph::extern_args(*graph::extern_definition(func.stages[0]))) {
        Argument a{e, e.type(), 0, {}, {}};
        if (!graph::is_whole(*e)) {
            Formula number({e}, {}, globals);
            number.at({}, source);
            store(e.type(), &a.bits, number.value(0));
        } else if (e->call_kind == ir::CallKind::Func) {
            a.type = graph[static_cast<FuncId>(e->int_value)].types[static_cast<size_t>(e->index)];
        } else {
            a.type = images.at(e->name).type;
        }
        args_.push_back(std::move(a));
    }
    for (Type type : func.types)
        args_.push_back({Expr(), type, 0, {}, {}});
}

Box ExternStage::ask(const Box &box) {
    set_shapes(box);
    call();
    Box more = box_of(args_[args_.size() - func_.types.size()].dims);
    more.empty = false;
    for (size_t d = 0; d < box.lo.size(); d++) {
        more.lo[d] = std::min(more.lo[d], box.lo[d]);
        more.hi[d] = std::max(more.hi[d], box.hi[d]);
    }
    return more;
}

bool ExternStage::compute(const Box &box, Grid &grid) {
    set_shapes(box);
    call();
    for (Argument &a : args_)
        if (!a.expr.defined())
            set_box(a, box), allocate(a);
        else if (graph::is_whole(*a.expr) && a.expr->call_kind == ir::CallKind::Image)
            use_image(a);
    bool complete = true;
    for (Argument &a : args_)
        if (a.expr.defined() && graph::is_whole(*a.expr) && a.expr->call_kind == ir::CallKind::Func)
            complete &= fill(a);
    if (!complete)
        return false;
    call();
    size_t first = args_.size() - func_.types.size();
    grid.reserve(box);
    for_each_point(box, [&](const Point &at) {
        for (size_t i = 0; i < func_.types.size(); i++)
            grid.set(at, i, load(args_[first + i].type, address(args_[first + i].view(), at)));
    });
    return true;
}

/// Calls the function with the present arguments; afterward, the shapes are those that it set.
void ExternStage::call() {
    if (!options_.call_extern)
        source_.fail("There is no means to call the C function");
    std::vector<RawBuffer> raw(args_.size());
    std::vector<uint64_t> bits;
    std::vector<Expr> names;
    for (size_t i = 0; i < args_.size(); i++) {
        Argument &a = args_[i];
        names.push_back(ir::make_variable(is_buffer(a) ? Handle() : a.type, fmt::format("a{}", i)));
        bits.push_back(is_buffer(a) ? reinterpret_cast<uintptr_t>(&raw[i]) : a.bits);
        raw[i].host = static_cast<uint8_t *>(a.host);
        raw[i].type = a.type;
        raw[i].dimensions = static_cast<int32_t>(a.dims.size());
        raw[i].dim = a.dims.data();
    }
    options_.call_extern(graph::call_extern_stage(func_, names), bits);
}

/// Buffers without memory, whose shapes the function may change: see Func::define_extern.
void ExternStage::set_shapes(const Box &box) {
    for (Argument &a : args_) {
        if (!a.expr.defined()) {
            set_box(a, box);
        } else if (graph::is_whole(*a.expr) && a.expr->call_kind == ir::CallKind::Image) {
            const BufferView &image = images_.at(a.expr->name);
            a.dims.assign(image.dims.begin(), image.dims.end());
        } else if (graph::is_whole(*a.expr)) {
            Box same(graph_[static_cast<FuncId>(a.expr->int_value)].args.size());
            for (size_t d = 0; d < same.lo.size(); d++) {
                bool has = d < box.lo.size();
                same.lo[d] = has ? box.lo[d] : 0;
                same.hi[d] = has ? box.hi[d] : 0;
            }
            set_box(a, same);
        }
        a.host = nullptr;
    }
}

void ExternStage::set_box(Argument &a, const Box &box) {
    a.dims.clear();
    for (size_t d = 0; d < box.lo.size(); d++)
        a.dims.push_back({box.lo[d], box.hi[d] - box.lo[d] + 1, 0});
}

void ExternStage::allocate(Argument &a) {
    int64_t elements = 1;
    for (BufferDim &d : a.dims) {
        d.stride = elements;
        elements *= std::max<int64_t>(0, d.extent);
    }
    a.memory.assign(static_cast<size_t>(std::max<int64_t>(1, elements)) *
                        static_cast<size_t>(a.type.bytes()),
                    0);
    a.host = a.memory.data();
}

/// Reads a Func over the requested box; returns false if some of it is unknown.
bool ExternStage::fill(Argument &a) {
    allocate(a);
    bool complete = true;
    for_each_point(box_of(a.dims), [&](const Point &at) {
        Value value = source_.func(static_cast<FuncId>(a.expr->int_value), a.expr->index, at);
        complete &= value.known();
        if (value.known())
            store(a.type, address(a.view(), at), value);
    });
    return complete;
}

void ExternStage::use_image(Argument &a) {
    const BufferView &image = images_.at(a.expr->name);
    for (size_t d = 0; d < image.dims.size(); d++) {
        const BufferDim &has = image.dims[d], &needs = a.dims[d];
        if (needs.extent > 0 &&
            (needs.min < has.min || needs.min + needs.extent > has.min + has.extent))
            source_.fail(
                fmt::format("Input image \"{}\" is read from {} to {} in dimension {}, but "
                            "its range there is {} .. {}; by an extern stage",
                            a.expr->name, needs.min, needs.min + needs.extent - 1, d, has.min,
                            has.min + has.extent - 1));
    }
    a.host = image.host;
    a.dims.assign(image.dims.begin(), image.dims.end());
}

}  // namespace Pipe::reference
