#include "apps/bench/footprints.h"

#include "apps/camera_pipe/camera_pipe.h"
#include "apps/common/footprint.h"
#include "apps/interpolate/interpolate.h"
#include "apps/local_laplacian/local_laplacian.h"
#include "apps/pyramid_blend/pyramid_blend.h"
#include "apps/unsharp/unsharp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace bench {

namespace {

using apps::Extents;
using Pipe::Func;

/// A stage, and what the paper prints of it: extents with rows before columns.
struct Row {
    std::string name;
    Func func;
    std::string polymage, flextended;
};

void print_rows(const apps::App &app, apps::Program &program, const Func &output, int width,
                int height, const std::vector<Row> &rows, const std::vector<Func> &inlined,
                apps::Size size) {
    apps::FusedGroup group{output, width, height, {}, inlined};
    for (const Row &row : rows)
        group.members.push_back(row.func);
    const std::vector<Extents> ours = apps::footprints(app, program, group, size);
    for (size_t i = 0; i < rows.size(); ++i) {
        const Extents reversed(ours[i].rbegin(), ours[i].rend());
        fmt::print("{:16} {:14} {:14} {:14}\n", rows[i].name, rows[i].polymage, rows[i].flextended,
                   fmt::format("{}", fmt::join(reversed, "x")));
    }
}

void print_title(const std::string &title) {
    fmt::print("\n{}\n{:16} {:14} {:14} {:14}\n", title, "stage", "PolyMage", "flextended", "Pipe");
}

void print_camera_pipe() {
    print_title("Table 3: camera pipeline, tile 64x256");
    apps::CameraPipe p(apps::CameraPipe::Form::PolyMage);
    const std::string quarter = "40x136", here = "32x128", all = "3x80x272";
    const std::vector<Row> rows = {{"denoised", p.denoised, "80x272", "68x256"},
                                   {"r_r", p.r_r, quarter, "33x131"},
                                   {"g_gr", p.g_gr, quarter, "35x133"},
                                   {"b_b", p.b_b, quarter, "33x131"},
                                   {"g_gb", p.g_gb, quarter, "35x133"},
                                   {"g_b", p.g_b, quarter, "33x129"},
                                   {"g_r", p.g_r, quarter, "33x129"},
                                   {"b_gb", p.b_gb, quarter, here},
                                   {"r_b", p.r_b, quarter, here},
                                   {"r_gr", p.r_gr, quarter, here},
                                   {"b_r", p.b_r, quarter, here},
                                   {"r_gb", p.r_gb, quarter, here},
                                   {"b_gr", p.b_gr, quarter, here},
                                   {"red,green,blue", p.demosaiced, all, "3x64x256"},
                                   {"corrected", p.corrected, all, "3x64x256"}};
    print_rows(*apps::find_app("camera_pipe"), p, p.curved, 256, 64, rows, {}, {1024, 256});
}

void print_local_laplacian() {
    print_title("Table 4: local Laplacian filter, tile 8x256");
    const std::vector<std::string> polymage = {"8x8x131", "8x8x262", "8x131", "8x262"},
                                   flextended = {"8x8x130", "8x8x256", "8x130", "8x256"};
    for (int level : {2, 1, 0}) {
        apps::LocalLaplacian p({.form = apps::LocalLaplacian::Form::PolyMage});
        const size_t l = static_cast<size_t>(level);
        const std::string at = "_L" + std::to_string(level);
        const std::vector<Row> rows = {{"Ux_IP" + at, p.lupy[l], polymage[0], flextended[0]},
                                       {"U_IP" + at, p.lp[l], polymage[1], flextended[1]},
                                       {"Ux_outGP" + at, p.oupy[l], polymage[2], flextended[2]},
                                       {"outLP" + at, p.outl[l], polymage[3], flextended[3]}};
        print_rows(*apps::find_app("local_laplacian"), p, p.out[l], 256, 8, rows,
                   {p.lupx[l], p.oupx[l]}, {2048, 512});
    }
}

void print_interpolate() {
    print_title("Table 5: multiscale interpolation, tile 32x128");
    apps::Interpolate p;
    const std::vector<Row> rows = {
        {"Ux_i_L3", p.upy[3], "4x7x10", "4x7x10"},   {"i_L3", p.filled[3], "4x7x20", "4x7x20"},
        {"Ux_i_L2", p.upy[2], "4x14x20", "4x11x20"}, {"i_L2", p.filled[2], "4x14x40", "4x11x35"},
        {"Ux_i_L1", p.upy[1], "4x28x40", "4x18x35"}, {"i_L1", p.filled[1], "4x28x80", "4x18x66"},
        {"Ux_i_L0", p.upy[0], "4x56x80", "4x33x66"}, {"i_L0", p.filled[0], "4x56x169", "4x33x129"}};
    print_rows(*apps::find_app("interpolate"), p, p.normalized, 128, 32, rows,
               {p.upx[3], p.upx[2], p.upx[1], p.upx[0]}, {1536, 512});
}

/// The first of the three groups: level 2, half as many columns.
void print_blend_level_2() {
    apps::PyramidBlend p;
    const std::vector<Row> rows = {{"Dx_3_img1", p.halfy[0][3], "3x14x152", "3x10x134"},
                                   {"Dx_3_img2", p.halfy[1][3], "3x14x152", "3x10x134"},
                                   {"Dy_3_img1", p.gauss[0][3], "3x14x76", "3x10x66"},
                                   {"Dy_3_img2", p.gauss[1][3], "3x14x76", "3x10x66"},
                                   {"Col_2_x", p.outy[2], "3x28x76", "3x16x66"},
                                   {"Dx_3_mask", p.halfy[2][3], "14x152", "10x134"},
                                   {"Dy_3_mask", p.gauss[2][3], "14x76", "10x66"},
                                   {"Ux_2_img1", p.upy[0][2], "3x28x76", "3x16x66"},
                                   {"Ux_2_img2", p.upy[1][2], "3x28x76", "3x16x66"},
                                   {"Dx_2_mask", p.halfy[2][2], "28x304", "22x266"},
                                   {"Dy_2_mask", p.gauss[2][2], "28x152", "22x134"},
                                   {"Uy_2_img1", p.laplace[0][2], "3x28x152", "3x16x128"},
                                   {"Uy_2_img2", p.laplace[1][2], "3x28x152", "3x16x128"},
                                   {"Res_3", p.blended[3], "3x14x76", "3x10x66"},
                                   {"Res_2", p.blended[2], "3x28x152", "3x16x128"}};
    print_rows(*apps::find_app("pyramid_blend"), p, p.out[2], 128, 16, rows,
               {p.laplace[0][3], p.laplace[1][3], p.out[3]}, {2048, 512});
}

void print_pyramid_blend() {
    print_title("Table 6: pyramid blending, tile 16x256");
    print_blend_level_2();
    for (int level : {1, 0}) {
        apps::PyramidBlend p;
        const size_t l = static_cast<size_t>(level);
        const std::string n = std::to_string(level), half = "3x16x131", whole = "3x16x262";
        const std::string collapsed = level == 0 ? "blend_x" : "Col_1_x";
        const std::vector<Row> rows = {{"Ux_" + n + "_img1", p.upy[0][l], half, "3x16x130"},
                                       {"Ux_" + n + "_img2", p.upy[1][l], half, "3x16x130"},
                                       {collapsed, p.outy[l], half, "3x16x130"},
                                       {"Uy_" + n + "_img1", p.laplace[0][l], whole, "3x16x256"},
                                       {"Uy_" + n + "_img2", p.laplace[1][l], whole, "3x16x256"},
                                       {"Res_" + n, p.blended[l], whole, "3x16x256"}};
        print_rows(*apps::find_app("pyramid_blend"), p, p.out[l], 256, 16, rows, {}, {2048, 512});
    }
}

void print_unsharp() {
    print_title("Table 7: unsharp mask, tile 8x512");
    apps::Unsharp p;
    const std::string all = "3x8x518";  // the paper calls the blur along the columns blurx
    const std::vector<Row> rows = {{"blurx", p.blury, all, "3x8x516"},
                                   {"blury", p.blurx, all, "3x8x512"},
                                   {"sharpen", p.sharpen, all, "3x8x512"}};
    print_rows(*apps::find_app("unsharp"), p, p.masked, 512, 8, rows, {}, {2048, 64});
}

}  // namespace

void print_footprints() {
    fmt::print("What a tile stores of each stage of a fused group (rows x columns).\n");
    print_camera_pipe();
    print_local_laplacian();
    print_interpolate();
    print_pyramid_blend();
    print_unsharp();
}

}  // namespace bench
