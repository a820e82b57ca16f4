#include "support/require_message.h"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <cctype>
#include <regex>

using Pipe::ErrorDetails;

static std::string marked;

std::string line(unsigned below, std::source_location at) {
    std::string file = at.file_name();
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(at.line() + below);
}

void here(std::source_location at) {
    marked = line(0, at);
}
std::string marked_line() {
    return marked;
}

/// "word.. Next", as sentences look that were put together. (A range is "4 .. 12".)
static bool has_two_full_stops(const std::string &message) {
    for (size_t at = message.find(".. "); at != std::string::npos; at = message.find(".. ", at + 1))
        if (at > 0 && std::isalpha(static_cast<unsigned char>(message[at - 1])))
            return true;
    return false;
}

void check_details(const std::string &message, const ErrorDetails &details) {
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

void require_parts(const std::string &message, const ErrorDetails *details,
                   const std::vector<std::string> &parts) {
    INFO(message);
    if (details)
        check_details(message, *details);
    CHECK_FALSE(has_two_full_stops(message));
    for (const std::string &part : parts) {
        const std::string &wanted = part == "@" ? marked : part;
        REQUIRE_THAT(message, Catch::Matchers::ContainsSubstring(wanted));
    }
}
