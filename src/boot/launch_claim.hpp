// Takes the launcher's descriptor, once, and leaves another one in its place. Owner: none,
// functions only.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

// The descriptor named by the text, ours alone from now on and close-on-exec.
// PH_ERR_BOOTSTRAP: not a number, not open, not a launcher's socket, or taken before.
base::Result<base::UniqueFd> claim_launch_fd(std::string_view fd_text);

// A channel for the next context of this process: both ends close-on-exec.
struct NextChannel {
  base::UniqueFd here;
  base::UniqueFd launchers;
};
base::Result<NextChannel> make_next_channel();

// `claimed` gets another number, and `next` the one it had, where the next context looks for it.
// False: no descriptor is left, nothing is changed. No thread may use `claimed` meanwhile.
bool put_in_place(base::UniqueFd& claimed, base::UniqueFd& next);

}  // namespace photon::boot
