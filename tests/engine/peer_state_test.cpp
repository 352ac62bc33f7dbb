// Peers that are met without an id, and what is known of a peer, over every transport.
#include "settings.hpp"

namespace photon::test {
namespace {

class PeerState : public OverSettings {
 protected:
  static ph_contact_state of(ph_context* context, ph_rank rank) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    EXPECT_EQ(ph_peer_state(context, rank, &state), PH_OK) << last_error(context).text;
    return state;
  }
  // With progress alone. The job's deadline is the limit.
  static void await(ph_context* context, ph_rank rank, ph_contact_state wanted) {
    while (of(context, rank) != wanted) {
      EXPECT_EQ(count_now(context, PH_EITHER), 0u);
      std::this_thread::yield();
    }
  }
};

TEST_P(PeerState, goes_from_unknown_over_connected_to_departed_without_an_id) {
  ThreadJob job(3, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    for (ph_rank peer = 0; peer < 3; ++peer) EXPECT_EQ(of(context, peer), PH_PEER_UNKNOWN);
    job.meet(context);
    if (rank == 0) {
      ASSERT_EQ(ph_contact(context, 1), PH_OK) << last_error(context).text;
      EXPECT_NE(of(context, 1), PH_PEER_UNKNOWN);
      ASSERT_EQ(ph_contact(context, 1), PH_OK) << "there is contact";
      ASSERT_EQ(ph_contact(context, 0), PH_OK) << "with itself";
      await(context, 0, PH_PEER_CONNECTED);
    }
    if (rank != 2) await(context, 1 - rank, PH_PEER_CONNECTED);
    serve_until_met(job, context);
    if (rank == 2) {
      EXPECT_EQ(of(context, 0), PH_PEER_UNKNOWN) << "nobody has contacted it";
    }
    serve_until_met(job, context);
    if (rank == 1) {
      EXPECT_EQ(ph_finalize(context), PH_OK);
      return;
    }
    if (rank == 0) {
      await(context, 1, PH_PEER_DEPARTED);
      expect_error(context, ph_contact(context, 1), PH_ERR_DEPARTED, "rank 1");
      EXPECT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_DEPARTED);
    }
  });
}

TEST_P(PeerState, a_contact_is_as_good_as_an_id_for_what_follows) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      ASSERT_EQ(ph_contact(context, 1), PH_OK);
      await(context, 1, PH_PEER_CONNECTED);
      ASSERT_EQ(ph_notify(context, 1, 7), PH_OK);
    } else {
      EXPECT_EQ(take_remote(context, 0).id, 7u);
    }
    EXPECT_EQ(ph_flush(context, PH_ANY_RANK, kTakeTimeoutUs), PH_OK);
    serve_until_met(job, context);
  });
}

TEST_P(PeerState, of_a_rank_that_was_contacted_and_ends_without_a_word_becomes_dead) {
  if (!is_sim()) GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  ThreadJob job(2, options());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    ph_context* context = job.create(bootstrap);
    ASSERT_NE(context, nullptr);
    if (bootstrap.rank == 0) {
      ASSERT_EQ(ph_contact(context, 1), PH_OK);
      await(context, 1, PH_PEER_CONNECTED);
    } else {
      await(context, 0, PH_PEER_CONNECTED);
    }
    job.meet(context);
    if (bootstrap.rank == 0) {
      await(context, 1, PH_PEER_DEAD);
      expect_error(context, ph_contact(context, 1), PH_ERR_PEER, "rank 1");
      EXPECT_EQ(ph_finalize(context), PH_OK);
    }
    ph_context_destroy(context);
  });
}

TEST_P(PeerState, refuses_what_it_cannot_be_asked) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank) {
    ph_contact_state state = PH_PEER_DEAD;
    for (const ph_rank rank : {ph_rank{2}, PH_ANY_RANK}) {
      expect_error(context, ph_contact(context, rank), PH_ERR_RANK, "job of 2");
      expect_error(context, ph_peer_state(context, rank, &state), PH_ERR_RANK, "job of 2");
    }
    expect_error(context, ph_peer_state(context, 1, nullptr), PH_ERR_ARGUMENT, "peer_state");
    EXPECT_EQ(state, PH_PEER_DEAD);
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, PeerState, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
