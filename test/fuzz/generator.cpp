#include "fuzz/generator.h"

#include <set>
#include <utility>

namespace Pipe::fuzz {

const std::vector<Type> all_types = {Int(32), UInt(8),   UInt(16), Int(16),  Float(32), UInt(32),
                                     Int(8),  Float(32), Int(64),  UInt(64), Float(64)};
const char *const var_names[] = {"x", "y", "z"};

void Generator::run() {
    a_.tagged = c_.chance(15);
    wide_ = c_.chance(20);
    int images = c_.between(1, 2);
    for (int i = 0; i < images; i++)
        add_image(i);
    int funcs = c_.between(1, 6);
    for (int i = 0; i < funcs; i++)
        add_func(i);
    choose_outputs();
    for (int output : a_.outputs) {
        Source &s = a_.sources[static_cast<size_t>(output)];
        if (!c_.chance(5))
            continue;
        s.any_layout = true;
        for (OutputImageParam buffer : s.func.output_buffers())
            buffer.dim(0).set_stride(Expr());
        a_.text.push_back("// all buffers of " + s.name + ": dim(0).set_stride(Expr());");
    }
}

void Generator::add_image(int number) {
    Source s;
    s.name = "in" + std::to_string(number);
    s.dimensions = c_.of<int>({2, 2, 1, 3});
    s.is_image = true;
    Type type = c_.of(all_types);
    s.elements.push_back(
        {Expr(), "",
         type.is_float() ? 255.0 : std::min(1000.0, static_cast<double>(type.max_int())), 0, 0});
    if (type.is_int())
        s.elements[0].size += 1;
    s.image = ImageParam(type, s.dimensions, s.name);
    a_.text.push_back("ImageParam " + s.name + "(" + to_string(type) + ", " +
                      std::to_string(s.dimensions) + ");");
    if (c_.chance(12)) {
        s.any_layout = true;
        s.image.dim(0).set_stride(Expr());
        a_.text.push_back(s.name + ".dim(0).set_stride(Expr());");
    }
    a_.sources.push_back(s);
    if (c_.chance(40))
        add_boundary(static_cast<int>(a_.sources.size()) - 1, number);
}

void Generator::add_boundary(int image, int number) {
    Source &source = a_.sources[static_cast<size_t>(image)];
    for (int d = 0; d < source.dimensions; d++) {
        int low = c_.between(0, 6) - 3;
        source.fixed_box.push_back({low, low + c_.between(0, 40)});
    }
    Source s = source;
    s.is_image = false;
    s.fixed_box.clear();
    s.name = "b" + std::to_string(number);
    Type type = source.image.type();
    const char *kind = "repeat_edge";
    switch (c_.below(5)) {
    case 0:
        s.func = BoundaryConditions::repeat_edge(source.image);
        break;
    case 1:
        s.func = BoundaryConditions::constant_exterior(source.image, cast(type, Expr(7)));
        kind = "constant_exterior 7";
        break;
    case 2:
        s.func = BoundaryConditions::repeat_image(source.image), kind = "repeat_image";
        break;
    case 3:
        s.func = BoundaryConditions::mirror_image(source.image), kind = "mirror_image";
        break;
    default:
        s.func = BoundaryConditions::mirror_interior(source.image);
        kind = "mirror_interior";
        break;
    }
    StageInfo stage;
    Access whole{image, std::vector<Index>(static_cast<size_t>(s.dimensions)), false};
    s.boundary = true;
    stage.accesses.push_back(whole);
    for (const Var &v : s.func.args()) {
        s.vars.push_back(v.name());
        stage.loops.push_back({"Var(\"" + v.name() + "\")", v, false});
    }
    s.stages.push_back(stage);
    a_.text.push_back("Func " + s.name + " = " + kind + "(" + source.name + ");");
    a_.sources.push_back(s);
}

void Generator::add_func(int number) {
    begin_func(number, c_.of<int>({2, 2, 2, 1, 3}));
    switch (c_.below(22)) {
    case 10:
        tuple();
        break;
    case 11:
    case 12:
    case 13:
        reduction();
        break;
    case 14:
    case 15:
        inline_reduction();
        break;
    case 16:
        histogram();
        break;
    case 17:
        scan();
        break;
    case 18:
        pure_updates();
        break;
    case 19:
        scatter();
        break;
    case 20:
        now_.dimensions > 1 ? scan_in_plane() : scan();
        break;
    case 21:
        extern_stage();
        break;
    default:
        pure();
        break;
    }
}

void Generator::choose_outputs() {
    // What nobody reads is an output, else it would not be tested; perhaps one more.
    std::set<int> read;
    for (const Source &s : a_.sources) {
        for (const StageInfo &stage : s.stages) {
            for (const Access &access : stage.accesses)
                read.insert(access.source);
        }
    }
    bool one_more = c_.chance(20);
    for (size_t i = 0; i < a_.sources.size(); i++) {
        Source &s = a_.sources[i];
        if (s.is_image || s.stages.empty())
            continue;
        bool unread = !read.count(static_cast<int>(i));
        if (!unread && !(one_more && c_.chance(40)))
            continue;
        if (unread && s.boundary && i + 1 < a_.sources.size())
            continue;
        s.output = true;
        a_.outputs.push_back(static_cast<int>(i));
    }
}

void Generator::begin_func(int number, int dimensions) {
    now_ = Source();
    now_.name = "f" + std::to_string(number);
    now_.func = Func(now_.name);
    now_.dimensions = dimensions;
    now_.touched.resize(static_cast<size_t>(dimensions));
    variables_.clear();
    accesses_.clear();
    for (int d = 0; d < dimensions; d++) {
        now_.vars.push_back(var_names[d]);
        variables_.push_back({variable(Var(var_names[d]), var_names[d], 4096), d});
    }
}

std::vector<Value> Generator::own_vars() const {
    std::vector<Value> result;
    for (int d = 0; d < now_.dimensions; d++)
        result.push_back(variables_[static_cast<size_t>(d)].value);
    return result;
}

void Generator::finish_func(std::vector<Value> elements) {
    for (Value &v : elements)
        v.text.clear();
    now_.elements = std::move(elements);
    a_.sources.push_back(now_);
}

/// The pure definition.
void Generator::define(const std::vector<Value> &values) {
    FuncRef target = now_.func(exprs(own_vars()));
    if (values.size() == 1) {
        target = values[0].e;
    } else {
        target = Tuple(exprs(values));
    }
    std::string right = values.size() == 1 ? texts(values) : "Tuple(" + texts(values) + ")";
    a_.text.push_back(now_.name + "(" + join(now_.vars) + ") = " + right + ";");
    StageInfo stage;
    stage.accesses = std::exchange(accesses_, {});
    for (const std::string &v : now_.vars)
        stage.loops.push_back({v, Var(v), false});
    now_.stages.push_back(stage);
}

/// `loop_vars`: the pure variables that are loops of the update.
void Generator::update(const std::string &args, const std::vector<Expr> &coordinates,
                       const std::vector<Value> &values,
                       const std::vector<std::string> &loop_vars) {
    FuncRef target = now_.func(coordinates);
    if (values.size() == 1) {
        target = values[0].e;
    } else {
        target = Tuple(exprs(values));
    }
    if (!rdom_.empty())
        a_.text.push_back(rdom_ + where_);
    std::string right = values.size() == 1 ? texts(values) : "Tuple(" + texts(values) + ")";
    a_.text.push_back(now_.name + "(" + args + ") = " + right + ";");
    StageInfo stage;
    stage.accesses = std::exchange(accesses_, {});
    stage.rvars = rvar_ranges_;
    for (const LoopVar &r : rvars_)
        stage.rvar_names.push_back(r.loop.name);
    stage.loops = rvars_;
    for (const std::string &v : loop_vars)
        stage.loops.push_back({v, Var(v), false});
    now_.stages.push_back(stage);
    leave_rdom();
}

RDom Generator::make_rdom(int count, int max_extent) {
    std::string name = "r" + std::to_string(a_.text.size());
    Region region;
    rdom_ = "RDom " + name + "(";
    for (int i = 0; i < count; i++) {
        int low = c_.between(0, 3) - 1, extent = c_.between(1, max_extent);
        region.emplace_back(low, extent);
        rvar_ranges_.push_back({low, low + extent - 1});
        rdom_ += (i ? ", " : "") + std::to_string(low) + ", " + std::to_string(extent);
    }
    rdom_ += ");";
    RDom r(region, name);
    for (int i = 0; i < count; i++) {
        std::string text = name + "." + var_names[i];
        rvars_.push_back({text, r[i], true});
        variables_.push_back({variable(r[i], text, 64), now_.dimensions + i});
    }
    return r;
}

void Generator::leave_rdom() {
    rdom_.clear();
    where_.clear();
    rvars_.clear();
    rvar_ranges_.clear();
    variables_.resize(static_cast<size_t>(now_.dimensions));
}

Algorithm generate(Choices &choices) {
    Algorithm algorithm;
    Generator(choices, algorithm).run();
    return algorithm;
}

}  // namespace Pipe::fuzz
