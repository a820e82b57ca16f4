// Runs the README's example, which the build makes into a function, and checks its result.
#include <catch2/catch_test_macros.hpp>

#include "readme_example.h"
#include "test/support/temp_folder.h"

#include <algorithm>
#include <filesystem>

TEST_CASE("the README's example blurs a photo", "[readme]") {
    TempFolder folder;
    std::filesystem::current_path(folder / "");
    Buffer<uint8_t> photo(70, 50, 3);
    photo.fill([](int x, int y, int c) { return (x * x + 7 * y + 31 * c) % 256; });
    save_image(photo, "photo.png");

    readme_example();

    const Buffer<uint8_t> blurred = load_image_as<uint8_t>("blurred.png");
    REQUIRE(blurred.width() == 70);
    const auto at = [&](int x, int y, int c) {
        return int{photo(std::clamp(x, 0, 69), std::clamp(y, 0, 49), c)};
    };
    const auto row = [&](int x, int y, int c) {
        return (at(x - 1, y, c) + 2 * at(x, y, c) + at(x + 1, y, c)) / 4;
    };
    int wrong = 0;
    blurred.for_each_element([&](int x, int y, int c) {
        wrong += blurred(x, y, c) != (row(x, y - 1, c) + 2 * row(x, y, c) + row(x, y + 1, c)) / 4;
    });
    REQUIRE(wrong == 0);
    std::filesystem::current_path("/");
}
