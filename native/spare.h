// The file of a log's next segment, made before it is needed, so that a roll on the JavaScript
// thread costs one rename. A folder has at most one, made for the segment that is appended to; the
// next Segment::Create in that folder takes it. Its name ends in .deleted, as Kafka removes what is
// called so when it starts; one that a crash left behind is replaced.
//
// Threads: any; the file is made and removed by the helper or the pool.
#ifndef SEGLOG_SPARE_H_
#define SEGLOG_SPARE_H_

#include "file.h"

#include <memory>
#include <mutex>
#include <string>

namespace seglog {

class Spare {
 public:
  // Asks the helper for the spare of the folder of `path`. Null where the helper takes no task, or
  // where the folder has one already.
  static std::shared_ptr<Spare> Prepare(const std::string& path);
  // Gives the file that is ready in the folder of `path` the name `path`. *file stays null where
  // there is none or it cannot be renamed. kExists where the name is taken.
  static Status Take(const std::string& path, std::shared_ptr<File>* file);

  // Removes the file, unless it was taken.
  void Drop();

 private:
  explicit Spare(std::string path) : path_(std::move(path)) {}
  void Make();

  const std::string path_;
  std::mutex mutex_;
  std::shared_ptr<File> file_; // ready
  bool over_ = false;          // taken or dropped
};

} // namespace seglog

#endif // SEGLOG_SPARE_H_
