#include "apps/lens_blur/lens_blur.h"

#include "apps/common/gpu.h"
#include "apps/common/pyramid.h"

#include <algorithm>

namespace apps {
using namespace dsl;

LensBlur::LensBlur(const Options &options_)
    : options(options_), left(UInt(8), 3, "left"), right(UInt(8), 3, "right"),
      pushy(level_funcs("pushy", options.levels)), push(level_funcs("push", options.levels)),
      pully(level_funcs("pully", options.levels)), pullx(level_funcs("pullx", options.levels)),
      pull(level_funcs("pull", options.levels)), s(0, options_.samples, "s") {
    auto edged = [](const ImageParam &image) {
        return BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
    };
    const Func l = edged(left);
    find_costs(l, edged(right));
    smooth_costs();
    find_depth();
    render(l);
    list_stages();
}

int LensBlur::largest_radius() const {
    return int(float(std::max(options.slices - options.focus, options.focus)) * options.scale);
}

void LensBlur::find_costs(const Func &l, const Func &r) {
    diff(x, y, z, c) =
        min(absd(l(x, y, c), r(x + 2 * z, y, c)), absd(l(x, y, c), r(x + 2 * z + 1, y, c)));
    auto squared = [](const Expr &e) { return e * e; };
    cost(x, y, z) = squared(cast<float>(diff(x, y, z, 0))) +
                    squared(cast<float>(diff(x, y, z, 1))) + squared(cast<float>(diff(x, y, z, 2)));
    // the variance over the depths: of a pixel without texture all are alike
    const RDom d(0, options.slices, "d");
    cost_sums(x, y) = Tuple(0.0f, 0.0f);
    cost_sums(x, y) =
        Tuple(cost_sums(x, y)[0] + squared(cost(x, y, d)), cost_sums(x, y)[1] + cost(x, y, d));
    const float count = float(options.slices);
    confidence(x, y) = cost_sums(x, y)[0] / count - squared(cost_sums(x, y)[1] / count);
}

void LensBlur::smooth_costs() {
    const std::vector<Var> at = {x, y, z, c};
    push[0](x, y, z, c) = select(c == 0, cost(x, y, z) * confidence(x, y), confidence(x, y));
    std::vector<Func> seen = {push[0]};
    for (int l = 1; l < options.levels; ++l) {
        pushy[l](x, y, z, c) = down_1331(seen[l - 1], at, 1);
        push[l](x, y, z, c) = down_1331(pushy[l], at, 0);
        seen.push_back(BoundaryConditions::repeat_edge(
            push[l], {{0, left.width() / (1 << l)}, {0, left.height() / (1 << l)}}));
    }
    const int last = options.levels - 1;
    pull[last](x, y, z, c) = seen[last](x, y, z, c);
    for (int l = last - 1; l >= 0; --l) {
        pully[l](x, y, z, c) = up_31(pull[l + 1], at, 1);
        pullx[l](x, y, z, c) = up_31(pully[l], at, 0);
        pull[l](x, y, z, c) = 0.5f * pullx[l](x, y, z, c) + 0.5f * seen[l](x, y, z, c);
    }
    filtered_cost(x, y, z) = pull[0](x, y, z, 0) / pull[0](x, y, z, 1);
}

void LensBlur::find_depth() {
    const RDom d(0, options.slices, "d");
    depth(x, y) = argmin(d, filtered_cost(x, y, d))[0];
    bokeh(x, y) = abs(cast<float>(depth(x, y)) - float(options.focus)) * options.scale;
    const int radius = largest_radius();
    const RDom r(-radius, 2 * radius + 1, "r");
    worst_y(x, y) = maximum(r, bokeh(x, y + r));
    worst(x, y) = maximum(r, worst_y(x + r, y));
}

void LensBlur::render(const Func &l) {
    const int radius = largest_radius();
    // docs/benchmarks.md, "Applications"
    auto hash = [&](const Expr &k) {
        const Expr mixed = (cast<uint32_t>(x) * Expr(73856093u)) ^
                           (cast<uint32_t>(y) * Expr(19349663u)) ^
                           (cast<uint32_t>(k) * Expr(83492791u));
        return mixed * Expr(2654435761u);
    };
    auto offset = [&](const Expr &k) {
        const Expr random = cast<float>(hash(k) >> 8) * (1.0f / (1 << 24));
        return clamp(cast<int>((random - 0.5f) * 2.0f * worst(x, y)), -radius, radius);
    };
    sample_u(x, y, n) = offset(2 * n);
    sample_v(x, y, n) = offset(2 * n + 1);

    const Expr u = sample_u(x, y, n), v = sample_v(x, y, n);
    const Expr distance = cast<float>(u * u + v * v);
    const Expr here = bokeh(x, y) * bokeh(x, y), there = bokeh(x + u, y + v) * bokeh(x + u, y + v);
    const Expr reached = distance < here || depth(x + u, y + v) < depth(x, y);
    weight(x, y, n) = select(reached && distance < there, 1.0f, 0.0f);

    input(x, y, c) = select(c == 3, 255.0f, cast<float>(l(x, y, min(c, 2))));
    sums(x, y, c) = input(x, y, c);
    sums(x, y, c) += weight(x, y, s) * input(x + sample_u(x, y, s), y + sample_v(x, y, s), c);
    blurred(x, y, c) = sums(x, y, c) / sums(x, y, 3);
}

void LensBlur::list_stages() {
    inputs = {left, right};
    stages = {diff, cost, cost_sums, confidence, push[0]};
    for (int l = 1; l < options.levels; ++l)
        stages.insert(stages.end(), {pushy[l], push[l]});
    stages.push_back(pull[options.levels - 1]);
    for (int l = options.levels - 2; l >= 0; --l) {
        stages.insert(stages.end(), {pully[l], pullx[l], pull[l]});
    }
    stages.insert(stages.end(), {filtered_cost, depth, bokeh, worst_y, worst, sample_u, sample_v,
                                 weight, input, sums, blurred});
}

// The levels of the cost volume are stored, rows in parallel, but not the finest: what the two pictures cost is
// found again faster than it is fetched from memory. The picture is rendered by rows.
void LensBlur::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    for (int l = 0; l < options.levels; ++l) {
        if (l > 0) {
            push[l].compute_root().reorder(c, x, z, y).bound(c, 0, 2).unroll(c).vectorize(x, vec);
            push[l].parallel(y, l < 4 ? 8 : 1);
            pushy[l].compute_at(push[l], z).vectorize(x, vec);
        }
        if (l > 0 || l == options.levels - 1) {
            pull[l].compute_root().vectorize(x, vec).reorder(x, c, z, y).parallel(y, l < 4 ? 8 : 1);
        }
        if (l < options.levels - 1 && l > 0)
            pully[l].compute_at(pull[l], y).vectorize(x, vec);
    }
    confidence.compute_root().vectorize(x, vec).parallel(y, 8);
    cost_sums.compute_at(confidence, y).vectorize(x, vec);
    cost_sums.update().vectorize(x, vec);
    depth.compute_root().vectorize(x, vec).parallel(y, 8);
    worst_y.compute_root().vectorize(x, vec).parallel(y, 8);
    worst.compute_root().vectorize(x, vec).parallel(y, 8);
    input.compute_root().vectorize(x, vec).parallel(y, 8);

    blurred.bound(c, 0, 3).reorder(x, c, y).vectorize(x, vec).parallel(y, 8);
    sums.compute_at(blurred, y).bound(c, 0, 4).vectorize(x, vec);
    sums.update().reorder(c, x, s, y).unroll(c).vectorize(x, vec);
    for (Func f : {sample_u, sample_v, weight})
        f.compute_at(sums, s).vectorize(x, vec);
}

// One kernel for each level of the cost volume and each way, one for the depths, and three for the rest. What the two
// pictures cost at the finest level is found again faster than it is fetched from memory.
void LensBlur::schedule_for_gpu(const Target &) {
    const GPUTile tile{.width = 32, .height = 8};
    for (int l = 1; l < options.levels; ++l) {
        push[l].compute_root().bound(c, 0, 2);
        GPUKernel down{push[l], x, y, {z}};
        down.schedule(tile, {c});
        down.share(pushy[l]);
        pull[l].compute_root().bound(c, 0, 2);
        GPUKernel{pull[l], x, y, {z}}.schedule(tile, {c});
    }
    confidence.compute_root();
    GPUKernel variances{confidence, x, y};
    variances.schedule(tile);
    cost_sums.compute_at(confidence, variances.row);
    depth.compute_root();
    GPUKernel{depth, x, y}.schedule(tile);
    worst.compute_root();
    GPUKernel radii{worst, x, y};
    radii.schedule(tile);
    radii.share(worst_y);

    blurred.bound(c, 0, 3);
    GPUKernel rendered{blurred, x, y};
    rendered.schedule(tile, {c});
    sums.compute_at(blurred, rendered.row).bound(c, 0, 4).unroll(c);
    sums.update().reorder({c, x, y, s}).unroll(c);
    for (Func f : {sample_u, sample_v, weight})
        f.compute_at(sums, s);
}

}  // namespace apps
