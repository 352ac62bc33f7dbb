// How a FakeFabric behaves from its beginning to its end. Owner: the test.
#pragma once

#include <cstddef>

namespace photon::test {

struct FakeManners {
  unsigned refuses_every = 0;    // each so-manieth send or receive is refused once
  unsigned completes_after = 0;  // so many read()s after the send
  std::size_t most_bytes = 1 << 20;
  std::size_t inject_bytes = 0;
  bool has_wait_fd = true;
  bool keeps_order = true;  // else the latest message that has come is received first
  bool wants_memory_shown = false;
  bool takes_no_address = false;  // nobody can be met
  bool sends_when_over = false;   // nothing leaves before read() says that it is over
  bool has_rma_endpoints = false;
  bool registers_all = false;      // wants_memory_shown, and of fragments too
  unsigned registers_most = 0;     // so many registrations of memory of fragments at a time; 0: any
  std::size_t data_bytes = 0;      // that a write tells its peer
  bool refuses_data = false;       // though it says that a write can tell it
  bool opens_no_endpoint = false;  // beside the first
  bool opens_none = false;         // nor exposes anything, as if the descriptors were used up
  unsigned dead_endpoints = 0;     // so many, the first ones, do not reach dead ones of others
  unsigned dead_rma_endpoints = 0;  // likewise
  // Of the messages of one fabric, from 1 on; 0: none.
  unsigned loses = 0;        // this one does not arrive
  unsigned fails = 0;        // this one does not arrive either, and that is told
  unsigned fails_first = 0;  // likewise so many
};

}  // namespace photon::test
