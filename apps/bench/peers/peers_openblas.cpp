// The applications that are products of matrices, as OpenBLAS users write them.
#include "apps/bench/peers/peer_rows.h"

#include <cblas.h>

#include <algorithm>
#include <string>

namespace {

const double alpha = 1.5, beta = 1.2;  // of benchmarks' 2mm and gemver

/// A matrix whose rows are dense; of arrays, dimension 0 is the column.
struct Matrix {
    explicit Matrix(const PeerArray &a)
        : data(static_cast<double *>(a.data)), columns(a.dim[0].extent), rows(a.dim[1].extent),
          stride(int(a.dim[1].stride)) {}
    double *data;
    int columns, rows, stride;
};

const double *vector(const PeerArray &a) {
    return static_cast<const double *>(a.data);
}

void product(double scale, const Matrix &a, const Matrix &b, double keep, const Matrix &out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, a.rows, b.columns, a.columns, scale,
                a.data, a.stride, b.data, b.stride, keep, out.data, out.stride);
}

/// Memory that stays: what it costs to get it again and again is no part of the comparison.
double *scratch(int which, size_t count) {
    static std::vector<double> memory[2];
    if (memory[which].size() < count)
        memory[which].resize(count);
    return memory[which].data();
}

void two_mm(const PeerArray *in, const PeerArray &out) {
    const Matrix a(in[0]), b(in[1]), c(in[2]), d(in[3]), result(out);
    Matrix tmp = a;
    tmp.columns = tmp.stride = b.columns;
    tmp.data = scratch(0, size_t(tmp.rows) * size_t(tmp.columns));
    product(alpha, a, b, 0, tmp);
    for (int y = 0; y < result.rows; ++y) {
        std::copy_n(d.data + int64_t(y) * d.stride, d.columns,
                    result.data + int64_t(y) * result.stride);
    }
    product(1, tmp, c, beta, result);
}

void gemver(const PeerArray *in, const PeerArray &out) {
    const Matrix a(in[0]);
    const int n = a.columns;
    const auto size = size_t(n);
    double *updated = scratch(0, size * size), *x = scratch(1, size);
    for (int y = 0; y < n; ++y)
        std::copy_n(a.data + int64_t(y) * a.stride, n, updated + y * size);
    cblas_dger(CblasRowMajor, n, n, 1, vector(in[1]), 1, vector(in[2]), 1, updated, n);
    cblas_dger(CblasRowMajor, n, n, 1, vector(in[3]), 1, vector(in[4]), 1, updated, n);
    std::copy_n(vector(in[6]), n, x);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, beta, updated, n, vector(in[5]), 1, 1, x, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, alpha, updated, n, x, 1, 0,
                static_cast<double *>(out.data), 1);
}

void covariance(const PeerArray *in, const PeerArray &out) {
    const Matrix data(in[0]), result(out);
    const int variables = data.columns, points = data.rows;
    double *mean = scratch(1, size_t(variables));
    double *centered = scratch(0, size_t(variables) * size_t(points));
    std::fill_n(mean, variables, 0.0);
    for (int y = 0; y < points; ++y) {
        for (int x = 0; x < variables; ++x)
            mean[x] += data.data[int64_t(y) * data.stride + x];
    }
    for (int y = 0; y < points; ++y) {
        for (int x = 0; x < variables; ++x) {
            centered[int64_t(y) * variables + x] =
                data.data[int64_t(y) * data.stride + x] - mean[x] / points;
        }
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, variables, points, 1.0 / (points - 1),
                centered, variables, 0, result.data, result.stride);
    for (int y = 0; y < variables; ++y) {
        for (int x = 0; x < y; ++x)
            result.data[int64_t(y) * result.stride + x] =
                result.data[int64_t(x) * result.stride + y];
    }
}

}  // namespace

namespace peers {

std::vector<Row> rows() {
    return {{"2mm", "openblas", two_mm},
            {"gemver", "openblas", gemver},
            {"covariance", "openblas", covariance}};
}

const char *name() {
    static const std::string version = [] {
        std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 ..."
        return config.substr(0, config.find(' ', config.find(' ') + 1));
    }();
    return version.c_str();
}

void set_threads(int threads) {
    openblas_set_num_threads(threads);
}

}  // namespace peers
