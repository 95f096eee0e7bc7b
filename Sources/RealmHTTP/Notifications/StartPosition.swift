// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// The position that a client asks to read from.
enum StartPosition: Sendable, Equatable {
    /// No position: the client has nothing yet.
    case beginning
    /// The newest version: the client wants no earlier contents.
    case now
    /// A version of the realm since it was opened.
    case version(UInt64)
    /// A position that does not exist here: a version of another epoch, or text that is no token.
    case elsewhere
    /// A version, but several objects have had the key since then, and which of them the client read is unknown.
    case unclear

    init(_ text: String?, epoch: Epoch) {
        switch text {
        case nil, "": self = .beginning
        case "now": self = .now
        case let text?:
            guard let token = VersionToken(text), token.epoch == epoch.text else {
                self = .elsewhere
                return
            }
            self = .version(token.version)
        }
    }
}
