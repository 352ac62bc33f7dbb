// How a photonrun of another host gets into a job: finds the root, proves that it knows the key,
// and waits until the job begins.
// Owner: the launcher process.
#pragma once

#include <memory>
#include <string>

#include "address.hpp"
#include "host_connection.hpp"
#include "secret.hpp"
#include "share.hpp"
#include "startup_wait.hpp"

namespace photonrun {

struct Membership {
  std::unique_ptr<HostConnection> connection;
  Share share;
  Secret secret{};
  std::string met;  // our address on the way to the root
};

struct Application {
  HostPort root;
  std::string key;
  unsigned ranks = 0;
  unsigned seat = 0;  // on the root's list; 0: it has none
  double wait_s = 0;  // for a root that is not there yet
};

// Throws std::runtime_error (nobody there, refused, the root ended) and Interrupted.
Membership join_job(const Application& application, const StartupWait& startup_wait);

}  // namespace photonrun
