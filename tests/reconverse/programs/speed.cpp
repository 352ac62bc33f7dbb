// reconverse_speed WINDOWS TRIPS [judge]: what the backend takes beside the same calls of Photon,
// in the same run and on the same lane, in turns. Two nodes. With `judge` it fails where a ratio of
// medians is over its bar.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "calls.hpp"
#include "interop/reconverse/backend.hpp"

namespace photon::test {
namespace {

using comm_backend::MR_NULL;

constexpr std::uint32_t kRawId = 1000;  // none of the backend's

std::uint64_t heard = 0;   // messages of either kind
std::uint64_t wanted = 0;  // of them: the peer may be ahead by one
std::uint64_t ended = 0;   // gets and puts
std::uint64_t read_sum = 0;
bool is_over = false;  // node 1: node 0 needs it no more

ph_context* lane() { return reconverse::backend().context(); }
int peer() { return 1 - comm_backend::getMyNodeId(); }

void read(const void* message, std::size_t size_bytes) {
  const auto* const bytes = static_cast<const unsigned char*>(message);
  for (std::size_t i = 0; i < size_bytes; ++i) read_sum += bytes[i];
  ++heard;
}

ph_status on_raw(void*, const ph_am_message* message, ph_am_landing*) {
  read(message->payload, message->payload_bytes);
  return PH_OK;
}

void require(ph_status status, const char* what) { expect(status == PH_OK, what); }

// Half a round trip, in nanoseconds. Both sides answer outside their handlers.
template <class Send, class Turn>
double half_trip(std::uint64_t trips, Send send, Turn turn) {
  const bool is_first = comm_backend::getMyNodeId() == 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < trips; ++i) {
    if (is_first) send();
    for (++wanted; heard < wanted;) turn();
    if (!is_first) send();
  }
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
  return all.count() / static_cast<double>(2 * trips);
}

// One operation after the other, in nanoseconds.
template <class Move, class Turn>
double one_move(std::uint64_t count, Move move, Turn turn) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t with_this = ended + 1;
    for (move(); ended < with_this;) turn();
  }
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
  return all.count() / static_cast<double>(count);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Question {
  const char* name;
  std::size_t size_bytes;
  double bar;
};

// Each window has both, in turns. True: the ratio is under its bar.
template <class Raw, class Ours>
bool compare(const Question& question, std::uint64_t windows, Raw raw, Ours ours) {
  std::vector<double> raws, all_ours;
  for (std::uint64_t window = 0; window <= windows; ++window) {
    const double raw_ns = raw();
    const double ours_ns = ours();
    if (window == 0) continue;  // both warm up
    raws.push_back(raw_ns);
    all_ours.push_back(ours_ns);
  }
  if (comm_backend::getMyNodeId() != 0) return true;
  const double ratio = median(all_ours) / median(raws);
  const double least = *std::min_element(all_ours.begin(), all_ours.end()) /
                       *std::min_element(raws.begin(), raws.end());
  std::printf(
      "%-10s %8zu B  photon %10.1f ns  backend %10.1f ns  ratio %.3f  of minima %.3f  "
      "bar %.2f\n",
      question.name, question.size_bytes, median(raws), median(all_ours), ratio, least,
      question.bar);
  return ratio <= question.bar;
}

bool ask_messages(std::uint64_t windows, std::uint64_t trips, comm_backend::AmHandler handler) {
  constexpr std::size_t kBytes = 64;
  const Bytes payload = filled(kBytes, 1);
  ph_am_args args{.size = sizeof args, .id = kRawId, .flags = PH_NO_LCE};
  args.payload = payload.data();
  args.payload_bytes = kBytes;
  const auto raw = [&] {
    return half_trip(
        trips, [&] { require(ph_am_send(lane(), static_cast<ph_rank>(peer()), &args), "a send"); },
        [] { ph_am_poll(lane(), 0); });
  };
  const auto ours = [&] {
    return half_trip(
        trips,
        [&] {
          comm_backend::issueAm(
              peer(), payload.data(), kBytes, MR_NULL, [](comm_backend::Status) { ++ended; },
              handler, nullptr);
        },
        [] { comm_backend::progress(); });
  };
  return compare({"message", kBytes, 1.2}, windows, raw, ours);
}

void probe_raw() {
  if (ph_probe_u64(lane(), PH_ANY_RANK, PH_LOCAL).kind != 0) ++ended;
}

bool ask_moves(std::uint64_t windows, std::uint64_t count, std::size_t size_bytes,
               Regions& regions) {
  Bytes own = filled(size_bytes, 2);
  ph_region region{};
  std::memcpy(&region, regions.of(1), sizeof region);
  const std::uint64_t id = 1;
  const auto on_ended = [](comm_backend::Status) { ++ended; };
  const auto turn = [] { comm_backend::progress(); };
  const auto raw_get = [&] {
    ph_get_args args{.size = sizeof args, .destination = own.data(), .size_bytes = size_bytes};
    args.source = ph_at(&region, 0);
    args.local = {&id, sizeof id};
    args.flags = PH_NO_RCE;
    return one_move(
        count, [&] { require(ph_get(lane(), 1, &args), "a get"); }, probe_raw);
  };
  const auto get = [&] {
    return one_move(
        count,
        [&] {
          comm_backend::issueRget(1, own.data(), size_bytes, MR_NULL, regions.address(1),
                                  regions.of(1), on_ended, nullptr);
        },
        turn);
  };
  const auto raw_put = [&] {
    ph_put_args args{.size = sizeof args, .source = own.data(), .size_bytes = size_bytes};
    args.target = ph_at(&region, 0);
    args.local = {&id, sizeof id};
    args.flags = PH_DELIVERED | PH_NO_RCE;
    return one_move(
        count, [&] { require(ph_put(lane(), 1, &args), "a put"); }, probe_raw);
  };
  const auto put = [&] {
    return one_move(
        count,
        [&] {
          comm_backend::issueRput(1, own.data(), size_bytes, MR_NULL, 0, regions.of(1), on_ended,
                                  nullptr);
        },
        turn);
  };
  const bool is_get_fast = compare({"get", size_bytes, 1.15}, windows, raw_get, get);
  return compare({"put", size_bytes, 1.15}, windows, raw_put, put) && is_get_fast;
}

bool ask_all(std::uint64_t windows, std::uint64_t trips) {
  Regions regions;
  const auto handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    read(status.local_buf, status.size);
    free_message(status);
  });
  const auto over_handler = comm_backend::registerAmHandler([](comm_backend::Status status) {
    free_message(status);
    is_over = true;
  });
  require(ph_am_register(lane(), kRawId, on_raw, nullptr), "registering a handler");
  Bytes memory = filled(1 << 20, 3);
  regions.exchange(memory.data(), memory.size());
  comm_backend::barrier();
  bool is_fast = ask_messages(windows, trips, handler);
  if (comm_backend::getMyNodeId() == 0) {
    for (const std::size_t size_bytes : {std::size_t{65536}, std::size_t{1 << 20}})
      is_fast = ask_moves(windows, trips * 4096 / size_bytes + 1, size_bytes, regions) && is_fast;
    comm_backend::issueAm(1, nullptr, 0, MR_NULL, nullptr, over_handler, nullptr);
  } else {
    while (!is_over) comm_backend::progress();
  }
  comm_backend::barrier();
  return is_fast;
}

}  // namespace
}  // namespace photon::test

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("reconverse_speed WINDOWS TRIPS [judge]\n", stderr);
    return 2;
  }
  photon::test::is_counting = false;
  comm_backend::init(argv);
  photon::test::expect(comm_backend::getNumNodes() == 2, "start it with two nodes");
  const bool is_fast = photon::test::ask_all(std::strtoull(argv[1], nullptr, 10),
                                             std::strtoull(argv[2], nullptr, 10));
  comm_backend::exit();
  return argc > 3 && std::string_view(argv[3]) == "judge" && !is_fast ? 1 : 0;
}
