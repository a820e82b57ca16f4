// The kinds of Funcs.
#include "fuzz/generator.h"

#include <algorithm>

#include "fuzz/extern_stage.h"

namespace Pipe::fuzz {

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

/// Of narrower operands: where processors add up terms in groups (ir/narrow_term.h).
Value Generator::narrow_term(Type type) {
    const Type narrow = type.is_int() ? c_.of<Type>({UInt(8), Int(8), Int(16)}) : UInt(8);
    auto operand = [&](Type t) { return shrink(with_rvar(expression(t, 1, true)), c_); };
    const std::string cast_to = short_name(type) + "(";
    if (type.bits() == 32 && c_.chance(50)) {
        const Value a = operand(narrow), b = operand(narrow);
        return {cast(type, a.e) * cast(type, b.e),
                "(" + cast_to + a.text + ") * " + cast_to + b.text + "))", a.size * b.size};
    }
    const Value a = operand(UInt(8)), b = operand(UInt(8));
    return {cast(type, absd(a.e, b.e)), cast_to + "absd(" + a.text + ", " + b.text + "))",
            std::max(a.size, b.size)};
}

void Generator::reduction() {
    Type type = c_.of(all_types);
    bool discrete = type.is_int_or_uint();
    Value initial = c_.chance(50) ? constant(type, c_.between(0, 9))
                                  : shrink(expression(type, 1, discrete), c_);
    define({initial});
    RDom r = make_rdom(c_.between(1, 2), 6);
    const bool is_narrow = discrete && type.bits() >= 16 && c_.chance(25);
    Value term = is_narrow ? narrow_term(type)
                           : shrink(with_rvar(expression(type, c_.between(1, 2), discrete)), c_);
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
    now_.stages.back().associative = true;
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
    now_.reads_through_another = true;
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
    now_.touched[0] = {0, bins - 1};
    if (rvar_ranges_.size() == 2 && c_.chance(60)) {
        // no clamp: lanes of one RVar lie as far apart as the other says, which may be 0
        const auto r = variables_.end() - 2;
        const auto [a, b] = std::pair(rvar_ranges_[0], rvar_ranges_[1]);
        coordinates[0] = {r[0].value.e * r[1].value.e, r[0].value.text + " * " + r[1].value.text};
        now_.touched[0] = {a.low * b.low, a.low * b.low};
        for (int corner : {a.low * b.high, a.high * b.low, a.high * b.high})
            now_.touched[0].include({corner, corner});
    } else {
        Value bin = with_rvar(leaf(Int(32), true));
        coordinates[0] = {clamp(bin.e, 0, bins - 1),
                          "clamp(" + bin.text + ", 0, " + std::to_string(bins - 1) + ")"};
    }
    size_t on_the_left = accesses_.size();
    Value weight = c_.chance(70) ? constant(type, 1) : shrink(leaf(type, true), c_);
    Value old = self(coordinates);
    Value next{old.e + weight.e, old.text + " + " + weight.text};
    std::vector<std::string> loops(now_.vars.begin() + 1, now_.vars.end());
    update(texts(coordinates), exprs(coordinates), {next}, loops);
    now_.stages.back().combines = type.is_int_or_uint();
    now_.stages.back().associative = true;
    now_.stages.back().on_the_left = on_the_left;
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

/// Each point of a rectangle from another one at a fixed distance, computed before it or after it: the
/// order of the two RVars counts.
void Generator::scan_in_plane() {
    Type type = c_.of(all_types);
    Value initial = shrink(expression(type, c_.between(1, 2), type.is_int_or_uint()), c_);
    define({initial});
    make_rdom(2, 8);
    std::vector<Value> to = own_vars(), from = own_vars();
    std::vector<std::string> loops = now_.vars;
    for (size_t d : {size_t(1), size_t(0)}) {
        int distance = c_.between(0, 4) - 2;
        Interval range = rvar_ranges_[d];
        to[d] = variables_[static_cast<size_t>(now_.dimensions) + d].value;
        from[d] = plus(to[d], distance);
        now_.touched[d] = {range.low + std::min(distance, 0), range.high + std::max(distance, 0)};
        loops.erase(loops.begin() + static_cast<long>(d));
    }
    Value a = self(to), b = self(from);
    Value next{a.e + b.e, a.text + " + " + b.text};
    update(texts(to), exprs(to), {next}, loops);
    finish_func({{next.e, "", 16 * initial.size, initial.frac,
                  initial.error * 16 + (initial.rough() ? 0.05 : 0)}});
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

/// See extern_stage.h.
void Generator::extern_stage() {
    std::vector<int> readable;
    for (size_t i = 0; i < a_.sources.size(); i++) {
        const Source &s = a_.sources[i];
        if (s.elements.size() == 1 && s.fixed_box.empty())
            readable.push_back(static_cast<int>(i));
    }
    if (readable.empty())
        return pure();
    int from = c_.chance(60) ? readable.back() : c_.of(readable);
    const Source s = a_.sources[static_cast<size_t>(from)];
    begin_func(std::stoi(now_.name.substr(1)), s.dimensions);
    int reach = c_.below(4);
    now_.is_extern = true;
    now_.rounding = c_.of<int>({1, 1, 4, 3});
    std::vector<Var> vars(now_.vars.begin(), now_.vars.end());
    ExternFuncArgument in = s.is_image ? ExternFuncArgument(s.image) : ExternFuncArgument(s.func);
    Type type = s.is_image ? s.image.type() : s.func.type();
    now_.func.define_extern(shuffle_name, {in, reach, now_.rounding}, type, vars);
    a_.text.push_back(now_.name + ".define_extern(\"" + shuffle_name + "\", {" + s.name + ", " +
                      std::to_string(reach) + ", " + std::to_string(now_.rounding) + "}, " +
                      to_string(type) + ", {" + join(now_.vars) + "});");
    Access access{from, {}, false};
    for (int d = 0; d < s.dimensions; d++)
        access.coordinates.push_back({{}, {{d, 1, 1, 0}}, {0, 0}});
    access.coordinates[0].rest = {-reach, reach};
    StageInfo stage;
    stage.accesses.push_back(access);
    now_.stages.push_back(stage);
    finish_func(s.elements);
}

}  // namespace Pipe::fuzz
