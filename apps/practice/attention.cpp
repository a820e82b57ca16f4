// Attention: every head's softmax(Q K^T / sqrt(depth)) V.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int depth = 64;

Program attention() {
    ImageParam q(Float(32), 3, "q"), k(Float(32), 3, "k"), v(Float(32), 3, "v");
    Var d("d"), i("i"), j("j"), h("h");
    RDom rd(0, depth, "rd"), rj(0, k.dim(1).extent(), "rj");
    Func score("score"), largest("largest"), e("e"), total("total"), weighted("weighted"),
        out("attention");
    score(j, i, h) += q(rd, i, h) * k(rd, j, h);
    largest(i, h) = maximum(score(rj, i, h));
    e(j, i, h) = exp((score(j, i, h) - largest(i, h)) / 8);
    total(i, h) = sum(e(rj, i, h));
    weighted(d, i, h) += e(rj, i, h) * v(d, rj, h);
    out(d, i, h) = weighted(d, i, h) / total(i, h);
    return {{q, k, v}, out};
}

void attention_loops(const Arrays &arrays, Size size) {
    const float *q = arrays.in<float>(0), *k = arrays.in<float>(1), *v = arrays.in<float>(2);
    float *out = arrays.out<float>();
    constexpr ptrdiff_t block = 16;
    const ptrdiff_t length = size.width, head = length * depth;
    std::vector<float> transposed(size_t(head) * size_t(size.height));
#pragma omp parallel for
    for (int h = 0; h < size.height; ++h) {
        for (ptrdiff_t d = 0; d < depth; ++d) {
            for (ptrdiff_t j = 0; j < length; ++j)
                transposed[size_t(h * head + d * length + j)] = k[h * head + j * depth + d];
        }
    }
#pragma omp parallel
    {
        std::vector<float> scores(size_t(block * length));
#pragma omp for collapse(2)
        for (int h = 0; h < size.height; ++h) {
            for (ptrdiff_t i = 0; i < length; i += block) {
                const ptrdiff_t rows = std::min(block, length - i), at = h * head + i * depth;
                product(rows, length, depth, q + at, depth, &transposed[size_t(h * head)], length,
                        scores.data(), length);
                float scale[block];
                for (ptrdiff_t r = 0; r < rows; ++r) {
                    float *score = &scores[size_t(r * length)];
                    float largest = score[0], total = 0;
                    for (ptrdiff_t j = 1; j < length; ++j)
                        largest = std::max(largest, score[j]);
                    for (ptrdiff_t j = 0; j < length; ++j)
                        total += score[j] = std::exp((score[j] - largest) / 8);
                    scale[r] = 1 / total;
                }
                product(rows, depth, length, scores.data(), length, v + h * head, depth, out + at,
                        depth);
                for (ptrdiff_t r = 0; r < rows; ++r) {
                    for (ptrdiff_t d = 0; d < depth; ++d)
                        out[at + r * depth + d] *= scale[r];
                }
            }
        }
    }
}

Box tokens(Size s) {
    return {{0, depth}, {0, s.width}, {0, s.height}};
}

double key(const Point &p, Size s) {
    return signed_value({p[0] + 1000, p[1], p[2]}, s);
}
double value(const Point &p, Size s) {
    return signed_value({p[0] + 2000, p[1], p[2]}, s);
}

}  // namespace

std::vector<Practice> attention_practices() {
    return {{.name = "attention",
             .title = "attention, heads of depth 64 (length × heads)",
             .make = attention,
             .loops = attention_loops,
             .inputs = {{tokens, signed_value}, {tokens, key}, {tokens, value}},
             .output = tokens,
             .tolerance = 1e-4,
             .size = {512, 12},
             .small = {{1, 1}, {7, 2}, {33, 1}, {19, 3}}}};
}

}  // namespace practice
