// SPDX-License-Identifier: Apache-2.0

/// Returns a text as a string literal of a programming language: in quotation marks, with a
/// backslash before each special character.
///
/// Line breaks are not escaped; names in a schema seldom have any.
///
/// - Parameters:
///   - text: The text.
///   - special: The characters that get a backslash. Kotlin needs the dollar sign among them,
///     which begins a variable there.
func quoted(_ text: String, escaping special: Set<Character> = ["\"", "\\"]) -> String {
    "\"" + text.map { special.contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
}
