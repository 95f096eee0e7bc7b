// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Where a client says that it stands.
enum StartPosition: Sendable, Equatable {
    /// Nowhere yet.
    case beginning
    /// It needs nothing from before.
    case now
    /// At a version of this life of the realm.
    case version(UInt64)
    /// Somewhere that does not exist here: another epoch, or text that is no token.
    case elsewhere
    /// At a version, but of which of several objects cannot be told any more.
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
