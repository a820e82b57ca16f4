// The memory of fused tiles beside that of two published systems.
#pragma once

namespace bench {

/// Prints, per stage, what a tile stores in Pipe, beside Tables 3 to 7 of Zhao and Cohen, "Flextended
/// Tiles" (TACO 2019), for the same groups and tile sizes. Runs every program once, in seconds.
void print_footprints();

}  // namespace bench
