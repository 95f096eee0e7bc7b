// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Decides which form a client wants at a path that has a page for people and another response for programs.
enum PageRequest {
    /// Whether a client accepts pages, as browsers do, and does not prefer JSON.
    static func prefersPage(_ request: Request) -> Bool {
        guard let text = request[.accept] else { return false }
        let accept = AcceptHeader(text)
        return accept.names("text/html") && accept.weight(of: "text/html") > accept.weight(of: "application/json")
    }
}
