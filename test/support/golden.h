#pragma once
// Golden files: text that a test compares with what was seen to be right before.
//
// PIPE_ACCEPT=1 ./run test writes what came out over the files; look at `git diff` before you commit.

#include <string>

namespace golden {

/// Where two texts first differ, with some lines around; "" if they are equal.
std::string difference(const std::string &expected, const std::string &actual);

/// Compares `actual` with the file test/golden/<path>. "" if equal (or accepted), else the difference.
std::string compare(const std::string &path, const std::string &actual);

}  // namespace golden

/// Fails with the difference. Needs Catch2.
#define CHECK_GOLDEN(path, text)                                                                   \
    do {                                                                                           \
        std::string found = golden::compare(path, text);                                           \
        INFO(found);                                                                               \
        CHECK(found.empty());                                                                      \
    } while (false)
