// Image files that cannot be read or written: each message names the file and what is wrong.
#include <pipe/image_io.h>

#include "test/support/require_message.h"
#include "test/support/temp_folder.h"

#include <cmath>
#include <filesystem>

using namespace Pipe;

namespace {

Buffer<uint8_t> picture() {
    Buffer<uint8_t> image(40, 30, 3);
    image.fill([](int x, int y, int c) { return x * y + 50 * c; });
    return image;
}

void require_unreadable(const std::string &path, const std::vector<std::string> &parts) {
    std::vector<std::string> all = parts;
    all.push_back("'" + path + "'");
    require_message<RuntimeError>([&] { load_image(path); }, all);
}

}  // namespace

TEST_CASE("files that are not there or not images", "[image_io][error]") {
    TempFolder folder;
    require_unreadable(folder / "none.png", {"cannot be opened", "No such file"});
    require_unreadable(folder / "", {"directory"});
    folder.write("empty.png", "");
    require_unreadable(folder / "empty.png", {"empty"});
    folder.write("text.png", "just some words");
    require_unreadable(folder / "text.png", {"not a PNG, JPEG"});
    folder.write("bitmap.pbm", "P4 8 1 \xff");
    require_unreadable(folder / "bitmap.pbm", {"not a PNG, JPEG"});
}

TEST_CASE("truncated files", "[image_io][error]") {
    TempFolder folder;
    for (const char *name : {"a.png", "a.jpg", "a.ppm"}) {
        save_image(picture(), folder / name);
        const std::string bytes = folder.read(name);
        for (size_t kept : {bytes.size() / 2, bytes.size() - 40, size_t{8}, size_t{4}}) {
            CAPTURE(name, kept);
            const std::string cut = std::string("cut_") + name;
            folder.write(cut, bytes.substr(0, kept));
            require_unreadable(folder / cut, {});
            if (kept > 100) {
                const bool jpeg = std::string(name) == "a.jpg";
                require_unreadable(folder / cut, {jpeg ? "Premature end" : "truncated"});
            }
        }
    }
}

TEST_CASE("damaged files", "[image_io][error]") {
    TempFolder folder;
    save_image(picture(), folder / "a.png");
    std::string bytes = folder.read("a.png");
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    folder.write("bad.png", bytes);
    require_unreadable(folder / "bad.png", {"damaged PNG"});

    folder.write("a.pgm", "P2 2 2 255 1 2 x 4");
    require_unreadable(folder / "a.pgm", {"a sample", "not a number"});
    folder.write("a.pgm", "P2 2 2 10 1 2 11 4");
    require_unreadable(folder / "a.pgm", {"a sample", "larger than 10"});
    folder.write("a.pgm", std::string("P5 2 1 10 \x01\x0b", 12));
    require_unreadable(folder / "a.pgm", {"sample 11", "larger than 10"});
    folder.write("a.pgm", "P5 0 3 255 ");
    require_unreadable(folder / "a.pgm", {"width 0, height 3"});
    folder.write("a.pgm", "P5 16000000 16000000 65535 x");
    require_unreadable(folder / "a.pgm", {"truncated", "16000000 x 16000000"});
    folder.write("a.pgm", "P5 99999999999999999999 1 255 x");
    require_unreadable(folder / "a.pgm", {"the width", "larger"});
    folder.write("a.pgm", "P5 3");
    require_unreadable(folder / "a.pgm", {"truncated", "the height"});
}

TEST_CASE("images that cannot be written", "[image_io][error]") {
    TempFolder folder;
    const auto require_unwritable = [](const Buffer<> &image, const std::string &path,
                                       std::vector<std::string> parts) {
        parts.push_back("'" + path + "'");
        require_message<RuntimeError>([&] { save_image(image, path); }, parts);
    };
    require_unwritable(picture(), folder / "a.tiff", {"extension", ".png"});
    require_unwritable(picture(), folder / "a", {"extension"});
    require_unwritable(picture(), folder / "no/such/a.png", {"cannot be opened", "No such file"});
    require_unwritable(picture(), folder / "a.pgm", {".pgm", "3 channels"});
    require_unwritable(picture().sliced(2), folder / "a.ppm", {".ppm", "1 channels"});
    require_unwritable(Buffer<uint8_t>(4, 4, 4), folder / "a.jpg", {"JPEG", "not 4"});
    require_unwritable(Buffer<uint8_t>(4, 4, 5), folder / "a.png", {"not 5"});
    require_unwritable(Buffer<uint8_t>(4), folder / "a.png", {"dimensions, not 1"});
    require_unwritable(Buffer<uint8_t>(4, 0, 3), folder / "a.png", {"dimension 1", "zero"});
    require_unwritable(Buffer<>(), folder / "a.png", {"undefined"});
    require_unwritable(Buffer<uint8_t>(70000, 1, 1), folder / "a.jpg", {"JPEG"});
    for (const char *file : {"a.png", "a.jpg", "a.ppm", "a.pfm"})
        require_unwritable(Buffer<int>(4, 4, 3), folder / file, {"int32", "cast()"});
    require_message<RuntimeError>([&] { convert_image(picture(), Int(16)); }, {"int16"});
    require_unwritable(picture(), folder / "a.pfm", {"float32", "uint8", "Float(32)"});
    require_unwritable(Buffer<float>(4, 4, 2), folder / "a.pfm", {"PFM", "not 2"});
    save_image(picture(), folder / "a.png");  // still works
    REQUIRE(load_image(folder / "a.png").width() == 40);
}

TEST_CASE("nothing is clamped or rounded to 8 bits unasked", "[image_io][error]") {
    TempFolder folder;
    const auto require_refused = [&](const Buffer<> &image, const char *file,
                                     std::vector<std::string> parts) {
        require_message<RuntimeError>([&] { save_image(image, folder / file); }, parts);
        REQUIRE_FALSE(std::filesystem::exists(folder / file));
    };
    Buffer<float> image(4, 4, 3);
    image.fill(0.5f);
    const std::vector<std::string> jpeg{"JPEG holds uint8", "float32",
                                        "convert_image(image, UInt(8))"};
    require_refused(image, "a.jpg", jpeg);
    require_refused(Buffer<uint16_t>(4, 4, 3), "a.jpeg", {"JPEG holds uint8", "uint16"});
    for (const char *file : {"a.png", "a.ppm"}) {
        for (const auto &[value, text] : std::vector<std::pair<float, std::string>>{
                 {1.5f, "from 0 to 1.5"}, {-2.0f, "from -2 to 1"}, {std::nanf(""), "NaN"}}) {
            image(3, 2, 1) = value;
            require_refused(image, file,
                            {"0 to 1", text, "convert_image(image, UInt(16))", ".pfm"});
            require_refused(convert_image(image, Float(64)), file, {"0 to 1", text});
        }
    }
    convert_and_save_image(image, folder / "a.png");
    REQUIRE(load_image(folder / "a.png").type() == UInt(16));
    try {
        image(3, 2, 1) = 2;
        save_image(image, folder / "b.png");
        FAIL("nothing was thrown");
    } catch (const RuntimeError &error) {
        CHECK(error.details().func == folder / "b.png");
        CHECK(error.details().needed.max == 1);
        CHECK(error.details().given.text == "from 0 to 2");
    }
}

TEST_CASE("damaged PFM", "[image_io][error]") {
    TempFolder folder;
    folder.write("a.pfm", "Pf 2 2 x 0000");
    require_unreadable(folder / "a.pfm", {"scale 'x'"});
    folder.write("a.pfm", "Pf 2 2 0 0000");
    require_unreadable(folder / "a.pfm", {"scale '0'"});
    folder.write("a.pfm", "Pf 2 2 -1 0000");
    require_unreadable(folder / "a.pfm", {"truncated", "need 16 bytes, 4 are there"});
    folder.write("a.pfm", "Pf 2");
    require_unreadable(folder / "a.pfm", {"truncated", "the height"});
}
