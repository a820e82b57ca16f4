#include "apps/polybench/polybench.h"

namespace apps {
using namespace dsl;

namespace {

const double alpha = 1.5, beta = 1.2;

/// `product` (col, row), whose update sums over k, is computed where `consumer` reads it: in blocks
/// of 4 vectors by 6 rows, whose sums stay in registers.
void schedule_product(Func product, const RVar &k, Func consumer, const Var &col, const Var &row,
                      const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    const Var co("co"), ci("ci"), ro("ro"), ri("ri");
    consumer.tile(col, row, co, ro, ci, ri, 4 * vec, 6)
        .reorder(ci, ri, ro, co)
        .vectorize(ci, vec)
        .unroll(ci)
        .unroll(ri)
        .parallel(co);
    product.compute_at(consumer, ro).vectorize(col, vec).unroll(col).unroll(row);
    product.update().reorder(col, row, k).vectorize(col, vec).unroll(col).unroll(row);
}

}  // namespace

TwoMm::TwoMm()
    : a(Float(64), 2, "a"), b(Float(64), 2, "b"), c(Float(64), 2, "c"), d(Float(64), 2, "d"),
      k(0, a.dim(0).extent(), "k"), j(0, b.dim(0).extent(), "j") {
    ab(col, row) = Expr(0.0);
    ab(col, row) += Expr(alpha) * a(k, row) * b(col, k);
    tmp(col, row) = ab(col, row);
    abc(col, row) = Expr(0.0);
    abc(col, row) += tmp(j, row) * c(col, j);
    result(col, row) = Expr(beta) * d(col, row) + abc(col, row);

    inputs = {a, b, c, d};
    stages = {ab, tmp, abc, result};
}

void TwoMm::schedule_by_hand(const Target &target) {
    tmp.compute_root();
    schedule_product(ab, k, tmp, col, row, target);
    schedule_product(abc, j, result, col, row, target);
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
    x.compute_root().vectorize(col, vec);
    x.update().split(col, co, ci, 64 * vec).reorder(ci, i, co).vectorize(ci, vec).parallel(co);
    w.update().split(row, ro, ri, 4).reorder(ri, j, ro).unroll(ri).parallel(ro);
}

Covariance::Covariance()
    : data(Float(64), 2, "data"), i(0, data.dim(1).extent(), "i"), k(0, data.dim(1).extent(), "k") {
    const Expr count = cast<double>(data.dim(1).extent());
    total(col) = Expr(0.0);
    total(col) += data(col, i);
    mean(col) = total(col) / count;
    centred(col, row) = data(col, row) - mean(col);

    k.where(col >= row);
    upper(col, row) = Expr(0.0);
    upper(col, row) += centred(row, k) * centred(col, k);
    result(col, row) = upper(max(col, row), min(col, row)) / (count - 1);

    inputs = {data};
    stages = {total, mean, centred, upper, result};
}

// The means and the centred data by rows; of the triangle, rows in parallel.
void Covariance::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(64));
    mean.compute_root().vectorize(col, vec);
    total.compute_root().vectorize(col, vec);
    total.update().reorder(col, i).vectorize(col, vec);
    centred.compute_root().vectorize(col, vec).parallel(row, 16);
    upper.compute_root().vectorize(col, vec).parallel(row, 16);
    upper.update().reorder(col, k, row).vectorize(col, vec).parallel(row, 4);
    result.vectorize(col, vec).parallel(row, 16);
}

}  // namespace apps
