#include "autoschedule/gpu/gpu_block.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

namespace {

constexpr int64_t most_at_once = 4;  ///< points of a dimension that is neither x nor y
/// So long a dimension, of channels or of the bins of a grid, may be computed by each thread as a whole.
constexpr int64_t most_in_thread = 16;

Block single_points(const std::vector<int64_t> &extents) {
    const std::vector<int64_t> ones(extents.size(), 1);
    Block b{ones, ones, std::nullopt, std::nullopt};
    const std::vector<size_t> dims = thread_dimensions(extents);
    if (dims.empty())
        return b;
    for (size_t d = 0; d < dims[0]; d++)  // a few contiguous elements: all by one thread
        b.points[d] = std::max<int64_t>(1, extents[d]);
    b.x = dims[0];
    if (dims.size() > 1)
        b.y = dims[1];
    return b;
}

/// The same block, whose threads compute all points of the short dimensions: they share what they load.
Block with_short_dimensions(Block b, const std::vector<int64_t> &extents) {
    for (size_t d = b.x ? *b.x + 1 : 0; d < extents.size(); d++)
        if (d != b.y && extents[d] <= most_in_thread)
            b.points[d] = std::max<int64_t>(1, extents[d]);
    return b;
}

}  // namespace

std::vector<int64_t> Block::tile() const {
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < threads.size(); d++)
        sizes.push_back(tile(d));
    return sizes;
}

double Block::thread_count() const {
    double n = 1;
    for (int64_t t : threads)
        n *= static_cast<double>(t);
    return n;
}

double Block::blocks(const std::vector<int64_t> &extents) const {
    double n = 1;
    for (size_t d = 0; d < extents.size(); d++)
        n *= std::ceil(static_cast<double>(extents[d]) / static_cast<double>(tile(d)));
    return n;
}

int64_t Block::at_once(size_t d) const {
    if (d == x)
        return 1;
    return d == y || points[d] <= most_at_once ? points[d] : 1;
}

std::vector<int64_t> Block::at_once() const {
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < points.size(); d++)
        sizes.push_back(at_once(d));
    return sizes;
}

double Block::serial_steps() const {
    double n = 1;
    for (size_t d = 0; d < points.size(); d++)
        if (d != x)
            n *= static_cast<double>(points[d] / at_once(d));
    return n;
}

std::vector<size_t> thread_dimensions(const std::vector<int64_t> &extents) {
    constexpr int64_t few = 8;  // too few for a dimension of threads, if there is another
    std::vector<size_t> dims;
    for (size_t d = 0; d < extents.size() && dims.size() < 2; d++)
        if (extents[d] > few)
            dims.push_back(d);
    if (dims.empty() && !extents.empty())
        dims.push_back(static_cast<size_t>(std::max_element(extents.begin(), extents.end()) -
                                           extents.begin()));
    return dims;
}

Block block_of(const std::vector<int64_t> &extents, const std::vector<int64_t> &tile,
               const std::vector<int64_t> &threads) {
    Block b = single_points(extents);
    b.threads = threads;
    for (size_t d = 0; d < tile.size(); d++)
        b.points[d] = tile[d] / threads[d];
    return b;
}

Block block_of_stage(const Block &output, const std::vector<int64_t> &extents,
                     const std::vector<bool> &loops_over) {
    constexpr int64_t line = 128, width = 32, height = 4;
    std::vector<int64_t> own = extents;
    for (size_t d = 0; d < own.size(); d++)
        if (!loops_over[d])
            own[d] = 0;  // no loop: no threads either
    if (thread_dimensions(own) == thread_dimensions(extents))
        return output;
    Block b = single_points(own);
    if (b.x)
        b.threads[*b.x] = b.y ? width : line;
    if (b.y)
        b.threads[*b.y] = height;
    return b;
}

std::vector<Block> block_candidates(const std::vector<int64_t> &extents, bool has_sums) {
    const Block one = single_points(extents);
    if (!one.x)
        return {one};
    const int64_t most_points = has_sums ? 64 : 16;  // of a thread, in rows and columns
    /// More than there is of a dimension would be computed in vain; a warp is the least.
    auto fits = [&](size_t d, int64_t threads, int64_t points, int64_t least) {
        return threads * points <= extents[d] || (points == 1 && threads <= least);
    };
    std::vector<Block> all;
    auto add = [&](int64_t width, int64_t height, int64_t columns, int64_t rows) {
        Block b = one;
        if (!fits(*b.x, width, columns, 32) || (b.y && !fits(*b.y, height, rows, 2)))
            return;
        b.threads[*b.x] = width;
        b.points[*b.x] = columns;
        if (b.y) {
            b.threads[*b.y] = height;
            b.points[*b.y] = rows;
        }
        all.push_back(b);
        b = with_short_dimensions(b, extents);
        if (b.points != all.back().points)
            all.push_back(std::move(b));
    };
    for (int64_t width : {16, 32, 64, 128, 256})
        for (int64_t columns : {1, 2, 4}) {
            if (!one.y && width > 16)
                add(width, 1, columns, 1);
            if (!one.y || width > 128)
                continue;
            for (int64_t height : {1, 2, 4, 8, 16})
                for (int64_t rows : {1, 2, 4, 8})
                    if (width * height >= 32 && width * height <= 512 &&
                        columns * rows <= most_points)
                        add(width, height, columns, rows);
        }
    return all;
}

}  // namespace Pipe::autoschedule
