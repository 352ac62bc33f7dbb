#include "compat/session.hpp"

#include <algorithm>
#include <chrono>

#include "compat/settings.hpp"
#include "compat/warn.hpp"

namespace photon::classic {

namespace {

// Nobody is kept from guessing it: it keeps apart what would else have the same name.
std::uint64_t new_nonce(ph_rank rank) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return (static_cast<std::uint64_t>(now) ^ std::uint64_t{rank} << 32) * 0x9e3779b97f4a7c15;
}

}  // namespace

Session::Session(ph_context* context, std::unique_ptr<Exchange> exchange,
                 std::uint64_t bounce_bytes) noexcept
    : context_(context),
      rank_(ph_rank_of(context)),
      size_(ph_size_of(context)),
      has_long_ids_(number_in_force(context, "max_cid_size") > sizeof(std::uint64_t)),
      says_all_(is_in_force(context, "log", "info") || is_in_force(context, "log", "debug")),
      nonce_(new_nonce(rank_)),
      exchange_(std::move(exchange)),
      registrations_(context),
      collectives_(context, requests_, number_in_force(context, "requests"), pwc_.table()),
      bounce_buffers_(size_, number_in_force(context, "packed_max"), bounce_bytes) {}

std::uint64_t Session::longest_id_bytes() const noexcept {
  return number_in_force(context_, "max_cid_size");
}

void Session::complain(const char* call, const char* why) noexcept {
  constexpr unsigned kMost = 16;
  const std::scoped_lock lock(complaints_mutex_);
  if (complaints_count_ == kMost && !says_all_) return;
  warn(call, why);
  if (++complaints_count_ == kMost && !says_all_)
    warn(call, "failures that follow are not shown; PHOTON_LOG=info shows them all");
}

void Session::complain(const char* call, ph_status status) noexcept {
  ph_error error{};
  ph_last_error(context_, &error);
  const bool is_it = error.status == status && error.text[0] != '\0';
  complain(call, is_it ? error.text : ph_status_text(status));
}

Session::~Session() { ph_context_destroy(context_); }

std::unique_ptr<Session> Session::open(photon_config_t& config) {
  Settings settings;
  if (!settings.read(config)) return nullptr;
  auto exchange = std::make_unique<Exchange>();
  if (!exchange->choose(config)) return nullptr;
  const ph_config how{sizeof(ph_config), exchange->bootstrap(), settings.options(),
                      settings.options_count()};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&how, &context, &error) != PH_OK) {
    warn("photon_init", error.text);
    return nullptr;
  }
  const auto bounce_bytes = static_cast<std::uint64_t>(std::max(config.cap.small_pwc_size, 0));
  auto session = std::make_unique<Session>(context, std::move(exchange), bounce_bytes);
  session->exchange_->warn_if_alone(*session);
  session->tell(config);
  return session;
}

bool Session::settle() noexcept {
  const auto timeout_us =
      static_cast<std::int64_t>(number_in_force(context_, "finalize_timeout_ms")) * 500;
  return ph_flush(context_, PH_ANY_RANK, timeout_us) <= PH_OK;
}

bool Session::is_of_parent() const noexcept {
  std::uint64_t count = 0;
  return ph_outstanding(context_, PH_ANY_RANK, &count) == PH_ERR_FORKED;
}

ph_status Session::finish() noexcept {
  try {
    for (const photon_rid rid : requests_.all(RequestType::ledger))
      if (auto announced = requests_.find(rid)) {
        ph_outcome outcome{};  // whichever: a peer that has met it goes on with it
        static_cast<void>(ph_cancel(context_, &announced->handle, &outcome));
      }
  } catch (const std::bad_alloc&) {  // then peers have the time of ph_finalize() for it
  }
  const ph_status status = ph_finalize(context_);
  return status == PH_ERR_NOT_FOUND ? PH_OK : status;
}

int Session::close() noexcept {
  const ph_status status = finish();
  registrations_.clear();
  collectives_.clear();
  requests_.clear();
  if (status == PH_OK) return PHOTON_OK;
  ph_error error{};
  ph_last_error(context_, &error);
  warn("photon_finalize", error.text);
  return PHOTON_ERROR;
}

}  // namespace photon::classic
