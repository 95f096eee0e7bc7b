// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform

extension Reply {
    /// Returns a reply that does short work at once on the calling thread and leaves all other work to a worker.
    ///
    /// The worker adds the time in the queue to the timing of the request, and checks the deadline before it begins.
    ///
    /// - Parameters:
    ///   - call: The request that is answered.
    ///   - isShort: Whether the work is known to be over soon.
    /// - Throws: The errors of `work` when it runs at once; a worker turns them into an error response instead.
    package static func reading(
        _ call: Call, isShort: Bool, _ work: @escaping @Sendable () throws(Problem) -> Response
    ) throws(Problem) -> Reply {
        if isShort { return .now(try work()) }
        let begin = Instant.now()
        return .work {
            call.timing?.queue += Instant.now().seconds(since: begin)
            do throws(Problem) {
                try call.request.checkDeadline()
                return try work()
            } catch {
                return Response(error, for: call)
            }
        }
    }
}
