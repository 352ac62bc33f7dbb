// The network namespaces that stand for hosts: those of PHOTON_TEST_NAMESPACES ("a,b,c"), which
// tests/hosts/across makes and joins. A thread enters one and what it opens from then on, or
// starts, belongs to it. Without that variable hosts are pretended where a test asks for some.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <photon/photon.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.hpp"

namespace photon::test {

// What tests/hosts/across names the cable's end in each of them.
inline constexpr const char* kCable = "v0";

inline const std::vector<std::string>& namespaces() {
  static const std::vector<std::string> all = [] {
    const char* text = std::getenv("PHOTON_TEST_NAMESPACES");
    std::vector<std::string> names;
    for (std::string rest = text == nullptr ? "" : text; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      names.push_back(rest.substr(0, comma));
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    return names;
  }();
  return all;
}

// The calling thread, as rank `rank` of a job whose ranks are on all hosts by turns.
inline void enter_namespace(std::uint32_t rank) {
  const std::string path = "/run/netns/" + namespaces()[rank % namespaces().size()];
  const base::UniqueFd handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (handle.get() < 0 || ::setns(handle.get(), CLONE_NEWNET) != 0)
    throw std::system_error(errno, std::generic_category(), "entering " + path);
}

// Of a job whose ranks have entered theirs and that chose by itself: whoever is in our namespace is
// reached by shared memory, all others by the network that is set. Nothing of a context that is
// finalized.
inline void expect_ways(ph_context* context) {
  std::string network;
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::string(setting.name) == "network") network = setting.value;
  const std::size_t hosts_count = namespaces().size();
  const ph_rank self = ph_rank_of(context);
  for (ph_rank peer = 0; peer < ph_size_of(context); ++peer) {
    ph_path path{};
    path.size = sizeof path;
    if (peer == self || ph_path_to(context, peer, &path) != PH_OK) continue;
    const bool is_near = peer % hosts_count == self % hosts_count;
    EXPECT_EQ(path.transport, is_near ? "shm" : network)
        << "rank " << self << " to " << peer << ": " << path.reason;
  }
}

}  // namespace photon::test
