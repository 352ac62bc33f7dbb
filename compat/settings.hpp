// What a classic configuration says, as options of a context. Reads the fields that docs/classic.md
// names; a value that cannot be had is rounded or ignored.
// Owner: Session::open().
#pragma once

#include <photon.h>
#include <photon/context.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace photon::classic {

// The value in force of a setting that is a number; 0 if there is no such.
std::uint64_t number_in_force(const ph_context* context, const char* name) noexcept;

// Is this word the value in force of a setting?
bool is_in_force(const ph_context* context, const char* name, const char* word) noexcept;

class Settings {
 public:
  // False after having said why on stderr: a backend that there is not.
  bool read(const photon_config_t& config);

  // Valid as long as this object.
  const ph_option* options() const noexcept { return options_.data(); }
  std::size_t options_count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kMost = 7;  // of those that read() may add
  void add(const char* name, std::string value);
  // The environment is the user's word: it counts for more than the program's.
  void add_unless_the_user_does(const char* name, const char* value);

  std::array<std::string, kMost> texts_;
  std::array<ph_option, kMost> options_{};
  std::size_t count_ = 0;
};

}  // namespace photon::classic
