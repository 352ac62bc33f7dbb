// For the unit tests of payloads that are read: a service that has nothing but pulls, on a port
// that the test controls, and a runner that is called when the test wants it to be. Owner: the
// test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "service/am/am_pulls.hpp"
#include "service/fake_port.hpp"

namespace photon::service::am::pulling_test {

using photon::test::Bytes;
using photon::test::FakePort;

inline Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed + i / 256);
  return bytes;
}

// A port that can end any of its gets, and counts those that were asked for.
struct PullPort : FakePort {
  using FakePort::FakePort;
  std::vector<std::size_t> sizes;
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    const ph_status status = FakePort::get(from, what, handle);
    if (status == PH_OK) sizes.push_back(what.to.size());
    return status;
  }
};

// A message whose payload lies in `source`.
struct Mail {
  Bytes source;
  Bytes landing;
  Pull* pull = nullptr;  // until it is over
  bool has_done = false;
  std::vector<ph_am_part> parts;  // that its completion handler was told of
  Bytes seen;                     // what lay there then
};

inline ph_status never(void*, const ph_am_message*, const ph_am_part*) { return PH_OK; }

// A service that has pulls, and a runner that is called when the test wants it to be.
struct Pulling : Service, PullEnds {
  bool on_message(const Message&) override { return true; }
  void on_local(Rank from, std::uint64_t token, ph_status status) override {
    pulls.on_local(from, token, status);
  }
  void on_lost(Rank rank, ph_status why) noexcept override { pulls.on_lost(rank, why); }
  void pull_read(const Pull& pull) noexcept override { read.push_back(pull.words.token); }
  void pull_over(const Pull& pull) noexcept override {
    over.emplace_back(pull.words.token, pull.status);
  }
  Pulling() { port.serve(*this); }

  struct How {
    Rank from = 1;
    std::vector<std::size_t> blocks = {};  // of the source; none: one
    std::uint64_t chunk_bytes = 0;
    std::uint64_t places = 0;  // of a ring
    bool has_done = true;
    std::uint8_t flags = 0;
  };
  // The number of the message, which is its token.
  std::size_t arrive(std::size_t size, const How& how) {
    const std::size_t number = mails.size();
    mails.push_back(std::make_unique<Mail>());
    Mail& mail = *mails.back();
    mail.source = pattern(size, static_cast<unsigned>(number));
    std::vector<SourceBlock> table;
    std::size_t at = 0;
    std::vector<std::size_t> blocks = how.blocks;
    if (blocks.empty()) blocks = {size};
    for (const std::size_t block : blocks) {
      table.push_back({reinterpret_cast<std::uint64_t>(mail.source.data() + at), block, 1});
      at += block;
    }
    Word word;
    word.op = Op::pull;
    word.flags = how.flags;
    mail.pull = pulls.add(how.from, word, {size, number, table.size(), 0}, std::move(table));
    return number;
  }
  std::size_t begin(std::size_t size, const How& how) {
    const std::size_t number = arrive(size, how);
    Mail& mail = *mails[number];
    ph_am_landing named{};
    mail.landing = Bytes(how.places == 0 ? size : how.places * how.chunk_bytes);
    named.buffer = mail.landing.data();
    named.buffer_bytes = mail.landing.size();
    named.chunk_bytes = how.chunk_bytes;
    named.flags = how.places == 0 ? 0 : PH_AM_CYCLE;
    named.done = how.has_done ? never : nullptr;
    mail.has_done = how.has_done;
    EXPECT_EQ(mail.pull->landing.take(named, size, false), PH_OK);
    mail.pull->node_pulls = &node_pulls;
    pulls.begin(*mail.pull);
    return number;
  }
  // Calls the completion handler that is due. False: none is.
  bool run_one(ph_status returned = PH_OK) {
    Pulls::Call call = pulls.collect();
    if (call.pull == nullptr) return false;
    Mail& mail = *mails[call.pull->words.token];
    mail.parts.push_back(call.part);
    const auto* data = static_cast<const std::byte*>(call.part.data);
    if (data != nullptr) mail.seen.insert(mail.seen.end(), data, data + call.part.size_bytes);
    call.returned = returned;
    pulls.settle(call);
    return true;
  }
  // Until nothing is left to do.
  void run_all() {
    for (;;) {
      if (run_one()) continue;
      if (port.gets() != 0)
        port.end_get();
      else if (!port.run_turns())
        return;
    }
  }
  using Over = std::vector<std::pair<std::uint64_t, ph_status>>;

  PullPort port{wire::Owner::am};
  Gates gates{FakePort::kSize, 128};
  Pulls pulls{port, gates, *this};
  std::uint64_t node_pulls = 0;
  std::vector<std::unique_ptr<Mail>> mails;
  std::vector<std::uint64_t> read;
  Over over;
};

inline void expect_idle(Pulling& one) {
  EXPECT_TRUE(one.pulls.is_idle());
  EXPECT_EQ(one.pulls.held(), 0u);
  EXPECT_EQ(one.node_pulls, 0u) << "its handler cannot be unregistered";
  EXPECT_EQ(one.gates.beside_handled, 0u) << "quiescence waits for ever, or not at all";
}

}  // namespace photon::service::am::pulling_test
