#pragma once
// The state of a Pipeline between calls.

#include <memory>
#include <mutex>

#include "driver/compiled.h"

namespace Pipe::driver {

/// Owns the newest Compiled, and creates a new one if definitions or directives changed.
struct Compiler {
  public:
    void autoschedule(const Target &target, const AutoscheduleOptions &options);
    /// The directives are the whole schedule; they are for this target.
    void use_directives(const Target &target);
    Settings settings() const;

    /// `buffers`: determine the sizes for the autoscheduler; may be null.
    std::shared_ptr<Compiled> get(const std::vector<Func> &outputs, const Target &target,
                                  const Outputs *buffers);
    /// The newest, however old; null if there is none.
    std::shared_ptr<Compiled> newest() const;
    /// The newest if nothing has changed since; else one for the default target, which is not kept.
    std::shared_ptr<Compiled> current(const std::vector<Func> &outputs);
    /// The schedule that `get` uses or would use, without compiling.
    Scheduled schedule(const std::vector<Func> &outputs);

    /// Compiles for this target with the Pipeline's settings; the result is not cached.
    std::shared_ptr<Compiled> compile_for(const std::vector<Func> &outputs, const Target &target);
    /// Freezes as `get` does, including what the requirements need.
    language::Frozen freeze(const std::vector<Func> &outputs) const;

    void trace_pipeline();
    /// See Pipeline.
    void add_requirement(const graph::Requirement &requirement);
    void set_extern_names(const language::ExternNames &names);
    language::ExternNames extern_names() const { return settings().extern_names; }
    void forget();

    JITHandlers handlers;                      ///< the user's, for all calls
    std::map<std::string, JITExtern> externs;  ///< given to this Pipeline
    /// Measurements of all calls, shared with Callables.
    const std::shared_ptr<runtime::Profile> profile = std::make_shared<runtime::Profile>();

  private:
    mutable std::mutex mutex_;  // of compiled_ and settings_: held for a moment
    std::mutex compile_mutex_;  // held during scheduling
    std::shared_ptr<Compiled> compiled_;
    Settings settings_;
};

/// CompileError for a Pipeline without outputs.
Compiler &checked(const std::shared_ptr<Compiler> &compiler);

}  // namespace Pipe::driver
