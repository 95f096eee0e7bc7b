// SPDX-License-Identifier: Apache-2.0

#if DEBUG
internal import Glibc

/// A word of which each thread has its own, 0 at first. The system keeps words of threads as pointers; this one points nowhere.
///
/// Only debug builds have it. `HeldLocks` keeps one bit for each rank of locks in it, which costs no allocation and no lock of
/// its own.
struct ThreadWord: Sendable {
    /// The system's name for the word.
    private let key: pthread_key_t

    /// A word that is 0 in every thread. Stops the process when the system has no room for it.
    init() {
        var key = pthread_key_t()
        unsafe precondition(pthread_key_create(&key, nil) == 0, "there is no room for a word of each thread")
        self.key = key
    }

    /// The word of the calling thread.
    var value: UInt {
        get { unsafe UInt(bitPattern: pthread_getspecific(key)) }
        nonmutating set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}
#endif
