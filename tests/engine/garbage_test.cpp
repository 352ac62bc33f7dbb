// A peer that writes what it should not: it is cut off, what was under way to it ends with an
// error, other peers go on, and no byte outside what it may write changes.
#include "attack.hpp"

#include <functional>
#include <random>

namespace photon::test {
namespace {

class Garbage : public testing::TestWithParam<Ground> {};

std::uint64_t header(std::uint64_t kind, std::uint64_t lines, std::uint64_t id,
                     std::uint64_t payload) {
  return kind << 16 | lines << 24 | id << 32 | payload << 48;
}

std::vector<Malformed> malformed_vectored() {
  const auto fixed = [](Kind kind, std::vector<std::uint64_t> words) {
    return [=](Attack& a) { a.post(kind, words); };
  };
  const auto first = wire::kBulkFirst;
  return {
      {"a scatter without a run", fixed(Kind::scatter, {1, 0, first | 64})},
      {"a scatter whose table is larger than its chunk", fixed(Kind::scatter, {1, 3, first | 64})},
      {"a scatter of endless runs", fixed(Kind::scatter, {1, kHuge, first | 64})},
      {"a scatter larger than half its ring", fixed(Kind::scatter, {1, 1, first | 8192})},
      {"a scatter of runs without bytes", fixed(Kind::scatter, {1, 1, first | 64})},
      {"a gather without a table", fixed(Kind::gather, {1, 0, 0})},
      {"a gather of part of a run", fixed(Kind::gather, {1, 0, 40})},
      {"a gather of more runs than there may be", fixed(Kind::gather, {1, 0, 129 * 32})},
      {"a gather of endless runs", fixed(Kind::gather, {1, 0, kHuge})},
      {"a gather of runs without bytes", fixed(Kind::gather, {1, 0, 64})},
  };
}

const std::vector<Malformed>& malformed_records() {
  const auto word = [](std::uint64_t value) {
    return [value](Attack& a) { a.line(0).head.store(value, std::memory_order_relaxed); };
  };
  const auto raw = [](std::uint64_t head, std::uint32_t lines) {
    return [=](Attack& a) { a.post(head, lines, {}); };
  };
  const auto fixed = [](Kind kind, std::vector<std::uint64_t> words) {
    return [=](Attack& a) { a.post(kind, words); };
  };
  const auto first = wire::kBulkFirst;
  static const std::vector<Malformed> all = {
      {"a tag of no lap", word(0xffff)},
      {"a tag of the lap to come", word(2)},
      {"all bits", word(~0ull)},
      {"kind 0", raw(header(0, 1, 0xffff, 0), 1)},
      {"an unknown kind", raw(header(wire::kKinds + 1, 1, 0xffff, 0), 1)},
      {"no lines", raw(header(1, 0, 0xffff, 0), 1)},
      {"more lines than it needs", raw(header(1, 2, 8, 8), 2)},
      {"an id longer than any", raw(header(1, 20, 1025, 0), 20)},
      {"an id longer than the setting",
       raw(wire::encode(Kind::put, 1024, 0), wire::lines_for(Kind::put, 1024, 0))},
      {"an id one byte longer than the setting", raw(wire::encode(Kind::put, 17, 0), 1)},
      {"a payload larger than any", raw(header(1, 20, 0xffff, 1025), 20)},
      {"an ack with an id", raw(header(8, 1, 8, 0), 1)},
      {"a continuation line without its tag",
       [](Attack& a) {
         a.post(wire::encode(Kind::put, 16, 100), wire::lines_for(Kind::put, 16, 100), {});
         a.line(1).head.store(77, std::memory_order_relaxed);
       }},
      {"a chunk of no bytes", fixed(Kind::bulk, {1, 1, first, 1})},
      {"a chunk larger than half its ring", fixed(Kind::bulk, {1, 1, first | 8192, 9000})},
      {"a chunk of endless bytes", fixed(Kind::bulk, {1, 1, kHuge, kHuge})},
      {"a chunk that is more than what is left", fixed(Kind::bulk, {1, 1, first | 64, 63})},
      {"a last chunk behind which something is left",
       fixed(Kind::bulk, {1, 1, first | wire::kBulkLast | 64, 65})},
      {"a get of no bytes", fixed(Kind::get, {1, 1, 0, 1})},
      {"data of a get that nobody made", fixed(Kind::get_data, {12345, 0, 64})},
      {"data of no bytes", fixed(Kind::get_data, {0, 0, 0})},
      {"data of endless bytes", fixed(Kind::get_data, {0, 0, kHuge})},
      {"the failure of a get that nobody made",
       fixed(Kind::get_failed, {12345, static_cast<std::uint64_t>(PH_ERR_KEY)})},
      {"an ack of nothing", fixed(Kind::ack, {0})},
      {"a counted record where no piece is named", raw(wire::encode(Kind::counted, 8, 0), 1)},
      {"a counted record without an id", raw(header(11, 1, 0xffff, 0), 1)},
      {"a withdrawal of what waits for nothing", fixed(Kind::withdrawn, {0})},
      {"an atomic that there is not", fixed(Kind::atomic, {8, 1, 9 | 4 << 8, 0, 0})},
      {"an atomic on a type that does not know it", fixed(Kind::atomic, {8, 1, 2 | 5 << 8, 0, 0})},
      {"an atomic on a type that collectives alone know",
       fixed(Kind::atomic, {8, 1, 1 | 7 << 8, 0, 0})},
      {"an atomic with bits of no meaning",
       fixed(Kind::atomic, {8, 1, 1 | 4 << 8 | 1 << 17, 0, 0})},
      {"an atomic on a word that is not aligned", fixed(Kind::atomic, {12, 1, 1 | 4 << 8, 0, 0})},
      {"what an atomic fetched that nobody asked for", fixed(Kind::fetched, {0, 0})},
      {"a kind between those there are", raw(header(17, 1, 0xffff, 0), 1)},
      {"a refusal that is none", fixed(Kind::refused, {0, 0, 0})},
      {"a refusal with a number of no error", fixed(Kind::refused, {~0ull - 5000, 0, 0})},
  };
  return all;
}

TEST_P(Garbage, every_malformed_record_ends_its_sender_and_nothing_else) {
  auto all = malformed_records();
  for (Malformed more : malformed_vectored()) all.push_back(std::move(more));
  for (const Malformed& bad : all) {
    SCOPED_TRACE(bad.name);
    Attack attack(GetParam());
    bad.write(attack);
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    EXPECT_EQ(attack.ranks()[kVictim].last_error().rank, kAttacker);
    attack.expect_nothing_else_harmed();
    EXPECT_TRUE(attack.memory().untouched());
  }
}

// A prober waits for just this record: what is wrong with it ends its sender all the same.
TEST_P(Garbage, a_malformed_chunk_with_an_id_ends_its_sender_and_writes_nothing) {
  constexpr std::uint64_t only = wire::kBulkFirst | wire::kBulkLast;
  const std::pair<const char*, std::vector<std::uint64_t>> all[] = {
      {"of no bytes, with something left", {0, 0, only, 1, 5}},
      {"of less than is left", {0, 0, only | 500, 501, 5}},
      {"of more than is left", {0, 0, only | 500, 499, 5}},
      {"larger than half its ring", {0, 0, only | 8192, 8192, 5}},
      {"of endless bytes", {0, 0, only | kHuge, kHuge, 5}},
      {"of bits that mean nothing", {0, 0, only | 1ull << 61 | 500, 500, 5}},
  };
  for (const auto& [name, words] : all) {
    SCOPED_TRACE(name);
    Attack attack(GetParam());
    auto said = words;
    said[0] = attack.region().address;
    said[1] = attack.region().key;
    attack.post(wire::encode(Kind::bulk, 8, 0), 1, said);
    for (int i = 0; i < 200; ++i)
      EXPECT_TRUE(attack.ranks().probe(kVictim, PH_REMOTE, 1, kAttacker).empty());
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    EXPECT_TRUE(attack.memory().untouched());
    attack.expect_nothing_else_harmed();
  }
}

// Also for the prober who waits for just this: the id goes straight to the user's buffer.
TEST_P(Garbage, an_over_long_id_does_not_leave_the_buffer_of_the_prober) {
  Attack attack(GetParam());
  const auto lines = wire::lines_for(Kind::put, 1024, 0);
  attack.post(wire::encode(Kind::put, 1024, 0), lines, std::vector<std::uint64_t>(130, 0x5555));
  Guarded ids(16);  // one id of max_cid_size
  ph_completion one{};
  for (int i = 0; i < 200; ++i) {
    engine::CompletionSink sink{{kAttacker, PH_REMOTE, ids.data()}, &one, 1};
    EXPECT_EQ(attack.ranks()[kVictim].probe(sink), PH_OK);
    EXPECT_EQ(sink.count, 0u);
  }
  EXPECT_TRUE(ids.untouched());
  EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
  attack.expect_nothing_else_harmed();
}

TEST_P(Garbage, what_is_under_way_to_it_ends_with_an_error) {
  Attack attack(GetParam());
  auto& victim = attack.ranks()[kVictim];
  std::vector<std::byte> landing(70000), source(70000);
  const std::uint64_t local = 11, remote = 12;
  std::map<std::uint64_t, ph_status> ended;
  std::size_t accepted = 0;
  const auto post = [&](ph_put_args args) {
    if (victim.put(kAttacker, args) == PH_OK) ++accepted;
  };
  ph_put_args delivered = put_args({}, {}, local, remote);
  delivered.flags = PH_DELIVERED;
  post(delivered);
  post(delivered);
  ASSERT_EQ(accepted, 2u);
  const std::uint64_t get_id = 21;
  ph_get_args get = get_args(landing, {1, 1}, get_id, remote);
  const bool get_posted = victim.get(kAttacker, get) == PH_OK;  // else its key was seen to be wrong
  attack.line(0).head.store(~0ull, std::memory_order_relaxed);
  attack.serve_victim();
  std::size_t deliveries = 0, gets = 0;
  for (const ph_completion& one : attack.ranks().probe(kVictim, PH_LOCAL)) {
    EXPECT_EQ(one.peer, kAttacker);
    EXPECT_EQ(one.status, PH_ERR_PROTOCOL);
    EXPECT_EQ(one.outstanding, 0u);
    deliveries += one.id == local;
    gets += one.id == get_id;
  }
  EXPECT_EQ(deliveries, 2u);
  EXPECT_EQ(gets, get_posted ? 1u : 0u);
  attack.expect_nothing_else_harmed();
}

TEST_P(Garbage, wrong_credits_move_nothing_beyond_the_ring) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Attack attack(GetParam());
    auto& victim = attack.ranks()[kVictim];
    std::vector<std::byte> source = filled(5000, 3);
    const std::uint64_t words[] = {~0ull, kHuge, 1ull << 63, 65, 100000, random()};
    for (std::uint64_t i = 0; i < 200; ++i) {
      const auto value = words[random() % 6];
      switch (random() % 4) {
        case 0: attack.credits().lines.store(value, std::memory_order_relaxed); break;
        case 1: attack.credits().ledger.store(value, std::memory_order_relaxed); break;
        case 2: attack.credits().bulk.store(value, std::memory_order_relaxed); break;
        case 3: attack.credits().cold.store(value, std::memory_order_relaxed); break;
      }
      const std::size_t size = random() % 3 == 0 ? 0 : random() % source.size();
      ph_put_args args = put_args({source.data(), size}, {1, 1}, i, i);
      args.flags = (random() % 2 != 0 ? PH_NO_RCE : 0) | (random() % 2 != 0 ? PH_ORDER_NONE : 0);
      const ph_status status = victim.put(kAttacker, args);
      EXPECT_TRUE(status == PH_OK || status == PH_AGAIN || status == PH_ERR_KEY) << status;
      victim.serve();
      attack.ranks().probe(kVictim, PH_LOCAL);
    }
    // What still waits for the attacker uses up the victim's requests: let it end.
    attack.line(0).head.store(~0ull, std::memory_order_relaxed);
    attack.serve_victim(2);
    while (!attack.ranks().probe(kVictim, PH_LOCAL).empty()) {
    }
    attack.expect_nothing_else_harmed();
  }
}

// Words from which records of an informed enemy are made.
std::uint64_t clever_word(std::mt19937_64& random, const ph_region& region) {
  switch (random() % 10) {
    case 0: return region.key;
    case 1: return region.address;
    case 2: return region.address + random() % (region.size_bytes + 64) - 32;
    case 3: return random() % 64;
    case 4: return random();
    case 5: return ~std::uint64_t{0} - random() % 20;
    case 6: return wire::kBulkFirst | random() % 4096;
    case 7: return wire::kBulkLast | random() % 10000;
    case 8: return region.address + region.size_bytes - random() % 16;
    default: return 0;
  }
}

TEST_P(Garbage, well_formed_nonsense_of_many_seeds_harms_nobody_else) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Attack attack(GetParam());
    std::vector<std::byte> landing(5000);
    const std::uint64_t id = 5;
    static_cast<void>(attack.ranks()[kVictim].get(kAttacker, get_args(landing, {1, 1}, id, id)));
    for (int i = 0; i < 40; ++i) {
      auto kind = static_cast<Kind>(1 + random() % wire::kKinds);
      if (!wire::is_kind(static_cast<std::uint8_t>(kind))) kind = Kind::scatter;
      if (kind == Kind::bye) kind = Kind::put;  // it would end the attack
      if (!wire::is_kind(static_cast<std::uint8_t>(kind))) kind = Kind::get;
      const bool may_id = wire::may_have_id(kind), may_load = wire::may_have_payload(kind);
      const bool must_id = wire::is_of_service(kind);
      const auto id_bytes = may_id && (must_id || random() % 2)
                                ? static_cast<std::uint32_t>(random() % 17)
                                : wire::kNoId;
      const auto owner = static_cast<wire::Owner>(must_id ? 1 + random() % (wire::kOwners - 1)
                                                          : random() % wire::kOwners);
      const auto payload = may_load ? static_cast<std::uint32_t>(random() % 300) : 0;
      const auto lines = wire::lines_for(kind, id_bytes, payload);
      std::vector<std::uint64_t> words(lines * 7ul);
      for (auto& word : words) word = clever_word(random, attack.region());
      if (random() % 2 == 0) {
        words[0] = attack.region().address + random() % kMemoryBytes;
        words[1] = attack.region().key;
      }
      attack.post(wire::encode(kind, id_bytes, payload, owner), lines, words);
      attack.serve_victim(2);
      attack.ranks().probe(kVictim, PH_EITHER, 4);
    }
    attack.expect_nothing_else_harmed();
  }
}

TEST_P(Garbage, noise_of_many_seeds_over_the_whole_ring_harms_nobody_else) {
  std::size_t cut_off = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Attack attack(GetParam());
    for (int i = 0; i < 50; ++i) {
      Line& line = attack.line(random());
      for (auto& word : line.words) word.set(random());
      const bool plausible = random() % 4 != 0;
      line.head.store(plausible ? (random() << 16 & 0x00ff'00ff'0f0f'0000) | 1 : random(),
                      std::memory_order_relaxed);
      attack.serve_victim(2);
      attack.ranks().probe(kVictim, PH_EITHER, 4);
    }
    attack.line(0).head.store(0xfffe, std::memory_order_relaxed);
    attack.serve_victim(2);
    if (attack.status_of_attacker() == PH_ERR_PROTOCOL) ++cut_off;
    attack.expect_nothing_else_harmed();
  }
  EXPECT_GT(cut_off, 50u) << "the noise was hardly ever noticed";
}

TEST(GarbageIntent, an_intent_that_never_ends_makes_unregister_say_so_and_keep_the_slot) {
  EngineGroup ranks(2, Ground::fake);
  ranks.meet(0, 1);
  std::vector<std::byte> bytes(64);
  const ph_region region = ranks.add(0, bytes);
  ranks.net().way(1, 0).intent.enter(region.key & 15, false);
  EXPECT_EQ(remove_region(ranks[0], region.key), PH_TIMEOUT);
  EXPECT_NE(ranks[0].last_error().what.find("keep the memory"), std::string::npos);
  const std::uint64_t id = 1;
  EXPECT_EQ(ranks[1].put(0, put_args({bytes.data(), 8}, ph_at(&region, 0), id, id)), PH_ERR_KEY);
  ranks.net().way(1, 0).intent.leave();
  EXPECT_EQ(remove_region(ranks[0], region.key), PH_OK);
  EXPECT_EQ(remove_region(ranks[0], region.key), PH_ERR_KEY);
}

INSTANTIATE_TEST_SUITE_P(Grounds, Garbage,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
