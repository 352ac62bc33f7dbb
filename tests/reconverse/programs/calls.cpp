// reconverse_calls CASE: what a runtime does with the backend. Says nothing where all is right.
#include "calls.hpp"

#include <string_view>

namespace photon::test {

namespace {

struct Case {
  std::string_view name;
  void (*run)();
};

constexpr Case kCases[] = {{"sizes", sizes},
                           {"barrier", barrier},
                           {"threads", threads},
                           {"twice", twice},
                           {"many_jobs", many_jobs},
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
