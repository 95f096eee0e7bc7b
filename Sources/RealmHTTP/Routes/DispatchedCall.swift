// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform

/// A call as the daemon sees it: the task of its request, which the dispatcher carries out.
final class DispatchedCall: RequestTask {
    let call: Call
    private let dispatcher: RequestDispatcher

    /// Makes the task of a call.
    init(_ call: Call, _ dispatcher: RequestDispatcher) {
        self.call = call
        self.dispatcher = dispatcher
    }

    /// The request as it was received.
    var request: Request { call.request }
    /// The name under which work, memory and streams of the sender are counted together.
    var account: String { call.account }
    /// Whether the request is in vain once its client has left.
    var isForItsClient: Bool { call.isForItsClient }

    func response(to problem: Problem) -> Response { call.response(to: problem) }
    func admit() -> Admission { dispatcher.admit(call) }
    func reply() -> Reply { dispatcher.reply(to: call) }
    func finish(_ response: consuming Response) -> Response { dispatcher.finish(response, for: call) }
    func finishesQuickly(_ response: Response) -> Bool { dispatcher.finishesQuickly(response, for: call) }
    func end(status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool) {
        dispatcher.didEnd(call, status: status, bytesSent: bytesSent, bytesReceived: bytesReceived, isComplete: isComplete)
    }
}
