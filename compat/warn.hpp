// Words on stderr: the classic API has no other place for them.
// Owner: none. Any thread; never allocates.
#pragma once

namespace photon::classic {

// "photon: <call>: <what>".
void warn(const char* call, const char* what) noexcept;

}  // namespace photon::classic
