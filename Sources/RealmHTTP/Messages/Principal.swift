// SPDX-License-Identifier: Apache-2.0

/// The owners of transactions and asynchronous writes, which only their owner may use.
enum Principal {
    /// The one owner of everything while the server checks no credentials: all clients are the same
    /// principal.
    static let none = ""
}
