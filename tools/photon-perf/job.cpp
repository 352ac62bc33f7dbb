#include "job.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "failure.hpp"
#include "questions.hpp"

namespace photon::perf {

Job::Job(const Options& options) {
  std::vector<ph_option> settings;
  if (find_question(options.question)->needs_progress_thread)
    settings.push_back({"progress_thread", "on"});
  if (find_question(options.question)->needs_threaded_handlers)
    settings.push_back({"am", "threaded"});
  create(options, std::move(settings));
}

Job::Job(const Job& first, const Options& options, ph_option setting)
    : bootstrap_{first.context_, first.rank(), first.size(), &gather, &meet} {
  create(options, {setting, {"log", "error"}});
}

int Job::gather(void* user, const void* mine, void* all, std::size_t size_bytes) noexcept {
  return ph_allgather(static_cast<ph_context*>(user), mine, all, size_bytes) == PH_OK ? 0 : -1;
}

int Job::meet(void* user) noexcept {
  return ph_barrier(static_cast<ph_context*>(user)) == PH_OK ? 0 : -1;
}

void Job::create(const Options& options, std::vector<ph_option> settings) {
  if (!options.transport.empty()) settings.push_back({"transport", options.transport.c_str()});
  if (!options.provider.empty()) settings.push_back({"ofi_provider", options.provider.c_str()});
  // Who is measured has a core of its own, however many ranks there are: the others sleep.
  if (!find_question(options.question)->crowded && std::getenv("PHOTON_OVERSUBSCRIBED") == nullptr)
    settings.push_back({"oversubscribed", "no"});
  ph_config config{};
  config.size = sizeof config;
  if (bootstrap_.size != 0) config.bootstrap = &bootstrap_;
  config.options = settings.data();
  config.options_count = settings.size();
  ph_error error{};
  created_.begun_ns = now_ns();
  const ph_status status = ph_context_create(&config, &context_, &error);
  created_.ready_ns = now_ns();
  if (status == PH_OK) return;
  const auto text = fmt::format("cannot join the job: {} ({})", error.text, ph_status_text(status));
  if (status == PH_ERR_CONFIG) throw CommonFailure(text);  // all have the same settings
  throw Failure(text);
}

// Whose question has failed is dropped: its peers are to see that. After finish() it has left.
Job::~Job() {
  if (std::uncaught_exceptions() == 0) static_cast<void>(ph_finalize(context_));
  ph_context_destroy(context_);
}

void Job::fail(ph_status status, const char* doing) const {
  ph_error error{};
  ph_last_error(context_, &error);
  const char* why = error.status == status ? error.text : "the library gave no text";
  throw Failure(fmt::format("{} while {}: {}", ph_status_text(status), doing, why));
}

ph_path Job::path_to(ph_rank rank) const {
  ph_path path{};
  path.size = sizeof path;
  check(ph_path_to(context_, rank, &path), "asking for the path to the peer");
  return path;
}

void Job::check_peers() const {
  for (ph_rank rank = 0; rank < size(); ++rank) {
    const auto path = path_to(rank);
    if (path.state == std::string_view("dead")) {
      throw Failure(fmt::format("rank {} cannot be reached: {}", rank, path.reason));
    }
  }
}

std::string Job::setting(std::string_view name, std::string_view otherwise) const {
  for (std::size_t index = 0;; ++index) {
    ph_setting setting{};
    setting.size = sizeof setting;
    if (ph_setting_at(context_, index, &setting) != PH_OK) return std::string(otherwise);
    if (setting.name == name) return setting.value;
  }
}

void Job::finish() {
  check(ph_barrier(context_), "waiting for all ranks at the end");
  check(ph_finalize(context_), "leaving the job");
}

Memory::Memory(Job& job, MemoryKind kind, std::size_t size_bytes) : job_(&job), kind_(kind) {
  if (size_bytes == 0) size_bytes = 8;
  if (kind == MemoryKind::alloc) {
    job.check(ph_alloc(job.context(), size_bytes, &region_), "allocating with ph_alloc");
    data_ = reinterpret_cast<std::byte*>(region_.address);
  } else {
    constexpr std::size_t kPageBytes = 4096;
    const auto rounded_bytes = (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    data_ = static_cast<std::byte*>(std::aligned_alloc(kPageBytes, rounded_bytes));
    if (data_ == nullptr) throw Failure(fmt::format("no memory for {} bytes", rounded_bytes));
    const auto status = ph_register(job.context(), data_, size_bytes, PH_ACCESS_ALL, &region_);
    if (status != PH_OK) std::free(data_);
    job.check(status, "registering heap memory");
  }
  std::memset(data_, 0, size_bytes);
}

Memory::~Memory() {
  // A failure here would only hide the one that unwinds; the job's end reports what is left.
  if (kind_ == MemoryKind::alloc) {
    (void)ph_free(job_->context(), data_);
  } else if (ph_unregister(job_->context(), region_.key) == PH_OK) {
    std::free(data_);  // else a peer may still copy: the memory must stay
  }
}

}  // namespace photon::perf
