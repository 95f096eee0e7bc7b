// SPDX-License-Identifier: Apache-2.0

/// JSON Pointer (RFC 6901).
enum JSONPointer {
    /// A name as one step of a pointer: `~` and `/` have a meaning there, and become `~0` and `~1`.
    static func escape(_ name: String) -> String {
        guard name.contains("~") || name.contains("/") else { return name }
        return name.reduce(into: "") { text, character in
            text += character == "~" ? "~0" : character == "/" ? "~1" : String(character)
        }
    }
}
