#include "autoschedule/gpu/gpu_block.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

namespace {

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

/// Whether the threads of a block compute all points of the short dimensions: they share what they load.
bool has_short_dimensions(const Block &b, const std::vector<int64_t> &extents) {
    for (size_t d = b.x ? *b.x + 1 : 0; d < extents.size(); d++)
        if (d != b.y && extents[d] > 1 && extents[d] <= most_in_thread)
            return b.points[d] > 1;
    return false;
}

/// What a block is chosen by.
struct Shape {
    int64_t width = 32, height = 1, columns = 1, rows = 1;
    bool short_dimensions = false;
};

/// Blocks of an output.
class Shapes {
  public:
    Shapes(const std::vector<int64_t> &extents, bool has_sums)
        : extents_(extents), one_(single_points(extents)), most_points_(has_sums ? 64 : 16) {}

    bool has_threads() const { return one_.x.has_value(); }
    const Block &one() const { return one_; }

    /// Adds the block to a list, if it is possible.
    void add(const Shape &s, std::vector<Block> &to) const {
        if (!is_possible(s))
            return;
        Block b = one_;
        b.threads[*b.x] = s.width;
        b.points[*b.x] = s.columns;
        if (b.y) {
            b.threads[*b.y] = s.height;
            b.points[*b.y] = s.rows;
        }
        for (size_t d = *b.x + 1; s.short_dimensions && d < extents_.size(); d++)
            if (d != b.y && extents_[d] <= most_in_thread)
                b.points[d] = std::max<int64_t>(1, extents_[d]);
        if (has_short_dimensions(b, extents_) == s.short_dimensions)
            to.push_back(std::move(b));
    }

    Shape of(const Block &b) const {
        return {b.threads[*b.x], b.y ? b.threads[*b.y] : 1, b.columns(), b.rows(),
                has_short_dimensions(b, extents_)};
    }

  private:
    bool is_possible(const Shape &s) const {
        const int64_t threads = s.width * s.height;
        if (s.width < 16 || s.height < 1 || s.columns < 1 || s.rows < 1 || threads < 32 ||
            threads > 512 || s.columns * s.rows > most_points_)
            return false;
        if (!one_.y && (s.height > 1 || s.rows > 1 || s.width > 256))
            return false;
        if (one_.y && (s.width > 128 || s.height > 16 || s.rows > 8))
            return false;
        return s.columns <= 4 && fits(*one_.x, s.width, s.columns, 32) &&
               (!one_.y || fits(*one_.y, s.height, s.rows, 2));
    }

    /// More than there is of a dimension would be computed in vain; a warp is the least.
    bool fits(size_t d, int64_t threads, int64_t points, int64_t least) const {
        return threads * points <= extents_[d] || (points == 1 && threads <= least);
    }

    const std::vector<int64_t> &extents_;
    Block one_;
    int64_t most_points_;  ///< of a thread, in rows and columns
};

}  // namespace

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

double Block::serial_steps() const {
    double n = 1;
    for (size_t d = 0; d < points.size(); d++)
        if (d != x)
            n *= static_cast<double>(points[d] / at_once(d));
    return n;
}

BlockTiles::BlockTiles(const Block &b) : block(b), column(b.points) {
    for (size_t d = 0; d < b.points.size(); d++) {
        whole.push_back(b.tile(d));
        at_once.push_back(b.at_once(d));
    }
    if (b.x)
        column[*b.x] = 1;
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
    b.threads.resize(extents.size(), 1);
    for (size_t d = 0; d < tile.size(); d++)
        b.points[d] = tile[d] / threads[d];
    return b;
}

Block block_of_stage(const Block &output, const std::vector<int64_t> &extents,
                     const std::vector<bool> &loops_over) {
    std::vector<int64_t> own = extents;
    for (size_t d = 0; d < own.size(); d++)
        if (!loops_over[d])
            own[d] = 0;  // no loop: no threads either
    if (thread_dimensions(own) == thread_dimensions(extents))
        return output;
    Block b = single_points(own);
    if (b.x)
        b.threads[*b.x] = b.y ? usual_width : usual_line;
    if (b.y)
        b.threads[*b.y] = usual_height;
    return b;
}

std::vector<Block> coarse_blocks(const std::vector<int64_t> &extents, bool has_sums) {
    const Shapes shapes(extents, has_sums);
    if (!shapes.has_threads())
        return {shapes.one()};
    std::vector<Block> all;
    for (bool short_dimensions : {false, true})
        for (int64_t width : {16, 32, 64, 128})
            for (int64_t height : {1, 2, 8})
                for (int64_t columns : {1, 4})
                    for (int64_t rows : {1, 4})
                        shapes.add({width, height, columns, rows, short_dimensions}, all);
    if (all.empty())  // a dimension of threads that is shorter than a warp
        shapes.add({}, all);
    return all;
}

std::vector<Block> blocks_near(const Block &b, const std::vector<int64_t> &extents, bool has_sums) {
    const Shapes shapes(extents, has_sums);
    std::vector<Block> all;
    if (!shapes.has_threads())
        return all;
    const Shape from = shapes.of(b);
    auto change = [&](int64_t Shape::*size) {
        Shape more = from, less = from;
        more.*size *= 2;
        less.*size /= 2;
        shapes.add(more, all);
        shapes.add(less, all);
    };
    for (auto size : {&Shape::width, &Shape::height, &Shape::columns, &Shape::rows})
        change(size);
    Shape other = from;
    other.short_dimensions = !other.short_dimensions;
    shapes.add(other, all);
    for (auto [less, more] : {std::pair{&Shape::width, &Shape::height},
                              {&Shape::height, &Shape::width},
                              {&Shape::height, &Shape::rows},
                              {&Shape::rows, &Shape::height},
                              {&Shape::width, &Shape::columns},
                              {&Shape::columns, &Shape::width},
                              {&Shape::columns, &Shape::rows},
                              {&Shape::rows, &Shape::columns}}) {
        other = from;
        other.*less /= 2;
        other.*more *= 2;
        shapes.add(other, all);
    }
    return all;
}

}  // namespace Pipe::autoschedule
