#include "base/status.hpp"

namespace photon::base {

const char* status_text(int status) noexcept {
  switch (status) {
    case PH_OK: return "success";
    case PH_AGAIN: return "nothing was started: probe, then call again";
    case PH_TIMEOUT: return "the time given ran out; nothing was lost";
    case PH_ERR_ARGUMENT: return "invalid argument";
    case PH_ERR_RANK: return "no such rank in this job";
    case PH_ERR_KEY: return "the key names no registration of that peer";
    case PH_ERR_RANGE: return "the access leaves the registered region";
    case PH_ERR_ACCESS: return "the region does not grant this access, or its memory is gone";
    case PH_ERR_ID_SIZE: return "an id is longer than the setting max_cid_size";
    case PH_ERR_STATE: return "not in this state: no context, finalized, or still in use";
    case PH_ERR_FORKED: return "the context belongs to the parent process";
    case PH_ERR_CONFIG: return "a setting has a value that cannot be used";
    case PH_ERR_MEMORY: return "out of memory, arena space or registration slots";
    case PH_ERR_PEER: return "the peer died or its connection broke";
    case PH_ERR_DEPARTED: return "the peer has finalized";
    case PH_ERR_PROTOCOL: return "the peer sent something malformed and was cut off";
    case PH_ERR_SYSTEM: return "a system call failed";
    case PH_ERR_BOOTSTRAP: return "the job could not be formed";
    case PH_ERR_NOT_FOUND: return "the thing named does not exist here";
    case PH_ERR_EPOCH: return "the epoch or incarnation that a message names is over";
    case PH_ERR_NO_BUFFER: return "a mailbox has no buffer for the message";
  }
  return "unknown status";
}

}  // namespace photon::base
