// A classic program as they are written: rank 0 puts to rank 1, one put after the other, and waits
// for the local id of each; it never looks for PHOTON_ERROR_RESOURCE, which would be a failure.
// Rank 1 makes no call for a while each time it has taken so many. All go to one place, so nothing
// is said of what stands there: tests/engine/serial_loop_test.cpp looks at the bytes.
//
//   classic_serial <puts> <bytes> <taken between pauses> <ms of a pause> [bytes of an id, by
//   address]
#include <photon.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostIdBytes = 64;

struct Plan {
  std::uint64_t puts, bytes, between;
  std::chrono::milliseconds pause;
  std::uint32_t id_bytes;  // 0: words
};

[[noreturn]] void die(const char* what, std::uint64_t number) {
  std::printf("put %llu: %s\n", static_cast<unsigned long long>(number), what);
  std::fflush(stdout);
  std::_Exit(1);
}

void require(int status, const char* what) {
  if (status != PHOTON_OK) die(what, 0);
}

// Its bytes are at an address that is used again for the next.
photon_cid id_of(std::uint64_t value, const Plan& plan) {
  static std::uint64_t bytes[kMostIdBytes / sizeof value];
  bytes[0] = value;
  photon_cid id{};
  id.size = plan.id_bytes;
  if (plan.id_bytes == 0)
    id.u64 = value;
  else
    id.data = bytes;
  return id;
}

std::uint64_t value_of(const photon_cid& id) {
  if (id.size == 0) return id.u64;
  std::uint64_t value = 0;
  std::memcpy(&value, id.data, sizeof value);
  return value;
}

void take(int kind, std::uint64_t expected) {
  photon_cid found{};
  for (int flag = 0; flag == 0;)
    require(
        photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &found, nullptr, nullptr, kind),
        "no probe");
  if (value_of(found) != expected) die("another id came", expected);
}

void put_all(const Plan& plan, photon_buffer_t there) {
  std::vector<unsigned char> source(plan.bytes);
  photon_buffer_t here{reinterpret_cast<std::uintptr_t>(source.data()), plan.bytes, {0, 0}};
  const auto began = Clock::now();
  for (std::uint64_t i = 0; i < plan.puts; ++i) {
    std::memcpy(source.data(), &i, std::min<std::uint64_t>(plan.bytes, sizeof i));
    const photon_cid id = id_of(i, plan);
    const int status = photon_put_with_completion(1, plan.bytes, &here, &there, id, id, 0);
    if (status != PHOTON_OK) die(("status " + std::to_string(status)).c_str(), i);
    take(PHOTON_PROBE_EVQ, i);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%llu puts of %llu bytes in %.1f s, at most %ld MB\n",
              static_cast<unsigned long long>(plan.puts),
              static_cast<unsigned long long>(plan.bytes),
              std::chrono::duration<double>(Clock::now() - began).count(), used.ru_maxrss / 1024);
}

void take_all(const Plan& plan) {
  for (std::uint64_t i = 0; i < plan.puts; ++i) {
    if (i % plan.between == 0) std::this_thread::sleep_for(plan.pause);  // it computes
    take(PHOTON_PROBE_LEDGER, i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Plan plan{std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10),
                  std::strtoull(argv[3], nullptr, 10),
                  std::chrono::milliseconds(std::atoi(argv[4])),
                  argc > 5 ? static_cast<std::uint32_t>(std::atoi(argv[5])) : 0};
  if (plan.id_bytes != 0 && (plan.id_bytes < 8 || plan.id_bytes > kMostIdBytes)) return 2;
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  config.cap.max_cid_size = static_cast<int>(plan.id_bytes);
  require(photon_init(&config), "no init");
  std::vector<unsigned char> memory(plan.bytes);
  photon_rid rid = 0;
  photon_buffer_t there{};
  if (config.address == 1) {
    require(photon_register_buffer(memory.data(), plan.bytes), "no registration");
    require(photon_post_recv_buffer_rdma(0, memory.data(), plan.bytes, 1, &rid), "no buffer");
    take_all(plan);
  } else {
    require(photon_wait_recv_buffer_rdma(1, PHOTON_ANY_SIZE, 1, &rid), "nothing met");
    require(photon_get_buffer_remote(rid, &there), "no target");
    put_all(plan, there);
    require(photon_send_FIN(rid, 1, 0), "no FIN");
  }
  return photon_finalize();
}
