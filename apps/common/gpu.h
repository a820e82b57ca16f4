// What the hand schedules for GPUs share: blocks of threads on two dimensions of a Func.
#pragma once

#include "apps/common/dsl.h"

#include <vector>

namespace apps {

/// What a block of threads computes. A warp has 32 threads next to each other along x, so that what it loads and
/// stores lies together. Each thread computes `columns` points, as many threads apart as a block is wide, and `rows`
/// points below each other, which share what they load.
struct GPUTile {
    int width, height;  ///< threads along x and along y
    int columns = 1, rows = 1;

    int pixels_x() const { return width * columns; }
    int pixels_y() const { return height * rows; }
};

/// One kernel for `f`: the loops over blocks of `tile`, with one block loop for each of `others`, and within them the
/// loops over threads. What other threads need is computed at `block`, what a thread itself needs at `column`, or,
/// for one point alone, at `row`.
struct GPUKernel {
    dsl::Func f;
    dsl::Var x, y;
    std::vector<dsl::Var> others{};
    dsl::Var block{"tile_x"}, column{"part_x"}, row{"part_y"};

    /// \param inner  loops of f inside of those over threads, unrolled, innermost first
    GPUKernel &schedule(const GPUTile &tile, const std::vector<dsl::Var> &inner = {}) {
        const dsl::Var by("tile_y"), ty("thread_y"), thread("thread_x"), in_x("in_x"), in_y("in_y");
        f.split(x, block, in_x, tile.pixels_x())
            .split(y, by, in_y, tile.pixels_y())
            .split(in_x, column, thread, tile.width)
            .split(in_y, ty, row, tile.rows);
        std::vector<dsl::VarOrRVar> order(inner.begin(), inner.end());
        order.insert(order.end(), {row, column, thread, ty, block, by});
        order.insert(order.end(), others.begin(), others.end());
        f.reorder(order).unroll(row).unroll(column).gpu_threads(thread, ty);
        for (const dsl::Var &v : inner)
            f.unroll(v);
        if (others.empty())
            f.gpu_blocks(block, by);
        else
            f.gpu_blocks(block, by, others[0]);
        return *this;
    }

    /// All threads of a block compute what the block needs of `member`, in shared memory. \param rows  of it, that one
    /// thread computes together
    void share(dsl::Func member, int rows = 1) const {
        const std::vector<dsl::Var> args = member.args();
        member.compute_at(f, block);
        if (rows > 1) {
            member.split(args[1], args[1], row, rows).reorder(row, args[0], args[1]).unroll(row);
        }
        if (args.size() > 2)
            member.gpu_threads(args[0], args[1], args[2]);
        else
            member.gpu_threads(args[0], args[1]);
    }

    /// Each thread computes what it needs of `member` for a column itself, in registers.
    void keep(dsl::Func member) const {
        member.compute_at(f, column);
        for (const dsl::Var &v : member.args())
            member.unroll(v);
    }
};

}  // namespace apps
