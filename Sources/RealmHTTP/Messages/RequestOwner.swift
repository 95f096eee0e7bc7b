// SPDX-License-Identifier: Apache-2.0

package import RealmFormats

/// The sender of a request, as far as threads and memory are shared.
package protocol RequestOwner: AnyObject, Sendable {
    /// The request.
    var request: Request { get }
    /// The name under which work, memory and streams of the sender are counted together.
    var account: String { get }
    /// Whether the request is in vain once its client has left, as it only reads, registers subscriptions or has changed nothing yet. It is
    /// not begun then.
    var isForItsClient: Bool { get }
    /// Makes the response for a problem, as the sender may see it.
    func response(to problem: Problem) -> Response
}
