// The choices of an owner who opens a mailbox (docs/mailbox.md).
//
// Invariant: a Policy that was made here is one that Window can keep to. Owner: none; pure.
#pragma once

#include <photon/mailbox.h>

#include <string>

#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {

// Why there can be no such mailbox; empty: `policy` says how it works.
std::string policy_of(const ph_mailbox_args& args, Policy& policy);

}  // namespace photon::service::mailbox
