// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Asks until something holds; false when it does not within a minute, or within as many seconds as are given.
package func eventually(seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Instant.now().adding(seconds: seconds)
    while Instant.now() < end {
        if try condition() { return true }
        Threads.sleep(seconds: 0.005)
    }
    return try condition()
}
