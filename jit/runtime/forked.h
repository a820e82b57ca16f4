#pragma once
// Support for fork(): a child has only the thread that called it. OpenMP keeps the threads of a
// team for the next parallel loop of the thread that started it; in a child, it would wait forever
// for threads that exist only in the parent.

namespace Pipe::runtime {

/// Called before this thread starts a team.
void about_to_start_team();

/// Whether OpenMP believes that this thread has a team whose threads no longer exist. Warns once.
bool team_was_lost();

}  // namespace Pipe::runtime
