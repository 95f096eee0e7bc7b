// SPDX-License-Identifier: Apache-2.0

/// Who owns transactions and writes that were answered early.
enum Principal {
    /// The owner as long as the server takes no credentials: all clients are the same principal.
    static let none = ""
}
