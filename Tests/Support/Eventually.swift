// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

/// Asks until something holds; false when it does not within a minute, or within as many seconds as are given.
///
/// Most conditions are requests, so the pauses between them grow. `longestPause` is for what holds for a moment only.
package func eventually(
    seconds: Double = 60, longestPause: Double = 0.05, _ condition: () throws -> Bool
) rethrows -> Bool {
    let end = Instant.now().adding(seconds: seconds)
    var pause = 0.005
    while Instant.now() < end {
        if try condition() { return true }
        Threads.sleep(seconds: pause)
        pause = min(pause * 1.5, longestPause)
    }
    return try condition()
}
