// The programs around the applications: what `demo` writes and says, and the benchmark's JSON.
#include "apps/common/demo.h"

#include <pipe/image_io.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using Pipe::Buffer;

struct ScratchFolder {
    ScratchFolder() {
        char name[] = "/tmp/pipe_programs_XXXXXX";
        REQUIRE(mkdtemp(name));
        path = name;
    }
    ~ScratchFolder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

apps::Form sharpened() {
    return {"unsharp_halide",
            [](const Buffer<float> &photo) { return std::vector<apps::Inputs>{{photo}}; },
            [](const std::vector<Buffer<>> &outputs) { return outputs[0]; }};
}

int run_demo(std::vector<std::string> args, const apps::Form &form = sharpened()) {
    args.insert(args.begin(), "demo");
    std::vector<char *> argv;
    for (std::string &arg : args)
        argv.push_back(arg.data());
    return apps::demo(int(argv.size()), argv.data(), apps::registry(), {form});
}

}  // namespace

TEST_CASE("demo writes the pictures before and after") {
    const ScratchFolder folder;
    const std::string image = folder.path / "in.pgm", out = folder.path / "new" / "out";
    Buffer<uint8_t> gray(96, 80, 1);
    gray.fill([](int x, int y, int) { return uint8_t(40 + x + y); });
    Pipe::save_image(gray, image);

    REQUIRE(run_demo({image, "--out", out}) == 0);
    const Buffer<> before = Pipe::load_image(out + "/unsharp_halide_before.png");
    const Buffer<uint8_t> after = Pipe::load_image(out + "/unsharp_halide_after.png");
    CHECK(before.dim(0).extent() == 96);
    REQUIRE(after.dim(0).extent() == 96);
    REQUIRE(after.dim(1).extent() == 80);
    // a ramp away from the edges: scaled by 2 - s*s, see properties.cpp
    CHECK(std::abs(after(40, 40, 1) - 120 * 1.0345754) <= 1);
}

TEST_CASE("demo hands on the numbers of a file of 16 bits and one channel as they are") {
    const ScratchFolder folder;
    const std::string image = folder.path / "raw.png";
    Buffer<uint16_t> counts(80, 64);
    counts.fill([](int x, int y) { return uint16_t(x == 7 ? 1053 : 16 * y); });
    Pipe::save_image(counts, image);
    int photographs = 0;
    apps::Form form = {"camera_pipe",
                       [&](const Buffer<float> &) -> std::vector<apps::Inputs> {
                           photographs++;
                           throw std::runtime_error("this is not raw");
                       },
                       sharpened().picture};
    Buffer<uint16_t> seen;
    form.raw_inputs = [&](const Buffer<uint16_t> &raw) {
        seen = raw;
        return std::vector<apps::Inputs>{{raw}};
    };
    REQUIRE(run_demo({image, "--out", folder.path}, form) == 0);
    REQUIRE(seen.dimensions() == 2);
    CHECK(seen(7, 3) == 1053);
    CHECK(seen(8, 63) == 16 * 63);
    CHECK(photographs == 0);

    const std::string photo = folder.path / "photo.png";
    Pipe::save_image(Buffer<uint16_t>(80, 64, 3), photo);
    CHECK(run_demo({photo, "--out", folder.path}, form) == 1);
    CHECK(photographs == 1);
}

TEST_CASE("demo says what is wrong and returns a status") {
    const ScratchFolder folder;
    CHECK(run_demo({"/nowhere/missing.png", "--out", folder.path}) == 1);
    CHECK(run_demo({"--unknown"}) == 2);
    CHECK(run_demo({"one.png", "two.png"}) == 2);
}

TEST_CASE("benchmark: JSON in the agreed form") {
    const ScratchFolder folder;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string program = self.parent_path().parent_path() / "bin" / "pipe_bench";
    INFO("build the target pipe_bench: " << program);
    REQUIRE(std::filesystem::exists(program));
    const std::string file = folder.path / "bench.json";
    const int status = std::system(
        (program + " --app blur --size 256x192 --samples 3 --json " + file + " >/dev/null")
            .c_str());
    REQUIRE(status == 0);

    const nlohmann::json written = nlohmann::json::parse(std::ifstream(file));
    CHECK(written.at("machine").at("fma_gflops") > 0);
    CHECK(written.at("machine").at("bandwidth_gbps").at("DRAM").at("copy") > 0);
    std::vector<std::string> ours;
    for (const nlohmann::json &row : written.at("results")) {
        CHECK(row.at("app") == "blur");
        CHECK(row.at("width") == 256);
        CHECK(row.at("height") == 192);
        CHECK(row.at("threads") >= 1);
        for (const char *key : {"variant", "median_ms", "min_ms", "samples", "max_abs_diff",
                                "schedule_ms", "lower_ms", "llvm_ms"}) {
            CHECK(row.contains(key));
        }
        const std::string variant = row.at("variant");
        if (variant != "naive" && variant != "hand" && variant != "auto")
            continue;
        ours.push_back(variant);
        CHECK(row.at("status") == "ok");
        CHECK(row.at("max_abs_diff") == 0);
        CHECK(row.at("median_ms") >= row.at("min_ms"));
        CHECK(row.at("samples") == 3);
        CHECK(row.at("llvm_ms") > 0);
    }
    CHECK(ours == std::vector<std::string>{"naive", "hand", "auto"});
}
