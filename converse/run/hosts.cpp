#include "converse/run/hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace photon::converse {

namespace {

std::string boot_of_host() {
  std::array<char, 64> text{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen("/proc/sys/kernel/random/boot_id", "r"), std::fclose);
  if (file == nullptr || std::fgets(text.data(), text.size(), file.get()) == nullptr) return "";
  return text.data();
}

std::string name_of_network() {
  std::array<char, 64> text{};
  const ssize_t size = ::readlink("/proc/self/ns/net", text.data(), text.size() - 1);
  return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

// The same in processes of one kernel and one network; containers are hosts of their own.
std::uint64_t find_own_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char one : boot_of_host() + name_of_network() + name.data())
    hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

void find_hosts(Process& process) {
  const std::uint64_t own = find_own_host();
  std::vector<std::uint64_t> all(ph_size_of(process.context));
  if (ph_allgather(process.context, &own, all.data(), sizeof own) != PH_OK) {
    ph_error error{};
    ph_last_error(process.context, &error);
    refuse("ConverseInit", "%s", error.text);
  }
  std::vector<std::uint64_t> hosts;
  for (const std::uint64_t host : all) {
    const auto known = std::ranges::find(hosts, host);
    process.host_of.push_back(static_cast<std::uint32_t>(known - hosts.begin()));
    if (known == hosts.end()) hosts.push_back(host);
  }
}

}  // namespace photon::converse
