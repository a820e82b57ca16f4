#include "apps/polybench/polybench.h"

#include "apps/common/gpu.h"
#include "apps/common/gpu_conv.h"
#include "apps/common/registers.h"

namespace apps {
using namespace dsl;

namespace {

const double alpha = 1.5, beta = 1.2;

/// `product` (col, row), whose update sums over k, in tiles that the L2 cache holds with what they
/// read, columns of tiles in parallel. The columns of its right factor that a tile needs are put
/// together first; their rows are a few elements longer, or few sets of the L1 cache would get them all.
/// Within a tile, one part of the sums after the other, so that the part of the right factor that a
/// column of register blocks reads stays in the L1 cache (Goto and van de Geijn: Anatomy of
/// High-Performance Matrix Multiplication, 2008).
template <typename Right>
void schedule_product(Func product, const RVar &k, Right right, Func consumer, const Var &col,
                      const Var &row, const Target &target) {
    constexpr int tile = 96, part = 192, longer = 8;
    constexpr int many = 1 << 20;  // rows and columns: few steps go beyond their end
    const int vec = target.natural_vector_size(Float(64));
    const RegisterBlock block = register_block(target, 60, many);
    const int columns = block.vectors * vec, rows = block.values;
    auto whole_blocks = [](int size) { return (tile + size - 1) / size * size; };

    const Var co("co"), ci("ci"), ro("ro"), ri("ri"), vector("vector");
    const RVar ko("ko"), ki("ki");
    consumer.tile(col, row, co, ro, ci, ri, whole_blocks(columns), whole_blocks(rows))
        .vectorize(ci, vec)
        .reorder(ro, co)
        .parallel(co);
    product.compute_at(consumer, ro).vectorize(col, vec);
    std::vector<VarOrRVar> order = {col, vector, ri, ki, ro, co, ko};
    if (block.holds_values())
        order = {col, ri, vector, ki, ro, co, ko};
    product.update()
        .split(k, ko, ki, part)
        .split(col, co, col, columns)
        .split(col, vector, col, vec)
        .split(row, ro, ri, rows)
        .reorder(order)
        .vectorize(col)
        .unroll(vector)
        .unroll(ri);
    Func panel = right.in(product);
    const Var across = panel.args()[0];
    panel.compute_at(consumer, co)
        .align_storage(across, whole_blocks(columns) + longer)
        .vectorize(across, vec, TailStrategy::GuardWithIf);
}

/// Sums along columns: of strips of 64 rows, and then of the strips; neighboring threads have neighboring columns.
void sum_columns_on_gpu(Func sums, const RVar &row, const Var &col) {
    const Var part("part"), block("block"), thread("thread");
    const RVar io("io"), ii("ii");
    Func strips = sums.update().split(row, io, ii, 64).rfactor(io, part);
    for (Func f : {strips, sums})
        f.compute_root().split(col, block, thread, 128).gpu_threads(thread);
    strips.reorder(thread, block, part).gpu_blocks(block, part);
    strips.update()
        .split(col, block, thread, 128)
        .reorder({ii, thread, block, part})
        .gpu_threads(thread)
        .gpu_blocks(block, part);
    sums.gpu_blocks(block);
    sums.update()
        .split(col, block, thread, 128)
        .reorder({io, thread, block})
        .gpu_threads(thread)
        .gpu_blocks(block);
}

}  // namespace

TwoMm::TwoMm()
    : a(Float(64), 2, "a"), b(Float(64), 2, "b"), c(Float(64), 2, "c"), d(Float(64), 2, "d"),
      k(0, a.dim(0).extent(), "k"), j(0, b.dim(0).extent(), "j") {
    ab(col, row) = Expr(0.0);
    ab(col, row) += a(k, row) * b(col, k);
    tmp(col, row) = Expr(alpha) * ab(col, row);
    abc(col, row) = Expr(0.0);
    abc(col, row) += tmp(j, row) * c(col, j);
    result(col, row) = Expr(beta) * d(col, row) + abc(col, row);

    inputs = {a, b, c, d};
    stages = {ab, tmp, abc, result};
}

void TwoMm::schedule_by_hand(const Target &target) {
    tmp.compute_root();
    schedule_product(ab, k, b, tmp, col, row, target);
    schedule_product(abc, j, c, result, col, row, target);
}

void TwoMm::schedule_for_gpu(const Target &) {
    tmp.compute_root();
    schedule_product_for_gpu(ab, k, a.in(ab), b.in(ab), tmp, col, row);
    schedule_product_for_gpu(abc, j, tmp.in(abc), c.in(abc), result, col, row);
}

Gemver::Gemver()
    : a(Float(64), 2, "a"), u1(Float(64), 1, "u1"), v1(Float(64), 1, "v1"), u2(Float(64), 1, "u2"),
      v2(Float(64), 1, "v2"), y(Float(64), 1, "y"), z(Float(64), 1, "z"),
      i(0, a.dim(1).extent(), "i"), j(0, a.dim(0).extent(), "j") {
    updated(col, row) = a(col, row) + u1(row) * v1(col) + u2(row) * v2(col);
    x(col) = z(col);
    x(col) += Expr(beta) * updated(col, i) * y(i);
    w(row) = Expr(0.0);
    w(row) += Expr(alpha) * updated(j, row) * x(j);

    inputs = {a, u1, v1, u2, v2, y, z};
    stages = {updated, x, w};
}

// The matrix is updated anew where it is read: memory is slower than the arithmetic. The first
// product runs down its rows, blocks of columns in parallel.
void Gemver::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    const Var co("co"), ci("ci"), ro("ro"), ri("ri");
    x.compute_root().vectorize(col, vec, TailStrategy::GuardWithIf);
    x.update()
        .split(col, co, ci, 64 * vec, TailStrategy::GuardWithIf)
        .reorder(ci, i, co)
        .vectorize(ci, vec)
        .parallel(co);
    w.update().split(row, ro, ri, 4).reorder(ri, j, ro).unroll(ri).parallel(ro);
}

// The updated matrix is summed up along columns in strips of rows, and along rows by the threads of a warp; it is computed
// anew for both.
void Gemver::schedule_for_gpu(const Target &) {
    const Var block("block"), thread("thread"), lane("lane");
    const RVar jo("jo"), ji("ji");
    sum_columns_on_gpu(x, i, col);

    Func lanes = w.update().split(j, jo, ji, 32).rfactor(ji, lane);
    w.gpu_tile(row, block, thread, 128);
    w.update()
        .split(row, block, thread, 8)
        .reorder({ji, thread, block})
        .gpu_threads(thread)
        .gpu_blocks(block);
    lanes.compute_at(w, block).reorder(lane, row).gpu_threads(lane, row);
    lanes.update().reorder({jo, lane, row}).gpu_threads(lane, row);
}

Covariance::Covariance()
    : data(Float(64), 2, "data"), i(0, data.dim(1).extent(), "i"), k(0, data.dim(1).extent(), "k") {
    const Expr count = cast<double>(data.dim(1).extent());
    total(col) = Expr(0.0);
    total(col) += data(col, i);
    mean(col) = total(col) / count;
    centered(col, row) = data(col, row) - mean(col);

    by_column(row, col) = centered(col, row);

    k.where(col >= row);
    product(col, row) = Expr(0.0);
    product(col, row) += by_column(k, row) * centered(col, k);
    upper(col, row) = product(col, row);
    result(col, row) = upper(max(col, row), min(col, row)) / (count - 1);

    inputs = {data};
    stages = {total, mean, centered, by_column, product, upper, result};
}

// The means and the centered data by rows, and once more by columns; of the triangle, blocks as in a
// product of matrices.
void Covariance::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    const Var co("co"), ci("ci"), ro("ro"), ri("ri");
    mean.compute_root().vectorize(col, vec);
    total.compute_root().vectorize(col, vec);
    total.update().reorder(col, i).vectorize(col, vec);
    centered.compute_root().vectorize(col, vec).parallel(row, 16);
    by_column.compute_root().tile(row, col, ro, co, ri, ci, vec, vec).vectorize(ri).parallel(co);
    upper.compute_root();
    schedule_product(product, k, centered, upper, col, row, target);
    result.vectorize(col, vec).parallel(row, 16);
}

// Products of blocks of columns; what lies below the diagonal is not computed.
void Covariance::schedule_for_gpu(const Target &) {
    sum_columns_on_gpu(total, i, col);

    centered.compute_root();
    GPUKernel{centered, col, row}.schedule({.width = 32, .height = 8});
    upper.compute_root();
    schedule_product_for_gpu(product, k, by_column, centered.in(product), upper, col, row);
    GPUKernel{result, col, row}.schedule({.width = 32, .height = 8});
}

}  // namespace apps
