// What the code of a provider's call means to us. libfabric's codes below FI_ERRNO_OFFSET are those
// of errno, so no header of its is needed here; fabric.cpp checks that they are.
//
//   0 yes | EAGAIN full | no route no_way | else: a message  failed
//                                                 a fragment failed, if it is the connection's
//                                                            refused, if it is not
//
// Owner: none, functions only.
#pragma once

#include <sys/types.h>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

// Of sending, receiving and waiting: `code` is 0 or a negative one.
Taken taken_message(ssize_t code) noexcept;

// Of moving memory: of whatever is not the connection's we cannot say that the peer is gone.
Taken taken_fragment(ssize_t code) noexcept;

}  // namespace photon::transport::ofi
