// A rank whose library speaks another version of the wire format: what its peer's program hears,
// whichever way they meet.
#include <poll.h>

#include <cstring>

#include "base/config.hpp"
#include "boot/boot.hpp"
#include "settings.hpp"
#include "wire/record.hpp"

namespace photon::test {
namespace {

class Version : public OverSettings {
 protected:
  static constexpr std::size_t kVersionAt =
      8;  // of every endpoint info and offer, behind its magic number

  // Answers the endpoint info of rank 0 with the same, of the next version; says which was in it.
  static std::uint32_t answer_as_the_next_version(boot::Boot& boot) {
    for (;;) {
      auto message = boot.receive();
      if (!message) throw std::runtime_error(message.error().what);
      pollfd entry{.fd = boot.poll_fd(), .events = POLLIN, .revents = 0};
      if (!*message && ::poll(&entry, 1, -1) < 0) throw std::runtime_error("poll");
      if (!*message || (*message)->kind != boot::Message::Kind::data) continue;
      auto& bytes = (*message)->bytes;
      std::uint32_t version = 0;
      std::memcpy(&version, bytes.data() + kVersionAt, sizeof version);
      const std::uint32_t next = version + 1;
      std::memcpy(bytes.data() + kVersionAt, &next, sizeof next);
      EXPECT_TRUE(boot.send(0, bytes, {}));
      return version;
    }
  }
};

TEST_P(Version, of_the_wire_that_differs_is_an_error_with_both) {
  ThreadJob job(2, options());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    if (bootstrap.rank == 1) {
      const auto boot = boot::open(&bootstrap, base::Config{});
      ASSERT_TRUE(boot) << boot.error().what;
      EXPECT_EQ(answer_as_the_next_version(**boot), wire::kVersion) << "it is told ours";
      job.meet();
      return;
    }
    const std::unique_ptr<ph_context, void (*)(ph_context*)> context(job.create(bootstrap),
                                                                     &ph_context_destroy);
    ph_status status = PH_OK;
    while (status == PH_OK || status == PH_AGAIN) {
      status = ph_notify(context.get(), 1, 5);
      count_now(context.get(), PH_EITHER);
    }
    expect_error(context.get(), status, PH_ERR_BOOTSTRAP, "version");
    for (const std::uint32_t version : {wire::kVersion, wire::kVersion + 1})
      expect_error(context.get(), status, PH_ERR_BOOTSTRAP, std::to_string(version));
    job.meet();
  });
}
INSTANTIATE_TEST_SUITE_P(
    Settings, Version,
    testing::Values(Setting{"shm", {{"transport", "shm"}}}, Setting{"tcp", {{"transport", "tcp"}}},
                    Setting{"mixed_near", {{"transport", "mixed"}}},
                    Setting{"ofi", {{"transport", "ofi"}, {"ofi_provider", kRxm}}}),
    setting_name);

}  // namespace
}  // namespace photon::test
