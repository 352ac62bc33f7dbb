// A mixed transport over two stubs: rank 0 of three; of its peers 1 is far, 2 is near.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "hosts_boot.hpp"
#include "memory_boot.hpp"
#include "stub_transport.hpp"
#include "transport/mixed/mixed_transport.hpp"

namespace photon::transport::mixed::test {

using photon::test::HostsBoot;
using photon::test::MemoryJob;
using transport::StubSink;
using transport::StubTransport;

class MixedStubs : public testing::Test {
 protected:
  static constexpr Rank kNear = 2, kFar = 1;

  MixedStubs() {
    std::unique_ptr<Transport> near(near_ = new StubTransport), far(far_ = new StubTransport);
    mixed_ = std::move(*open_mixed(
        boot_, {.near = [&](boot::Boot&) -> Children::Opened { return std::move(near); },
                .far = [&](boot::Boot&, std::span<RegionEntry> regions) -> Children::Opened {
                  given_ = regions;
                  return std::move(far);
                }}));
  }

  MemoryJob job_{3};
  HostsBoot boot_{job_.boot(0), 2};
  StubTransport* near_ = nullptr;
  StubTransport* far_ = nullptr;
  std::span<RegionEntry> given_;  // to the far one
  std::unique_ptr<Transport> mixed_;
  StubSink sink_;
};

}  // namespace photon::transport::mixed::test
