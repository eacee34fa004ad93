// The list and its bounds. See resident.h.
#include "resident.h"

#include <algorithm>
#include <mutex>
#include <sys/resource.h>
#include <vector>

namespace seglog {

struct ResidentList {
  std::mutex mutex;
  std::list<Resident::Entry> entries;
  size_t bytes = 0;
  size_t files_max = FilesMaxDefault();

  using Place = std::list<Resident::Entry>::iterator;
  using Leaving = std::vector<std::shared_ptr<Resident>>;

  // Never destroyed: threads of another environment may outlast the static objects of the process.
  static ResidentList& Shared() {
    static ResidentList* list = new ResidentList;
    return *list;
  }

  static size_t FilesMaxDefault() {
    struct rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
      return Residents::kFilesMaxDefault;
    // No limit is the largest number there is.
    return std::clamp(static_cast<size_t>(limit.rlim_cur / 4), size_t{1},
                      Residents::kFilesMaxDefault);
  }

  // REQUIRES: the lock.
  void Erase(Place place) {
    place->resident->listed_ = false;
    bytes -= place->bytes;
    entries.erase(place);
  }

  // REQUIRES: the lock.
  void TakeLast(Leaving* leaving) {
    const Place last = std::prev(entries.end());
    // Null where it is about to end: then it lets go by itself.
    if (std::shared_ptr<Resident> holder = last->holder.lock())
      leaving->push_back(std::move(holder));
    Erase(last);
  }

  // REQUIRES: the lock. The one at the front stays, whatever the bounds.
  void Bound(Leaving* leaving) {
    while (entries.size() > 1 && (entries.size() > files_max || bytes > Residents::kBytesMax))
      TakeLast(leaving);
  }
};

void Residents::Use(const std::shared_ptr<Resident>& resident, size_t bytes) {
  ResidentList& list = ResidentList::Shared();
  ResidentList::Leaving leaving;
  {
    std::lock_guard<std::mutex> lock(list.mutex);
    if (resident->listed_) {
      list.entries.splice(list.entries.begin(), list.entries, resident->place_);
      list.bytes -= resident->place_->bytes;
      resident->place_->bytes = bytes;
    } else {
      list.entries.push_front({resident.get(), resident, bytes});
      resident->place_ = list.entries.begin();
      resident->listed_ = true;
    }
    list.bytes += bytes;
    list.Bound(&leaving);
  }
  for (const std::shared_ptr<Resident>& last : leaving)
    last->Leave();
}

void Residents::Remove(Resident* resident) {
  ResidentList& list = ResidentList::Shared();
  std::lock_guard<std::mutex> lock(list.mutex);
  if (resident->listed_)
    list.Erase(resident->place_);
}

void Residents::LeaveAllBut(const Resident* resident) {
  ResidentList& list = ResidentList::Shared();
  ResidentList::Leaving leaving;
  {
    std::lock_guard<std::mutex> lock(list.mutex);
    while (!list.entries.empty())
      list.TakeLast(&leaving);
  }
  for (const std::shared_ptr<Resident>& last : leaving) {
    if (last.get() != resident)
      last->Leave();
  }
}

void Residents::SetFilesMax(size_t count) {
  ResidentList& list = ResidentList::Shared();
  ResidentList::Leaving leaving;
  {
    std::lock_guard<std::mutex> lock(list.mutex);
    list.files_max = std::max(count, size_t{1});
    list.Bound(&leaving);
  }
  for (const std::shared_ptr<Resident>& last : leaving)
    last->Leave();
}

size_t Residents::files() {
  ResidentList& list = ResidentList::Shared();
  std::lock_guard<std::mutex> lock(list.mutex);
  return list.entries.size();
}

} // namespace seglog
