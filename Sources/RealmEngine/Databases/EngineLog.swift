// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmPlatform
internal import RealmStorage

/// Writes the log of the engine about one realm for operators: opening and closing, recovery, slow
/// operations, and the reasons of rejections.
///
/// Messages contain names of realms, paths, counts and durations; never values, keys of objects or
/// bodies. Methods are called on any thread, including the writer's, so a log handler must not wait.
package struct EngineLog: Sendable {
    /// The injected logger with the name of the realm.
    private let logger: Logger

    /// A logger that discards all messages.
    package static let silent = Logger(label: "realm-rest.engine") { _ in SwiftLogNoOpLogHandler() }

    /// The duration from which a commit is logged as slow.
    static let slowCommit = Duration.seconds(1)
    /// The duration from which a query of a write, or the evaluation of an observed target, is logged as slow.
    static let slowQuery = Duration.seconds(1)

    /// Makes the log of a realm, whose name becomes part of every message.
    init(_ logger: Logger, _ name: RealmName) {
        var logger = logger
        logger[metadataKey: "realm"] = .string(name.text)
        self.logger = logger
    }

    // MARK: - Opening and closing

    /// Logs that the realm is served; `begin` is the instant at which opening began.
    func opened(_ mode: Database.Mode, _ snapshot: Snapshot, since begin: Instant) {
        logger.info(
            "realm opened",
            metadata: [
                "mode": .string(mode.rawValue), "format": .stringConvertible(snapshot.fileFormat),
                "version": .stringConvertible(snapshot.version), "bytes": .stringConvertible(snapshot.file.fileByteCount),
                "milliseconds": EngineLog.milliseconds(since: begin),
            ])
    }

    /// Logs that the realm cannot be served.
    func failedToOpen(_ error: StorageError) {
        logger.error("realm not opened", metadata: ["reason": .string(error.description)])
    }

    /// Logs that the remains of an interrupted commit after the last version were removed.
    func recovered(byteCount: Int) {
        logger.notice(
            "the file was left in the middle of a commit; its last version is intact",
            metadata: ["discardedBytes": .stringConvertible(byteCount)])
    }

    /// Logs that the realm was closed; requests that hold its snapshots continue.
    func closed() { logger.info("realm closed") }

    // MARK: - Slow work

    /// Logs a slow commit, which began at `begin` and is durable.
    func noteCommit(since begin: Instant, changeCount: Int) {
        guard Instant.now().duration(since: begin) > EngineLog.slowCommit else { return }
        logger.warning(
            "slow commit",
            metadata: [
                "milliseconds": EngineLog.milliseconds(since: begin), "changes": .stringConvertible(changeCount),
            ])
    }

    /// Logs a slow query of a write over the objects of `className`.
    func noteQuery(since begin: Instant, className: String) {
        guard Instant.now().duration(since: begin) > EngineLog.slowQuery else { return }
        logger.warning(
            "slow query",
            metadata: ["milliseconds": EngineLog.milliseconds(since: begin), "class": .string(className)])
    }

    /// Logs a slow evaluation of an observed target, which began at `begin`.
    func noteEvaluation(since begin: Instant) {
        guard Instant.now().duration(since: begin) > EngineLog.slowQuery else { return }
        logger.warning("slow evaluation of an observed target", metadata: ["milliseconds": EngineLog.milliseconds(since: begin)])
    }

    // MARK: - Refused states

    /// Logs that the file is only read although it was to be written.
    func refusesWrites(_ reason: StorageError) {
        logger.warning("realm is read-only", metadata: ["reason": .string(reason.description)])
    }

    /// Logs that a commit failed and was rolled back; the next one may succeed.
    func failedToCommit(_ error: StorageError) {
        if error.isFullDisk {
            logger.error("the disk is full: a commit was undone", metadata: ["reason": .string(error.description)])
        } else {
            logger.error("a commit was undone", metadata: ["reason": .string(error.description)])
        }
    }

    /// Logs that no write is accepted until the file is opened again, because it is unknown whether a commit is durable.
    func stoppedWriting(_ error: StorageError) {
        logger.critical(
            "nothing is written until the realm is opened again", metadata: ["reason": .string(error.description)])
    }

    /// Logs that the realm is taken out of use because of an error.
    package func failed(_ error: StorageError) {
        let message: Logger.Message = error.isFileChange ? "another program changed the file" : "realm failed"
        logger.error(message, metadata: ["reason": .string(error.description)])
    }

    // MARK: - Copies

    /// Logs that the file was replaced by a compact one, with the sizes of both.
    func compacted(before: Int, after: Int) {
        logger.notice(
            "file compacted", metadata: ["bytesBefore": .stringConvertible(before), "bytesAfter": .stringConvertible(after)])
    }

    /// Logs that a copy of the file was made next to it.
    func copied(to name: String) { logger.notice("file copied", metadata: ["copy": .string(name)]) }

    /// Returns the time since `begin` in whole milliseconds.
    private static func milliseconds(since begin: Instant) -> Logger.MetadataValue {
        .stringConvertible(Int(Instant.now().seconds(since: begin) * 1000))
    }
}
