// Pipelines that the tests schedule.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "autoschedule/autoschedule.h"
#include "language/freeze.h"
#include <pipe/boundary_conditions.h>
#include <pipe/func.h>
#include <pipe/operators.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/var.h>

namespace test {

using namespace Pipe;
using autoschedule::Machine;
using autoschedule::Report;
using autoschedule::Result;
using ScheduleSizes = autoschedule::Sizes;

inline Machine two_cores() {
    Machine m;
    m.cores = 2;
    m.vector_bytes = 64;
    m.l1_bytes = 48 << 10;
    m.l2_bytes = 1 << 20;
    m.l3_bytes = 32 << 20;
    return m;
}

struct Blur {
    Var x{"x"}, y{"y"};
    ImageParam input{UInt(16), 2, "input"};
    Func bx{"bx"}, by{"by"};

    Blur() {
        bx(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
        by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
    }
    ScheduleSizes sizes(int64_t w = 2560, int64_t h = 1920) const {
        return {{{{0, w}, {0, h}}}, {{"input", {{0, w + 2}, {0, h + 2}}}}, {}};
    }
};

/// Four stages, each channel for itself.
struct Unsharp {
    Var x{"x"}, y{"y"}, c{"c"};
    ImageParam input{Float(32), 3, "input"};
    Func blury{"blury"}, blurx{"blurx"}, sharpen{"sharpen"}, masked{"masked"};

    Unsharp() {
        auto binomial = [](Expr a, Expr b, Expr m, Expr d, Expr e) {
            return (a + 4.0f * b + 6.0f * m + 4.0f * d + e) / 16.0f;
        };
        blury(x, y, c) = binomial(input(x, y - 2, c), input(x, y - 1, c), input(x, y, c),
                                  input(x, y + 1, c), input(x, y + 2, c));
        blurx(x, y, c) = binomial(blury(x - 2, y, c), blury(x - 1, y, c), blury(x, y, c),
                                  blury(x + 1, y, c), blury(x + 2, y, c));
        sharpen(x, y, c) = input(x, y, c) * 4.0f - blurx(x, y, c) * 3.0f;
        masked(x, y, c) =
            select(abs(input(x, y, c) - blurx(x, y, c)) < 0.001f, input(x, y, c), sharpen(x, y, c));
    }
    ScheduleSizes sizes(int64_t w = 1536, int64_t h = 2560) const {
        return {{{{0, w}, {0, h}, {0, 3}}}, {{"input", {{-2, w + 4}, {-2, h + 4}, {0, 3}}}}, {}};
    }
};

/// Six stages; the luminance is shared by three channels; edges repeat.
struct UnsharpShared {
    Var x{"x"}, y{"y"}, c{"c"};
    ImageParam input{Float(32), 3, "input"};
    Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, sharpen{"sharpen"}, ratio{"ratio"},
        unsharp{"unsharp"};

    UnsharpShared() {
        const float k[] = {0.26596152f, 0.21296534f, 0.10934005f, 0.03599398f};
        Func in = BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
        blur_y(x, y) = k[0] * gray(x, y) + k[1] * (gray(x, y - 1) + gray(x, y + 1)) +
                       k[2] * (gray(x, y - 2) + gray(x, y + 2)) +
                       k[3] * (gray(x, y - 3) + gray(x, y + 3));
        blur_x(x, y) = k[0] * blur_y(x, y) + k[1] * (blur_y(x - 1, y) + blur_y(x + 1, y)) +
                       k[2] * (blur_y(x - 2, y) + blur_y(x + 2, y)) +
                       k[3] * (blur_y(x - 3, y) + blur_y(x + 3, y));
        sharpen(x, y) = 2.0f * gray(x, y) - blur_x(x, y);
        ratio(x, y) = sharpen(x, y) / gray(x, y);
        unsharp(x, y, c) = ratio(x, y) * input(x, y, c);
    }
    ScheduleSizes sizes(int64_t w = 1536, int64_t h = 2560) const {
        return {{{{0, w}, {0, h}, {0, 3}}}, {{"input", {{0, w}, {0, h}, {0, 3}}}}, {}};
    }
};

/// Eleven stages, of a picture of gray values.
struct HarrisStages {
    Var x{"x"}, y{"y"};
    Func iy{"iy"}, ix{"ix"}, ixx{"ixx"}, iyy{"iyy"}, ixy{"ixy"}, sxx{"sxx"}, syy{"syy"}, sxy{"sxy"},
        det{"det"}, trace{"trace"}, harris{"harris"};

    template <typename Gray> void define(const Gray &gray) {
        auto sum = [this](Func f) {
            return f(x - 1, y - 1) + f(x, y - 1) + f(x + 1, y - 1) + f(x - 1, y) + f(x, y) +
                   f(x + 1, y) + f(x - 1, y + 1) + f(x, y + 1) + f(x + 1, y + 1);
        };
        const float a = 1.0f / 12, b = 2.0f / 12;
        iy(x, y) = (gray(x + 1, y - 1) - gray(x - 1, y - 1)) * a +
                   (gray(x + 1, y) - gray(x - 1, y)) * b +
                   (gray(x + 1, y + 1) - gray(x - 1, y + 1)) * a;
        ix(x, y) = (gray(x - 1, y + 1) - gray(x - 1, y - 1)) * a +
                   (gray(x, y + 1) - gray(x, y - 1)) * b +
                   (gray(x + 1, y + 1) - gray(x + 1, y - 1)) * a;
        ixx(x, y) = ix(x, y) * ix(x, y);
        iyy(x, y) = iy(x, y) * iy(x, y);
        ixy(x, y) = ix(x, y) * iy(x, y);
        sxx(x, y) = sum(ixx);
        syy(x, y) = sum(iyy);
        sxy(x, y) = sum(ixy);
        det(x, y) = sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y);
        trace(x, y) = sxx(x, y) + syy(x, y);
        harris(x, y) = det(x, y) - 0.04f * trace(x, y) * trace(x, y);
    }
};

/// One more stage makes gray values of RGB.
struct Harris : HarrisStages {
    ImageParam input{Float(32), 3, "input"};
    Func gray{"gray"};

    Harris() {
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
        define(gray);
    }
    ScheduleSizes sizes(int64_t w = 1532, int64_t h = 2556) const {
        return {{{{0, w}, {0, h}}}, {{"input", {{-2, w + 4}, {-2, h + 4}, {0, 3}}}}, {}};
    }
};

/// As in Jangda 2020.
struct HarrisOfGray : HarrisStages {
    ImageParam input{Float(32), 2, "input"};

    HarrisOfGray() { define(input); }
    ScheduleSizes sizes(int64_t w = 4254, int64_t h = 2830) const {
        return {{{{0, w}, {0, h}}}, {{"input", {{-2, w + 4}, {-2, h + 4}}}}, {}};
    }
};

inline Result autoschedule_for(const language::Frozen &frozen, const ScheduleSizes &sizes,
                               const Machine &machine = two_cores(),
                               const AutoscheduleOptions &options = {}) {
    return autoschedule::schedule(frozen.graph, frozen.schedule, sizes, machine, options);
}

}  // namespace test
