// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

extension Threads {
    /// Starts a thread; a test that cannot have one ends.
    package static func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        do throws(Failure) { try start(name, body) } catch { preconditionFailure(error.description) }
    }
}
