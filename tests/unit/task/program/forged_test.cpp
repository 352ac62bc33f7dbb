// Messages that no sender has made, to all numbers that the typed sends have registered: nothing
// runs, nothing is read beyond the message, and what is under way goes on.
#include <cstring>
#include <optional>

#include "task/program/program_job.hpp"

namespace photon::task::test::typed_forgeries {
namespace {

using photon::tasks::detail::Head;
using photon::tasks::detail::Lost;
using photon::tasks::detail::Offered;
using photon::tasks::detail::Part;
using photon::tasks::detail::Refusal;
using photon::tasks::detail::Way;

const Path kTwo{"", 2, 1, 1, {}};
using Span = std::span<std::uint64_t>;

void run_forged(const std::function<void(Office&)>& body) {
  TaskJob job(kTwo.processes, kTwo.pes, kTwo.options);
  job.run([&](ph_task_pe* pe, const ph_task_place&) {
    Office office(pe, kAllOffered);
    body(office);
    office.meet();
  });
}

void send_bytes(Office& office, std::uint32_t number, const Bytes& body) {
  ph_task_message* message = nullptr;
  ASSERT_EQ(ph_task_alloc(office.pe, body.size(), &message), PH_OK);
  if (!body.empty()) std::memcpy(ph_task_body(message), body.data(), body.size());
  ph_task_set_handler(message, number);
  ASSERT_EQ(ph_task_send(office.pe, 1 - office.own(), message), PH_OK);
}
template <class... Ts>
Bytes bytes_of(const Ts&... parts) {
  Bytes all;
  const auto add = [&](const auto& part) {
    const std::size_t at = all.size();
    all.resize(at + sizeof part);
    std::memcpy(all.data() + at, &part, sizeof part);
  };
  (add(parts), ...);
  return all;
}

// What a message of one span and one number may say, one lie at a time.
TEST(TaskForged, lengths_ways_and_offers_that_cannot_be_are_dropped_and_told_here) {
  run_forged([](Office& office) {
    std::uint32_t right = 0;
    const auto handler = office.tasks.on([&](Span row, std::uint64_t number) {
      EXPECT_EQ(row.size(), 2u);
      EXPECT_EQ(number, 4u);
      ++right;
    });
    const auto stop = office.tasks.on([&] { right += 100; });
    office.begin();
    const std::uint32_t hash = photon::tasks::detail::hash_of_types<Span, std::uint64_t>();
    const std::uint64_t value = 4;
    std::uint32_t forged = 0;
    if (office.own() == 0) {
      const auto packed = [&](std::uint64_t size, std::uint32_t way, std::size_t bytes,
                              std::uint16_t parts = 1, std::uint16_t words = 1) {
        Bytes body =
            bytes_of(Head{hash, parts, words}, value, Part{size, static_cast<Way>(way), 0});
        body.resize(bytes);
        send_bytes(office, handler.number(), body);
        ++forged;
      };
      const auto offered = [&](std::uint64_t size, std::uint64_t described, std::uint32_t pe,
                               std::uint64_t key = 1) {
        Offered offer{};
        offer.source.key = key;
        offer.source.size_bytes = described;
        offer.source.pe = pe;
        send_bytes(office, handler.number(),
                   bytes_of(Head{hash, 1, 1}, value, Part{size, Way::offered, 0}, offer));
        ++forged;
      };
      packed(16, 0, 79);                      // a byte is missing
      packed(16, 0, 81);                      // one is too many
      packed(~std::uint64_t{0}, 0, 80);       // would wrap
      packed(~std::uint64_t{0} - 63, 0, 80);  // the same, aligned
      packed(16, 2, 80);                      // no such way
      packed(16, 0, 80, 0xffff);              // parts beyond the message
      packed(16, 0, 80, 1, 0xffff);           // values beyond it
      packed(16, 0, 4);                       // no head
      packed(16, 0, 0);                       // nothing
      packed(16, 1, 80);                      // an offer that is cut
      offered(16, 24, 0);                     // a size that is not the descriptor's
      offered(16, 16, 1);                     // of memory of the target itself
      offered(16, 16, 7);                     // of nobody
      offered(0, 0, 0);                       // of nothing, which is packed
      offered(16, 16, 0, 0);                  // without a key, so that its sender would write
      Bytes good = bytes_of(Head{hash, 1, 1}, value, Part{16, Way::packed, 0});
      good.resize(80);
      send_bytes(office, handler.number(), good);
      ASSERT_EQ(office.tasks.send(1, stop), PH_OK);
      EXPECT_EQ(forged, 15u);
    } else {
      office.until([&] { return right == 101; });
      EXPECT_EQ(office.failures.size(), 15u);
      for (const Failure& failure : office.failures) EXPECT_EQ(failure.status, PH_ERR_PROTOCOL);
    }
  });
}

// A bool that is neither 0 nor 1 is no bool of this machine.
TEST(TaskForged, a_bool_of_any_byte_is_one) {
  run_forged([](Office& office) {
    std::vector<int> come;
    const auto handler = office.tasks.on([&](bool value) { come.push_back(value ? 1 : 0); });
    office.begin();
    if (office.own() == 1) return office.until([&] { return come.size() == 3; });
    const std::uint32_t hash = photon::tasks::detail::hash_of_types<bool>();
    for (const std::uint64_t byte : {7u, 0u, 255u})
      send_bytes(office, handler.number(), bytes_of(Head{hash, 0, 1}, byte));
  });
}

// Well-formed, and of other types: both sides hear.
TEST(TaskForged, hashes_and_odd_elements_are_refused) {
  run_forged([](Office& office) {
    const auto handler = office.tasks.on([](Span, std::uint64_t) { ADD_FAILURE(); });
    bool is_over = false;
    const auto stop = office.tasks.on([&] { is_over = true; });
    office.begin();
    const std::uint32_t hash = photon::tasks::detail::hash_of_types<Span, std::uint64_t>();
    if (office.own() == 0) {
      const auto send = [&](const Head& head, std::uint64_t size) {
        Bytes body = bytes_of(head, std::uint64_t{4});
        if (head.words == 2) body.resize(body.size() + 8);
        for (int i = 0; i < head.parts; ++i) {
          const Bytes part = bytes_of(Part{i == 0 ? size : 0, Way::packed, 0});
          body.insert(body.end(), part.begin(), part.end());
        }
        if (head.parts != 0) body.resize((body.size() + 63) / 64 * 64 + size);
        send_bytes(office, handler.number(), body);
      };
      send({hash + 1, 1, 1}, 16);
      send({hash, 1, 1}, 15);  // no whole elements
      send({hash, 1, 2}, 16);
      send({hash, 2, 1}, 16);
      send({hash, 0, 1}, 0);
      ASSERT_EQ(office.tasks.send(1, stop), PH_OK);
    } else {
      office.until([&] { return is_over; });
    }
    office.until([&] { return office.failures.size() == 5; });
    for (const Failure& failure : office.failures) EXPECT_EQ(failure.status, PH_ERR_ARGUMENT);
  });
}

// Dones, words, refusals, ready marks, answers and losses with names near those that are open,
// while a span is offered and not landed: it is released once, by its own done.
TEST(TaskForged, ends_that_nobody_has_sent_end_nothing) {
  run_forged([](Office& office) {
    std::vector<std::uint64_t> row(3000, 8);
    std::vector<std::uint64_t> landing(3000);
    std::uint32_t released = 0;
    bool ran = false;
    bool is_forged = false;
    std::optional<Ticket<std::uint64_t>> ticket;
    const auto handler = office.tasks.on([&](Room<std::uint64_t> room) { ticket = room.later(); },
                                         [&](Span got) {
                                           EXPECT_EQ(std::count(got.begin(), got.end(), 8u), 3000);
                                           ran = true;
                                         });
    const auto told = office.tasks.on([&] { is_forged = true; });
    office.begin();
    ASSERT_EQ(handler.number(), 7u) << "the numbers below it are those of this layer";
    if (office.own() == 0) {
      ASSERT_EQ(office.tasks.send(1, handler, zero_copy(row, [&] { ++released; })), PH_OK);
      office.until([&] { return is_forged; });
      EXPECT_EQ(released, 0u);
    } else {
      office.until([&] { return ticket.has_value(); });
    }
    const std::uint32_t from_number = office.own() == 0 ? 1 : 0;  // what the other side has open
    for (std::uint64_t name = 0; name < 4; ++name)
      for (const std::uint64_t index : {0, 1}) {
        ph_task_done done{};
        done.buffer = (name << 24) + 1;
        done.user = reinterpret_cast<void*>(name | index << 48);
        send_bytes(office, from_number, bytes_of(done));
        send_bytes(office, 2, bytes_of(name));
        send_bytes(office, 4, bytes_of(name));
        send_bytes(office, 5, bytes_of(static_cast<std::uint32_t>(name)));
        send_bytes(office, 6, bytes_of(Lost{name, PH_ERR_PEER, 0}));
      }
    const std::uint64_t stale = std::uint64_t{9} << 24;
    send_bytes(office, 3, bytes_of(Refusal{7, PH_ERR_RANGE, 2}, stale));  // one is missing
    send_bytes(office, 3, bytes_of(Refusal{7, PH_OK, 1}, stale));         // no error
    send_bytes(office, 3, bytes_of(Refusal{7, -1000, 1}, stale));         // no status
    send_bytes(office, 3, bytes_of(Refusal{7, PH_ERR_RANGE, ~std::uint64_t{0}}));
    for (std::uint32_t number = 0; number < 7; ++number) {
      send_bytes(office, number, {});
      send_bytes(office, number, Bytes(3));
      send_bytes(office, number, Bytes(4097, std::byte{0xff}));
    }
    ASSERT_EQ(office.tasks.send(1 - office.own(), told), PH_OK);
    if (office.own() == 1) {
      office.until([&] { return is_forged; });
      EXPECT_FALSE(ran);
      EXPECT_EQ(office.tasks.post(*ticket, std::span(landing)), PH_OK);
      office.until([&] { return ran; });
    } else {
      office.until([&] { return released == 1; });
    }
    office.meet();
    EXPECT_EQ(released, office.own() == 0 ? 1u : 0u);
    EXPECT_TRUE(office.failures.empty());
  });
}

}  // namespace
}  // namespace photon::task::test::typed_forgeries
