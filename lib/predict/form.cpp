#include "predict/form.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace Pipe::predict {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether lanes may take different branches, or differ unevenly after an operation that is not linear.
bool has_lanes(const Form &f) {
    return f.lane_step != 0 || !f.even;
}

void merge_data(Form &result, const Form &other) {
    result.data |= other.data;
    result.loops |= other.loops;
}

double wrapped(double value, double modulus) {
    return value - modulus * std::floor(value / modulus);
}

double greatest_common_divisor(double a, double b) {
    while (b > 0.5)
        a = std::exchange(b, std::fmod(a, b));
    return a;
}

/// E[max(d, 0)] and P[d > 0] over the iterations.
struct Positive {
    double mean = 0, chance = 0;
};

Positive positive_of_one_term(const Form &d) {
    const Term &t = d.terms[0];
    const double n = std::max(1.0, t.distinct), step = std::abs(t.step);
    if (step == 0)
        return {std::max(d.mean, 0.0), d.mean > 0 ? 1.0 : 0.0};
    const double largest = d.mean + step * (n - 1) / 2;
    // d takes largest, largest - step, ..: how many are positive
    const double count = std::clamp(std::ceil(largest / step), 0.0, std::ceil(n));
    const double share = std::min(1.0, count / n);
    return {share * std::max(0.0, largest - step * (count - 1) / 2), share};
}

Positive positive(const Form &d) {
    if (d.data)
        return {std::max(d.mean, 0.0), 0.5};
    if (d.terms.empty() && d.linear)
        return {std::max(d.mean, 0.0), d.mean > 0 ? 1.0 : 0.0};
    double reach = 0;
    for (const Term &t : d.terms)
        reach += std::abs(t.step) * (t.distinct - 1) / 2;
    if (d.linear && d.mean - reach > 0)
        return {d.mean, 1};
    if (d.linear && d.mean + reach <= 0)
        return {0, 0};
    if (d.terms.size() == 1 && d.linear)
        return positive_of_one_term(d);
    Positive result;
    for (double sample : d.samples) {
        result.mean += std::max(sample, 0.0) / double(d.samples.size());
        result.chance += (sample > 0 ? 1.0 : 0.0) / double(d.samples.size());
    }
    return result;
}

template <typename F> void each_sample(Form &r, const Form &a, const Form &b, F &&f) {
    for (size_t i = 0; i < r.samples.size(); i++)
        r.samples[i] = static_cast<float>(f(a.samples[i], b.samples[i]));
}

}  // namespace

Form Form::constant(double value) {
    Form f;
    f.value = f.mean = f.lo = f.hi = value;
    f.samples.fill(static_cast<float>(value));
    return f;
}

/// The i-th sample is in iteration i * (an irrational number, another one for each loop) modulo the iterations.
Form Form::counter(int depth, double trips) {
    constexpr double spread[] = {0.6180339887, 0.4142135624, 0.7320508076, 0.2360679775,
                                 0.6457513111, 0.3166247904, 0.6055512755};
    Form f = constant(std::floor((trips - 1) / 2));
    f.mean = (trips - 1) / 2;
    if (trips <= 1) {
        f.loops = loop_bit(depth);
        return f;
    }
    f.terms.push_back({depth, 1, trips});
    for (size_t i = 0; i < f.samples.size(); i++)
        f.samples[i] = static_cast<float>(std::floor(
            trips * wrapped((double(i) + 0.5) * spread[size_t(depth) % std::size(spread)], 1)));
    return f;
}

double Form::mean_of_samples() const {
    double sum = 0;
    for (double sample : samples)
        sum += sample;
    return sum / double(samples.size());
}

Form Form::unknown(double lo, double hi, uint64_t loops) {
    Form f;
    f.data = true;
    f.linear = false;
    f.lo = lo, f.hi = hi;
    f.loops = loops;
    const bool bounded = lo > -infinity && hi < infinity;
    f.value = f.mean = bounded ? (lo + hi) / 2 : std::clamp(0.0, lo, hi);
    f.samples.fill(static_cast<float>(f.mean));
    return f;
}

const Term *Form::find(int loop) const {
    for (const Term &t : terms)
        if (t.loop == loop)
            return &t;
    return nullptr;
}

uint64_t Form::depends_on() const {
    uint64_t result = loops;
    for (const Term &t : terms)
        result |= loop_bit(t.loop);
    return result;
}

int Form::depth() const {
    int result = -1;
    for (int d = 0; d < 64; d++)
        if (depends_on() >> d & 1)
            result = d;
    return result;
}

Form sum(const Form &a, const Form &b, double factor) {
    Form r = a;
    r.value += factor * b.value;
    r.mean += factor * b.mean;
    each_sample(r, a, b, [&](double x, double y) { return x + factor * y; });
    r.lane_step += factor * b.lane_step;
    r.even &= b.even;
    r.linear &= b.linear;
    merge_data(r, b);
    if (a.data || b.data) {
        const double b_lo = b.data ? b.lo : b.mean, b_hi = b.data ? b.hi : b.mean;
        r.lo = (a.data ? a.lo : a.mean) + factor * (factor > 0 ? b_lo : b_hi);
        r.hi = (a.data ? a.hi : a.mean) + factor * (factor > 0 ? b_hi : b_lo);
    }
    for (const Term &t : b.terms) {
        auto same = std::find_if(r.terms.begin(), r.terms.end(),
                                 [&](const Term &u) { return u.loop == t.loop; });
        if (same == r.terms.end()) {
            auto place = std::find_if(r.terms.begin(), r.terms.end(),
                                      [&](const Term &u) { return u.loop > t.loop; });
            r.terms.insert(place, {t.loop, factor * t.step, t.distinct});
            continue;
        }
        same->step += factor * t.step;
        same->distinct = std::max(same->distinct, t.distinct);
        if (same->step == 0)
            r.terms.erase(same);
    }
    return r;
}

Form product(const Form &a, const Form &b) {
    if (!b.is_constant() && a.is_constant())
        return product(b, a);
    Form r = a;
    r.value = a.value * b.value;
    r.mean = a.mean * b.mean;
    each_sample(r, a, b, [](double x, double y) { return x * y; });
    for (Term &t : r.terms)
        t.step *= b.value;
    std::erase_if(r.terms, [](const Term &t) { return t.step == 0; });
    r.lane_step = a.lane_step * b.value;
    if (a.data) {
        r.lo = std::min(a.lo * b.value, a.hi * b.value);
        r.hi = std::max(a.lo * b.value, a.hi * b.value);
    }
    if (b.is_constant())
        return r;
    Form other = b;
    for (Term &t : other.terms)
        t.step *= a.value;
    other.lane_step = b.lane_step * a.value;
    other.value = other.mean = 0;
    other.samples.fill(0);
    Form both = sum(r, other, 1);
    both.mean = both.mean_of_samples();
    both.even &= !(has_lanes(a) && has_lanes(b));
    both.linear = false;
    if (both.data)
        both.lo = -infinity, both.hi = infinity;
    return both;
}

Form quotient(const Form &a, const Form &b, bool integers) {
    if (b.value == 0)
        return Form::constant(0);
    Form r = product(a, Form::constant(1 / b.value));
    if (!b.is_constant()) {
        r.loops |= b.depends_on();
        r.data |= b.data || !b.terms.empty();
        r.linear = false;
        r.even &= !has_lanes(a) && !has_lanes(b);
    }
    return integers ? rounded(r, 1 / std::abs(b.value)) : r;
}

Form rounded(Form r, double unit) {
    // What is cut off is the same in all iterations if all steps are whole; else it is half of what can be cut off.
    const double whole = std::floor(r.value + 1e-9);
    const bool same = !r.data && std::all_of(r.terms.begin(), r.terms.end(), [](const Term &t) {
        return std::abs(t.step - std::round(t.step)) < 1e-9;
    });
    const bool linear = r.linear;
    each_sample(r, r, r, [](double x, double) { return std::floor(x + 1e-4); });
    r.mean -= same ? r.value - whole : (1 - unit) / 2;
    if (!linear)
        r.mean = r.mean_of_samples();
    r.value = whole;
    r.even &= r.lane_step == std::floor(r.lane_step);
    r.linear = false;
    for (Term &t : r.terms) {
        const double step = std::abs(t.step);
        if (step >= 1 || step == 0)
            continue;
        t.distinct = std::max(1.0, t.distinct * step);
        t.step = t.step < 0 ? -1 : 1;
    }
    return r;
}

Form remainder(const Form &a, const Form &b) {
    const double m = std::abs(b.value);
    if (m == 0)
        return Form::constant(0);
    if (!b.is_constant() || a.data) {
        Form r = Form::unknown(0, m - 1, a.depends_on() | b.depends_on());
        r.even = !has_lanes(a) && !has_lanes(b);
        return r;
    }
    Form r = a;
    r.value = wrapped(a.value, m);
    each_sample(r, a, a, [&](double x, double) { return wrapped(x, m); });
    r.linear = false;
    double reach = 0;
    for (const Term &t : a.terms)
        reach += std::abs(t.step) * (t.distinct - 1) / 2;
    const double least = wrapped(a.mean - reach, m);
    if (least + 2 * reach < m) {  // no iteration wraps
        r.mean = wrapped(a.mean, m);
    } else {
        r.mean = (m - 1) / 2;
        for (Term &t : r.terms) {
            const double step = wrapped(std::abs(t.step), m);
            t.distinct = step == 0 ? 1 : std::min(t.distinct, m / greatest_common_divisor(m, step));
            t.step = step;
        }
        std::erase_if(r.terms, [](const Term &t) { return t.step == 0; });
    }
    if (has_lanes(a)) {
        r.lane_step = wrapped(std::abs(a.lane_step), m);
        r.even = a.even && r.lane_step == 0;
    }
    return r;
}

Form smaller(const Form &a, const Form &b) {
    return sum(Form::constant(0),
               larger(sum(Form::constant(0), a, -1), sum(Form::constant(0), b, -1)), -1);
}

Form larger(const Form &a, const Form &b) {
    Form d = sum(a, b, -1);
    const Positive p = positive(d);
    Form r = p.chance >= 0.5 ? a : b;
    const bool certain = p.chance <= 0 || p.chance >= 1;
    r.mean = b.mean + p.mean;
    each_sample(r, a, b, [](double x, double y) { return std::max(x, y); });
    if (!a.linear || !b.linear)
        r.mean = r.mean_of_samples();
    r.linear = certain && r.linear;
    r.even = r.even && !has_lanes(d);
    if (a.data || b.data) {
        const double lo = std::max(a.data ? a.lo : a.mean, b.data ? b.lo : b.mean);
        const double hi = std::max(a.data ? a.hi : a.mean, b.data ? b.hi : b.mean);
        const bool lanes = has_lanes(a) || has_lanes(b);
        r = Form::unknown(lo, hi, d.depends_on());
        r.even = !lanes;
    }
    return r;
}

Form select(const Form &condition, const Form &t, const Form &f) {
    const double p = std::clamp(condition.mean, 0.0, 1.0);
    Form r = p >= 0.5 ? t : f;
    r.mean = p * t.mean + (1 - p) * f.mean;
    for (size_t i = 0; i < r.samples.size(); i++)
        r.samples[i] = condition.samples[i] > 0.5f ? t.samples[i] : f.samples[i];
    const bool certain = (p == 0 || p == 1) && !condition.data;
    r.linear &= certain;
    r.even &= !has_lanes(condition);
    if (condition.data || (!certain && (t.data || f.data))) {
        const double lo = std::min(t.data ? t.lo : t.mean, f.data ? f.lo : f.mean);
        const double hi = std::max(t.data ? t.hi : t.mean, f.data ? f.hi : f.mean);
        const bool even = r.even;
        const Form guess = r;
        r = Form::unknown(lo, hi, condition.depends_on() | t.depends_on() | f.depends_on());
        r.even = even;
        r.value = guess.value, r.mean = guess.mean;
    }
    return r;
}

namespace {

/// A condition that is true in this share of the iterations.
template <typename F> Form condition(const Form &difference, double chance, F &&holds) {
    Form r = Form::constant(chance >= 0.5 ? 1 : 0);
    r.mean = chance;
    each_sample(r, difference, difference, [&](double x, double) { return holds(x) ? 1 : 0; });
    r.linear = false;
    if (chance > 0 && chance < 1) {
        r.loops = difference.depends_on();
        r.data = difference.data;
    }
    r.even = !has_lanes(difference);
    return r;
}

}  // namespace

Form less(const Form &a, const Form &b) {
    const Form d = sum(b, a, -1);
    if (d.data && (d.lo > 0 || d.hi <= 0))
        return condition(d, d.lo > 0 ? 1 : 0, [&](double) { return d.lo > 0; });
    return condition(d, positive(d).chance, [](double x) { return x > 0; });
}

Form equals(const Form &a, const Form &b) {
    const Form d = sum(b, a, -1);
    if (d.data)
        return condition(d, d.lo > 0 || d.hi < 0 ? 0 : 0.25, [](double) { return false; });
    double reach = 0, distinct = 1;
    for (const Term &t : d.terms) {
        reach += std::abs(t.step) * (t.distinct - 1) / 2;
        distinct *= std::max(1.0, t.distinct);
    }
    const bool possible = std::abs(d.mean) <= reach + 1e-9;
    return condition(d, possible ? 1 / distinct : 0, [](double x) { return std::abs(x) < 0.5; });
}

Form both(const Form &a, const Form &b) {
    const double chance = std::clamp(a.mean, 0.0, 1.0) * std::clamp(b.mean, 0.0, 1.0);
    Form r = Form::constant(chance >= 0.5 ? 1 : 0);
    r.mean = chance;
    each_sample(r, a, b, [](double x, double y) { return x * y; });
    r.linear = false;
    r.data = (a.data || b.data) && chance > 0 && chance < 1;
    r.loops = a.loops | b.loops;
    r.even = a.even && b.even;
    return r;
}

Form negation(const Form &a) {
    Form r = a;
    r.mean = 1 - std::clamp(a.mean, 0.0, 1.0);
    each_sample(r, a, a, [](double x, double) { return 1 - x; });
    r.value = r.mean >= 0.5 ? 1 : 0;
    return r;
}

}  // namespace Pipe::predict
