// SPDX-License-Identifier: Apache-2.0

/// The text as a string literal of a programming language: in quotes, with a backslash before each of `special`.
///
/// Kotlin needs the dollar sign among them, which begins a variable there.
func quoted(_ text: String, escaping special: Set<Character> = ["\"", "\\"]) -> String {
    "\"" + text.map { special.contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
}
