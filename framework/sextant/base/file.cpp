#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

namespace sextant {
namespace {
std::string reason() { return std::strerror(errno); }

class Descriptor {
 public:
  Descriptor(fs::path const& path, int flags) : Descriptor(path, flags, path) {}
  /// Messages say `name`.
  Descriptor(fs::path const& path, int flags, fs::path const& name)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    expect(fd_ >= 0, name.string(), ": cannot open: ", reason());
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

void sync(fs::path const& path, int flags) {
  Descriptor const fd(path, flags);
  expect(::fsync(fd) == 0, path.string(), ": cannot flush to disk: ", reason());
}

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(void const* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), raw, &size);
    std::string out;
    char two[3];
    for (unsigned int i = 0; i < size; ++i) std::snprintf(two, sizeof two, "%02x", raw[i]), out += two;
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};
}  // namespace

std::string read_file(fs::path const& path) {
  std::error_code ignored;
  expect(!fs::is_directory(path, ignored), path.string(), ": is a directory, expected a file");
  std::ifstream in(path, std::ios::binary);
  expect(in.good(), path.string(), ": cannot open: ", reason());
  std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  expect(!in.bad(), path.string(), ": cannot read: ", reason());
  return content;
}

void write_atomically(fs::path const& path, std::function<void(fs::path const&)> const& write) {
  static std::atomic<unsigned> counter{0};
  fs::path const folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::path const aside = folder / text(".", path.filename().string(), ".", ::getpid(), ".", counter++, ".tmp");
  try {
    fs::create_directories(folder);
    write(aside);
    sync(aside, O_RDWR);
    fs::rename(aside, path);
    sync(folder, O_RDONLY | O_DIRECTORY);
  } catch (fs::filesystem_error const& error) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    fail(path.string(), ": cannot write: ", error.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    throw;
  }
}

void write_file_atomically(fs::path const& path, std::string_view content) {
  write_atomically(path, [&](fs::path const& aside) {
    Descriptor const fd(aside, O_WRONLY | O_CREAT | O_EXCL, path);
    for (std::size_t done = 0; done < content.size();) {
      ssize_t const wrote = ::write(fd, content.data() + done, content.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      expect(wrote > 0, path.string(), ": cannot write: ", reason());
      done += static_cast<std::size_t>(wrote);
    }
  });
}

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_file(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  expect(in.good(), path.string(), ": cannot open: ", reason());
  Digest digest;
  std::string block(1 << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
    digest.add(block.data(), static_cast<std::size_t>(in.gcount()));
  expect(!in.bad(), path.string(), ": cannot read: ", reason());
  return digest.hex();
}

}  // namespace sextant
