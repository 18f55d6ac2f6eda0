#include <sextant/results/store.hpp>

#include <algorithm>
#include <cctype>

namespace sextant::results {
namespace {
// Removes the files that write_atomically names .NAME.PID.COUNT.tmp. Only for whoever holds the folder's lock: all
// writers of the folder hold it in turn, so whoever wrote these is gone.
void sweep(fs::path const& folder) {
  std::error_code ignored;
  std::vector<fs::path> left;
  for (auto const& entry : fs::directory_iterator(folder, ignored)) {
    std::string const name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(".tmp")) left.push_back(entry.path());
  }
  for (auto const& path : left) fs::remove(path, ignored);
}
}  // namespace

fs::path Store::stage_folder(std::string const& id) const {
  bool const good = !id.empty() && std::all_of(id.begin(), id.end(),
                                               [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  expect(good, "stage id \"", id, "\" must be letters, digits, - and _ only");
  return folder_ / "stages" / id;
}

std::vector<std::string> Store::list() const {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(folder_ / "stages", ignored))
    if (fs::exists(entry.path() / "record.h5")) ids.push_back(entry.path().filename().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool Store::running(std::string const& id) const { return Lock::is_held(stage_folder(id) / "lock"); }

std::optional<std::string> Store::failure(std::string const& id) const {
  fs::path const path = stage_folder(id) / "failed.txt";
  if (done(id) || !fs::exists(path)) return std::nullopt;
  return sextant::read_file(path);
}

std::string Store::status(std::string const& id) const {
  return done(id) ? "done" : running(id) ? "running" : failure(id) ? "failed" : "planned";
}

std::optional<Claim> Store::try_claim(std::string const& id) const {
  if (done(id)) return std::nullopt;
  fs::path const folder = stage_folder(id);
  auto lock = Lock::try_take(folder / "lock");
  if (!lock || done(id)) return std::nullopt;  // done by another between the two lines above
  sweep(folder);
  return Claim(id, folder, std::move(*lock));
}

void Store::write(Claim const& claim, Group const& record) const {
  expect(!done(claim.id()), record_file(claim.id()).string(), ": this stage is done, its record stays as it is");
  write_file(record_file(claim.id()), record);
  std::error_code ignored;
  fs::remove(claim.folder() / "failed.txt", ignored);
}

void Store::copy(Claim const& claim, Store const& other) const {
  Group const record = other.read(claim.id());
  for (auto const& entry : fs::directory_iterator(other.stage_folder(claim.id()))) {
    std::string const name = entry.path().filename().string();
    if (name == "lock" || name == "record.h5" || name.starts_with('.')) continue;
    fs::copy_file(entry.path(), claim.folder() / name, fs::copy_options::overwrite_existing);
  }
  write(claim, record);  // last: a stage is done once its record stands
}

void Store::fail(Claim const& claim, std::string const& message) const {
  write_file_atomically(claim.folder() / "failed.txt", message);
}

void Store::publish(Group const& study) const {
  Lock const alone = Lock::take(folder_ / ".study.lock");
  sweep(folder_);
  write_file(study_file(), study);
}

}  // namespace sextant::results
