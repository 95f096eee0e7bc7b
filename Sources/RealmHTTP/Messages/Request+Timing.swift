// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Request {
    /// Runs `work` and counts its time, when times are told.
    func timed<Result>(
        _ part: WritableKeyPath<ServerTiming, Double>, _ work: () throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard timing != nil else { return try work() }
        let begin = Instant.now()
        let result = try work()
        timing?[keyPath: part] += Instant.now().seconds(since: begin)
        return result
    }
}
