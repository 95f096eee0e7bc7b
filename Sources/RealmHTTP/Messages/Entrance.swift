// SPDX-License-Identifier: Apache-2.0

/// The listener that a request came by.
package enum Entrance: Sendable {
    case main
    /// The administrators' port, on loopback.
    case adminPort
    /// The administrators' Unix socket, which nobody else may open.
    case adminSocket
}
