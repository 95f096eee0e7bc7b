// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Returns a text as a string literal of Swift, Kotlin or TypeScript: in quotation marks, with a
/// backslash before each special character, and with escapes for line breaks and tabs.
///
/// - Parameters:
///   - special: The characters that get a backslash. Kotlin needs the dollar sign among them,
///     which begins a variable there.
func quoted(_ text: String, escaping special: Set<Unicode.Scalar> = ["\"", "\\"]) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        default:
            if special.contains(scalar) { literal += "\\" }
            literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}
