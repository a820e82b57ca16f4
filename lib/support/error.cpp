#include "support/error.h"

#include <atomic>

#include <pipe/error.h>

namespace Pipe {

namespace {

std::atomic<CompileTimeErrorReporter *> current_reporter{nullptr};
thread_local int untold = 0;

}  // namespace

void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter) {
    current_reporter = reporter;
}

CompileError::CompileError(const std::string &what) : Error(what) {
    if (CompileTimeErrorReporter *reporter = current_reporter; reporter && untold == 0)
        reporter->error(what.c_str());
}

namespace support {

ErrorsUntold::ErrorsUntold() {
    untold++;
}
ErrorsUntold::~ErrorsUntold() {
    untold--;
}

}  // namespace support
}  // namespace Pipe
