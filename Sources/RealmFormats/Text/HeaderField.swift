// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A header field of a response.
package struct HeaderField: Sendable {
    /// The name as it is sent. The server sends only fixed names, so all of them are constants.
    package let name: StaticString
    /// The value. Constants are sent without being copied into a string.
    package let value: Value

    /// The two forms of a value, which differ in whether memory is needed for it.
    package enum Value: Sendable {
        /// A text that is part of the program.
        case constant(StaticString)
        /// A text that was made for one response.
        case text(String)
    }

    /// Makes a field with a constant value.
    ///
    /// - Parameters:
    ///   - name: The name as it is sent.
    package init(_ name: StaticString, _ value: StaticString) {
        self.name = name
        self.value = .constant(value)
    }

    /// Makes a field with a value that was made for one response.
    ///
    /// - Parameters:
    ///   - name: The name as it is sent.
    ///   - text: The value, without line breaks.
    package init(_ name: StaticString, text: String) {
        self.name = name
        self.value = .text(text)
    }

    /// The value as a string, whichever form it has.
    package var text: String {
        switch value {
        case .constant(let constant): return constant.description
        case .text(let text): return text
        }
    }
}
