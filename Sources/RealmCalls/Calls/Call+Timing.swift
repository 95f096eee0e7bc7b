// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension Call {
    /// Runs a part of the work for this request, and adds its duration to `timing` when responses report their times.
    ///
    /// - Parameters:
    ///   - part: The component of `ServerTiming` that the time, in seconds, is added to.
    ///   - work: The work to measure.
    /// - Returns: The result of `work`.
    /// - Throws: The errors of `work`; the time is not added then.
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
