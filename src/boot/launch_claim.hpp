// Takes the launcher's descriptor, once, and leaves another one in its place. Owner: none,
// functions only.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

struct Claimed {
  base::UniqueFd fd;
  bool is_next = false;  // an earlier context of this process has left it in place
};
// The descriptor named by the text, ours alone from now on and close-on-exec.
// PH_ERR_BOOTSTRAP: not a number, not open, not a launcher's socket, or taken before.
base::Result<Claimed> claim_launch_fd(std::string_view fd_text);

// What it takes to leave a channel for the next context of this process. All are close-on-exec.
struct NextChannel {
  base::UniqueFd here;
  base::UniqueFd launchers;
  base::UniqueFd moved;  // a copy of the claimed one, which has to make room
};
base::Result<NextChannel> make_next_channel(const base::UniqueFd& claimed);

// Puts it where `claimed` was, where the next context looks for it; `claimed` gets the number of
// its copy. No thread may use `claimed` meanwhile.
void put_in_place(base::UniqueFd& claimed, NextChannel& next);

}  // namespace photon::boot
