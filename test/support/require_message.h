#pragma once
// For tests of errors: the kind of error, and every part that its message must hold.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

/// Runs `misuse`, which must throw an `Error`; all `parts` must stand in the message.
template <typename Error, typename Misuse>
void require_message(const Misuse &misuse, const std::vector<std::string> &parts) {
    std::string message = "(nothing was thrown)";
    try {
        misuse();
    } catch (const Error &error) {
        message = error.what();
    }
    for (const std::string &part : parts) {
        REQUIRE_THAT(message, Catch::Matchers::ContainsSubstring(part));
    }
}
