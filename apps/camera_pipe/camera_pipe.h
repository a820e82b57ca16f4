// Camera pipeline (docs/benchmarks.md, no. 5): from the raw data of a Bayer sensor to a picture.
#pragma once

#include <array>

#include "apps/common/program.h"

namespace apps {

struct CameraPipe : Program {
    enum class Form {
        PolyMage,  ///< averages round down, isolated dark pixels are suppressed too
        Halide     ///< averages round up, the tone curve knows black and white levels, sharpened
    };
    explicit CameraPipe(Form form);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    /// A row per channel of the picture: what the sensor's red, green and blue and the constant 1
    /// are multiplied with, in 256ths.
    static std::array<std::array<int, 4>, 3> color_matrix();

    Form form;
    dsl::ImageParam raw;  ///< uint16, 10 bits; even rows: green, red, odd rows: blue, green
    dsl::Func denoised{"denoised"};
    /// At half resolution, by name: value_at, e.g. green at the red pixels.
    dsl::Func g_gr{"g_gr"}, r_r{"r_r"}, b_b{"b_b"}, g_gb{"g_gb"}, g_r{"g_r"}, g_b{"g_b"},
        r_gr{"r_gr"}, b_gr{"b_gr"}, r_gb{"r_gb"}, b_gb{"b_gb"}, r_b{"r_b"}, b_r{"b_r"};
    dsl::Func demosaiced{"demosaiced"}, corrected{"corrected"}, curve{"curve"}, curved{"curved"},
        unsharp_y{"unsharp_y"}, unsharp{"unsharp"}, sharpened{"sharpened"};
    dsl::Var x{"x"}, y{"y"}, c{"c"}, v{"v"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"}, yu{"yu"};

  private:
    void suppress_hot_pixels();
    void demosaic();
    void correct_colors();
    void make_curve();
    void sharpen();
    dsl::Expr avg(const dsl::Expr &a, const dsl::Expr &b) const;
};

}  // namespace apps
