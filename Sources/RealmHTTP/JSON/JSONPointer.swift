// SPDX-License-Identifier: Apache-2.0

/// JSON Pointer (RFC 6901).
enum JSONPointer {
    static func escape(_ name: String) -> String {
        guard name.contains("~") || name.contains("/") else { return name }
        return name.reduce(into: "") { text, character in
            text += character == "~" ? "~0" : character == "/" ? "~1" : String(character)
        }
    }
}
