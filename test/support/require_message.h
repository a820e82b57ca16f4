#pragma once
// For tests of errors: the kind of error, and every part that its message must hold.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cctype>
#include <regex>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/error.h>

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

/// What the fields of an error say, its text says too; and where the text names a source file, the
/// fields do.
inline void check_details(const std::string &message, const Pipe::ErrorDetails &details) {
    auto said = [&](const std::string &field) { return message.find(field) != std::string::npos; };
    CHECK(said(details.func));
    CHECK(said(details.dimension));
    CHECK(said(details.needed.text));
    CHECK(said(details.given.text));
    CHECK(message.find_first_of("\x0e\x0f") == std::string::npos);
    static const std::regex place(R"((\w+\.(cpp|h)):(\d+))");
    std::smatch match;
    if (!std::regex_search(message, match, place))
        CHECK(details.line == 0);
    else if (details.line == 0)
        FAIL("the error has no file and line as fields");
    else
        CHECK(said(details.file + ":" + std::to_string(details.line)));
}

/// Runs `misuse`, which must throw an `Error`; all `parts` must stand in the message. The part "@" is the line marked with here().
template <typename Error, typename Misuse>
void require_message(const Misuse &misuse, const std::vector<std::string> &parts) {
    std::string message = "(nothing was thrown)";
    Pipe::ErrorDetails details;
    try {
        misuse();
    } catch (const Error &error) {
        message = error.what();
        if constexpr (std::is_base_of_v<Pipe::Error, Error>)
            details = error.details();
    }
    INFO(message);
    if constexpr (std::is_base_of_v<Pipe::Error, Error>)
        check_details(message, details);
    CHECK_FALSE(has_two_full_stops(message));
    for (const std::string &part : parts) {
        const std::string &wanted = part == "@" ? marked_line() : part;
        REQUIRE_THAT(message, Catch::Matchers::ContainsSubstring(wanted));
    }
}
