// SPDX-License-Identifier: Apache-2.0

/// A header field of an answer.
package struct HeaderField: Sendable {
    package let name: StaticString
    package let value: Value

    package enum Value: Sendable {
        case constant(StaticString)
        case text(String)
    }

    package init(_ name: StaticString, _ value: StaticString) {
        self.name = name
        self.value = .constant(value)
    }

    package init(_ name: StaticString, text: String) {
        self.name = name
        self.value = .text(text)
    }

    package var text: String {
        switch value {
        case .constant(let constant): return constant.description
        case .text(let text): return text
        }
    }
}
