// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The listener through which a request reached the server. It determines, with the sender's address, the rights of the request.
package enum ListenerKind: Sendable {
    /// The listener for all clients.
    case main
    /// A Unix socket for all clients, which are on this machine therefore.
    case mainSocket
    /// The administrators' TCP port, which is bound to loopback.
    case adminPort
    /// The administrators' Unix socket, whose file only the user of the server can open.
    case adminSocket

    package var isForAdministrators: Bool {
        switch self {
        case .main, .mainSocket: return false
        case .adminPort, .adminSocket: return true
        }
    }
}
