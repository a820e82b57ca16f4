// The header names and the few changed names of Catch2 3, on top of the Catch2 2 of Debian 12.
#pragma once

#include <catch2/catch.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace Catch::Matchers {

inline auto ContainsSubstring(const std::string &text,
                              CaseSensitive::Choice sensitive = CaseSensitive::Yes) {
    return Contains(text, sensitive);
}

// Applies a string matcher to the text of an exception: REQUIRE_THROWS_MATCHES(.., MessageMatches(..)).
template <typename Matcher>
class MessageMatcher : public MatcherBase<std::exception> {
public:
    explicit MessageMatcher(Matcher matcher) : matcher(std::move(matcher)) {}
    bool match(const std::exception &error) const override {
        return matcher.match(std::string(error.what()));
    }
    std::string describe() const override { return "message " + matcher.toString(); }

private:
    Matcher matcher;
};

template <typename Matcher>
MessageMatcher<std::decay_t<Matcher>> MessageMatches(Matcher &&matcher) {
    return MessageMatcher<std::decay_t<Matcher>>(std::forward<Matcher>(matcher));
}

}  // namespace Catch::Matchers

namespace Catch {

using Detail::Approx;

inline std::uint32_t getSeed() {
    return rngSeed();
}

}  // namespace Catch
