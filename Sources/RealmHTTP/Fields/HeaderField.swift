// SPDX-License-Identifier: Apache-2.0

/// A header field of an answer.
package struct HeaderField: Sendable {
    /// The name as it is sent. The server sends no names but its own, so all of them are constants.
    package let name: StaticString
    /// The value; constants are sent without a copy being made.
    package let value: Value

    /// A value that is part of the program, or one that was made for an answer.
    package enum Value: Sendable {
        case constant(StaticString)
        case text(String)
    }

    /// A field with a constant value.
    package init(_ name: StaticString, _ value: StaticString) {
        self.name = name
        self.value = .constant(value)
    }

    /// A field with a value that was made for this answer.
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
