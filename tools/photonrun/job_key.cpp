#include "job_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "fd.hpp"

namespace photonrun {
namespace {

constexpr std::size_t kMaxKeyBytes = 4096;
constexpr const char* kAdvice =
    "make one (openssl rand -hex 32) and give it to photonrun on every host, in PHOTON_JOB_KEY or "
    "by --key-file";

std::string read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0) {
    throw std::runtime_error(fmt::format("key file {}: {}", path, std::strerror(errno)));
  }
  if (S_ISREG(about.st_mode) && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw std::runtime_error(
        fmt::format("key file {} is open to other users; chmod 600 it, and take a new key", path));
  }
  std::string key(kMaxKeyBytes + 1, '\0');
  std::size_t bytes = 0;
  ssize_t got = 0;
  while (bytes < key.size() &&
         (got = ::read(file.get(), key.data() + bytes, key.size() - bytes)) > 0) {
    bytes += static_cast<std::size_t>(got);
  }
  if (bytes > kMaxKeyBytes) throw std::runtime_error(fmt::format("key file {} is too long", path));
  key.resize(bytes);
  return key;
}

}  // namespace

void forget_job_key() { ::unsetenv(kKeyVariable); }

std::string read_job_key(const std::string& file) {
  std::string key;
  if (!file.empty()) {
    key = read_file(file);
  } else if (const char* const value = std::getenv(kKeyVariable)) {
    key = value;
  }
  forget_job_key();
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  if (key.empty()) throw std::runtime_error(fmt::format("no key for the job; {}", kAdvice));
  if (key.size() < kMinKeyBytes) {
    throw std::runtime_error(
        fmt::format("the job's key has {} characters, at least {} are needed; {}", key.size(),
                    kMinKeyBytes, kAdvice));
  }
  return key;
}

}  // namespace photonrun
