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

inline std::uint64_t counter_of(ph_context* context, const std::string& name) {
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, nullptr, 0, &count), PH_OK);
  std::vector<ph_counter> found(count);
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, found.data(), count, &count), PH_OK);
  for (const ph_counter& one : found)
    if (one.name == name) return one.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// Connected peers, by the side they are on.
struct PeersBySide {
  std::uint64_t near = 0;
  std::uint64_t far = 0;
  bool operator==(const PeersBySide&) const = default;
};

// Of a job whose ranks have entered theirs and that chose by itself: whoever is in our namespace is
// reached by shared memory, all others by the network that is set.
inline PeersBySide expect_paths(ph_context* context) {
  std::string network;
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::string(setting.name) == "network") network = setting.value;
  const std::size_t hosts_count = namespaces().size();
  const ph_rank self = ph_rank_of(context);
  PeersBySide connected;
  for (ph_rank peer = 0; peer < ph_size_of(context); ++peer) {
    ph_path path{};
    path.size = sizeof path;
    if (peer == self || ph_path_to(context, peer, &path) != PH_OK) continue;
    const bool is_near = peer % hosts_count == self % hosts_count;
    EXPECT_EQ(path.transport, is_near ? "shm" : network)
        << "rank " << self << " to " << peer << ": " << path.reason;
    if (path.state == std::string("connected")) ++(is_near ? connected.near : connected.far);
  }
  return connected;
}

// The same, and that the counters say so, too. Nothing of a context that is finalized.
inline void expect_ways(ph_context* context) {
  std::size_t count = 0;
  if (ph_counters(context, PH_ANY_RANK, nullptr, 0, &count) != PH_OK) return;
  PeersBySide paths, counted;
  for (int i = 0; i < 10; ++i) {  // peers may come and leave in between, but only once each
    paths = expect_paths(context);
    counted.near =
        counter_of(context, "peers_same_process") + counter_of(context, "peers_shared_memory");
    counted.far = counter_of(context, "peers_network");
    if (paths == counted) return;
  }
  EXPECT_EQ(paths.near, counted.near);
  EXPECT_EQ(paths.far, counted.far);
}

}  // namespace photon::test
