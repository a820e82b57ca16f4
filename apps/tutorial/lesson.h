// Helper functions for the lessons; your own programs do not need them.
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

/// Verifies a claim of a lesson: ends the program with an error if it is false.
inline void check(bool holds, const std::string &claim) {
    if (holds)
        return;
    std::fprintf(stderr, "This claim is false: %s\n", claim.c_str());
    std::exit(1);
}

/// Whether `text` contains `part`.
inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/// Path of an output file: in the directory given on the command line, else in out/.
inline std::string output_file(int argc, char **argv, const std::string &name) {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "out";
    std::filesystem::create_directories(folder);
    std::printf("writes %s\n", (folder / name).c_str());
    return folder / name;
}

/// The picture that the lessons work on: 640 x 384 pixels, 3 channels (red, green, blue).
inline Pipe::Buffer<uint8_t> picture() {
    Pipe::Buffer<uint8_t> photo = apps::default_picture(640, 384);
    photo.set_name("photo");  // its name in error messages and reports
    return photo;
}

/// Milliseconds that `work()` takes: the fastest of three runs, which excludes compilation (in the
/// first run) and most disturbances.
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
