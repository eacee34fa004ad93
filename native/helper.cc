// A queue, a condition and a thread. See helper.h.
#include "helper.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>

namespace seglog {

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  pthread_t thread = {};
  bool running = false;
  bool ending = false;
  int holders = 0;
};

// Never destroyed: a thread of another environment may outlast the static objects of the process.
State& Shared() {
  static State* state = new State;
  return *state;
}

void* Run(void*) {
  State& state = Shared();
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.wake.wait(lock, [&] { return state.ending || !state.tasks.empty(); });
    if (state.ending)
      return nullptr;
    {
      const std::function<void()> task = std::move(state.tasks.front());
      state.tasks.pop_front();
      lock.unlock();
      task();
    } // what the task holds is let go of here, outside the lock
    lock.lock();
  }
}

// REQUIRES: the lock. Signals stay with the threads that Node.js means them for.
bool Start(State* state) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state->running = pthread_create(&state->thread, nullptr, Run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return state->running;
}

} // namespace

void Helper::Retain() {
  State& state = Shared();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.holders++;
}

void Helper::Release() {
  State& state = Shared();
  std::deque<std::function<void()>> dropped;
  std::unique_lock<std::mutex> lock(state.mutex);
  if (--state.holders > 0 || !state.running || state.ending)
    return;
  state.ending = true;
  state.wake.notify_all();
  lock.unlock();
  pthread_join(state.thread, nullptr);
  lock.lock();
  state.running = state.ending = false;
  dropped.swap(state.tasks);
  lock.unlock();
}

bool Helper::Post(std::function<void()> task) {
  State& state = Shared();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.holders == 0 || state.ending || state.tasks.size() >= kQueueMax)
    return false;
  if (!state.running && !Start(&state))
    return false;
  state.tasks.push_back(std::move(task));
  state.wake.notify_one();
  return true;
}

} // namespace seglog
