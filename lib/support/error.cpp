#include "support/error.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include <pipe/environment.h>
#include <pipe/error.h>

#include "support/env.h"
#include "support/error_text.h"

namespace Pipe {

namespace {

std::atomic<CompileTimeErrorReporter *> current_reporter{nullptr};
thread_local int untold = 0;
std::atomic<bool> hints_on{true}, hint_given{false};

/// Whether this is the first time that the text is printed to standard error.
bool first_time(const std::string &text) {
    static std::mutex mutex;
    static auto *told = new std::set<std::string>;  // not destroyed: static objects may warn
    std::lock_guard lock(mutex);
    return told->insert(text).second;
}

/// The result of set_hints and PIPE_HINTS.
bool wanted() {
    const std::string variable = support::env("PIPE_HINTS");
    return variable.empty() ? hints_on.load() : variable != "0";
}

void tell(const char *kind, const std::string &text) {
    if (CompileTimeErrorReporter *reporter = current_reporter)
        reporter->warning(text.c_str());
    else if (wanted() && first_time(text))
        std::fprintf(stderr, "Pipe: %s: %s\n", kind, text.c_str());
}

}  // namespace

void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter) {
    current_reporter = reporter;
}

Error::Error(const std::string &what)
    : Error([text = what]() mutable -> Parsed {
          auto details = std::make_shared<const ErrorDetails>(support::take_marks(&text));
          return {std::move(text), std::move(details)};
      }()) {}

Error::Error(Parsed parsed)
    : std::runtime_error(parsed.first), details_(std::move(parsed.second)) {}

CompileError::CompileError(const std::string &text) : Error(text) {
    if (CompileTimeErrorReporter *reporter = current_reporter; reporter && untold == 0)
        reporter->error(what());
}

void set_hints(bool on) {
    hints_on = on;
    hint_given = false;
}

namespace support {

SuppressErrorReporting::SuppressErrorReporting() {
    untold++;
}
SuppressErrorReporting::~SuppressErrorReporting() {
    untold--;
}

void warn(const std::string &text) {
    tell("warning", without_marks(text));
}

void hint(const std::string &text) {
    if (wanted() && !hint_given.exchange(true))
        tell("hint", without_marks(text));
}

}  // namespace support
}  // namespace Pipe
