// SPDX-License-Identifier: Apache-2.0

/// Why subscriptions end from the side of the server.
enum SubscriptionEnd: Sendable {
    /// The server stops. Clients come back to the next one.
    case shutdown
    /// The realm is detached, or cannot be served at present because of this problem. Without a problem, clients need not come back.
    case realmClosed(Problem?)
    /// The registration was deleted.
    case registrationDeleted
}
