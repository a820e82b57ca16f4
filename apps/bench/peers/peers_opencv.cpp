// The applications that OpenCV has a function for, as a library of peers. What is left of a formula
// after the filter is written as a loop over rows, in parallel, so that no pass over the memory is
// wasted.
#include "apps/bench/peers/peer_rows.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

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

/// A function of one input as one of a table's rows.
template <void (*f)(const PeerArray &, const PeerArray &)>
void run(const PeerArray *inputs, const PeerArray &out) {
    f(inputs[0], out);
}

}  // namespace

namespace peers {

std::vector<Row> rows() {
    return {{"blur", "opencv", run<blur>},       {"blur_float", "opencv", run<blur_float>},
            {"unsharp", "opencv", run<unsharp>}, {"unsharp_halide", "opencv", run<unsharp_halide>},
            {"harris", "opencv", run<harris>},   {"harris_halide", "opencv", run<harris_halide>}};
}

const char *name() {
    return "OpenCV " CV_VERSION;
}

void set_threads(int threads) {
    cv::setNumThreads(threads);
}

}  // namespace peers
