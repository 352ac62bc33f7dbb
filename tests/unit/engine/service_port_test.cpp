#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

TEST(ServicePort, keeps_its_words_apart_from_the_users) {
  Probed two;
  EXPECT_EQ(two.ranks[0].notify(9, 1), PH_ERR_RANK);
  const std::string users = two.ranks[0].last_error().what;
  EXPECT_EQ(two.at(0).port.contact(12), PH_ERR_RANK);
  EXPECT_NE(two.at(0).port.last_error().what.find("no rank 12"), std::string::npos);
  EXPECT_EQ(two.ranks[0].last_error().what, users);
}

TEST(ServicePort, knows_its_job_and_how_its_peers_are) {
  Probed two;
  service::Port& port = two.at(0).port;
  EXPECT_EQ(port.rank(), 0u);
  EXPECT_EQ(port.size(), 2u);
  EXPECT_EQ(port.config().requests, two.ranks[0].config().requests);
  EXPECT_EQ(port.state(1), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
  two.ranks[0].serve();
  EXPECT_EQ(port.state(1), PH_ERR_PEER);
  EXPECT_FALSE(port.may_live(1)) << "its process has ended";
  EXPECT_EQ(port.contact(1), PH_ERR_PEER);
}

TEST(ServicePort, cuts_off_who_breaks_its_rules) {
  Probed two;
  two.at(0).port.cut_off(1, "it lies");
  EXPECT_EQ(two.at(0).lost, (std::vector{std::pair(Rank{1}, PH_ERR_PROTOCOL)}));
  EXPECT_EQ(two.ranks.net().seats[1].cut_off.count(0), 1u);
  EXPECT_EQ(two.ranks[0].put(1, notice()), PH_ERR_PROTOCOL);
}

TEST(ServicePort, knows_what_was_read) {
  Probed two;
  service::Port& port = two.at(0).port;
  const std::uint64_t before = port.mark(1);
  ASSERT_EQ(port.say_words(1, 1), PH_OK);
  const std::uint64_t mark = port.mark(1);
  EXPECT_EQ(mark, before + 1);
  EXPECT_FALSE(port.was_read(1, mark));
  port.note_read(1, mark);
  EXPECT_TRUE(port.was_read(1, mark));
  EXPECT_FALSE(port.was_read(1, mark + 1));
}

TEST(ServicePort, gives_a_key_for_memory_and_takes_it_back_if_it_was_made_for_that) {
  Probed two;
  Guarded own(256);
  service::Exposed exposed;
  ASSERT_EQ(two.at(0).port.expose(own.bytes(), PH_ACCESS_WRITE, exposed), PH_OK);
  EXPECT_TRUE(exposed.is_own);
  const std::vector<std::byte> source = filled(16, 2);
  const std::uint64_t id = 3;
  ASSERT_EQ(two.ranks[1].put(0, put_args(source, exposed.target, id, id)), PH_OK);
  two.ranks.take(0, PH_REMOTE);
  EXPECT_EQ(first_difference(own.bytes().first(16), 2), 16u);
  two.at(0).port.conceal(exposed);
  EXPECT_EQ(two.ranks[1].put(0, put_args(source, exposed.target, id, id)), PH_ERR_KEY);
  const ph_region all = two.ranks.add(0, own.bytes());
  ASSERT_EQ(two.at(0).port.expose(own.bytes().first(8), PH_ACCESS_READ, exposed), PH_OK);
  EXPECT_FALSE(exposed.is_own);
  EXPECT_EQ(exposed.target.key, all.key);
  two.at(0).port.conceal(exposed);
  EXPECT_EQ(remove_region(two.ranks[0], all.key), PH_OK) << "is still its owner's";
}

TEST(ServicePort, promises_no_more_than_the_users_requests_and_renounces_without_a_trace) {
  Probed two;
  std::vector<std::uint64_t> promises;
  const std::uint64_t local = 5;
  service::UserEnd end;
  end.rank = 1;
  end.local = id_of(local);
  for (std::uint64_t promise = 0; (promise = two.at(0).port.promise(end)) != 0;)
    promises.push_back(promise);
  EXPECT_EQ(promises.size(), two.ranks[0].config().requests);
  two.at(0).port.renounce(promises.back());
  promises.pop_back();
  EXPECT_NE(promises.emplace_back(two.at(0).port.promise(end)), 0u) << "there is room again";
  for (const std::uint64_t promise : promises) {
    two.at(0).port.complete(promise, PH_OK);
    two.at(0).port.release(promise);
  }
  std::size_t found = 0;
  while (const std::size_t some = two.count(0, PH_LOCAL)) found += some;
  EXPECT_EQ(found, promises.size());
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
}

TEST(ServicePort, tells_an_error_of_what_was_over) {
  Probed two;
  const std::uint64_t local = 5;
  service::UserEnd end;
  end.rank = 1;
  end.local = id_of(local);
  const std::uint64_t promise = two.at(0).port.promise(end);
  two.at(0).port.complete(promise, PH_OK);
  EXPECT_EQ(two.count(0, PH_LOCAL), 1u);
  two.at(0).port.complete(promise, PH_ERR_PEER, "it went");
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
  EXPECT_EQ(found[0].id, local);
  EXPECT_EQ(two.ranks[0].last_error().what, "it went");
  two.at(0).port.release(promise);
  two.at(0).port.complete(promise, PH_OK);  // of nothing: nothing happens
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(ServicePort, promises_beyond_the_users_requests_and_keeps_others_waiting_for_that) {
  Probed two;
  const std::uint64_t local = 5;
  const auto most = static_cast<std::int64_t>(two.ranks[0].config().requests);
  service::UserEnd end;
  end.rank = 1;
  end.local = id_of(local);
  std::vector<std::uint64_t> promises;
  for (std::uint64_t promise = 0; (promise = two.at(0).port.promise(end)) != 0;)
    promises.push_back(promise);
  end.is_beyond = true;
  for (int i = 0; i < 3; ++i) ASSERT_NE(promises.emplace_back(two.at(0).port.promise(end)), 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, most + 3);
  const auto end_one = [&] {
    two.at(0).port.complete(promises.back(), PH_OK);
    two.at(0).port.release(promises.back());
    promises.pop_back();
    EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 1u);
  };
  end.is_beyond = false;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(two.at(0).port.promise(end), 0u) << "they are in the way";
    end_one();
  }
  EXPECT_EQ(two.ranks[0].resource_use().events, most);
  EXPECT_EQ(two.at(0).port.promise(end), 0u);
  end_one();
  EXPECT_NE(promises.emplace_back(two.at(0).port.promise(end)), 0u);
  end.is_beyond = true;
  ASSERT_NE(promises.emplace_back(two.at(0).port.promise(end)), 0u);
  two.at(0).port.renounce(promises.back());
  promises.pop_back();
  while (!promises.empty()) end_one();
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
}

TEST(ServicePort, reports_late_with_the_local_id_and_words_and_the_completion_takes_nobodys_room) {
  Probed two;
  two.at(0).port.report_late(1, 77, PH_ERR_NOT_FOUND, "nobody there");
  EXPECT_EQ(two.ranks[0].last_error().what, "nobody there");
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_NOT_FOUND);
  EXPECT_EQ(found[0].id, 77u);
  EXPECT_EQ(found[0].peer, 1u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
  two.at(0).port.report_late(12, 1, PH_ERR_NOT_FOUND, nullptr);  // of nobody: nothing happens
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
}

TEST(ServicePort, that_reports_late_while_the_lane_closes_has_the_close_say_it) {
  Probed two;
  two.ranks[0].tell_closed();
  two.at(0).port.report_late(1, 77, PH_ERR_NOT_FOUND, "nobody there");
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_NOT_FOUND);
  EXPECT_NE(two.ranks[0].last_error().what.find("nobody there"), std::string::npos);
}

}  // namespace
}  // namespace photon::engine::test
