#include <pipe/image_io.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "test/support/temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace Pipe;

namespace {

template <typename T> Buffer<T> pattern(int width, int height, int channels) {
    Buffer<T> image(width, height, channels);
    image.fill([](int x, int y, int c) { return (x * 7919 + y * 104729 + c * 1299709) % 65536; });
    return image;
}

template <typename T> bool same(const Buffer<T> &a, const Buffer<T> &b) {
    bool equal = true;
    a.for_each_value([&](T left, T right) { equal &= left == right; }, b);
    return equal;
}

/// An image of one channel is read with two dimensions.
template <typename T> Buffer<T> without_channels(const Buffer<T> &image) {
    return image.channels() == 1 ? image.sliced(2) : image;
}

}  // namespace

TEST_CASE("lossless formats give back what was written", "[image_io]") {
    TempFolder folder;
    struct Case {
        const char *file;
        int channels;
    };
    for (const Case &c :
         {Case{"a.png", 1}, {"a.png", 2}, {"a.png", 3}, {"a.PNG", 4}, {"a.pgm", 1}, {"a.ppm", 3}}) {
        CAPTURE(c.file, c.channels);
        const std::string path = folder / c.file;
        const auto bytes = pattern<uint8_t>(13, 7, c.channels);
        save_image(bytes, path);
        const Buffer<> read = load_image(path);
        REQUIRE(read.type() == UInt(8));
        REQUIRE(read.dimensions() == (c.channels == 1 ? 2 : 3));
        REQUIRE(read.stride(0) == 1);
        REQUIRE(same(without_channels(bytes), read.as<uint8_t>()));

        const auto words = pattern<uint16_t>(13, 7, c.channels);
        save_image(words, path);
        REQUIRE(load_image(path).type() == UInt(16));
        REQUIRE(same(without_channels(words), load_image_as<uint16_t>(path)));
    }
}

TEST_CASE("any shape of Buffer can be written", "[image_io]") {
    TempFolder folder;
    auto interleaved = Buffer<uint8_t>::make_interleaved(9, 8, 3);
    interleaved.fill([](int x, int y, int c) { return x + 10 * y + 70 * c; });
    interleaved.set_min(-3, 5, 0);
    save_image(interleaved.cropped({{-2, 6}, {6, 5}}), folder / "part.png");
    const Buffer<uint8_t> part = load_image_as<uint8_t>(folder / "part.png");
    REQUIRE(part.width() == 6);
    REQUIRE(part.height() == 5);
    REQUIRE(part(0, 0, 0) == 1 + 10 * 1);
    REQUIRE(part(5, 4, 2) == 6 + 10 * 5 + 140);

    Buffer<uint8_t> flat(4, 3);
    flat.fill([](int x, int y) { return 50 * x + y; });
    save_image(flat, folder / "flat.pgm");
    REQUIRE(load_image_as<uint8_t>(folder / "flat.pgm")(3, 2) == 152);
}

TEST_CASE("JPEG comes close", "[image_io]") {
    TempFolder folder;
    for (int channels : {1, 3}) {
        Buffer<uint8_t> smooth(64, 48, channels);
        smooth.fill([](int x, int y, int c) { return 2 * x + y + 20 * c; });
        save_image(smooth, folder / "a.jpg");
        const Buffer<uint8_t> read = load_image_as<uint8_t>(folder / "a.jpg");
        REQUIRE(read.channels() == channels);
        int worst = 0;
        without_channels(smooth).for_each_value(
            [&](int a, int b) { worst = std::max(worst, std::abs(a - b)); }, read);
        REQUIRE(worst <= 6);
    }
    Buffer<uint16_t> wide(16, 16, 1);
    wide.fill(257 * 100);
    convert_and_save_image(wide, folder / "wide.jpeg");
    REQUIRE(load_image_as<uint8_t>(folder / "wide.jpeg").all_equal(100));
}

TEST_CASE("elements convert between black and white of each type", "[image_io]") {
    TempFolder folder;
    Buffer<float> values(6, 1, 1);
    const float in[] = {0.0f, 0.5f, 1.0f, -3.0f, 7.0f, std::numeric_limits<float>::quiet_NaN()};
    const int out[] = {0, 128, 255, 0, 255, 0};
    values.fill([&](int x, int, int) { return in[x]; });
    save_image(convert_image(values, UInt(8)), folder / "f.png");
    const Buffer<uint8_t> read = load_image_as<uint8_t>(folder / "f.png");
    for (int x = 0; x < 6; x++) {
        REQUIRE(read(x, 0) == out[x]);
    }
    REQUIRE(load_image_as<float>(folder / "f.png")(1, 0) == Catch::Approx(128 / 255.0));
    REQUIRE(load_image_as<double>(folder / "f.png")(2, 0) == 1.0);
    REQUIRE(load_image_as<uint16_t>(folder / "f.png")(1, 0) == 128 * 257);

    const Buffer<uint8_t> all = [] {
        Buffer<uint8_t> b(256, 1, 1);
        b.fill([](int x, int, int) { return x; });
        return b;
    }();
    for (Type type : {UInt(16), Float(32), Float(64)}) {
        REQUIRE(same(all, Buffer<uint8_t>(convert_image(convert_image(all, type), UInt(8)))));
    }
    Buffer<bool> mask(3, 1);
    mask.fill([](int x, int) { return x == 1; });
    save_image(mask, folder / "mask.pgm");
    REQUIRE(load_image_as<uint8_t>(folder / "mask.pgm")(1, 0) == 255);
    REQUIRE(load_image_as<uint8_t>(folder / "mask.pgm")(2, 0) == 0);
}

TEST_CASE("floats from 0 to 1 keep 16 bits in PNG, PGM and PPM", "[image_io]") {
    TempFolder folder;
    for (const char *file : {"a.png", "a.ppm", "a.pgm"}) {
        CAPTURE(file);
        Buffer<double> image(40, 30, std::string(file) == "a.pgm" ? 1 : 3);
        image.fill([](int x, int y, int c) { return (x + 40 * y + 1200 * c) / 3599.0; });
        for (const Buffer<> &given : {Buffer<>(image), convert_image(image, Float(32))}) {
            save_image(given, folder / file);
            REQUIRE(load_image(folder / file).type() == UInt(16));
            double worst = 0;
            without_channels(image).for_each_value(
                [&](double a, double b) { worst = std::max(worst, std::abs(a - b)); },
                load_image_as<double>(folder / file));
            REQUIRE(worst <= 0.51 / 65535);
            REQUIRE(worst > 0);
        }
    }
}

TEST_CASE("PFM holds any float", "[image_io]") {
    TempFolder folder;
    const float infinity = std::numeric_limits<float>::infinity();
    for (int channels : {1, 3}) {
        Buffer<float> image(5, 4, channels);
        image.fill([](int x, int y, int c) { return (x - 2) * 1000.7f + y * 1e-20f + c; });
        image(1, 2, 0) = infinity;
        save_image(image, folder / "a.pfm");
        const Buffer<> read = load_image(folder / "a.pfm");
        REQUIRE(read.type() == Float(32));
        REQUIRE(same(without_channels(image), read.as<float>()));
        REQUIRE(same(without_channels(image), load_image_as<float>(folder / "a.pfm")));
    }
    convert_and_save_image(pattern<uint8_t>(5, 4, 3), folder / "b.pfm");
    REQUIRE(load_image_as<float>(folder / "b.pfm")(2, 3, 1) ==
            Catch::Approx(pattern<uint8_t>(5, 4, 3)(2, 3, 1) / 255.0));
}

TEST_CASE("PFM of either order of bytes, from the bottom to the top", "[image_io]") {
    TempFolder folder;
    const std::string one = "\x3f\x80", zero(2, '\0');  // 1.0f is 3f800000
    folder.write("big.pfm",
                 "Pf\n2 2\n1.0\n" + one + zero + zero + zero + zero + zero + zero + zero);
    const Buffer<float> big = load_image_as<float>(folder / "big.pfm");
    REQUIRE(big(0, 1) == 1);
    REQUIRE(big(0, 0) == 0);
    REQUIRE(big(1, 1) == 0);
    folder.write("little.pfm", "PF 1 1 -2.5\n" + zero + "\x80\x3f" + zero + zero + zero + zero);
    REQUIRE(load_image_as<float>(folder / "little.pfm")(0, 0, 0) == 1);
    REQUIRE(load_image_as<float>(folder / "little.pfm")(0, 0, 2) == 0);
}

TEST_CASE("PGM and PPM are read with comments, as text, and with any largest value", "[image_io]") {
    TempFolder folder;
    folder.write("t.pgm", "P2\n# a comment\n3 2 # another\n4\n0 1 2\n3 4 0");
    const Buffer<uint8_t> text = load_image_as<uint8_t>(folder / "t.pgm");
    REQUIRE(text.width() == 3);
    REQUIRE(text.channels() == 1);
    REQUIRE(text(1, 0) == 64);
    REQUIRE(text(1, 1) == 255);

    folder.write("t.ppm", "P3 1 1 255 10 20 30");
    REQUIRE(load_image_as<uint8_t>(folder / "t.ppm")(0, 0, 2) == 30);

    folder.write("b.pgm", std::string("P5\n2 1\n1023\n\x03\xff\x00\x01", 16));
    const Buffer<> wide = load_image(folder / "b.pgm");
    REQUIRE(wide.type() == UInt(16));
    REQUIRE(wide.as<uint16_t>()(0, 0) == 65535);
    REQUIRE(wide.as<uint16_t>()(1, 0) == 64);
}

TEST_CASE("the format is found in the contents, not in the name", "[image_io]") {
    TempFolder folder;
    const auto image = pattern<uint8_t>(5, 5, 3);
    save_image(image, folder / "a.png");
    folder.rename("a.png", "a.jpg");
    REQUIRE(same(image, load_image_as<uint8_t>(folder / "a.jpg")));
}
