// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Why the server ends streams and polls.
enum SubscriptionEnd: Sendable {
    /// The server is stopping. Clients reconnect to the next one.
    case shutdown
    /// The realm was detached, or cannot be served at present because of the given problem. Without
    /// a problem there is nothing to come back to.
    case realmClosed(Problem?)
    /// The registration that the stream or poll reads was deleted.
    case registrationDeleted
    /// The credential of the client is not valid any more.
    case unauthenticated
}
