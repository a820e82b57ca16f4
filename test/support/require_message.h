#pragma once
// For tests of errors: the kind of error, and every part that its message must hold.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cctype>
#include <source_location>
#include <string>
#include <vector>

/// "blur.cpp:12": the line of the call, or `below` lines below it.
inline std::string line(unsigned below = 0,
                        std::source_location at = std::source_location::current()) {
    std::string file = at.file_name();
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(at.line() + below);
}

/// The line of the last call of here().
inline std::string &marked_line() {
    static std::string marked;
    return marked;
}
/// Marks the line where a misuse stands: `[&] { here(), f(x) = y; }`.
inline void here(std::source_location at = std::source_location::current()) {
    marked_line() = line(0, at);
}

/// "word.. Next", as sentences look that were put together. (A range is "4 .. 12".)
inline bool has_two_full_stops(const std::string &message) {
    for (size_t at = message.find(".. "); at != std::string::npos; at = message.find(".. ", at + 1))
        if (at > 0 && std::isalpha(static_cast<unsigned char>(message[at - 1])))
            return true;
    return false;
}

/// Runs `misuse`, which must throw an `Error`; all `parts` must stand in the message. The part "@" is the line marked with here().
template <typename Error, typename Misuse>
void require_message(const Misuse &misuse, const std::vector<std::string> &parts) {
    std::string message = "(nothing was thrown)";
    try {
        misuse();
    } catch (const Error &error) {
        message = error.what();
    }
    INFO(message);
    CHECK_FALSE(has_two_full_stops(message));
    for (const std::string &part : parts) {
        const std::string &wanted = part == "@" ? marked_line() : part;
        REQUIRE_THAT(message, Catch::Matchers::ContainsSubstring(wanted));
    }
}
