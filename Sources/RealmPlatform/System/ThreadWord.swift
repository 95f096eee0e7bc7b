// SPDX-License-Identifier: Apache-2.0

#if DEBUG
internal import Glibc

/// A word of memory that each thread has for itself, 0 at first. The system stores such words as
/// pointers; this one is a number.
///
/// Only debug builds have it. `HeldLocks` keeps one bit for each rank of locks in it, which costs
/// no allocation and no lock of its own.
struct ThreadWord: Sendable {
    /// The system's key for the word.
    private let key: pthread_key_t

    /// Makes a word that is 0 in every thread. The process stops when the system has no room for it.
    init() {
        var key = pthread_key_t()
        unsafe precondition(pthread_key_create(&key, nil) == 0, "there is no room for a word of each thread")
        self.key = key
    }

    /// The calling thread's own word; other threads neither see nor change it.
    var value: UInt {
        get { unsafe UInt(bitPattern: pthread_getspecific(key)) }
        nonmutating set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}
#endif
