#include "fuzz/algorithm.h"

#include <algorithm>
#include <set>

namespace Pipe::fuzz {

void Interval::include(Interval other) {
    if (other.empty())
        return;
    if (empty())
        *this = other;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

namespace {

int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

Interval range_of(const Index &index, const Box &box, const StageInfo &stage) {
    Interval result = index.rest;
    for (const Index::Term &term : index.terms) {
        auto var = static_cast<size_t>(term.var);
        Interval v = var < box.size() ? box[var] : stage.rvars[var - box.size()];
        int a = floor_div(v.low * term.num + term.off, term.den);
        int b = floor_div(v.high * term.num + term.off, term.den);
        result.low += std::min(a, b);
        result.high += std::max(a, b);
    }
    return result;
}

}  // namespace

std::vector<Box> required_boxes(const Algorithm &algorithm, const std::vector<Box> &outputs,
                                const std::vector<std::vector<int>> &slack,
                                std::vector<Box> *of_outputs) {
    std::vector<Box> boxes;
    for (const Source &source : algorithm.sources)
        boxes.emplace_back(static_cast<size_t>(source.dimensions));
    for (size_t i = 0; i < outputs.size(); i++)
        boxes[static_cast<size_t>(algorithm.outputs[i])] = outputs[i];
    if (of_outputs)
        of_outputs->clear();
    for (size_t i = boxes.size(); i-- > 0;) {
        const Source &source = algorithm.sources[i];
        bool used = std::none_of(boxes[i].begin(), boxes[i].end(),
                                 [](const Interval &v) { return v.empty(); });
        if (!used)
            continue;
        if (!source.fixed_box.empty())
            boxes[i] = source.fixed_box;
        for (size_t d = 0; d < source.touched.size(); d++)
            boxes[i][d].include(source.touched[d]);
        if (of_outputs && source.output)
            of_outputs->insert(of_outputs->begin(), boxes[i]);
        for (size_t d = 0; d < boxes[i].size() && !source.is_image; d++) {
            boxes[i][d].low -= slack[i][d];
            boxes[i][d].high += slack[i][d];
        }
        for (const StageInfo &stage : source.stages) {
            for (const Access &access : stage.accesses) {
                Box &box = boxes[static_cast<size_t>(access.source)];
                for (size_t d = 0; d < box.size(); d++)
                    box[d].include(range_of(access.coordinates[d], boxes[i], stage));
            }
        }
    }
    return boxes;
}

namespace {

const std::vector<Type> all_types = {Int(32),   UInt(8),  UInt(16), Int(16),
                                     Float(32), UInt(32), Int(8),   Float(32)};
const char *const var_names[] = {"x", "y", "z"};

class Generator {
  public:
    Generator(Choices &choices, Algorithm &algorithm) : c_(choices), a_(algorithm) {}
    void run();

  private:
    /// A variable that the expression being made may use.
    struct Variable {
        Value value;
        int id;  ///< see Index::Term::var
    };

    void add_image(int number);
    void add_boundary(int image, int number);
    void add_func(int number);
    void choose_outputs();

    void begin_func(int number, int dimensions);
    void finish_func(std::vector<Value> elements);
    void define(const std::vector<Value> &values);
    void update(const std::string &args, const std::vector<Expr> &coordinates,
                const std::vector<Value> &values, const std::vector<std::string> &loop_vars);
    RDom make_rdom(int count, int max_extent);
    void leave_rdom();

    void pure();
    void tuple();
    void reduction();
    void inline_reduction();
    void histogram();
    void scan();
    void pure_updates();
    void scatter();

    Value self(const std::vector<Value> &coordinates, int element = 0);
    std::vector<Value> own_vars() const;
    Value leaf(Type type, bool discrete);
    Value expression(Type type, int leaves, bool discrete);
    Value some_condition();
    Value with_rvar(const Value &v);
    Value access(int source, bool discrete, int element = -1);
    Index index(const Variable *natural, bool reduce);
    Index gather();

    Choices &c_;
    Algorithm &a_;
    Source now_;
    std::vector<Variable> variables_;
    std::vector<Access> accesses_;
    std::string rdom_;
    std::vector<LoopVar> rvars_;
    std::vector<Interval> rvar_ranges_;
    std::string where_;
    int resampled_ = 0;
};

Value variable(const Expr &e, const std::string &text, double size) {
    return {e, text, size, 0, 0};
}

std::string join(const std::vector<std::string> &parts) {
    std::string text;
    for (const std::string &part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

std::vector<Expr> exprs(const std::vector<Value> &values) {
    std::vector<Expr> result;
    for (const Value &v : values)
        result.push_back(v.e);
    return result;
}

std::string texts(const std::vector<Value> &values) {
    std::vector<std::string> parts;
    for (const Value &v : values)
        parts.push_back(v.text);
    return join(parts);
}

Value plus(const Value &v, int offset) {
    if (offset == 0)
        return v;
    std::string text = v.text + (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
    return variable(v.e + offset, text, v.size + std::abs(offset));
}

void Generator::run() {
    int images = c_.between(1, 2);
    for (int i = 0; i < images; i++)
        add_image(i);
    int funcs = c_.between(1, 6);
    for (int i = 0; i < funcs; i++)
        add_func(i);
    choose_outputs();
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
    Access whole{image, std::vector<Index>(static_cast<size_t>(s.dimensions))};
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
    switch (c_.below(20)) {
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
        if (unread && s.name[0] == 'b' && i + 1 < a_.sources.size())
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

// ---- the kinds of Funcs

void Generator::pure() {
    Type type = c_.of(all_types);
    Value v = expression(type, c_.between(1, 5), type.is_int_or_uint());
    if (v.size > 1e6 || v.frac > 4)
        v = shrink(v, c_);
    define({v});
    finish_func({v});
}

void Generator::tuple() {
    std::vector<Value> values;
    for (int i = 0; i < 2; i++) {
        Type type = c_.of(all_types);
        values.push_back(shrink(expression(type, c_.between(1, 3), type.is_int_or_uint()), c_));
    }
    define(values);
    if (c_.chance(40)) {
        std::vector<Value> next;
        for (int i = 0; i < 2; i++) {
            Value old = self(own_vars(), 1 - i);
            old.size = values[static_cast<size_t>(1 - i)].size;
            old.frac = values[static_cast<size_t>(1 - i)].frac;
            old.error = values[static_cast<size_t>(1 - i)].error;
            Type type = values[static_cast<size_t>(i)].type();
            if (old.rough() && !type.is_float())
                old = constant(type, 3);
            Value swapped = convert(old, type, c_);
            next.push_back(shrink(add(swapped, leaf(type, type.is_int_or_uint()), c_), c_));
        }
        update(texts(own_vars()), exprs(own_vars()), next, now_.vars);
        for (size_t i = 0; i < 2; i++) {
            values[i].size = std::max(values[i].size, next[i].size);
            values[i].frac = std::max(values[i].frac, next[i].frac);
            values[i].error = std::max(values[i].error, next[i].error);
        }
    }
    finish_func(values);
}

void Generator::reduction() {
    Type type = c_.of(all_types);
    bool discrete = type.is_int_or_uint();
    Value initial = c_.chance(50) ? constant(type, c_.between(0, 9))
                                  : shrink(expression(type, 1, discrete), c_);
    define({initial});
    RDom r = make_rdom(c_.between(1, 2), 6);
    Value term = shrink(with_rvar(expression(type, c_.between(1, 2), discrete)), c_);
    Value old = self(own_vars());
    old = {old.e, old.text, initial.size, initial.frac, initial.error};
    Value next = old;
    switch (c_.below(4)) {
    case 0:
    case 1:
        next = {old.e + term.e, "(" + old.text + " + " + term.text + ")"};
        break;
    case 2:
        next = {max(old.e, term.e), "max(" + old.text + ", " + term.text + ")"};
        break;
    default:
        next = {min(old.e, term.e), "min(" + old.text + ", " + term.text + ")"};
        break;
    }
    if (c_.chance(35)) {
        Value filter = some_condition();
        r.where(filter.e);
        where_ = " where " + filter.text;
    }
    bool sums = next.text[0] == '(';
    update(texts(own_vars()), exprs(own_vars()), {next}, now_.vars);
    now_.stages.back().combines = discrete || !sums;
    Value bound = initial;
    bound.size = initial.size + 36 * term.size;
    bound.frac = std::max(initial.frac, term.frac);
    bound.error = initial.error + 36 * term.error + (term.rough() ? 1e-6 * 36 * bound.size : 0);
    finish_func({bound});
}

void Generator::inline_reduction() {
    Type type = c_.of(all_types);
    bool discrete = type.is_int_or_uint();
    RDom r = make_rdom(c_.between(1, 2), 5);
    Value term = shrink(expression(type, c_.between(1, 2), discrete), c_);
    std::string rdom = rdom_, text;
    Expr e;
    Value bound = term;
    std::string arguments = "(" + rdom.substr(5, rdom.find('(') - 5) + ", " + term.text + ")";
    int kind = c_.below(term.rough() ? 3 : 5);
    switch (kind) {
    case 0:
        e = sum(r, term.e), text = "sum";
        break;
    case 1:
        e = maximum(r, term.e), text = "maximum";
        break;
    case 2:
        e = minimum(r, term.e), text = "minimum";
        break;
    case 3:
        e = argmin(r, term.e)[0], text = "argmin";
        break;
    default:
        e = argmax(r, term.e)[0], text = "argmax";
        break;
    }
    if (kind == 0) {
        bound.size *= 25;
        bound.error = 25 * term.error + (term.rough() ? 1e-6 * 25 * bound.size : 0);
    }
    text += arguments + (kind >= 3 ? "[0]" : "");
    a_.text.push_back(rdom);
    std::vector<Interval> ranges = rvar_ranges_;
    leave_rdom();
    Value v =
        kind >= 3 ? Value{e, text, 8, 0, 0} : Value{e, text, bound.size, bound.frac, bound.error};
    if (kind < 3 && c_.chance(30))
        v = add(v, leaf(type, discrete), c_);
    define({v});
    now_.stages.back().rvars = ranges;
    finish_func({v});
}

void Generator::histogram() {
    if (now_.dimensions == 3)
        begin_func(std::stoi(now_.name.substr(1)), 2);
    Type type = c_.of(all_types);
    int bins = c_.between(1, 20);
    define({constant(type, 0)});
    make_rdom(c_.between(1, 2), 12);
    std::vector<Value> coordinates = own_vars();
    variables_.erase(variables_.begin());  // x is no variable of the update
    Value bin = with_rvar(leaf(Int(32), true));
    coordinates[0] = {clamp(bin.e, 0, bins - 1),
                      "clamp(" + bin.text + ", 0, " + std::to_string(bins - 1) + ")"};
    Value weight = c_.chance(70) ? constant(type, 1) : shrink(leaf(type, true), c_);
    Value old = self(coordinates);
    Value next{old.e + weight.e, old.text + " + " + weight.text};
    std::vector<std::string> loops(now_.vars.begin() + 1, now_.vars.end());
    update(texts(coordinates), exprs(coordinates), {next}, loops);
    now_.stages.back().combines = now_.stages.back().adds = type.is_int_or_uint();
    now_.touched[0] = {0, bins - 1};
    finish_func({{next.e, "", 144 * weight.size, weight.frac, 0}});
}

void Generator::scan() {
    Type type = c_.of(all_types);
    Value initial = shrink(expression(type, c_.between(1, 2), type.is_int_or_uint()), c_);
    define({initial});
    make_rdom(1, 30);
    auto dim = static_cast<size_t>(c_.below(now_.dimensions));
    Value r = variables_.back().value;
    bool backward = c_.chance(30);
    Value here = r;
    if (backward)
        here = {Expr(20) - r.e, "20 - " + r.text, 64};
    std::vector<Value> to = own_vars(), from = own_vars();
    to[dim] = here;
    from[dim] = backward ? plus(here, 1) : plus(here, -1);
    Value a = self(to), b = self(from);
    Value next{a.e + b.e, a.text + " + " + b.text};
    if (c_.chance(40))
        next = {max(a.e, b.e), "max(" + a.text + ", " + b.text + ")"};
    Interval range = rvar_ranges_[0];
    std::vector<std::string> loops = now_.vars;
    loops.erase(loops.begin() + static_cast<long>(dim));
    update(texts(to), exprs(to), {next}, loops);
    if (backward) {
        now_.touched[dim] = {20 - range.high, 20 - range.low + 1};
    } else {
        now_.touched[dim] = {range.low - 1, range.high};
    }
    finish_func({{next.e, "", 32 * initial.size, initial.frac,
                  initial.error * 32 + (initial.rough() ? 0.05 : 0)}});
}

void Generator::pure_updates() {
    Type type = c_.of(all_types);
    bool discrete = type.is_int_or_uint();
    Value v = shrink(expression(type, c_.between(1, 2), discrete), c_);
    define({v});
    int count = c_.between(1, 2);
    for (int i = 0; i < count; i++) {
        std::vector<Value> at = own_vars();
        std::vector<std::string> loops = now_.vars;
        if (c_.chance(40)) {  // one row or column
            auto dim = static_cast<size_t>(c_.below(now_.dimensions));
            int place = c_.between(0, 8);
            at[dim] = constant(Int(32), place);
            now_.touched[dim].include({place, place});
            loops.erase(loops.begin() + static_cast<long>(dim));
            // Only the pure variables that are left may be used.
            variables_.erase(variables_.begin() + static_cast<long>(dim));
        }
        Value old = self(at);
        old = {old.e, old.text, v.size, v.frac, v.error};
        Value next = shrink(combine(old, leaf(type, discrete), c_), c_);
        update(texts(at), exprs(at), {next}, loops);
        v = {next.e, "", std::max(v.size, next.size), std::max(v.frac, next.frac),
             std::max(v.error, next.error)};
        variables_.clear();
        for (int d = 0; d < now_.dimensions; d++)
            variables_.push_back({variable(Var(var_names[d]), var_names[d], 4096), d});
    }
    finish_func({v});
}

void Generator::scatter() {
    Type type = c_.of(all_types);
    define({constant(type, 5)});
    make_rdom(1, 12);
    Value r = variables_.back().value;
    int scale = c_.between(1, 3), offset = c_.between(0, 4) - 2;
    std::vector<Value> at = own_vars();
    auto dim = static_cast<size_t>(c_.below(now_.dimensions));
    at[dim] = plus({r.e * scale, r.text + " * " + std::to_string(scale)}, offset);
    variables_.erase(variables_.begin() + static_cast<long>(dim));
    Value v = shrink(expression(type, 2, type.is_int_or_uint()), c_);
    Interval range = rvar_ranges_[0];
    std::vector<std::string> loops = now_.vars;
    loops.erase(loops.begin() + static_cast<long>(dim));
    update(texts(at), exprs(at), {v}, loops);
    now_.touched[dim] = {range.low * scale + offset, range.high * scale + offset};
    finish_func({{v.e, "", std::max(5.0, v.size), v.frac, v.error}});
}

// ---- expressions

Value Generator::self(const std::vector<Value> &coordinates, int element) {
    FuncRef ref = now_.func(exprs(coordinates));
    std::string text = now_.name + "(" + texts(coordinates) + ")";
    if (ref.size() > 1)
        return {ref[element], text + "[" + std::to_string(element) + "]"};
    return {ref, text};
}

/// One coordinate. `reduce`: an RVar may be added.
Index Generator::index(const Variable *natural, bool reduce) {
    Index result;
    if (!natural) {
        int place = c_.between(0, 4);
        return {constant(Int(32), place), {}, {place, place}};
    }
    const Value &v = natural->value;
    int offset = c_.chance(60) ? c_.between(0, 4) - 2 : 0;
    int kind = c_.chance(35) ? c_.below(10) : 0;
    if ((kind == 4 || kind == 5) && ++resampled_ > 3)
        kind = 0;
    switch (kind) {
    case 4:
    case 5:  // down-sampling
        result.value = plus({v.e * 2, v.text + " * 2", v.size * 2}, offset);
        result.terms = {{natural->id, 2, 1, offset}};
        break;
    case 6:
    case 7: {  // up-sampling
        int by = c_.between(2, 3);
        Value shifted = plus(v, offset);
        result.value = {shifted.e / by, "(" + shifted.text + ") / " + std::to_string(by), v.size};
        result.terms = {{natural->id, 1, by, offset}};
        break;
    }
    case 8:  // mirrored
        result.value = {Expr(offset) - v.e, std::to_string(offset) + " - " + v.text, v.size};
        result.terms = {{natural->id, -1, 1, offset}};
        break;
    case 9: {
        int m = c_.between(1, 9);
        bool wrap = c_.chance(50);
        result.value =
            wrap ? Value{v.e % m, v.text + " % " + std::to_string(m), 9.0}
                 : Value{clamp(plus(v, offset).e, 0, m),
                         "clamp(" + plus(v, offset).text + ", 0, " + std::to_string(m) + ")", 9.0};
        result.rest = {0, wrap ? m - 1 : m};
        break;
    }
    default:
        result.value = plus(v, offset);
        result.terms = {{natural->id, 1, 1, offset}};
        break;
    }
    bool has_rvars = variables_.back().id >= now_.dimensions;
    if (reduce && has_rvars && natural->id < now_.dimensions && c_.chance(60)) {
        std::vector<Variable> rvars;
        for (const Variable &w : variables_) {
            if (w.id >= now_.dimensions)
                rvars.push_back(w);
        }
        const Variable &r = c_.of(rvars);
        result.value = {result.value.e + r.value.e, result.value.text + " + " + r.value.text};
        result.terms.push_back({r.id, 1, 1, 0});
    }
    return result;
}

/// A coordinate that depends on data.
Index Generator::gather() {
    Value v = leaf(Int(32), true);
    int low = c_.between(0, 3) - 2, high = low + c_.between(0, 12);
    std::string text =
        "clamp(" + v.text + ", " + std::to_string(low) + ", " + std::to_string(high) + ")";
    return {{clamp(v.e, low, high), text, 16.0}, {}, {low, high}};
}

Value Generator::access(int source, bool discrete, int element) {
    const Source &s = a_.sources[static_cast<size_t>(source)];
    if (element < 0)
        element = c_.below(static_cast<int>(s.elements.size()));
    Access access{source, {}};
    std::vector<Value> coordinates;
    bool transposed = s.dimensions > 1 && c_.chance(10);
    for (int d = 0; d < s.dimensions; d++) {
        int place = transposed && d < 2 ? 1 - d : d;
        const Variable *natural = nullptr;
        for (const Variable &v : variables_) {
            if (v.id == place)
                natural = &v;
        }
        if (!natural && !variables_.empty() && c_.chance(50))
            natural = &c_.of(variables_);
        Index i = discrete && c_.chance(4) ? gather() : index(natural, true);
        coordinates.push_back(i.value);
        access.coordinates.push_back(i);
    }
    accesses_.push_back(access);
    std::string text = s.name + "(" + texts(coordinates) + ")";
    Expr e;
    if (s.is_image) {
        e = s.image(exprs(coordinates));
    } else if (s.elements.size() > 1) {
        e = s.func(exprs(coordinates))[element];
        text += "[" + std::to_string(element) + "]";
    } else {
        e = s.func(exprs(coordinates));
    }
    const Value &bound = s.elements[static_cast<size_t>(element)];
    return {e, text, bound.size, bound.frac, bound.error};
}

Value Generator::leaf(Type type, bool discrete) {
    int kind = c_.below(12);
    if (kind == 9)
        return constant(type, c_.between(0, 9) - (type.is_uint() ? 0 : 4));
    if (kind == 10 && !variables_.empty())
        return convert(c_.of(variables_).value, type, c_);
    if (kind == 11)
        return convert({a_.param, "p", 100.0}, type, c_);
    // Mostly what was made last.
    int last = static_cast<int>(a_.sources.size()) - 1;
    int source = c_.chance(40) ? c_.below(last + 1) : last;
    // An image with a boundary is read through it only.
    if (!a_.sources[static_cast<size_t>(source)].fixed_box.empty())
        source++;
    const Source &s = a_.sources[static_cast<size_t>(source)];
    int element = c_.below(static_cast<int>(s.elements.size()));
    if (discrete && s.elements[static_cast<size_t>(element)].rough())
        return constant(type, 2);
    return convert(access(source, discrete, element), type, c_);
}

Value Generator::some_condition() {
    Value a = leaf(Int(32), true);
    Value b = c_.chance(50) ? constant(Int(32), c_.between(0, 20)) : leaf(Int(32), true);
    return condition(a, b, c_);
}

/// An update that mentions no RVar has no RDom.
Value Generator::with_rvar(const Value &v) {
    if (v.text.find(rvars_[0].text.substr(0, rvars_[0].text.find('.') + 1)) != std::string::npos)
        return v;
    return add(v, convert(variables_[variables_.size() - rvars_.size()].value, v.type(), c_), c_);
}

Value Generator::expression(Type type, int leaves, bool discrete) {
    Value v = leaf(type, discrete);
    for (int i = 1; i < leaves; i++) {
        Value w = leaf(type, discrete);
        int kind = c_.below(8);
        if (kind <= 3) {
            v = add(v, w, c_);
        } else if (kind <= 5) {
            v = combine(v, w, c_);
        } else if (kind == 6) {
            v = choose(some_condition(), v, w);
        } else {
            v = modify(v, c_, !discrete);
        }
    }
    return v;
}

}  // namespace

Algorithm generate(Choices &choices) {
    Algorithm algorithm;
    Generator(choices, algorithm).run();
    return algorithm;
}

}  // namespace Pipe::fuzz
