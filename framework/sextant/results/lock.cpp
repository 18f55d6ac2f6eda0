#include <sextant/base/error.hpp>
#include <sextant/results/lock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sextant::results {
namespace {
struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;  // from 0 to the end, wherever that is; l_pid 0, as this kind of lock wants it
}

int open_lock(fs::path const& path) {
  std::error_code failed;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed);
  expect(!failed, path.string(), ": cannot make its folder: ", failed.message());
  int const fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  expect(fd >= 0, path.string(), ": cannot open: ", std::strerror(errno));
  return fd;
}

[[noreturn]] void no_locks(fs::path const& path, int error) {
  fail(path.string(), ": this disk has no file locks (", std::strerror(error),
       "), with which runners share a study: put the study on another disk with -o");
}
}  // namespace

std::optional<Lock> Lock::try_take(fs::path const& path) {
  Lock lock(open_lock(path));
  struct flock range = whole_file();
  if (::fcntl(lock.fd_, F_OFD_SETLK, &range) == 0) return lock;
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  no_locks(path, errno);
}

Lock Lock::take(fs::path const& path) {
  Lock lock(open_lock(path));
  struct flock range = whole_file();
  while (::fcntl(lock.fd_, F_OFD_SETLKW, &range) != 0)
    if (errno != EINTR) no_locks(path, errno);
  return lock;
}

bool Lock::is_held(fs::path const& path) {
  int const fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  Lock const closes(fd);
  struct flock range = whole_file();
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

Lock::~Lock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace sextant::results
