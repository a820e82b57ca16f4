// The GPU schedules of products of matrices and of convolutions of channels.
#pragma once

#include "apps/common/dsl.h"

#include <vector>

namespace apps {

/// What a block of threads computes of a product (column, row): each thread `columns` sums, as many threads apart as a
/// block is wide, by `rows` sums below each other, in steps of `step` terms, for which the block loads both factors to
/// shared memory.
struct GPUProduct {
    int width = 32, height = 8, columns = 2, rows = 8, step = 16;
};

/// `product` (col, row), whose update sums left(k, row) * right(col, k) over `k`, in the kernel of `consumer` (col, row).
inline void schedule_product_for_gpu(dsl::Func product, const dsl::RVar &k, dsl::Func left,
                                     dsl::Func right, dsl::Func consumer, const dsl::Var &col,
                                     const dsl::Var &row, GPUProduct tile = {}) {
    const dsl::Var block("tile_x"), block_y("tile_y"), in_x("in_x"), in_y("in_y"), column("part_x"),
        lane("thread_x"), ty("thread_y"), below("part_y");
    const dsl::RVar ko("ko"), ki("ki");
    consumer.split(col, block, in_x, tile.width * tile.columns)
        .split(row, block_y, in_y, tile.height * tile.rows)
        .split(in_x, column, lane, tile.width)
        .split(in_y, ty, below, tile.rows)
        .reorder(below, column, lane, ty, block, block_y)
        .unroll(below)
        .unroll(column)
        .gpu_threads(lane, ty)
        .gpu_blocks(block, block_y);
    product.compute_at(consumer, block)
        .split(col, column, lane, tile.width)
        .split(row, ty, below, tile.rows)
        .reorder(below, column, lane, ty)
        .unroll(below)
        .unroll(column)
        .gpu_threads(lane, ty);
    product.update()
        .split(col, column, lane, tile.width)
        .split(row, ty, below, tile.rows)
        .split(k, ko, ki, tile.step)
        .reorder({below, column, ki, lane, ty, ko})
        .unroll(below)
        .unroll(column)
        .gpu_threads(lane, ty);
    for (dsl::Func factor : {left, right})
        factor.compute_at(product, ko).gpu_threads(factor.args()[0], factor.args()[1]);
}

/// What a block of threads computes of a convolution (channel, x, y): a warp has 32 channels next to each other, each
/// thread `channels` channels, 32 apart, of `pixels` pixels next to each other.
struct GPUConvolution {
    int channels = 2, pixels = 4, width = 4, height = 2;  ///< width, height: threads along x and y
    int step = 8;  ///< channels that are summed over at a time
};

/// `conv` (c, x, y, ..), whose update sums over r = (channel, x, y) the products of `weights` and `picture`, which are
/// read through these Funcs, in the kernel of `consumer` (c, x, y, ..), whose dimension `c` are the channels of `conv`,
/// or more than these.
/// \param outer  the further dimensions of the consumer
inline void schedule_convolution_for_gpu(dsl::Func conv, const dsl::RDom &r, dsl::Func weights,
                                         dsl::Func picture, dsl::Func consumer, const dsl::Var &c,
                                         const dsl::Var &x, const dsl::Var &y,
                                         const std::vector<dsl::Var> &outer,
                                         GPUConvolution tile = {}) {
    const dsl::Var block("tile_c"), block_x("tile_x"), block_y("tile_y"), in_c("in_c"),
        in_x("in_x"), part("part_c"), lane("thread_c"), tx("thread_x"), ty("thread_y"),
        pixel("part_x");
    const dsl::RVar ko("ko"), ki("ki");
    consumer.split(c, block, in_c, 32 * tile.channels)
        .split(in_c, part, lane, 32)
        .split(x, block_x, in_x, tile.width * tile.pixels)
        .split(in_x, tx, pixel, tile.pixels)
        .split(y, block_y, ty, tile.height)
        .unroll(part)
        .unroll(pixel);
    std::vector<dsl::VarOrRVar> order = {part, pixel, lane, tx, ty, block, block_x, block_y};
    order.insert(order.end(), outer.begin(), outer.end());
    consumer.reorder(order).gpu_threads(lane, tx, ty);
    dsl::Var blocks_y = block_y;
    for (const dsl::Var &v : outer) {
        consumer.fuse(blocks_y, v, blocks_y);
    }
    consumer.gpu_blocks(block, block_x, blocks_y);

    const std::vector<dsl::Var> of = conv.args();
    conv.compute_at(consumer, block)
        .split(of[0], part, lane, 32)
        .split(of[1], tx, pixel, tile.pixels)
        .reorder(part, pixel, lane, tx, of[2])
        .unroll(part)
        .unroll(pixel)
        .gpu_threads(lane, tx, of[2]);
    conv.update()
        .split(of[0], part, lane, 32)
        .split(of[1], tx, pixel, tile.pixels)
        .split(r.x, ko, ki, tile.step)
        .reorder({part, pixel, ki, lane, tx, of[2], r.y, r.z, ko})
        .unroll(part)
        .unroll(pixel)
        .gpu_threads(lane, tx, of[2]);
    weights.compute_at(conv, r.y);
    picture.compute_at(conv, ko);
    for (dsl::Func f : {weights, picture})
        f.gpu_threads(f.args()[0], f.args()[1], f.args()[2]);
}

}  // namespace apps
