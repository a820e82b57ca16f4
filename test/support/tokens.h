#pragma once
// The tokens of a printed program.

#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/parse_ir.h"

namespace Pipe::testing {

/// Names, numbers, strings and operators, one after the other.
class Tokens {
  public:
    explicit Tokens(const std::string &text) {
        for (size_t at = 0; at < text.size();)
            at = scan(text, at);
        tokens_.push_back({Kind::End, "", line_, true});
    }

    const std::string &text() const { return tokens_[at_].text; }
    bool at_end() const { return tokens_[at_].kind == Kind::End; }
    bool is_name() const { return tokens_[at_].kind == Kind::Name; }
    bool is_number() const { return tokens_[at_].kind == Kind::Number; }
    bool is_string() const { return tokens_[at_].kind == Kind::String; }
    /// Whether it is the first of its line.
    bool starts_line() const { return tokens_[at_].starts_line; }

    /// Whether the parentheses that begin here enclose several values, up to the end of the line or an "if".
    bool is_tuple() const {
        int depth = 0;
        bool comma = false;
        for (size_t i = at_;; i++) {
            const std::string &t = tokens_[i].text;
            depth += (t == "(" || t == "[") - (t == ")" || t == "]");
            comma |= depth == 1 && t == ",";
            if (depth == 0 || tokens_[i].kind == Kind::End)
                return comma;
        }
    }

    std::string next() { return tokens_[at_].kind == Kind::End ? "" : tokens_[at_++].text; }
    std::string name() {
        if (!is_name())
            fail("a name");
        return next();
    }
    bool accept(const char *expected) {
        const bool found = text() == expected && !is_string() && !at_end();
        at_ += found;
        return found;
    }
    void expect(const char *expected) {
        if (!accept(expected))
            fail(expected);
    }
    [[noreturn]] void fail(const std::string &expected) const {
        throw ParseError("line " + std::to_string(tokens_[at_].line) + ": expected " + expected +
                         ", found '" + text() + "'");
    }

  private:
    enum class Kind { Name, Number, String, Symbol, End };
    struct Token {
        Kind kind;
        std::string text;
        int line;
        bool starts_line;
    };

    std::vector<Token> tokens_;
    size_t at_ = 0;
    int line_ = 1;
    bool new_line_ = true;

    /// Adds the token at `at`, if one begins there; returns where the next may begin.
    size_t scan(const std::string &text, size_t at) {
        const char c = text[at];
        if (c == '\n')
            line_++, new_line_ = true;
        if (std::isspace(static_cast<unsigned char>(c)))
            return at + 1;
        size_t end = at + 1;
        if (c == '"') {
            end = text.find('"', end) + 1;
            add(Kind::String, text.substr(at + 1, end - at - 2));
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            while (end < text.size() && continues_number(text, end))
                end++;
            add(Kind::Number, text.substr(at, end - at));
        } else if (continues_name(c)) {
            while (end < text.size() && continues_name(text[end]))
                end++;
            add(Kind::Name, text.substr(at, end - at));
        } else {
            const std::string two = text.substr(at, 2);
            for (const char *op : {"||", "&&", "==", "!=", "<=", ">="})
                if (two == op)
                    end = at + 2;
            add(Kind::Symbol, text.substr(at, end - at));
        }
        return end;
    }

    static bool continues_name(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
               c == '@' || c == '\'';
    }
    static bool continues_number(const std::string &text, size_t at) {
        const char c = text[at];
        return std::isalnum(static_cast<unsigned char>(c)) || c == '.' ||
               ((c == '-' || c == '+') && text[at - 1] == 'e');
    }

    void add(Kind kind, std::string text) {
        tokens_.push_back({kind, std::move(text), line_, new_line_});
        new_line_ = false;
    }
};

}  // namespace Pipe::testing
