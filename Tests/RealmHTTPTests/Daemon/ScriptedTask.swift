// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
@testable import RealmFormats
import RealmHTTP
import RealmPlatform

/// A task that a test carries out: any sender is admitted, and its address is its account.
final class ScriptedTask: RequestTask {
    typealias Ending = @Sendable (_ status: Int, _ bytesSent: Int, _ isComplete: Bool) -> Void

    let request: Request
    let isForItsClient: Bool
    private let admission: Admission
    private let answer: @Sendable (Request) -> Reply
    private let ending: Ending

    /// Makes a task; `answer` makes the reply, and `ending` learns of the end.
    init(
        _ request: Request, _ admission: Admission = .accept(bodyLimit: 1 << 20), isForItsClient: Bool = false,
        ending: @escaping Ending = { _, _, _ in }, _ answer: @escaping @Sendable (Request) -> Reply
    ) {
        self.request = request
        self.admission = admission
        self.isForItsClient = isForItsClient
        self.ending = ending
        self.answer = answer
    }

    var account: String { request.client }
    func visible(_ problem: Problem) -> Problem { problem }
    func admit() -> Admission { admission }
    func reply() -> Reply { answer(request) }
    func finish(_ response: consuming Response) -> Response { response }
    func end(status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) { ending(status, bytesSent, isComplete) }
}
