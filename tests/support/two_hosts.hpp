// Two network namespaces and a cable: as far as the network is concerned, two hosts, at 10.77.0.1
// and 10.77.0.2, with the cable at v0.
// Owner: one test or suite, which checks made() first; both are gone with it. Those of a process
// that was killed by force are removed by the next one that makes some.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace photon::test {

class TwoHosts {
 public:
  TwoHosts() : id_(kPrefix + std::to_string(::getpid())) {
    remove_those_of_the_dead();
    made_ = run("ip netns add " + id_ + "a") && run("ip netns add " + id_ + "b") &&
            run("ip -n " + id_ + "a link add v0 type veth peer name v0 netns " + id_ + "b") &&
            set_up("a", "10.77.0.1/24") && set_up("b", "10.77.0.2/24") && await_link("a") &&
            await_link("b");
  }
  ~TwoHosts() {
    for (const char* const side : {"a", "b"}) {
      static_cast<void>(run("ip netns delete " + id_ + side));
    }
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  bool made() const { return made_; }
  static std::string unmade() {
    return "no network namespaces here: they need root, veth and ip(8)";
  }
  std::vector<std::string> at(const std::string& side) const {
    return {"ip", "netns", "exec", id_ + side};
  }
  std::string name(const std::string& side) const { return id_ + side; }
  // Whatever else ip(8) can do at one side. False: it could not.
  bool ip(const std::string& side, const std::string& words) const {
    return run("ip -n " + id_ + side + " " + words);
  }
  // The cable, seen from one side; the other one has no carrier then. False: it could not be.
  bool plug(const std::string& side, bool in) const {
    return run("ip -n " + id_ + side + " link set v0 " + (in ? "up" : "down"));
  }

 private:
  static constexpr const char* kPrefix = "ph";

  static void remove_those_of_the_dead() {
    namespace fs = std::filesystem;
    const std::string prefix = kPrefix;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator("/run/netns", none)) {
      const std::string name = entry.path().filename();
      const std::size_t digits = name.size() - std::min(name.size(), prefix.size() + 1);
      if (digits == 0 || !name.starts_with(prefix) || (name.back() != 'a' && name.back() != 'b'))
        continue;
      const std::string pid = name.substr(prefix.size(), digits);
      if (pid.find_first_not_of("0123456789") == std::string::npos && !fs::exists("/proc/" + pid))
        static_cast<void>(run("ip netns delete " + name));
    }
  }
  bool set_up(const std::string& side, const std::string& address) const {
    const std::string ip = "ip -n " + id_ + side;
    return run(ip + " address add " + address + " dev v0") && run(ip + " link set v0 up") &&
           run(ip + " link set lo up");
  }
  // The kernel tells later that both ends are up, and libfabric passes over an interface until
  // then.
  bool await_link(const std::string& side) const {
    return run("timeout 10 ip netns exec " + id_ + side +
               " sh -c 'until [ $(cat /sys/class/net/v0/operstate) = up ]; do :; done'");
  }
  static bool run(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
  }

  std::string id_;
  bool made_ = false;
};

}  // namespace photon::test
