// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats

/// A task that a test carries out: any sender is admitted, and its address is its account.
package final class ScriptedTask: RequestTask {
    package typealias Ending = @Sendable (_ status: Int, _ bytesSent: Int, _ isComplete: Bool) -> Void

    package let request: Request
    package let isForItsClient: Bool
    private let admission: Admission
    private let answer: @Sendable (Request) -> Reply
    private let ending: Ending

    /// Makes a task; `answer` makes the reply, and `ending` learns of the end.
    package init(
        _ request: Request, _ admission: Admission = .accept(bodyLimit: 1 << 20), isForItsClient: Bool = false,
        ending: @escaping Ending = { _, _, _ in }, _ answer: @escaping @Sendable (Request) -> Reply
    ) {
        self.request = request
        self.admission = admission
        self.isForItsClient = isForItsClient
        self.ending = ending
        self.answer = answer
    }

    package var account: String { request.client }
    package func visible(_ problem: Problem) -> Problem { problem }
    package func admit() -> Admission { admission }
    package func reply() -> Reply { answer(request) }
    package func finish(_ response: consuming Response) -> Response { response }
    package func end(status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) { ending(status, bytesSent, isComplete) }
}
