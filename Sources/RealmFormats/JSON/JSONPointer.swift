// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The spelling of JSON Pointers (RFC 6901), which problems use to name a place in a request body.
package enum JSONPointer {
    /// Returns a member name as one step of a pointer: `~` and `/`, which have a meaning there, become `~0` and `~1`.
    ///
    /// - Parameter name: The name of a member.
    package static func escape(_ name: String) -> String {
        guard name.contains("~") || name.contains("/") else { return name }
        return name.reduce(into: "") { text, character in
            text += character == "~" ? "~0" : character == "/" ? "~1" : String(character)
        }
    }
}
