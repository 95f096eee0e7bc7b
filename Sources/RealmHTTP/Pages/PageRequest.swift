// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Tells what a client takes at a path that has a page for people and something else for programs.
enum PageRequest {
    /// Whether a client names pages among what it accepts, as browsers do, and does not like JSON as much.
    static func prefersPage(_ request: Request) -> Bool {
        guard let text = request.headers[.accept] else { return false }
        let accept = AcceptHeader(text)
        return accept.names("text/html") && accept.weight(of: "text/html") > accept.weight(of: "application/json")
    }
}
