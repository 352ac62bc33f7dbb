// How the ranks of one process find their common network: rank 0 makes it and hands its address
// round, and nobody follows the address before everybody proved to be in the same process.
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "transport/sim/sim_transport.hpp"

namespace photon::transport::sim {
namespace {

using Network = std::shared_ptr<SimNetwork>;

struct SharedSetting {
  const char* name;
  std::uint64_t base::Config::*member;
};
constexpr SharedSetting kSharedSettings[] = {
    {"max_cid_size", &base::Config::max_cid_size},
    {"ledger_slots", &base::Config::ledger_slots},
    {"overflow_bytes", &base::Config::overflow_bytes},
    {"ring_lines", &base::Config::ring_lines},
    {"bulk_bytes", &base::Config::bulk_bytes},
    {"bulk_chunk", &base::Config::bulk_chunk},
    {"sim_seed", &base::Config::sim_seed},
    {"sim_delay_ns", &base::Config::sim_delay_ns},
};
constexpr std::size_t kSharedSettingsCount = std::size(kSharedSettings);

// Tells this process from all others: its number, the namespace which that counts in, and 16 random
// bytes of its exec, for processes of other hosts.
struct ProcessIdentity {
  std::uint64_t pid = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t random[2] = {};
  bool operator==(const ProcessIdentity&) const = default;
};

struct Introduction {
  ProcessIdentity process;
  std::uint64_t settings[kSharedSettingsCount] = {};
  std::uint64_t network_address = 0;  // of rank 0's shared_ptr; valid in its process only
};
static_assert(std::is_trivially_copyable_v<Introduction>);

ProcessIdentity identify() {
  ProcessIdentity identity{.pid = static_cast<std::uint64_t>(::getpid())};
  struct stat info = {};
  if (::stat("/proc/self/ns/pid", &info) == 0) identity.pid_namespace = info.st_ino;
  if (const void* random = reinterpret_cast<const void*>(::getauxval(AT_RANDOM)))
    std::memcpy(identity.random, random, sizeof identity.random);
  return identity;
}

Introduction introduce(const base::Config& config, const Network* network) {
  Introduction mine{.process = identify(),
                    .network_address = reinterpret_cast<std::uintptr_t>(network)};
  for (std::size_t i = 0; i < kSharedSettingsCount; ++i)
    mine.settings[i] = config.*kSharedSettings[i].member;
  return mine;
}

// Every rank comes to the same verdict, so none is left waiting.
base::Result<> check(const std::vector<Introduction>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].process != all[0].process) {
      return base::Error{PH_ERR_CONFIG, 0,
                         "setting transport = \"sim\" works between ranks of one process only, and "
                         "ranks 0 and " +
                             std::to_string(rank) +
                             " are two processes: use shm, or run the ranks as threads"};
    }
    for (std::size_t i = 0; i < kSharedSettingsCount; ++i) {
      if (all[rank].settings[i] == all[0].settings[i]) continue;
      return base::Error{PH_ERR_BOOTSTRAP, 0,
                         std::string("setting ") + kSharedSettings[i].name +
                             " must be the same on all ranks; rank 0 has " +
                             std::to_string(all[0].settings[i]) + ", rank " + std::to_string(rank) +
                             " has " + std::to_string(all[rank].settings[i])};
    }
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Transport>> open_sim(const base::Config& config, boot::Boot& boot) {
  const auto serve_nobody = [] {};
  std::unique_ptr<Network> made;
  if (boot.rank() == 0) {
    made = std::make_unique<Network>(std::make_shared<SimNetwork>(
        boot.size(),
        SimNetwork::Settings{config.sim_seed, config.sim_delay_ns, config.sim_profile}));
  }
  const Introduction mine = introduce(config, made.get());
  std::vector<Introduction> all(boot.size());
  auto gathered = boot.allgather(std::as_bytes(std::span(&mine, 1)),
                                 std::as_writable_bytes(std::span(all)), serve_nobody);
  if (!gathered) return std::move(gathered.error());
  if (auto same = check(all); !same) return std::move(same.error());

  // Nobody follows the address before all have it, and rank 0 keeps it until all have followed. If
  // only our half of a barrier failed, another may be on its way: better lost than freed under it.
  Network network;
  for (const bool followed : {false, true}) {
    if (followed) network = *reinterpret_cast<const Network*>(all[0].network_address);
    if (auto met = boot.barrier(serve_nobody); !met) {
      static_cast<void>(made.release());
      return std::move(met.error());
    }
  }
  return std::unique_ptr<Transport>(std::make_unique<SimTransport>(config, boot.rank(), network));
}

}  // namespace photon::transport::sim
