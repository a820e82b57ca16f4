#include "autoschedule/gpu/gpu_block.h"

#include <algorithm>

namespace Pipe::autoschedule {

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

std::vector<Block> block_candidates(const std::vector<int64_t> &extents) {
    const std::vector<size_t> dims = thread_dimensions(extents);
    Block one{std::vector<int64_t>(extents.size(), 1), std::vector<int64_t>(extents.size(), 1),
              std::nullopt, std::nullopt};
    if (dims.empty())
        return {one};
    for (size_t d = 0; d < dims[0]; d++)  // a few contiguous elements: all by one thread
        one.points[d] = extents[d];
    one.x = dims[0];
    if (dims.size() > 1)
        one.y = dims[1];
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
                    if (width * height >= 32 && width * height <= 512 && columns * rows <= 16)
                        add(width, height, columns, rows);
        }
    return all;
}

}  // namespace Pipe::autoschedule
