// The two-sided cost of one-sided messages (figures 4 to 6 of the paper on RVMA): two ranks send a
// message to and fro, by several ways that take turns, and rank 0 prints the time of one way.
//
//   photonrun -n 2 mailbox_ways [--ways NAME,...] [--sizes BYTES,...] [--turns N] [--batch_us N]
//
//   counted       a mailbox whose buffer is complete after the message, and is posted again
//   put-id        a put whose remote id tells its target: RDMA that relies on order
//   put-behind    the same, and a notification behind it, whose order the library keeps
//   put-fence     a put without an id, a fence, and a notification
//   put-ack       a put whose sender waits until it is delivered, and then a notification
//   setup         no message: ask for memory; the owner registers it and answers with its place
//   forwards, backwards, shuffled   the message as 16 puts to a mailbox that counts bytes
//
// Memory is that of the heap. A source is rewritten before it is sent, and what has come is
// compared, byte by byte. Neither is timed, but for small messages, where reading the clock would
// take longer.
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <vector>

#include "ways.hpp"

namespace rvma_paper {
namespace {

constexpr std::size_t kTimedBelow_bytes = 512;
constexpr std::uint64_t kMostTrips = 20'000;
constexpr std::uint64_t kFewestTrips = 3;

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double clock_cost_us() {
  constexpr int kReads = 10'000;
  const double begin_us = now_us();
  for (int i = 1; i < kReads; ++i) static_cast<void>(now_us());
  return (now_us() - begin_us) / kReads;
}

// Calls `work(place, value, bytes)` for each word of a message; its last one may have fewer bytes.
template <class Work>
void for_each_word(std::byte* data, std::size_t size_bytes, std::uint64_t seed, Work work) {
  std::size_t at = 0;
  for (; at + sizeof seed <= size_bytes; at += sizeof seed, ++seed)
    work(data + at, seed, sizeof seed);
  if (at < size_bytes) work(data + at, seed, size_bytes - at);
}

std::uint64_t seed_of(std::uint64_t number, bool is_of_first) {
  return (2 * number + (is_of_first ? 0 : 1)) * 0x9e3779b97f4a7c15U;
}

void write_message(std::byte* data, std::size_t size_bytes, std::uint64_t seed) {
  for_each_word(data, size_bytes, seed, [](std::byte* to, std::uint64_t value, std::size_t bytes) {
    std::memcpy(to, &value, bytes);
  });
}

void check_message(std::byte* data, std::size_t size_bytes, std::uint64_t seed) {
  std::uint64_t wrong = 0;
  for_each_word(data, size_bytes, seed, [&](std::byte* at, std::uint64_t value, std::size_t bytes) {
    std::uint64_t found = value;
    std::memcpy(&found, at, bytes);
    wrong |= found ^ value;
  });
  if (wrong != 0)
    throw std::runtime_error("a message of " + std::to_string(size_bytes) + " bytes came wrong");
}

struct Options {
  std::vector<std::string> ways{"counted", "put-id", "put-behind", "put-fence", "put-ack"};
  std::vector<std::size_t> sizes{8, 4096};
  std::uint64_t turns = 3;
  double batch_us = 1000;
};

std::uint64_t number_of(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || number == 0) throw std::runtime_error("no number: " + text);
  return number;
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--ways") {
      options.ways = parts_of(value);
    } else if (name == "--sizes") {
      options.sizes.clear();
      for (const std::string& size : parts_of(value)) options.sizes.push_back(number_of(size));
    } else if (name == "--turns") {
      options.turns = number_of(value);
    } else if (name == "--batch_us") {
      options.batch_us = static_cast<double>(number_of(value));
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  if (argc % 2 == 0) throw std::runtime_error(std::string(argv[argc - 1]) + " has no value");
  return options;
}

// The pieces of a message in an order of their own. The third one is drawn, always the same.
std::vector<std::size_t> order_of(const std::string& name, std::size_t size_bytes) {
  std::vector<std::size_t> order(name == "counted" ? 1 : kPieces);
  if (size_bytes % order.size() != 0) throw std::runtime_error(name + ": sizes of 16 pieces only");
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (name == "backwards") std::reverse(order.begin(), order.end());
  if (name == "shuffled") std::shuffle(order.begin(), order.end(), std::minstd_rand(1));
  return order;
}

std::unique_ptr<Way> way_of(Table& table, const std::string& name) {
  static const char* const kMailboxes[] = {"counted", "forwards", "backwards", "shuffled"};
  if (name == "put-id") return std::make_unique<Puts>(table, Puts::kById);
  if (name == "put-behind") return std::make_unique<Puts>(table, Puts::kBehind);
  if (name == "put-fence") return std::make_unique<Puts>(table, Puts::kFenced);
  if (name == "put-ack") return std::make_unique<Puts>(table, Puts::kAcknowledged);
  if (name == "setup") return std::make_unique<Setup>(table);
  const auto* const found = std::find(std::begin(kMailboxes), std::end(kMailboxes), name);
  if (found == std::end(kMailboxes)) throw std::runtime_error("there is no way '" + name + "'");
  const auto address = static_cast<std::uint64_t>(found - std::begin(kMailboxes)) + 1;
  return std::make_unique<Counted>(table, address, order_of(name, table.size_bytes));
}

// The microseconds of one way, of ways of one size.
class Watch {
 public:
  explicit Watch(Table& table) : table_(table), is_timed_(table.size_bytes < kTimedBelow_bytes) {}

  double time_one_way(Way& way, std::uint64_t trips) {
    own_us_ = 0;
    table_.rank.barrier();
    const double begin_us = now_us();
    for (std::uint64_t i = 0; i < trips; ++i) {
      if (table_.rank.is_first()) send(way);
      receive(way);
      if (!table_.rank.is_first()) send(way);
    }
    const double mine[2] = {now_us() - begin_us, own_us_};
    double all[4];
    table_.rank.check(ph_allgather(table_.rank.context(), mine, all, sizeof mine), "the times");
    return (all[0] - all[1] - all[3]) / (2.0 * static_cast<double>(trips));
  }

 private:
  void send(Way& way) {
    table_.inbox.await_locals();  // of what was sent before: the source is rewritten
    if (way.has_message())
      leave_out(is_timed_, [&] {
        write_message(table_.source.get(), table_.size_bytes,
                      seed_of(sent_++, table_.rank.is_first()));
      });
    way.send();
  }
  void receive(Way& way) {
    std::byte* const data = way.receive();
    if (data == nullptr) return leave_out(false, [&] { way.tidy(); });
    leave_out(is_timed_, [&] {
      check_message(data, table_.size_bytes, seed_of(received_++, !table_.rank.is_first()));
    });
    way.recycle();
  }
  // Ping-pong: what one side does between two messages lies in the time of both.
  template <class Work>
  void leave_out(bool is_timed, Work work) {
    if (is_timed) return work();
    const double begin_us = now_us();
    work();
    own_us_ += now_us() - begin_us + clock_us_;
  }

  Table& table_;
  const bool is_timed_;
  const double clock_us_ = clock_cost_us();
  double own_us_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

// Returns how many trips fit into a batch, by the time of a short one, which both ranks know.
std::uint64_t trips_for(double batch_us, double one_way_us) {
  const double trips = batch_us / (2 * std::max(one_way_us, 0.01));
  return std::clamp(static_cast<std::uint64_t>(trips), kFewestTrips, kMostTrips);
}

void measure_size(Inbox& inbox, const Rank& rank, std::size_t size_bytes, const Options& options) {
  Table table{rank, inbox, size_bytes};
  Watch watch(table);
  std::vector<std::unique_ptr<Way>> ways;
  std::vector<std::uint64_t> trips;
  std::vector<std::vector<double>> found(options.ways.size());
  for (const std::string& name : options.ways) {
    ways.push_back(way_of(table, name));
    watch.time_one_way(*ways.back(), kFewestTrips);  // first contact, first touch
    trips.push_back(trips_for(options.batch_us, watch.time_one_way(*ways.back(), kFewestTrips)));
  }
  for (std::uint64_t turn = 0; turn < options.turns; ++turn)
    for (std::size_t i = 0; i < ways.size(); ++i)
      found[i].push_back(watch.time_one_way(*ways[i], trips[i]));
  inbox.await_locals();
  rank.barrier();  // nobody sends any more
  if (!rank.is_first()) return;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::sort(found[i].begin(), found[i].end());
    std::printf(
        "{\"way\": \"%s\", \"size_bytes\": %zu, \"us\": %.4f, \"least_us\": %.4f, "
        "\"most_us\": %.4f, \"messages\": %llu}\n",
        options.ways[i].c_str(), size_bytes, found[i][found[i].size() / 2], found[i].front(),
        found[i].back(), static_cast<unsigned long long>(2 * trips[i] * options.turns));
  }
}

}  // namespace
}  // namespace rvma_paper

int main(int argc, char** argv) {
  using namespace rvma_paper;
  try {
    const Options options = options_of(argc, argv);
    const Rank rank;
    Inbox inbox(rank);
    for (const std::size_t size_bytes : options.sizes)
      measure_size(inbox, rank, size_bytes, options);
    rank.finish();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mailbox_ways: %s\n", error.what());
    return 1;
  }
}
