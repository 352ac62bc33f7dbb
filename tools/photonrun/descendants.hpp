// Ends every process below this one. Works because this process is a child subreaper: whatever
// loses its parent becomes our child, so the loop "kill all children, reap" meets everybody.
// Invariant: signals go to unreaped children only, whose pids cannot be reused.
// Owner: none, functions only.
#pragma once

namespace photonrun {

// Orphans below us become our children from now on. False, and errno: a sandbox refuses it.
bool become_subreaper();

// Kills and reaps until no child is left. Blocks until the kernel has ended them.
void end_all_descendants();

}  // namespace photonrun
