// What the lessons share, and what your own programs do not need.
#pragma once

#include <pipe/buffer.h>

#include "apps/common/picture.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace lesson {

/// Stands where a lesson claims something: ends the program with an error if it is not so.
inline void check(bool holds, const std::string &claim) {
    if (holds)
        return;
    std::fprintf(stderr, "This does not hold: %s\n", claim.c_str());
    std::exit(1);
}

/// True if `text` has the part in it.
inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/// Path of a file to write: in the folder named on the command line, else in out/.
inline std::string output_file(int argc, char **argv, const std::string &name) {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "out";
    std::filesystem::create_directories(folder);
    std::printf("writes %s\n", (folder / name).c_str());
    return folder / name;
}

/// The picture that the lessons work on: 640 x 384 pixels, 3 channels (red, green, blue).
inline Pipe::Buffer<uint8_t> picture() {
    Pipe::Buffer<uint8_t> photo = apps::default_picture(640, 384);
    photo.set_name("photo");  // as error messages and reports call it
    return photo;
}

/// Milliseconds that `work()` takes: the fastest of three runs, so that compiling (in the first one)
/// and what else the machine does hardly count.
template <typename F> double milliseconds(F &&work) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

}  // namespace lesson
