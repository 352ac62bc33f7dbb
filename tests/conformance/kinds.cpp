// The transports that the suite runs on.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "boot/proof.hpp"
#include "fake_fabric.hpp"
#include "open_mixed.hpp"
#include "real_fabric.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/sim/sim_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"
#include "transport_harness.hpp"

namespace photon::test {
namespace {

constexpr std::int64_t kBySockets = 5'000'000'000;  // ns

using Opened = base::Result<std::unique_ptr<transport::Transport>>;

const char* always() { return nullptr; }

Opened open_shm(const base::Config& config, boot::Boot& boot) {
  return transport::shm::open_shm(config, boot);
}

template <base::SimProfile profile>
Opened open_sim_as(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.sim_profile = profile;
  return transport::sim::open_sim(config, boot);
}

// With this seed the memory of each of two ranks is within reach of the other one's stores; without
// it, only of calls.
Opened open_sim_mapped_near(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.sim_seed = 20;
  return open_sim_as<base::SimProfile::mapped>(config, boot);
}

// As on a kernel without membarrier: both sides of every Dekker pattern fence.
Opened open_shm_fenced(const base::Config& config, boot::Boot& boot) {
  return transport::shm::open_shm(config, boot, {.token = {}, .heavy_barrier = false});
}

// Each rank pretends to be another process: every segment is mapped twice, memory is reached
// through the arena and by process_vm_writev.
transport::shm::ShmOptions strangers(const boot::Boot& boot) {
  return {.token = transport::shm::ProcessToken{0x5eed, boot.rank() + 1u}, .heavy_barrier = true};
}
Opened open_shm_mapped(const base::Config& config, boot::Boot& boot) {
  return transport::shm::open_shm(config, boot, strangers(boot));
}
Opened open_shm_mapped_without_cma(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.shm_cma = base::ShmCma::off;
  return transport::shm::open_shm(config, boot, strangers(boot));
}
const char* not_under_tsan() {
  return ::dlsym(RTLD_DEFAULT, "__tsan_init") == nullptr
             ? nullptr
             : "ThreadSanitizer takes two mappings of one page for two memories";
}

const char* with_crypto_library() {
  return boot::can_prove() ? nullptr : "this library was built without OpenSSL";
}

const char* with_ipv6() {
  if (const char* why = with_crypto_library()) return why;
  const auto here = boot::choose_address("::1", true);
  return here && boot::listen_at(*here) ? nullptr : "this machine has no IPv6 loopback";
}
Opened open_tcp_6(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.tcp_interface = base::word("::1");
  return transport::tcp::open_tcp(config, boot);
}

Opened open_ofi_rxm(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_provider = base::word(kRxm);
  config.ofi_direct_least_bytes = 1;
  return transport::ofi::open_ofi(config, boot);
}
// As by a provider that wants our own memory registered.
Opened open_ofi_rxm_registered(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_provider = base::word(kRxm);
  config.ofi_direct_least_bytes = 1;
  return transport::ofi::open_ofi_over(config, boot, [](transport::ofi::FabricWants wants) {
    wants.registers_all = true;
    return transport::ofi::open_fabric(wants);
  });
}
// Messages as short as they may be, refused now and then, and over late.
Opened open_ofi_fake(const base::Config& config, boot::Boot& boot) {
  return transport::ofi::open_ofi_over(config, boot,
                                       open_fake({.refuses_every = 3,
                                                  .completes_after = 2,
                                                  .most_bytes = transport::ofi::kLeastMessageBytes,
                                                  .wants_memory_shown = true}));
}
// Large payload by pieces; refused now and then, and over late.
Opened open_ofi_fake_rma_endpoints(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_direct_least_bytes = 1;
  return transport::ofi::open_ofi_over(
      config, boot,
      open_fake(
          {.refuses_every = 3, .completes_after = 4, .has_rma_endpoints = true, .data_bytes = 8}));
}
// Our own memory is registered for pieces, and these can tell little.
Opened open_ofi_fake_registered(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_direct_least_bytes = 1;
  return transport::ofi::open_ofi_over(config, boot,
                                       open_fake({.refuses_every = 3,
                                                  .completes_after = 4,
                                                  .has_rma_endpoints = true,
                                                  .registers_all = true,
                                                  .data_bytes = 4}));
}
// Messages overtake each other.
Opened open_ofi_fake_unordered(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_direct_least_bytes = 1;
  return transport::ofi::open_ofi_over(config, boot,
                                       open_fake({.completes_after = 2,
                                                  .most_bytes = transport::ofi::kLeastMessageBytes,
                                                  .keeps_order = false,
                                                  .has_rma_endpoints = true,
                                                  .data_bytes = 8}));
}
// No descriptor to sleep on; what is small is over at once.
Opened open_ofi_fake_napping(const base::Config& config, boot::Boot& boot) {
  return transport::ofi::open_ofi_over(config, boot,
                                       open_fake({.inject_bytes = 256, .has_wait_fd = false}));
}
// The same beside shared memory.
Opened open_mixed_ofi(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.ofi_direct_least_bytes = 1;
  return transport::mixed::open_mixed(
      boot, {.near = [&](boot::Boot& near) { return transport::shm::open_shm(config, near); },
             .far =
                 [&](boot::Boot& far, std::span<transport::RegionEntry> regions) {
                   return transport::ofi::open_ofi_over(config, far,
                                                        open_fake({.refuses_every = 3,
                                                                   .completes_after = 4,
                                                                   .has_rma_endpoints = true,
                                                                   .registers_all = true,
                                                                   .data_bytes = 8}),
                                                        {.regions = regions});
                 }});
}
}  // namespace

std::vector<TransportKind> transport_kinds() {
  return {
      {"shm", open_shm, always},
      {"shm_fenced", open_shm_fenced, always},
      {"shm_mapped", open_shm_mapped, not_under_tsan},
      {"shm_mapped_without_cma", open_shm_mapped_without_cma, not_under_tsan},
      {"sim", transport::sim::open_sim, always},
      {"sim_mapped", open_sim_as<base::SimProfile::mapped>, always},
      {"sim_mapped_near", open_sim_mapped_near, always},
      {"sim_rc", open_sim_as<base::SimProfile::rc>, always},
      {"sim_srd", open_sim_as<base::SimProfile::srd>, always},
      {"sim_unnamed", open_sim_as<base::SimProfile::unnamed>, always},
      {"tcp", transport::tcp::open_tcp, with_crypto_library, 1, kBySockets},
      {"tcp_ipv6", open_tcp_6, with_ipv6, 1, kBySockets},
      {"ofi_fake", open_ofi_fake, with_crypto_library, 1, kBySockets},
      {"ofi_fake_rma_endpoints", open_ofi_fake_rma_endpoints, with_crypto_library, 1, kBySockets},
      {"ofi_fake_registered", open_ofi_fake_registered, with_crypto_library, 1, kBySockets},
      {"ofi_fake_unordered", open_ofi_fake_unordered, with_crypto_library, 1, kBySockets},
      {"ofi_fake_napping", open_ofi_fake_napping, with_crypto_library, 1, kBySockets},
      {"ofi_rxm", open_ofi_rxm, no_real_fabric, 1, kBySockets},
      // neighbours are on different hosts
      {"mixed", open_mixed, with_crypto_library, 2, kBySockets},
      {"mixed_near", open_mixed, with_crypto_library, 1, kBySockets},
      {"mixed_ofi", open_mixed_ofi, with_crypto_library, 2, kBySockets}};
}

std::vector<TransportKind> nic_kinds() {
  auto kinds = transport_kinds();
  kinds.push_back({"ofi_rxm_registered", open_ofi_rxm_registered, no_real_fabric, 1, kBySockets});
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(transport, TransportConformance, testing::ValuesIn(transport_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace photon::test
