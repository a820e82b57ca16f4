#pragma once
// Rates of this machine, measured once and kept in a file.

#include <string>

namespace Pipe::predict {

struct Rates {
    double ghz = 3;  ///< clock rate of one busy core
    // Bytes per clock: what one core reads from these caches and from memory, and what all cores read from memory.
    double l2 = 32, l3 = 20, memory = 8, memory_of_all = 40;
    double streams = 6;  ///< what one core writes to memory with stores that bypass the caches
    /// What all cores together move while they copy: what they read, and each line that they write twice, because it
    /// is read before.
    double copies = 40;

    bool operator==(const Rates &) const = default;
};

/// Measures with data of these sizes, in less than 300 ms. (On a machine that does other work as well, the best
/// of several attempts counts.)
Rates measure_rates(double l2_bytes, double l3_bytes, int cores);

/// As text, and back. RuntimeError for text of another form.
std::string to_string(const Rates &rates);
Rates parse_rates(const std::string &text);

/// The rates of the file that PIPE_MACHINE names (support/env.h); where there is none, they are measured and
/// written there, with all the processors that the process may use. PIPE_MACHINE=0: the defaults above. The same in the
/// whole process.
const Rates &rates_of_machine();

}  // namespace Pipe::predict
