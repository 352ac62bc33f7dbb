// What the tests of the mailbox service share: a service on a port made for it.
// Owner: the test. Threads: one.
#pragma once

#include "service/fake_port.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::test {

inline constexpr std::uint64_t kMail = 1, kKept = 2, kVerdict = 3, kCredit = 4;
inline constexpr std::uint64_t kAsks = 4;

// Rank 0, alone with what its test says.
struct Office {
  Office() : service(port) { port.serve(service); }
  service::mailbox::Sender& sender() { return service.sender(); }
  service::mailbox::Receiver& receiver() { return service.receiver(); }

  ph_mailbox open(std::uint64_t address, ph_mailbox_args args = {}) {
    args.size = sizeof args;
    args.address = address;
    if (args.source == 0) args.source = PH_ANY_RANK;
    ph_mailbox box{};
    EXPECT_EQ(receiver().open(args, box), PH_OK);
    return box;
  }
  ph_status post(ph_mailbox box, std::span<std::byte> memory, std::uint64_t threshold = 0) {
    return receiver().post(
        box, {sizeof(ph_mailbox_buffer), memory.data(), memory.size(), threshold, nullptr, 0});
  }
  ph_status put(Rank to, std::size_t bytes, ph_request* request = nullptr) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = 7;
    args.source = memory.data();
    args.size_bytes = bytes;
    args.epoch = PH_ANY_EPOCH;
    args.request = request;
    return sender().put(to, args, false);
  }
  // A mail of 8 bytes comes from that rank.
  bool comes(Rank from, std::uint64_t address, std::uint64_t value, std::uint64_t flags = 0) {
    return port.deliver(
        {from, words_of({kMail | flags << 8 | 8 << 16, address, 0, value}), {}, {}, 0, 0});
  }
  bool replies(Rank from, std::uint64_t op, std::uint64_t number, std::int64_t status = PH_OK) {
    std::vector<std::uint64_t> words{op | number << 8};
    if (op == kVerdict) words.push_back(static_cast<std::uint64_t>(status));
    return port.deliver({from, words_of(words), {}, {}, 0, 0});
  }
  // What was said since this was asked last, as words.
  std::vector<std::vector<std::uint64_t>> said() {
    std::vector<std::vector<std::uint64_t>> all;
    for (Said one; port.take(one);) all.push_back(words_in(one.header));
    return all;
  }

  FakePort port{wire::Owner::mailbox};
  service::mailbox::Mailboxes service;
  Bytes memory = Bytes(64 << 10, std::byte{5});
};

}  // namespace photon::test
