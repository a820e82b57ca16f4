// Checks that the compiler is set to C++20, and reports it in one line if not.
#pragma once

#if __cplusplus < 202002L
#error "Pipe needs C++20: compile with -std=c++20, or link to CMake's Pipe::Pipe."
// After #error the compiler continues and reports hundreds of errors; a missing include stops it.
#include "no C++20: see the error above"
#endif
