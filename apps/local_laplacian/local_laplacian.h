// Local Laplacian filter (docs/benchmarks.md, no. 6): edge-aware enhancement of detail. The picture
// is remapped around each of K intensities, a pyramid is made of each, and every pixel of every
// level of the result is taken from the pyramids of the two intensities next to its own.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct LocalLaplacian : Program {
    enum class Form {
        PolyMage,  ///< 0 outside of every level; planes are blue, green, red
        Halide,    ///< edges of the picture are repeated; planes are red, green, blue
    };
    enum class Color {
        Old,    ///< out = G·(in + eps)/(gray + eps): colors may saturate
        Of2023  ///< out = in·(G + eps)/(gray + eps): black stays black
    };
    struct Options {
        Form form = Form::Halide;
        Color color = Color::Old;
        int levels = 8;
        int intensities = 8;
        float alpha = 1.0f / 7;  ///< how much detail is added
        float beta = 1;          ///< how much of the large differences is kept
    };
    explicit LocalLaplacian(const Options &options);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    Options options;
    dsl::ImageParam input;  ///< uint16, planes (x, y, c)
    dsl::Func remap{"remap"}, gray{"gray"}, output_{"local_laplacian"};
    /// Gaussian pyramids of the remapped pictures and of the gray one, halved along y, then along
    /// x.
    std::vector<dsl::Func> gy, g, iny, in;
    /// Of the next coarser level, doubled along y, then along x: of the remapped pictures, of the
    /// result. Laplacian levels of the remapped pictures, of the result, and the result.
    std::vector<dsl::Func> lupy, lupx, lp, oupy, oupx, outl, out;
    dsl::Var x{"x"}, y{"y"}, k{"k"}, c{"c"}, yo{"yo"}, yi{"yi"};

  private:
    void define_levels();
    void define_color();
    /// A stage as its neighbors see it; the picture's width and height were halved so many times.
    dsl::Func seen(const dsl::Func &f, int x_halved, int y_halved) const;
};

}  // namespace apps
