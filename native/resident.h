// What of the sealed segments the process keeps at hand: descriptors and indexes, which can be had
// again from the files. One list for all environments, the one used last at its front; above a
// count of descriptors or of bytes of indexes, those at its end are asked to let go.
//
// Who holds a file by a reference of its own (a transfer, a job) is not hurt by that, nor counted.
//
// Threads: any. The lock of the list is never held while a resident is asked.
#ifndef SEGLOG_RESIDENT_H_
#define SEGLOG_RESIDENT_H_

#include <cstddef>
#include <list>
#include <memory>

namespace seglog {

class Resident {
 public:
  virtual ~Resident() = default;
  // Closes and frees what it can, at once, unless it is busy.
  virtual void Leave() = 0;

 private:
  friend class Residents;
  friend struct ResidentList;
  struct Entry {
    Resident* resident; // valid while listed, as its end removes it
    std::weak_ptr<Resident> holder;
    size_t bytes;
  };
  // Guarded by the lock of the list.
  bool listed_ = false;
  std::list<Entry>::iterator place_;
};

class Residents {
 public:
  static constexpr size_t kFilesMaxDefault = 1000;
  static constexpr size_t kBytesMax = size_t{64} << 20;

  // It has a descriptor and `bytes` of memory and was used now. May ask others to leave.
  // REQUIRES: the caller holds no lock that Leave takes.
  static void Use(const std::shared_ptr<Resident>& resident, size_t bytes);
  // REQUIRES: called before the resident's end.
  static void Remove(Resident* resident);
  // Asks all but one, for when the process ran out of descriptors.
  static void LeaveAllBut(const Resident* resident);

  static void SetFilesMax(size_t count);
  // How many are listed.
  static size_t files();
};

} // namespace seglog

#endif // SEGLOG_RESIDENT_H_
