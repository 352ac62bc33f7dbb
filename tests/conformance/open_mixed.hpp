// shm and tcp in one transport, over the loopback: how the suites open it.
#pragma once

#include "transport/mixed/mixed_transport.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace photon::test {

inline transport::mixed::Children::Opened open_mixed(const base::Config& given, boot::Boot& boot) {
  base::Config config = given;
  config.tcp_interface = base::word("127.0.0.1");
  return transport::mixed::open_mixed(
      boot, {.near = [&](boot::Boot& near) { return transport::shm::open_shm(config, near); },
             .far =
                 [&](boot::Boot& far, std::span<transport::RegionEntry> regions) {
                   return transport::tcp::open_tcp(config, far, {.regions = regions});
                 }});
}

}  // namespace photon::test
