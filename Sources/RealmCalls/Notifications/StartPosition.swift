// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The position that a client asks to start from, as `since` or `Last-Event-ID` states it.
package enum StartPosition: Sendable, Equatable {
    /// The client has no position and nothing to resume.
    case beginning
    /// The client wants to start at the newest version, without its contents.
    case now
    /// The client has everything up to a version of the current epoch of the realm.
    case version(UInt64)
    /// The position does not exist here: it is a version of another epoch, or text that is not a version token.
    case elsewhere
    /// The position is a version, but several objects have had the observed key since then, and it
    /// is unknown which of them the client has observed.
    case unclear

    /// Reads a position.
    ///
    /// - Parameters:
    ///   - text: The value of `since` or `Last-Event-ID`; nil or empty text means no position.
    ///   - epoch: The current epoch of the realm, which changes each time its file is opened.
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
