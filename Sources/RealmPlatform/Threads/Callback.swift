// SPDX-License-Identifier: Apache-2.0

/// A closure as it is kept in a mutex: a closure alone is wrapped once more by every look at it, until the chain takes the stack.
package struct Callback<Subject>: Sendable {
    /// The closure.
    package let call: @Sendable (Subject) -> Void

    /// Keeps a closure.
    package init(_ call: @escaping @Sendable (Subject) -> Void) { self.call = call }
}
