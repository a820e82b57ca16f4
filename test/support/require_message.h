#pragma once
// For tests of errors: the kind of error, and every part that its message must hold.

#include <catch2/catch_test_macros.hpp>

#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/error.h>

/// "blur.cpp:12": the line of the call, or `below` lines below it.
std::string line(unsigned below = 0, std::source_location at = std::source_location::current());

/// Marks the line where a misuse stands: `[&] { here(), f(x) = y; }`.
void here(std::source_location at = std::source_location::current());
std::string marked_line();

/// What the fields of an error say, its text says too; and where the text names a source file, the
/// fields do.
void check_details(const std::string &message, const Pipe::ErrorDetails &details);

/// Requires all `parts` in the message of an error; the part "@" is the line marked with here().
/// `details`: the fields of an error of ours, nullptr for one of another library.
void require_parts(const std::string &message, const Pipe::ErrorDetails *details,
                   const std::vector<std::string> &parts);

/// Runs `misuse`, which must throw an `Error` whose message holds all `parts`.
template <typename Error, typename Misuse>
void require_message(const Misuse &misuse, const std::vector<std::string> &parts) {
    try {
        misuse();
    } catch (const Error &error) {
        if constexpr (std::is_base_of_v<Pipe::Error, Error>)
            require_parts(error.what(), &error.details(), parts);
        else
            require_parts(error.what(), nullptr, parts);
        return;
    }
    FAIL("nothing was thrown");
}
