// reconverse_calls CASE: what a runtime does with the backend. Says nothing where all is right.
#include "calls.hpp"

#include <string_view>

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

namespace {

struct Case {
  std::string_view name;
  void (*run)();
};

constexpr Case kCases[] = {{"sizes", sizes},
                           {"barrier", barrier},
                           {"threads", threads},
                           {"twice", twice},
                           {"alone", alone},
                           {"moves", moves},
                           {"landed", landed},
                           {"descriptor", descriptor},
                           {"live_registrations", live_registrations},
                           {"full_queues", full_queues},
                           {"left_behind", left_behind},
                           {"no_such_node", no_such_node},
                           {"no_such_handler", no_such_handler},
                           {"no_such_region", no_such_region},
                           {"taken_back_twice", taken_back_twice},
                           {"little_room", little_room}};

}  // namespace

}  // namespace photon::test

int main(int argc, char** argv) {
  for (const auto& one : photon::test::kCases) {
    if (argc != 2 || one.name != argv[1]) continue;
    comm_backend::init(argv);
    comm_backend::init_mempool();
    one.run();
    comm_backend::exit();
    photon::test::expect(photon::test::chunks_alive == 0, "messages are left");
    return 0;
  }
  std::fputs("reconverse_calls CASE: calls.cpp has their names\n", stderr);
  return 2;
}
