#include "apps/bilateral_grid/bilateral_grid.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

namespace {

constexpr int cell = 8;    // pixels
constexpr int bins = 10;   // of the intensities 0..1
constexpr int frame = 24;  // pixels before the picture of the variant with 9x9 pixels

Expr binomial(Expr a, Expr b, Expr c, Expr d, Expr e) {
    return a + 4.0f * b + 6.0f * c + 4.0f * d + e;
}

Expr between(Expr v, Expr low, Expr high) {
    return v >= low && v <= high;
}

Expr mix(Expr a, Expr b, Expr weight) {
    return a + weight * (b - a);
}

}  // namespace

BilateralGrid::BilateralGrid() : input(Float(32), 2, "input") {
    grid(x, y, z, c) = 0.0f;
    inputs = {input};
    stages = {grid, blurz, blurx, blury, interp, filtered};
}

void BilateralGrid::splat(const Expr &i, const Expr &j, const Expr &z_of_value, const Expr &value) {
    grid(i, j, z_of_value, c) += select(c == 0, value, 1.0f);
}

void BilateralGrid::blur(const Valid &valid_z, const Valid &valid_xy) {
    auto keep = [&](const Valid &valid, Expr value) {
        return valid ? select(valid(x, y, z), value, 0.0f) : value;
    };
    blurz(x, y, z, c) =
        keep(valid_z, binomial(grid(x, y, z - 2, c), grid(x, y, z - 1, c), grid(x, y, z, c),
                               grid(x, y, z + 1, c), grid(x, y, z + 2, c)));
    blurx(x, y, z, c) =
        keep(valid_xy, binomial(blurz(x, y - 2, z, c), blurz(x, y - 1, z, c), blurz(x, y, z, c),
                                blurz(x, y + 1, z, c), blurz(x, y + 2, z, c)));
    blury(x, y, z, c) =
        keep(valid_xy, binomial(blurx(x - 2, y, z, c), blurx(x - 1, y, z, c), blurx(x, y, z, c),
                                blurx(x + 1, y, z, c), blurx(x + 2, y, z, c)));
}

void BilateralGrid::slice(const Expr &value, int offset, int offset_z) {
    const Expr zv = value * float(bins), zi = clamp(cast<int>(zv), 0, bins);
    const Expr zf = zv - zi, xf = cast<float>(x % cell) / cell, yf = cast<float>(y % cell) / cell;
    auto corner = [&](int dx, int dy, int dz) -> Expr {
        return blury(x / cell + offset + dx, y / cell + offset + dy, zi + offset_z + dz, c);
    };
    auto level = [&](int dz) {
        return mix(mix(corner(0, 0, dz), corner(0, 1, dz), yf),
                   mix(corner(1, 0, dz), corner(1, 1, dz), yf), xf);
    };
    interp(x, y, c) = mix(level(0), level(1), zf);
}

// Planes of the grid in parallel; the picture by rows. The pixels' corners of the grid stay in the
// cache.
void BilateralGrid::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    blurz.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, vec).unroll(c);
    blurx.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, vec).unroll(c);
    blury.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, vec).unroll(c);
    filtered.parallel(y, 8).vectorize(x, vec);
}

// The two blurs of the plane in one kernel, the pixels in another. Their corners of the grid come from the cache.
void BilateralGrid::schedule_for_gpu(const Target &) {
    blury.compute_root().reorder(c, x, y, z).unroll(c);
    GPUKernel blurs{blury, x, y, {z}};
    blurs.schedule({.width = 32, .height = 8});
    blurs.share(blurx);
    blurx.reorder(c, x, y, z).unroll(c);

    GPUKernel pixels{filtered, x, y};
    pixels.schedule({.width = 32, .height = 8, .rows = 2});
    pixels.keep(interp);
}

// A thread for each cell of the plane: it fills the bins of the cell in shared memory, and blurs them.
void BilateralGrid::gather_for_gpu(const Func &picture, const RDom &r) {
    BilateralGrid::schedule_for_gpu(Target());
    blurz.compute_root().reorder(c, z, x, y).unroll(c);
    GPUKernel cells{blurz, x, y};
    cells.schedule({.width = 16, .height = 8});
    cells.share(picture);
    grid.compute_at(blurz, cells.block).reorder(c, z, x, y).unroll(c).gpu_threads(x, y);
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c).gpu_threads(x, y);
}

BilateralGridScatter::BilateralGridScatter() : r(0, input.width(), 0, input.height()) {
    const Expr v = input(r.x, r.y);
    splat(r.x / cell + 2, r.y / cell + 2, clamp(cast<int>(v * float(bins)), 0, bins) + 2, v);

    const Expr last_x = input.width() / cell + 1, last_y = input.height() / cell + 1;
    const Valid valid = [=](Expr i, Expr j, Expr k) {
        return between(i, 2, last_x) && between(j, 2, last_y) && between(k, 2, bins + 1);
    };
    blur(valid, valid);
    slice(input(x, y), 2, 2);
    filtered(x, y) = select(interp(x, y, 1) > 0, interp(x, y, 0) / interp(x, y, 1), input(x, y));
}

// Every pixel is read once, for both of the values that it is added to. Its neighbor in the next cell
// follows: that addition need not wait for this one. Rows of cells have no pixels in common: no race.
void BilateralGridScatter::schedule_by_hand(const Target &target) {
    BilateralGrid::schedule_by_hand(target);
    grid.compute_root().vectorize(x, target.natural_vector_size(Float(32)));
    RVar across, down, in_x, in_y;
    grid.update()
        .split(r.x, across, in_x, cell)
        .split(r.y, down, in_y, cell)
        .reorder(c, across, in_x, in_y, down)
        .unroll(c)
        .allow_race_conditions()
        .parallel(down);
}

// Every pixel adds itself to its cell, in global memory.
void BilateralGridScatter::schedule_for_gpu(const Target &target) {
    BilateralGrid::schedule_for_gpu(target);
    grid.compute_root().reorder(c, x, y, z).unroll(c);
    GPUKernel{grid, x, y, {z}}.schedule({.width = 32, .height = 8});
    const RVar bx("bx"), by("by"), tx("tx"), ty("ty");
    grid.update()
        .atomic()
        .split(r.x, bx, tx, 32)
        .split(r.y, by, ty, 8)
        .reorder({c, tx, ty, bx, by})
        .unroll(c)
        .gpu_threads(tx, ty)
        .gpu_blocks(bx, by);
    blurz.compute_root().reorder(c, x, y, z).unroll(c);
    GPUKernel{blurz, x, y, {z}}.schedule({.width = 32, .height = 8});
}

BilateralGridGather9::BilateralGridGather9() : r(-4, 9, -4, 9) {
    const Expr v = input(cell * x + r.x, cell * y + r.y);
    splat(x, y, clamp(cast<int>(v * float(bins) + 0.5f), 0, bins) + 2, v);

    blur([](Expr, Expr, Expr k) { return between(k, 2, bins + 2); }, nullptr);
    const Expr own = input(x + frame, y + frame);
    slice(own, frame / cell, 2);
    filtered(x, y) = select(interp(x, y, 1) > 0, interp(x, y, 0) / interp(x, y, 1), own);
}

// A row of cells is filled just before it is blurred.
void BilateralGridGather9::schedule_by_hand(const Target &target) {
    BilateralGrid::schedule_by_hand(target);
    grid.compute_at(blurz, y);
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c);
}

void BilateralGridGather9::schedule_for_gpu(const Target &) {
    gather_for_gpu(input.in(grid), r);
}

BilateralGridGather8::BilateralGridGather8() : r(-4, 8, -4, 8) {
    edged = BoundaryConditions::repeat_edge(input);
    const Expr v = clamp(edged(cell * x + r.x, cell * y + r.y), 0.0f, 1.0f);
    splat(x, y, cast<int>(v * float(bins) + 0.5f), v);

    blur(nullptr, nullptr);
    slice(clamp(input(x, y), 0.0f, 1.0f), 0, 0);
    filtered(x, y) = interp(x, y, 0) / interp(x, y, 1);
}

void BilateralGridGather8::schedule_by_hand(const Target &target) {
    BilateralGrid::schedule_by_hand(target);
    grid.compute_at(blurz, y);
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c);
}

void BilateralGridGather8::schedule_for_gpu(const Target &) {
    gather_for_gpu(edged, r);
}

}  // namespace apps
