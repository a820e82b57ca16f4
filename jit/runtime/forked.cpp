#include "jit/runtime/forked.h"

#include <pthread.h>

#include "support/error.h"

namespace Pipe::runtime {

namespace {

enum class TeamState { None, Started, Lost };
thread_local TeamState team_state = TeamState::None;

/// Called in the child, by the thread that forked. Other threads of the child are started later and
/// have no team.
void after_fork() {
    if (team_state == TeamState::Started)
        team_state = TeamState::Lost;
}

}  // namespace

void about_to_start_team() {
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork);
    (void)registered;
    team_state = TeamState::Started;
}

bool team_was_lost() {
    if (team_state != TeamState::Lost) [[likely]]
        return false;
    support::warn(
        "This process was forked by a thread that had run parallel loops before. OpenMP's threads "
        "do not exist in the child, so the parallel loops of this thread run serially. "
        "Fork before the first pipeline runs, call pipelines from a new thread of the "
        "child, or start a new program (exec).");
    return true;
}

}  // namespace Pipe::runtime
