#include "apps/multigrid/multigrid.h"

#include "apps/common/gpu.h"
#include "apps/common/pyramid.h"

namespace apps {
using namespace dsl;

Multigrid::Multigrid(const Options &options_)
    : options(options_), guess(Float(64), options_.dimensions, "guess"),
      right_hand_side(Float(64), options_.dimensions, "right_hand_side"), p{{"x"}, {"y"}} {
    if (options.dimensions == 3)
        p.emplace_back("z");
    inputs = {guess, right_hand_side};

    const int finest = options.levels - 1;
    Grid v;
    v.inner = guess;
    v.whole = guess;
    v = cycle(v, right_hand_side, finest);
    out(p) = at_p(v.whole);
    stages.push_back(out);
    keep(false);  // the output is the same
    kept.push_back(true);
    level_of.push_back(finest);
}

// The recursion of section 8.1.
Multigrid::Grid Multigrid::cycle(Grid v, const Func &f, int level) {
    if (level == 0) {
        v = smoothed(v, f, level, options.coarsest);
        keep();
        return v;
    }
    v = smoothed(v, f, level, options.before);
    keep();  // also the correction reads it
    // without a step on the coarsest grid there is nothing to correct with
    if (level > 1 || options.coarsest > 0) {
        const Func coarse = restricted(residual(v, f, level), level - 1);
        keep();
        level_of.back() = level;  // what it reads
        Grid error = cycle(Grid(), coarse, level - 1);
        if (options.w_cycle)
            error = cycle(error, coarse, level - 1);
        v = corrected(v, error, level);
    } else if (options.w_cycle) {
        // nothing: both visits leave 0
    }
    v = smoothed(v, f, level, options.after);
    keep();
    return v;
}

// w = v - c (A v - f); from the guess 0, w = c f.
Multigrid::Grid Multigrid::smoothed(Grid v, const Func &f, int level, int steps) {
    const double omega = options.dimensions == 2 ? 4.0 / 5 : 8.0 / 9;
    const Expr c = Expr(omega / (2 * options.dimensions)) / (inverse_h(level) * inverse_h(level));
    for (int i = 0; i < steps; ++i) {
        const Expr value =
            v.zero() ? c * at_p(f) : at_p(v.whole) - c * (operator_at_p(v.whole, level) - at_p(f));
        v = stage("smoothed", level, value);
    }
    return v;
}

Func Multigrid::residual(const Grid &v, const Func &f, int level) {
    return stage("residual", level, at_p(f) - operator_at_p(v.whole, level)).inner;
}

// Full weighting: 1/4, 1/2, 1/4 along every dimension. Interior points read interior points only.
Func Multigrid::restricted(const Func &fine, int level) {
    Func along = fine;
    for (int d = 0; d < options.dimensions; ++d) {
        Func next;
        next(p) =
            (moved(along, p, d, 2 * p[d] - 1) + moved(along, p, d, 2 * p[d] + 1)) * Expr(0.25) +
            moved(along, p, d, 2 * p[d]) * Expr(0.5);
        along = next;
    }
    return stage("restricted", level, at_p(along)).inner;
}

Multigrid::Grid Multigrid::corrected(const Grid &v, const Grid &error, int level) {
    Func along = error.whole;
    for (int d = 0; d < options.dimensions; ++d) {
        Func next;
        next(p) = up_linear(along, p, d);
        along = next;
    }
    return stage("corrected", level, at_p(v.whole) + at_p(along));
}

Multigrid::Grid Multigrid::stage(const char *name, int level, const Expr &value) {
    Grid grid;
    grid.inner =
        Func(std::string(name) + "_" + std::to_string(level) + "_" + std::to_string(stages.size()));
    grid.inner(p) = value;
    grid.whole = with_boundary(grid.inner, level);
    stages.push_back(grid.inner);
    kept.push_back(false);
    level_of.push_back(level);
    return grid;
}

// On the finest level the boundary is the guess's, on the others 0.
Func Multigrid::with_boundary(const Func &inner, int level) const {
    Expr inside;
    std::vector<Expr> clamped;
    for (const Var &v : p) {
        const Expr within = v >= 1 && v <= points(level);
        inside = inside.defined() ? inside && within : within;
        clamped.push_back(clamp(v, 1, points(level)));
    }
    const bool finest = level == options.levels - 1;
    Func whole;
    whole(p) = select(inside, likely(inner(clamped)), finest ? at_p(guess) : Expr(0.0));
    return whole;
}

Expr Multigrid::points(int level) const {
    // N = 2 N' + 1 from each level to the next finer one
    const int halvings = options.levels - 1 - level;
    return (guess.dim(0).extent() - 1) / (1 << halvings) - 1;
}

Expr Multigrid::inverse_h(int level) const {
    return cast<double>(points(level) + 1);
}

Expr Multigrid::operator_at_p(const Func &v, int level) const {
    Expr neighbors;
    for (int d = 0; d < options.dimensions; ++d) {
        const Expr pair = moved(v, p, d, p[d] - 1) + moved(v, p, d, p[d] + 1);
        neighbors = neighbors.defined() ? neighbors + pair : pair;
    }
    return (Expr(2.0 * options.dimensions) * at_p(v) - neighbors) *
           (inverse_h(level) * inverse_h(level));
}

Expr Multigrid::at_p(const Func &f) const {
    return f(std::vector<Expr>(p.begin(), p.end()));
}

// On the fine levels, up to five stages together, the last of which is stored: in parallel strips of rows, or
// planes, that are tiled along the dimension before; of the others the last few rows (planes) of the tile slide
// along. The grids of the coarse levels fit into the caches: every one is stored.
void Multigrid::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    const bool planes = options.dimensions == 3;
    const int fine = planes ? options.levels - 1 : options.levels - 2;
    const Var &slides = p.back(), &tiled = p[p.size() - 2];
    const Var strip("strip"), in_strip("in_strip"), tile("tile"), in_tile("in_tile");
    Func last;
    int together = 0;
    for (size_t i = stages.size(); i-- > 0;) {
        if (level_of[i] < fine) {
            stages[i].compute_root().vectorize(p[0], vec).parallel(slides, planes ? 4 : 16);
        } else if (!kept[i] && ++together < 5) {
            stages[i].store_at(last, tile).compute_at(last, in_strip).vectorize(p[0], vec);
        } else {
            last = stages[i];
            together = 0;
            last.compute_root()
                .split(slides, strip, in_strip, planes ? 64 : 128)
                .split(tiled, tile, in_tile, planes ? 32 : 1024)
                .reorder(in_tile, in_strip, tile, strip)
                .parallel(strip)
                .vectorize(planes ? p[0] : in_tile, vec);
        }
    }
}

// One kernel for each stage that is kept, with the one before it in shared memory.
void Multigrid::schedule_for_gpu(const Target &) {
    for (Func f : stages) {
        f.compute_root();
        const std::vector<Var> others(p.begin() + 2, p.end());
        GPUKernel{f, p[0], p[1], others}.schedule({.width = 32, .height = 8});
    }
}

}  // namespace apps
