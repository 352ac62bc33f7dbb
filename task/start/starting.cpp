#include "task/start/starting.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "task/start/parts.hpp"

namespace photon::task {

namespace {

constexpr std::uint32_t kFirstLane = 0x54000000;
constexpr std::uint32_t kLaneStep = 256;
constexpr std::uint32_t kLastLane = 0x54ff0000;
constexpr std::uint32_t kLanesByDefault = 8;

// What a process tells all others, twice.
struct Word {
  std::uint32_t first_lane;
  std::uint32_t pes;
  std::int32_t status;
  std::uint32_t reserved;
};

class Start {
 public:
  Start(const ph_task_config& config, ph_error& error)
      : config_(config), error_(error), pes_(std::max(config.pes, std::uint32_t{1})) {
    error_ = {.status = PH_OK, .native_errno = 0, .rank = PH_ANY_RANK, .text = {}};
  }
  ~Start() {
    if (crew_) crew_->open_gate(false);
    close_lanes();
    crew_.reset();  // with the lanes that it has taken, and its context
    if (context_ != nullptr && config_.context == nullptr) {
      ph_finalize(context_);
      ph_context_destroy(context_);
    }
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  Crew* run() {
    if (!open_context() || !make_room()) return nullptr;
    check_settings();
    if (error_.status == PH_OK) open_lanes(kFirstLane);
    if (!hear_lanes()) return nullptr;
    make_crew();
    if (!hear_all()) return nullptr;
    crew_->open_gate(true);
    return crew_.release();
  }

 private:
  // Keeps the first error.
  bool fail(ph_status status, const char* format, ...) __attribute__((format(printf, 3, 4))) {
    if (error_.status != PH_OK) return false;
    error_.status = status;
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error_.text, sizeof error_.text, format, arguments);
    va_end(arguments);
    return false;
  }

  bool open_context();
  void check_settings();
  bool make_room();
  ph_setting setting(const char* name) const;
  void open_lanes(std::uint32_t from);
  ph_status open_lanes_at(std::uint32_t first);
  void close_lanes();
  bool tell();
  bool hear_lanes();
  void make_crew();
  bool hear_all();
  bool find_failure();

  const ph_task_config& config_;
  ph_error& error_;
  const std::uint32_t pes_;
  ph_context* context_ = nullptr;
  std::uint32_t first_lane_ = 0;
  std::vector<ph_context*> lanes_;
  std::vector<Word> all_;  // of each process
  std::unique_ptr<Crew> crew_;
};

bool Start::open_context() {
  context_ = config_.context;
  if (context_ != nullptr) return true;
  ph_config config{};
  if (config_.photon != nullptr) config = *config_.photon;
  config.size = sizeof config;
  std::vector<ph_option> options(config.options, config.options + config.options_count);
  const std::string lanes = std::to_string(pes_ + 1);
  if (pes_ + 1 > kLanesByDefault) options.push_back({"max_lanes", lanes.c_str()});
  config.options = options.data();
  config.options_count = options.size();
  return ph_context_create(&config, &context_, &error_) == PH_OK;
}

// What is needed to tell the others of an error. Where it fails none of them has been told
// anything: the call may be made again.
bool Start::make_room() {
  try {
    all_.resize(ph_size_of(context_));
    lanes_.reserve(pes_);
  } catch (const std::bad_alloc&) {
    return fail(PH_ERR_MEMORY, "ph_task_start: no memory for a word of each process");
  }
  return true;
}

// Its value is empty: there is no such setting.
ph_setting Start::setting(const char* name) const {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context_, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, name) == 0) return setting;
  setting.value[0] = '\0';
  return setting;
}

void Start::check_settings() {
  const unsigned long long lanes = std::strtoull(setting("max_lanes").value, nullptr, 10);
  if (lanes < pes_ + 1)
    fail(PH_ERR_CONFIG,
         "ph_task_start: %u PEs need %u lanes and the context may have %llu: set max_lanes "
         "(PHOTON_MAX_LANES) to that number",
         pes_, pes_ + 1, lanes);
  else if (std::strcmp(setting("am").value, "threaded") == 0)
    fail(PH_ERR_CONFIG,
         "ph_task_start: the setting am is threaded, and only the thread of a PE may run what "
         "comes for it: leave am at its default");
}

ph_status Start::open_lanes_at(std::uint32_t first) {
  first_lane_ = first;
  for (std::uint32_t i = 0; i < pes_; ++i) {
    ph_context* lane = nullptr;
    const ph_status status = ph_lane_open(context_, first + i, &lane);
    if (status != PH_OK) {
      close_lanes();
      return status;
    }
    lanes_.push_back(lane);
  }
  return PH_OK;
}

void Start::open_lanes(std::uint32_t from) {
  ph_status status = PH_ERR_STATE;
  for (; status == PH_ERR_STATE && from <= kLastLane; from += kLaneStep)
    status = open_lanes_at(from);
  if (status == PH_OK) return;
  ph_error words{};
  ph_last_error(context_, &words);
  fail(status, "ph_task_start: no lane for a PE: %.400s", words.text);
}

void Start::close_lanes() {
  for (ph_context* lane : lanes_)
    if (lane != nullptr) ph_lane_close(lane);
  lanes_.clear();
}

bool Start::tell() {
  const Word mine{first_lane_, pes_, error_.status, 0};
  if (ph_allgather(context_, &mine, all_.data(), sizeof mine) == PH_OK) return true;
  if (error_.status == PH_OK) ph_last_error(context_, &error_);
  return false;
}

bool Start::find_failure() {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].status != PH_OK)
      fail(static_cast<ph_status>(all_[i].status), "ph_task_start: process %zu could not start: %s",
           i, ph_status_text(static_cast<ph_status>(all_[i].status)));
  return error_.status != PH_OK;
}

bool Start::hear_lanes() {
  if (!tell()) return false;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].pes != all_[0].pes)
      return fail(PH_ERR_CONFIG,
                  "ph_task_start: process 0 has %u PEs and process %zu has %u: give all the same "
                  "number",
                  all_[0].pes, i, all_[i].pes);
  if (find_failure()) return false;
  std::uint32_t first = 0;
  for (const Word& word : all_) first = std::max(first, word.first_lane);
  if (first == first_lane_) return true;
  close_lanes();
  const ph_status status = open_lanes_at(first);
  if (status != PH_OK) fail(status, "ph_task_start: lane %u: %s", first, ph_status_text(status));
  return true;  // hear_all() tells the others
}

void Start::make_crew() {
  if (error_.status != PH_OK) return;
  try {
    auto shared = std::make_unique<Shared>(
        ph_size_of(context_), ph_rank_of(context_), pes_,
        config_.arena_bytes != 0 ? config_.arena_bytes : Shared::kArenaBytes);
    if (config_.fifo_most != 0) shared->fifo_most = config_.fifo_most;
    if (config_.pool_bytes != 0) shared->pool_bytes = config_.pool_bytes;
    if (config_.cache_bytes != 0) shared->cache_bytes = config_.cache_bytes;
    shared->carried_bytes = std::strtoull(setting("am_carried_max").value, nullptr, 10);
    const ph_setting log = setting("log");
    shared->logs_info = std::strcmp(log.value, "info") == 0 || std::strcmp(log.value, "debug") == 0;
    const bool is_own = config_.context == nullptr;
    crew_ = std::make_unique<Crew>(std::move(shared), context_, is_own);
    if (is_own) context_ = nullptr;  // the crew ends it
    make_parts(*crew_, config_);
  } catch (const std::bad_alloc&) {
    fail(PH_ERR_MEMORY, "ph_task_start: no memory for the PEs");
    return;
  }
  ph_status status = crew_->take(lanes_);
  if (status == PH_OK) status = crew_->launch(config_.main, config_.user);
  if (status != PH_OK)
    fail(status, "ph_task_start: no thread or no lane for a PE: %s", ph_status_text(status));
}

bool Start::hear_all() {
  ph_context* kept = context_;
  if (context_ == nullptr) context_ = crew_->context();
  const bool is_well = tell() && !find_failure();
  context_ = kept;
  return is_well;
}

}  // namespace

Crew* start(const ph_task_config& config, ph_error& error) { return Start(config, error).run(); }

}  // namespace photon::task
