// SPDX-License-Identifier: Apache-2.0

/// The listener through which a request reached the server. It decides, with the sender's address,
/// what the request may do.
package enum Entrance: Sendable {
    /// The listener for all clients.
    case main
    /// The administrators' TCP port, which is bound to loopback.
    case adminPort
    /// The administrators' Unix socket, whose file only the user of the server can open.
    case adminSocket
}
