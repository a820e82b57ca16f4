#include "apps/bench/peers/halide_gpu_schedules.h"

#include "apps/bilateral_grid/bilateral_grid.h"
#include "apps/blur/blur.h"
#include "apps/camera_pipe/camera_pipe.h"
#include "apps/conv_layer/conv_layer.h"
#include "apps/harris/harris.h"
#include "apps/interpolate/interpolate.h"
#include "apps/lens_blur/lens_blur.h"
#include "apps/local_laplacian/local_laplacian.h"
#include "apps/max_filter/max_filter.h"
#include "apps/nl_means/nl_means.h"
#include "apps/polybench/polybench.h"
#include "apps/stencil_chain/stencil_chain.h"
#include "apps/unsharp/unsharp.h"

namespace apps {
namespace {

using namespace Halide;

const Var xi("xi"), yi("yi"), zi("zi"), xii("xii"), yii("yii"), xo("xo"), yo("yo"), t("t");

/// One version of each loop, not a second one for what lies inside of the picture.
Func undivided(Func f) {
#if HALIDE_VERSION_MAJOR >= 17
    f.never_partition_all();
#endif
    return f;
}

/// All threads of a block compute what it needs of `f`, each of them two by two points.
void share_in_quads(Func f, Func consumer, const Var &block) {
    const std::vector<Var> args = f.args();
    f.compute_at(consumer, block)
        .tile(args[0], args[1], xi, yi, 2, 2)
        .unroll(xi)
        .unroll(yi)
        .gpu_threads(args[0], args[1]);
}

/// The same, with a pair of points in each thread.
void share_in_pairs(Func f, Func consumer, const Var &block) {
    const std::vector<Var> args = f.args();
    f.compute_at(consumer, block).unroll(args[0], 2).gpu_threads(args[0], args[1]);
}

/// A thread loads what it needs of `f` to registers, in vectors of two.
void load_in_vectors(Func f, Func consumer, const Var &at) {
    f.compute_at(consumer, at).vectorize(f.args()[0], 2).unroll(f.args()[0]).unroll(f.args()[1]);
}

// Each thread computes two by eight points.
void schedule(Blur &p) {
    const Var below("below");
    p.by.vectorize(p.x, 2)
        .split(p.y, p.y, below, 8)
        .reorder(below, p.x)
        .unroll(below)
        .gpu_tile(p.x, p.y, xi, yi, 32, 1);
}

/// Of both forms: `first` is what is blurred.
template <typename Unsharp>
void schedule_unsharp(Unsharp &p, Func out, const Func &first, const Func &blurred) {
    out.compute_root().gpu_tile(p.x, p.y, xi, yi, 32, 32);
    share_in_quads(first, out, p.x);
    share_in_pairs(blurred, out, p.x);
}

void schedule(Unsharp &p) {
    schedule_unsharp(p, p.masked, p.input.in(), p.blury);
    p.masked.gpu_blocks(p.c);
}

void schedule(UnsharpHalide &p) {
    p.unsharp.reorder(p.c, p.x, p.y).bound(p.c, 0, 3).unroll(p.c);
    schedule_unsharp(p, p.unsharp, p.gray, p.blur_y);
    p.ratio.compute_at(p.unsharp, xi);
}

/// `shared` are the gray values, `own` those of a thread.
void schedule_harris(HarrisStages &p, const Func &shared, const Func &own) {
    p.harris.gpu_tile(p.x, p.y, xi, yi, 62, 14).unroll(xi, 2);
    const std::vector<Var> args = shared.args();
    Func(shared)
        .compute_at(p.harris, p.x)
        .gpu_threads(args[0], args[1])
        .tile(args[0], args[1], xi, yi, 3, 2)
        .unroll(xi)
        .unroll(yi);
    load_in_vectors(own, p.iy, p.x);
    for (Func f : {p.ix, p.iy})
        f.compute_at(p.harris, p.x).gpu_threads(p.x, p.y).unroll(p.x, 2);
    p.ix.compute_with(p.iy, p.x);
    load_in_vectors(p.ix.in(), p.harris, xi);
    load_in_vectors(p.iy.in(), p.harris, xi);
}

void schedule(Harris &p) {
    Func shared = p.input.in();
    schedule_harris(p, shared, shared.in());
}

void schedule(HarrisHalide &p) {
    schedule_harris(p, p.gray, p.gray.in());
}

/// All but the filling of the grid. \param tail  of the blurs: RoundUp where what lies beyond the grid can be read
void schedule_grid(BilateralGrid &p, TailStrategy tail) {
    p.blurz.compute_root().reorder(p.c, p.z, p.x, p.y).gpu_tile(p.x, p.y, xi, yi, 8, 8);
    for (Func f : {p.blurx, p.blury}) {
        f.compute_root()
            .reorder(p.c, p.x, p.y, p.z)
            .reorder_storage(p.c, p.x, p.y, p.z)
            .bound(p.c, 0, 2)
            .vectorize(p.c)
            .unroll(p.y, 2, tail)
            .gpu_tile(p.x, p.y, p.z, xi, yi, zi, 32, 8, 1, tail);
    }
    p.filtered.compute_root().gpu_tile(p.x, p.y, xi, yi, 32, 8);
    p.interp.compute_at(p.filtered, xi).vectorize(p.c);
}

void fill_in_blocks(BilateralGrid &p, const RDom &r) {
    p.grid.reorder(p.c, p.z, p.x, p.y).compute_at(p.blurz, p.x).gpu_threads(p.x, p.y);
    p.grid.update().reorder(p.c, r.x, r.y, p.x, p.y).gpu_threads(p.x, p.y).unroll(p.c);
}

void schedule(BilateralGridGather8 &p) {
    schedule_grid(p, TailStrategy::RoundUp);
    fill_in_blocks(p, p.r);
}

void schedule(BilateralGridGather9 &p) {
    schedule_grid(p, TailStrategy::Auto);
    fill_in_blocks(p, p.r);
}

// Halide's application gathers: here every pixel adds itself to its cell.
void schedule(BilateralGridScatter &p) {
    schedule_grid(p, TailStrategy::RoundUp);
    const RVar bx("bx"), by("by"), tx("tx"), ty("ty");
    p.grid.compute_root()
        .bound(p.c, 0, 2)
        .reorder(p.c, p.z, p.x, p.y)
        .gpu_tile(p.x, p.y, xi, yi, 8, 8);
    p.grid.update()
        .atomic()
        .tile(p.r.x, p.r.y, bx, by, tx, ty, 32, 8)
        .reorder(p.c, tx, ty, bx, by)
        .unroll(p.c)
        .gpu_threads(tx, ty)
        .gpu_blocks(bx, by);
}

void schedule(CameraPipe &p) {
    const bool sharpened = p.form == CameraPipe::Form::Halide;
    Func out = p.output();
    const OutputImageParam result = out.output_buffer();
    out.compute_root()
        .bound(p.c, 0, 3)
        .bound(p.x, 16, result.width() / 2 * 2)
        .bound(p.y, 12, result.height() / 2 * 2)
        .reorder(p.c, p.x, p.y)
        .unroll(p.x, 2)
        .gpu_tile(p.x, p.y, xi, yi, 28, 12);
    if (sharpened)
        share_in_pairs(p.curved, out, p.x);
    share_in_pairs(p.corrected, out, p.x);
    share_in_pairs(p.demosaiced, out, p.x);
    p.demosaiced.reorder(p.c, p.x, p.y).unroll(p.c);
    for (Func f : {p.g_r, p.g_b})
        f.compute_at(out, p.x).gpu_threads(p.x, p.y);
    for (Func f : {p.g_gr, p.r_r, p.b_b, p.g_gb})
        share_in_pairs(f, out, p.x);
    share_in_quads(p.denoised, out, p.x);
    p.curve.compute_root().gpu_tile(p.v, xi, 32);
}

void schedule(LocalLaplacian &p) {
    p.remap.compute_root();
    undivided(p.output_).compute_root().gpu_tile(p.x, p.y, xi, yi, 16, 8);
    for (int l = 0; l < p.options.levels; ++l) {
        const int width = l > 3 ? 2 : 16, height = l > 3 ? 2 : 8;
        if (l > 0) {
            undivided(p.in[l]).compute_root().gpu_tile(p.x, p.y, xi, yi, width, height);
            undivided(p.g[l])
                .compute_root()
                .reorder(p.k, p.x, p.y)
                .gpu_tile(p.x, p.y, xi, yi, width, height);
        }
        undivided(p.out[l]).compute_root().gpu_tile(p.x, p.y, xi, yi, width, height);
    }
}

/// Blocks of 16 by 16 threads, each with two by two points of all channels.
void tile_in_quads(Func f, const InterpolateLevels &p) {
    undivided(f)
        .reorder(p.k, p.x, p.y)
        .tile(p.x, p.y, xi, yi, 32, 32, TailStrategy::RoundUp)
        .tile(xi, yi, xii, yii, 2, 2)
        .gpu_blocks(p.x, p.y)
        .gpu_threads(xi, yi)
        .unroll(xii)
        .unroll(yii)
        .unroll(p.k);
}

/// Both forms: the way down, and the result.
void schedule_levels(InterpolateLevels &p) {
    p.normalized.bound(p.x, 0, p.input.width()).bound(p.y, 0, p.input.height()).bound(p.k, 0, 3);
    tile_in_quads(p.normalized, p);
    for (int l = 1; l < p.levels; ++l) {
        undivided(p.down[l])
            .compute_root()
            .reorder(p.k, p.x, p.y)
            .unroll(p.k)
            .gpu_tile(p.x, p.y, xi, yi, 16, 16);
    }
}

// Every other level of the way up is stored, and the finest are computed in the blocks of the result.
void schedule(InterpolateHalide &p) {
    schedule_levels(p);
    for (int l = 3; l < p.levels; l += 2)
        tile_in_quads(p.filled[l].compute_root(), p);

    Func out = p.normalized;
    for (Func f : {p.upy[1], p.filled[1], p.filled[2]})
        undivided(f).compute_at(out, p.x).reorder(p.k, p.x, p.y).unroll(p.k);
    p.upy[1].unroll(p.y, 2);
    p.filled[1].tile(p.x, p.y, xi, yi, 2, 2).unroll(xi).unroll(yi);
    for (Func f : {p.upy[1], p.filled[1], p.filled[2]})
        f.gpu_threads(p.x, p.y);
}

// How much of a level a block needs is not known here, because of its zero border: every level is stored.
void schedule(Interpolate &p) {
    schedule_levels(p);
    for (int l = 1; l < p.levels; ++l)
        tile_in_quads(p.filled[l].compute_root(), p);
}

// Every stage is stored. A block loads its pixels to shared memory, a thread those of its two by two points from there.
void schedule(StencilChain &p) {
    for (size_t i = 0; i < p.stages.size(); ++i) {
        Func stage = p.stages[i];
        stage.compute_root()
            .gpu_tile(p.x, p.y, xi, yi, 60, 12)
            .tile(xi, yi, xii, yii, 2, 2)
            .unroll(xii)
            .unroll(yii);
        Func shared = i == 0 ? p.input.in() : p.stages[i - 1].in();
        const Var sx = shared.args()[0], sy = shared.args()[1], in_x("in_x"), in_y("in_y");
        load_in_vectors(shared.in(), stage, xi);
        shared.compute_at(stage, p.x)
            .tile(sx, sy, in_x, in_y, 2, 2)
            .vectorize(in_x)
            .unroll(in_y)
            .gpu_threads(sx, sy);
    }
}

// A thread computes a column of the running maxima.
void schedule(MaxFilter &p) {
    p.slice.compute_root();
    p.height.compute_root();
    p.dilated.gpu_tile(p.x, p.y, xi, yi, 32, 8).gpu_blocks(p.x, p.y, p.c);
    p.running.compute_root()
        .reorder(p.c, p.s, p.x, p.y)
        .gpu_tile(p.x, p.y, xi, yi, 16, 16, TailStrategy::RoundUp);
    for (int i = 1; i < p.slices; ++i) {
        p.running.update(i - 1)
            .split(p.x, xo, xi, 32, TailStrategy::RoundUp)
            .reorder(p.rows, xi, xo, p.c)
            .gpu_blocks(xo, p.c)
            .gpu_threads(xi);
    }
}

void schedule(LensBlur &p) {
    p.push[0]
        .compute_root()
        .reorder(p.c, p.z, p.x, p.y)
        .bound(p.c, 0, 2)
        .unroll(p.c)
        .gpu_tile(p.x, p.y, xi, yi, 16, 16);
    for (Func f : {p.cost, p.confidence, p.cost_sums})
        f.compute_at(p.push[0], xi);
    for (int l = 1; l < p.options.levels; ++l) {
        for (Func f : {p.push[l], p.pull[l]})
            f.compute_root().gpu_tile(p.x, p.y, p.z, xi, yi, zi, 8, 8, 8);
    }
    for (Func f : {p.depth, p.worst_y, p.worst})
        f.compute_root().gpu_tile(p.x, p.y, xi, yi, 16, 16);
    p.input.bound(p.c, 0, 4);
    p.blurred.bound(p.c, 0, 3);
    for (Func f : {p.input, p.blurred}) {
        f.compute_root().reorder(p.c, p.x, p.y).unroll(p.c).gpu_tile(p.x, p.y, xi, yi, 16, 16);
    }
    p.sums.compute_at(p.blurred, xi).bound(p.c, 0, 4).unroll(p.c);
    p.sums.update().reorder(p.c, p.x, p.s).unroll(p.c);
    for (Func f : {p.sample_u, p.sample_v, p.weight})
        f.compute_at(p.sums, p.x);
}

// One row of the search after the other, started by the host, with kernels for the differences and for the sums.
void schedule(NlMeans &p) {
    p.denoised.compute_root()
        .bound(p.c, 0, 3)
        .reorder(p.c, p.x, p.y)
        .unroll(p.c)
        .gpu_tile(p.x, p.y, xi, yi, 32, 16);
    p.sums.compute_root().bound(p.c, 0, 4).gpu_tile(p.x, p.y, xi, yi, 32, 16);
    p.sums.update()
        .reorder(p.c, p.window.x, p.x, p.y, p.window.y)
        .tile(p.x, p.y, xi, yi, 32, 16)
        .gpu_blocks(p.x, p.y)
        .gpu_threads(xi, yi)
        .unroll(p.c);
    const int border = 6;  // of a patch of 7
    p.boxx.compute_at(p.sums, p.window.y)
        .tile(p.x, p.y, xi, yi, 128 - border, 32 - border)
        .tile(xi, yi, xii, yii, 32, 16)
        .gpu_threads(xii, yii)
        .gpu_blocks(p.x, p.y, p.u);
    for (Func f : {p.boxy, p.difference})
        f.compute_at(p.boxx, p.x).tile(p.x, p.y, xi, yi, 32, 16).gpu_threads(xi, yi);
}

// Compiled for the one size. A block is a warp, whose lanes have 32 channels of five by five pixels.
void schedule(ConvLayer &p) {
    auto dense = [](auto param, const std::vector<int> &extents) {
        int stride = 1;
        for (size_t d = 0; d < extents.size(); ++d) {
            param.dim(int(d)).set_bounds(0, extents[d]).set_stride(stride);
            stride *= extents[d];
        }
    };
    const int channels = 128, width = 100, height = 80, pictures = 5;
    dense(p.relu.output_buffer(), {channels, width, height, pictures});
    dense(p.input, {channels, width + 2, height + 2, pictures});
    dense(p.filter, {channels, 3, 3, channels});
    dense(p.bias, {channels});

    const RVar ro("ro"), ri("ri"), pair("pair");
    p.relu.compute_root()
        .split(p.x, xo, xi, 5)
        .split(p.y, yo, yi, 5)
        .split(p.c, p.co, p.ci, 32)
        .reorder(xi, yi, p.ci, xo, yo, p.co, p.n)
        .gpu_lanes(p.ci)
        .unroll(xi)
        .unroll(yi)
        .fuse(p.co, p.n, t)
        .gpu_blocks(xo, yo, t);
    p.conv.compute_at(p.relu, xo)
        .store_in(MemoryType::Register)
        .gpu_lanes(p.c)
        .unroll(p.x)
        .unroll(p.y);
    p.conv.update()
        .split(p.r.x, ro, ri, 16)
        .split(ri, ri, pair, 2)
        .reorder({p.c, pair, p.x, p.y, p.r.y, p.r.z, ri, ro})
        .gpu_lanes(p.c)
        .unroll(p.x)
        .unroll(p.y)
        .unroll(p.r.y)
        .unroll(p.r.z)
        .unroll(pair);
    Func pixels = p.input.in();
    const std::vector<Var> args = pixels.args();
    pixels.compute_at(p.conv, ro)
        .bound_extent(args[0], 16)  // the number of channels is not known to be a multiple of it
        .vectorize(args[0], 2)
        .split(args[1], xo, xi, 4)
        .fuse(args[0], xi, t)
        .gpu_lanes(t)
        .unroll(xo)
        .unroll(args[2]);
}

/// As Halide's product of matrices of floats; with doubles, steps of four terms instead of eight, so that a thread's part
/// of the factors takes as many registers.
void schedule_product(Func product, const RVar &k, Func left, Func right, Func consumer,
                      const Var &col, const Var &row) {
    consumer.compute_root()
        .tile(col, row, xi, yi, 64, 16)
        .tile(xi, yi, xii, yii, 4, 8)
        .gpu_blocks(col, row)
        .gpu_threads(xi, yi)
        .unroll(xii)
        .unroll(yii);
    product.compute_at(consumer, xi).vectorize(col).unroll(row);
    product.update().reorder(col, row, k).vectorize(col).unroll(row).unroll(k, 4);
    for (Func factor : {left, right})
        factor.compute_at(product, k).vectorize(factor.args()[0]).unroll(factor.args()[1]);
}

// Compiled for the one size.
void schedule(TwoMm &p) {
    const int ni = 1600, nj = 1800, nk = 2200, nl = 2400;
    auto matrix = [](auto param, int columns, int rows) {
        param.set_host_alignment(16);
        param.dim(0).set_bounds(0, columns);
        param.dim(1).set_bounds(0, rows).set_stride(columns);
    };
    matrix(p.a, nk, ni);
    matrix(p.b, nj, nk);
    matrix(p.c, nl, nj);
    matrix(p.d, nl, ni);
    matrix(p.result.output_buffer(), nl, ni);
    p.tmp.bound(p.col, 0, nj).bound(p.row, 0, ni);
    p.result.bound(p.col, 0, nl).bound(p.row, 0, ni);
    schedule_product(p.ab, p.k, p.a.in(), p.b.in(), p.tmp, p.col, p.row);
    schedule_product(p.abc, p.j, p.tmp.in(), p.c.in(), p.result, p.col, p.row);
}

template <typename... Programs> bool schedule_one_of(Program &program) {
    auto try_as = [&]<typename P>(P *) {
        auto *p = dynamic_cast<P *>(&program);
        if (p)
            schedule(*p);
        return p != nullptr;
    };
    return (try_as(static_cast<Programs *>(nullptr)) || ...);
}

}  // namespace

bool schedule_as_halide_does(Program &program) {
    return schedule_one_of<Blur, Unsharp, UnsharpHalide, Harris, HarrisHalide, BilateralGridScatter,
                           BilateralGridGather9, BilateralGridGather8, CameraPipe, LocalLaplacian,
                           Interpolate, InterpolateHalide, StencilChain, MaxFilter, LensBlur,
                           NlMeans, ConvLayer, TwoMm>(program);
}

}  // namespace apps
