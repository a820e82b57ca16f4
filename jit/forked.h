#pragma once
// fork(): a child has only the thread that called it. OpenMP keeps the threads of a team for the next
// parallel loop of the thread that started it, and in a child waits forever for those that the
// parent had.

namespace Pipe::jit {

/// Before this thread starts a team.
void about_to_start_team();

/// Whether OpenMP believes that this thread has a team whose threads do not exist. Warns once.
bool team_was_lost();

}  // namespace Pipe::jit
