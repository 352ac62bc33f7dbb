#include "calls.hpp"

namespace photon::test {

Regions::Regions()
    : handler_(comm_backend::registerAmHandler([](comm_backend::Status status) {
        Told told;
        std::memcpy(&told, status.local_buf, sizeof told);
        all_[static_cast<std::size_t>(told.node)] = told;
        ++heard_;
        free_message(status);
      })) {
  heard_ = 0;
  all_.assign(static_cast<std::size_t>(comm_backend::getNumNodes()), Told{});
}

void Regions::exchange(void* memory, std::size_t size_bytes) {
  own_ = comm_backend::registerMemory(memory, size_bytes);
  Told told{comm_backend::getMyNodeId(), reinterpret_cast<std::uint64_t>(memory), {}};
  expect(comm_backend::getRMR(own_, told.descriptor.bytes, sizeof told.descriptor) <= 24,
         "a descriptor has more than 24 bytes");
  const int nodes = comm_backend::getNumNodes();
  for (int node = 0; node < nodes; ++node)
    comm_backend::issueAm(node, &told, sizeof told, comm_backend::MR_NULL, nullptr, handler_,
                          nullptr);
  await([&] { return heard_ == nodes; }, "not all nodes have told their region");
}

}  // namespace photon::test
