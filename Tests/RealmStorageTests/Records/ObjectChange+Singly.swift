// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage

extension [ObjectChange] {
    /// The changes with each created object by itself, as records have them.
    var singly: [ObjectChange] {
        flatMap { change -> [ObjectChange] in
            guard case .createdRun(let table, let first, let count) = change else { return [change] }
            return ObjectChange.keys(of: (first, count)).map { .created(table, $0) }
        }
    }
}
