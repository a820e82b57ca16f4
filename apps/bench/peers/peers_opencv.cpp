// The applications that OpenCV has a function for, as a library of peers. What is left of a formula
// after the filter is written as a loop over rows, in parallel, so that no pass over the memory is
// wasted.
#include "apps/bench/peers/peer_rows.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

/// Plane `c` as a matrix, without copying.
cv::Mat plane(const PeerArray &a, int c) {
    auto *data = static_cast<float *>(a.data) + (a.rank > 2 ? c * a.dim[2].stride : 0);
    return {a.dim[1].extent, a.dim[0].extent, CV_32F, data,
            size_t(a.dim[1].stride) * sizeof(float)};
}

/// The part of `frame` that lies `border` pixels away from its edges. Filters look outside of it,
/// into the frame, where they are not told otherwise.
cv::Mat interior(const cv::Mat &frame, int border) {
    return frame(cv::Rect(border, border, frame.cols - 2 * border, frame.rows - 2 * border));
}

template <typename F> void parallel_rows(int rows, F &&f) {
    cv::parallel_for_(cv::Range(0, rows), [&](const cv::Range &range) {
        for (int y = range.start; y < range.end; ++y)
            f(y);
    });
}

// The mean of 3×3 pixels; OpenCV divides once, so on integers it may differ by one.
void blur_float(const PeerArray &in, const PeerArray &out) {
    cv::Mat source = plane(in, 0), target = plane(out, 0);
    cv::blur(interior(source, 1), target, {3, 3});
}

void blur(const PeerArray &in, const PeerArray &out) {
    auto matrix = [](const PeerArray &a) {
        return cv::Mat(a.dim[1].extent, a.dim[0].extent, CV_16U, a.data,
                       size_t(a.dim[1].stride) * 2);
    };
    cv::Mat source = matrix(in), target = matrix(out);
    cv::blur(interior(source, 1), target, {3, 3});
}

void unsharp(const PeerArray &in, const PeerArray &out) {
    const float weight = 3, threshold = 0.001f;
    const cv::Mat kernel = (cv::Mat_<float>(5, 1) << 1, 4, 6, 4, 1) / 16;
    for (int c = 0; c < 3; ++c) {
        const cv::Mat source = interior(plane(in, c), 2);
        cv::Mat target = plane(out, c);
        cv::sepFilter2D(source, target, CV_32F, kernel, kernel);
        parallel_rows(target.rows, [&](int y) {
            const float *img = source.ptr<float>(y);
            float *pixel = target.ptr<float>(y);
            for (int x = 0; x < target.cols; ++x) {
                const float sharp = img[x] * (1 + weight) - pixel[x] * weight;
                pixel[x] = std::abs(img[x] - pixel[x]) < threshold ? img[x] : sharp;
            }
        });
    }
}

void unsharp_halide(const PeerArray &in, const PeerArray &out) {
    cv::Mat kernel(7, 1, CV_32F);
    for (int i = -3; i <= 3; ++i) {
        kernel.at<float>(i + 3) = float(std::exp(-i * i / 4.5) / (std::sqrt(2 * CV_PI) * 1.5));
    }
    const cv::Mat r = plane(in, 0), g = plane(in, 1), b = plane(in, 2);
    cv::Mat gray(r.rows, r.cols, CV_32F), blurred;
    parallel_rows(r.rows, [&](int y) {
        for (int x = 0; x < r.cols; ++x) {
            gray.at<float>(y, x) = 0.299f * r.at<float>(y, x) + 0.587f * g.at<float>(y, x) +
                                   0.114f * b.at<float>(y, x);
        }
    });
    cv::sepFilter2D(gray, blurred, CV_32F, kernel, kernel, {-1, -1}, 0, cv::BORDER_REPLICATE);
    parallel_rows(r.rows, [&](int y) {
        const float *gr = gray.ptr<float>(y);
        float *ratio = blurred.ptr<float>(y);
        for (int x = 0; x < r.cols; ++x)
            ratio[x] = (2 * gr[x] - ratio[x]) / gr[x];
        for (int c = 0; c < 3; ++c) {
            const float *from = plane(in, c).ptr<float>(y);
            float *to = plane(out, c).ptr<float>(y);
            for (int x = 0; x < r.cols; ++x)
                to[x] = ratio[x] * from[x];
        }
    });
}

// OpenCV answers for the whole input; the output lies in its interior.
void corner(const cv::Mat &gray, const PeerArray &in, const PeerArray &out) {
    cv::Mat response, target = plane(out, 0);
    cv::cornerHarris(gray, response, 3, 3, 0.04);
    response(cv::Rect(out.dim[0].min - in.dim[0].min, out.dim[1].min - in.dim[1].min, target.cols,
                      target.rows))
        .copyTo(target);
}

void harris(const PeerArray &in, const PeerArray &out) {
    corner(plane(in, 0), in, out);
}

void harris_halide(const PeerArray &in, const PeerArray &out) {
    const cv::Mat r = plane(in, 0), g = plane(in, 1), b = plane(in, 2);
    cv::Mat gray(r.rows, r.cols, CV_32F);
    parallel_rows(r.rows, [&](int y) {
        for (int x = 0; x < r.cols; ++x) {
            gray.at<float>(y, x) = 0.299f * r.at<float>(y, x) + 0.587f * g.at<float>(y, x) +
                                   0.114f * b.at<float>(y, x);
        }
    });
    corner(gray, in, out);
}

template <typename F> void parallel_tasks(int count, F &&f) {
    cv::parallel_for_(
        cv::Range(0, count),
        [&](const cv::Range &range) {
            for (int i = range.start; i < range.end; ++i)
                f(i);
        },
        count);
}

/// f(c, rows) for strips of the rows of each plane, whose intermediate results stay in the cache.
/// OpenCV's filters of any kernel use one thread.
template <typename F> void parallel_strips(const PeerArray &out, F &&f) {
    const int rows = out.dim[1].extent, planes = out.rank > 2 ? out.dim[2].extent : 1;
    const int height = 64, strips = (rows + height - 1) / height;
    parallel_tasks(planes * strips, [&](int i) {
        const int begin = i % strips * height;
        f(i / strips, cv::Range(begin, std::min(rows, begin + height)));
    });
}

// The disc of docs/benchmarks.md, no. 17, one row higher than the geometric one on both sides.
cv::Mat disc(int radius) {
    cv::Mat mask = cv::Mat::zeros(2 * radius + 3, 2 * radius + 1, CV_8U);
    const float reach = float(radius) + 0.25f;
    for (int x = -radius; x <= radius; ++x) {
        int height = 0;
        while (height <= radius && float(x * x + height * height) < reach * reach)
            ++height;
        mask.col(x + radius).rowRange(radius + 1 - height, radius + 2 + height).setTo(1);
    }
    return mask;
}

// A strip of a plane looks into the rows around it.
void max_filter(const PeerArray &in, const PeerArray &out) {
    const cv::Mat mask = disc(26);
    parallel_strips(out, [&](int c, cv::Range rows) {
        cv::Mat target = plane(out, c).rowRange(rows);
        cv::dilate(plane(in, c).rowRange(rows), target, mask, {-1, -1}, 1, cv::BORDER_REPLICATE);
    });
}

// The conversion to 8 bits rounds halves to even and saturates, as the quantizer does.
void quantized_conv(const PeerArray &in, const PeerArray &out) {
    cv::Mat kernel(3, 3, CV_32F);
    for (int i = 0; i < 9; ++i)
        kernel.at<float>(i / 3, i % 3) = float(i - 4) / 8;
    parallel_strips(out, [&](int c, cv::Range rows) {
        cv::Mat levels, quantized, target = plane(out, c).rowRange(rows);
        plane(in, c).rowRange(rows.start, rows.end + 2).convertTo(levels, CV_8S, 16);
        levels.convertTo(quantized, CV_32F, 1.0 / 16);
        cv::filter2D(quantized(cv::Rect({0, 0}, target.size())), target, CV_32F, kernel, {0, 0});
        cv::max(target, 0, target);
    });
}

using Pyramid = std::array<cv::Mat, 4>;

// OpenCV's pyramids reflect the picture at its edges, which the output is too far away from to see.
// Its functions use one thread, so the planes are the tasks.
void pyramid_blend(const PeerArray *inputs, const PeerArray &out) {
    std::array<Pyramid, 7> gauss;  // the planes of both pictures, and the mask
    parallel_tasks(7, [&](int i) {
        gauss[i][0] = plane(inputs[i / 3], i % 3);
        for (size_t l = 1; l < gauss[i].size(); ++l)
            cv::pyrDown(gauss[i][l - 1], gauss[i][l]);
    });
    std::array<cv::Mat, 9> up;  // of the planes of both pictures, and of the result
    std::array<cv::Mat, 3> result;
    for (int l = int(gauss[0].size()) - 1; l >= 0; --l) {
        const cv::Mat &mask = gauss[6][l];
        const bool coarsest = up[0].empty();
        cv::Rect window({0, 0}, mask.size());
        if (l == 0)
            window = {out.dim[0].min - inputs[0].dim[0].min, out.dim[1].min - inputs[0].dim[1].min,
                      out.dim[0].extent, out.dim[1].extent};
        for (int c = 0; c < 3; ++c)
            result[c] = l == 0 ? plane(out, c) : cv::Mat(mask.size(), CV_32F);
        parallel_tasks(3 * window.height, [&](int i) {
            const int c = i / window.height, y = i % window.height, row = y + window.y;
            const auto of = [&](const cv::Mat &m) { return m.ptr<float>(row) + window.x; };
            const float *a = of(gauss[c][l]), *b = of(gauss[3 + c][l]), *m = of(mask);
            float *to = result[c].ptr<float>(y);
            if (coarsest) {
                for (int x = 0; x < window.width; ++x)
                    to[x] = a[x] * m[x] + b[x] * (1 - m[x]);
                return;
            }
            const float *up_a = of(up[c]), *up_b = of(up[3 + c]), *above = of(up[6 + c]);
            for (int x = 0; x < window.width; ++x)
                to[x] = (a[x] - up_a[x]) * m[x] + (b[x] - up_b[x]) * (1 - m[x]) + above[x];
        });
        if (l > 0)
            parallel_tasks(9, [&](int i) {
                cv::pyrUp(i < 6 ? gauss[i][l] : result[i - 6], up[i], gauss[6][l - 1].size());
            });
    }
}

/// A function of one input as one of a table's rows.
template <void (*f)(const PeerArray &, const PeerArray &)>
void run(const PeerArray *inputs, const PeerArray &out) {
    f(inputs[0], out);
}

}  // namespace

namespace peers {

std::vector<Row> rows() {
    return {{"blur", "opencv", run<blur>},
            {"blur_float", "opencv", run<blur_float>},
            {"unsharp", "opencv", run<unsharp>},
            {"unsharp_halide", "opencv", run<unsharp_halide>},
            {"harris", "opencv", run<harris>},
            {"harris_halide", "opencv", run<harris_halide>},
            {"max_filter", "opencv", run<max_filter>},
            {"quantized_conv", "opencv", run<quantized_conv>},
            {"pyramid_blend", "opencv", pyramid_blend}};
}

const char *name() {
    return "OpenCV " CV_VERSION;
}

void set_threads(int threads) {
    cv::setNumThreads(threads);
}

}  // namespace peers
