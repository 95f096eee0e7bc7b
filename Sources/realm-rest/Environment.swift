// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import RealmPlatform
internal import RealmStorage

/// The environment of the process.
enum Environment {
    /// Returns the names of all variables with a beginning.
    static func names(beginningWith prefix: String) -> [String] {
        var names: [String] = []
        var index = 0
        while let entry = unsafe environ[index] {
            let text = unsafe String(cString: entry)
            if text.hasPrefix(prefix) { names.append(String(text.prefix { $0 != "=" })) }
            index += 1
        }
        return names.sorted()
    }
}
