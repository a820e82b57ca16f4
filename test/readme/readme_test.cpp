// Runs the README's example, which the build makes into a function, and checks its result.
#include <catch2/catch_test_macros.hpp>

#include "readme_example.h"
#include "test/support/temp_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

TEST_CASE("the README's example sharpens the picture of the repository", "[readme]") {
    const std::string picture = "apps/pictures/scene.jpg";
    TempFolder folder;
    std::filesystem::current_path(folder / "");
    std::filesystem::create_directories("apps/pictures");
    std::filesystem::copy_file(PIPE_SOURCE_DIR "/" + picture, picture);

    readme_example();

    const Buffer<float> photo = load_image_as<float>(picture);
    const Buffer<uint8_t> sharp = load_image_as<uint8_t>("sharp.png");
    const int w = int(photo.width()), h = int(photo.height());
    REQUIRE(sharp.width() == w);
    REQUIRE(sharp.height() == h);
    const auto at = [&](int x, int y, int c) {
        return photo(std::clamp(x, 0, w - 1), std::clamp(y, 0, h - 1), c);
    };
    const auto row = [&](int x, int y, int c) {
        return (at(x - 1, y, c) + 2 * at(x, y, c) + at(x + 1, y, c)) / 4;
    };
    int wrong = 0;
    sharp.for_each_element([&](int x, int y, int c) {
        const float blurred = (row(x, y - 1, c) + 2 * row(x, y, c) + row(x, y + 1, c)) / 4;
        const float want = 255 * std::clamp(2 * at(x, y, c) - blurred, 0.f, 1.f);
        // the cast rounds down, so that a rounding error before it may change the result by one
        const bool near_integer = std::abs(want - std::round(want)) < 1e-3f;
        wrong += std::abs(sharp(x, y, c) - int(want)) > (near_integer ? 1 : 0);
    });
    REQUIRE(wrong == 0);
    std::filesystem::current_path("/");
}
