// The version of C++ that Pipe's headers need, said in one line.
#pragma once

#if __cplusplus < 202002L
#error "Pipe needs C++20: compile with -std=c++20, or link to CMake's Pipe::Pipe."
// After an error alone the compiler goes on, to hundreds more; after this it stops.
#include "no C++20: see the error above"
#endif
