#pragma once
// An environment variable of Pipe's that is set for a while.

#include <cstdlib>
#include <string>

#include "support/env.h"

namespace Pipe::testing {

/// As long as this lives, the variable has that value; then it has its own again, whatever happens.
class SetVariable {
  public:
    SetVariable(const char *name, const std::string &value)
        : name_(name), before_(support::env(name)) {
        setenv(name, value.c_str(), 1);
    }
    ~SetVariable() {
        if (before_.empty())
            unsetenv(name_);
        else
            setenv(name_, before_.c_str(), 1);
    }
    SetVariable(const SetVariable &) = delete;
    SetVariable &operator=(const SetVariable &) = delete;

  private:
    const char *name_;
    std::string before_;
};

}  // namespace Pipe::testing
