// The expressions that Funcs are made of.
#include "fuzz/generator.h"

namespace Pipe::fuzz {

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
    case 6: {  // up-sampling
        int by = c_.between(2, 3);
        Value shifted = plus(v, offset);
        result.value = {shifted.e / by, "(" + shifted.text + ") / " + std::to_string(by), v.size};
        result.terms = {{natural->id, 1, by, offset}};
        break;
    }
    case 7: {  // the second tap of an up-sampling: the nearer neighbor, or the one above
        bool nearer = c_.chance(50);
        Expr odd = v.e % 2, half = v.e / 2;
        std::string odd_text = v.text + " % 2", half_text = v.text + " / 2";
        result.value = nearer ? Value{half - 1 + odd * 2, half_text + " - 1 + " + odd_text + " * 2",
                                      v.size + 1}
                              : Value{half + odd, half_text + " + " + odd_text, v.size};
        result.terms = {{natural->id, 1, 2, 0}};
        result.rest = {nearer ? -1 : 0, 1};
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
    Access access{source, {}, false};
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
    // What stands for the contents of an image: the number of the image that is set.
    access.tagged = a_.tagged && (s.is_image || s.boundary);
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
    if (access.tagged) {
        e = memoize_tag(e, {a_.version, a_.param});  // the coordinates may depend on the Param
        text = "memoize_tag(" + text + ", version, p)";
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
    int source = c_.chance(wide_ ? 90 : 40) ? c_.below(last + 1) : last;
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
    if (c_.chance(8)) {  // the end of the type as infinity, which nothing may be added to
        const Value infinity = constant(Int(32), c_.chance(50) ? -INT32_MAX : INT32_MAX);
        a = choose(condition(a, b, c_), leaf(Int(32), true), infinity);
        b = add(b, constant(Int(32), c_.between(-3, 3)), c_);
        b = add(b, leaf(Int(32), true), c_);
    }
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

}  // namespace Pipe::fuzz
