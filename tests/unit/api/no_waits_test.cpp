// What the public calls say inside a handler that must not wait, and what they run.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <functional>
#include <memory>
#include <string>

#include "api/handle.hpp"
#include "boot/single_boot.hpp"
#include "service/coll/collectives.hpp"
#include "transport/shm/shm_transport.hpp"

namespace photon::test {
namespace {

// A service with such a handler.
struct Strict final : service::Service {
  static constexpr wire::Owner kOwner = wire::Owner::echo;
  static std::unique_ptr<service::Service> make(service::Port& port) {
    return std::make_unique<Strict>(port);
  }
  explicit Strict(service::Port& its_port) : port(its_port) {}
  bool on_message(const service::Message&) override { return true; }
  bool may_wait() const noexcept override { return false; }
  void run() noexcept override {
    ++runs;
    handler();
  }

  service::Port& port;
  std::function<void()> handler = [] {};
  int runs = 0;
};

class NoWaits : public testing::Test {
 protected:
  NoWaits() {
    static constexpr service::Kind kTable[] = {
        {wire::Owner::coll, "coll", service::coll::Collectives::make},
        {Strict::kOwner, "strict", Strict::make}};
    auto boot = std::move(*boot::SingleBoot::open());
    base::Config config;
    auto transport = std::move(*transport::shm::open_shm(config, *boot));
    context_ = std::move(*api::assemble(
        {config, std::move(boot), std::move(transport), engine::seeded_keys(1), nullptr, kTable}));
    strict_ = static_cast<Strict*>(context_->engine->service(Strict::kOwner));
  }
  ~NoWaits() override { EXPECT_EQ(ph_finalize(context_.get()), PH_OK); }

  ph_context* context() { return context_.get(); }
  void make_due() {
    const engine::LaneGuard guard(*context_->lane);
    strict_->port.wants_run();
    context_->engine->leave_user_code();  // as the end of a call does
  }
  void probe() {
    ph_completion one{};
    std::size_t count = 0;
    EXPECT_EQ(ph_probe(context(), {PH_ANY_RANK, PH_EITHER, nullptr}, &one, 1, &count), PH_OK);
  }
  // A request that is over, and waits to be taken.
  ph_request ended() {
    const engine::LaneGuard guard(*context_->lane);
    ph_request request = PH_REQUEST_NONE;
    EXPECT_EQ(strict_->port.contact(0), PH_OK);
    service::UserEnd end;
    end.request = &request;
    const std::uint64_t promise = strict_->port.promise(end);
    strict_->port.complete(promise, PH_OK);
    strict_->port.release(promise);
    return request;
  }
  std::string words() {
    ph_error error{};
    ph_last_error(context(), &error);
    return error.text;
  }
  void expect_refused(ph_status status, const char* call) {
    EXPECT_EQ(status, PH_ERR_STATE) << call;
    EXPECT_NE(words().find("a handler must not wait"), std::string::npos) << call << words();
    EXPECT_EQ(ph_notify(context(), 99, 1), PH_ERR_RANK);  // other words, for the next one
  }

  std::unique_ptr<ph_context> context_;
  Strict* strict_ = nullptr;
};

TEST_F(NoWaits, every_wait_and_collective_is_refused_in_words_and_nothing_was_begun) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context(), &world), PH_OK);
  strict_->handler = [&] {
    expect_refused(ph_barrier(context()), "barrier");
    std::uint64_t mine = 1, all = 0;
    expect_refused(ph_allgather(context(), &mine, &all, sizeof mine), "allgather");
    expect_refused(ph_wait(context(), {PH_ANY_RANK, PH_EITHER, nullptr}, PH_FOREVER), "wait");
    expect_refused(ph_flush(context(), PH_ANY_RANK, PH_FOREVER), "flush");
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = PH_COLL_BARRIER;
    expect_refused(ph_coll_run(world, &args, PH_FOREVER), "coll_run");
  };
  make_due();
  probe();
  EXPECT_EQ(strict_->runs, 1);
  EXPECT_EQ(ph_barrier(context()), PH_OK) << "outside of it";
  EXPECT_EQ(ph_flush(context(), PH_ANY_RANK, PH_FOREVER), PH_OK);
}

TEST_F(NoWaits, a_request_is_not_waited_for_even_if_it_is_over) {
  ph_request request = ended();
  ph_result result{};
  strict_->handler = [&] {
    expect_refused(ph_wait_request(context(), &request, &result, PH_FOREVER), "wait_request");
  };
  make_due();
  probe();
  EXPECT_EQ(strict_->runs, 1);
  EXPECT_EQ(ph_wait_request(context(), &request, &result, PH_FOREVER), PH_OK);
}

TEST_F(NoWaits, what_is_due_runs_in_a_wait_for_a_request_that_is_over) {
  ph_request request = ended();
  ph_result result{};
  make_due();
  EXPECT_EQ(ph_wait_request(context(), &request, &result, PH_FOREVER), PH_OK);
  EXPECT_EQ(strict_->runs, 1);
}

TEST_F(NoWaits, no_team_is_begun_that_must_not_be_waited_for) {
  ph_team* world = nullptr;
  ASSERT_EQ(ph_team_world(context(), &world), PH_OK);
  strict_->handler = [&] {
    ph_team* team = nullptr;
    expect_refused(ph_team_split(world, 0, 0, PH_FOREVER, &team), "team_split");
    EXPECT_EQ(team, nullptr);
    std::uint64_t bits = 1;
    expect_refused(ph_team_agree(world, &bits, PH_FOREVER), "team_agree");
  };
  make_due();
  probe();
  EXPECT_EQ(strict_->runs, 1);
}

TEST_F(NoWaits, what_is_due_runs_in_the_next_call_that_makes_progress_and_in_none_that_posts) {
  make_due();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(ph_notify(context(), 0, 1), PH_OK);
  EXPECT_EQ(ph_notify(context(), 99, 1), PH_ERR_RANK);
  EXPECT_EQ(ph_put(context(), 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_fence(context(), 0), PH_OK);
  EXPECT_EQ(strict_->runs, 0);
  probe();
  EXPECT_EQ(strict_->runs, 1);
  make_due();
  strict_->handler = [&] {  // itself a call that makes progress
    make_due();
    for (int i = 0; i < 10; ++i) probe();
    EXPECT_LE(strict_->runs, 3) << "it runs inside itself";
    if (strict_->runs == 3) strict_->handler = [] {};
  };
  EXPECT_EQ(ph_barrier(context()), PH_OK);
  EXPECT_EQ(strict_->runs, 4);
}

}  // namespace
}  // namespace photon::test
