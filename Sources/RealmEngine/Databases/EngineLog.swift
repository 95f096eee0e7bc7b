// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import RealmStorage

/// What the engine tells operators about one realm: opening and closing, recovery, what is slow, and why something is refused.
///
/// Messages have names of realms, paths, counts and durations; never values, keys of objects or bodies. Methods are called
/// on any thread, the writer's among them, so a handler must not wait.
package struct EngineLog: Sendable {
    /// The injected logger with the name of the realm.
    private let logger: Logger

    /// Says nothing.
    package static let silent = Logger(label: "realm-rest.engine") { _ in SwiftLogNoOpLogHandler() }

    /// A commit that takes longer is logged.
    static let slowCommit = Duration.seconds(1)
    /// A query of a write, or the evaluation of an observed target, that takes longer is logged.
    static let slowQuery = Duration.seconds(1)

    /// A log about the realm of that name.
    init(_ logger: Logger, _ name: RealmName) {
        var logger = logger
        logger[metadataKey: "realm"] = .string(name.text)
        self.logger = logger
    }

    // MARK: - Opening and closing

    /// The realm is served; `begin` is when opening it began.
    func opened(_ mode: Database.Mode, _ snapshot: Snapshot, since begin: Instant) {
        logger.info(
            "realm opened",
            metadata: [
                "mode": .string(mode.rawValue), "format": .stringConvertible(snapshot.fileFormat),
                "version": .stringConvertible(snapshot.version), "bytes": .stringConvertible(snapshot.file.fileByteCount),
                "milliseconds": EngineLog.milliseconds(since: begin),
            ])
    }

    /// The realm is not served.
    func failedToOpen(_ error: StorageError) {
        logger.error("realm not opened", metadata: ["reason": .string(error.description)])
    }

    /// Bytes after the last version of the file were cut off: a commit was interrupted there.
    func recovered(byteCount: Int) {
        logger.notice(
            "the file was left in the middle of a commit; its last version is intact",
            metadata: ["discardedBytes": .stringConvertible(byteCount)])
    }

    /// The realm is no longer served; requests that hold its snapshots go on.
    func closed() { logger.info("realm closed") }

    // MARK: - What is slow

    /// A commit that began at `begin` is durable. Only slow ones are logged.
    func noteCommit(since begin: Instant, changeCount: Int) {
        guard Instant.now().duration(since: begin) > EngineLog.slowCommit else { return }
        logger.warning(
            "slow commit",
            metadata: [
                "milliseconds": EngineLog.milliseconds(since: begin), "changes": .stringConvertible(changeCount),
            ])
    }

    /// `className` is whose objects were looked at.
    func noteQuery(since begin: Instant, className: String) {
        guard Instant.now().duration(since: begin) > EngineLog.slowQuery else { return }
        logger.warning(
            "slow query",
            metadata: ["milliseconds": EngineLog.milliseconds(since: begin), "class": .string(className)])
    }

    /// The evaluation of an observed target, which began at `begin`, is over. Only slow ones are logged.
    func noteEvaluation(since begin: Instant) {
        guard Instant.now().duration(since: begin) > EngineLog.slowQuery else { return }
        logger.warning("slow evaluation of an observed target", metadata: ["milliseconds": EngineLog.milliseconds(since: begin)])
    }

    // MARK: - Refused states

    /// The file is only read, although it was to be written.
    func refusesWrites(_ reason: StorageError) {
        logger.warning("realm is read-only", metadata: ["reason": .string(reason.description)])
    }

    /// A commit failed and was undone; the next one may succeed.
    func failedToCommit(_ error: StorageError) {
        if error.isFullDisk {
            logger.error("the disk is full: a commit was undone", metadata: ["reason": .string(error.description)])
        } else {
            logger.error("a commit was undone", metadata: ["reason": .string(error.description)])
        }
    }

    /// A commit failed in a way that only opening the file again can settle.
    func stoppedWriting(_ error: StorageError) {
        logger.critical(
            "nothing is written until the realm is opened again", metadata: ["reason": .string(error.description)])
    }

    /// The realm is taken out of use.
    func failed(_ error: StorageError) {
        let message: Logger.Message = error.isFileChange ? "another program changed the file" : "realm failed"
        logger.error(message, metadata: ["reason": .string(error.description)])
    }

    // MARK: - Copies

    /// A copy of the file was made beside it.
    func copied(to name: String) { logger.notice("file copied", metadata: ["copy": .string(name)]) }

    /// How long something took until now, in whole milliseconds.
    private static func milliseconds(since begin: Instant) -> Logger.MetadataValue {
        .stringConvertible(Int(Instant.now().seconds(since: begin) * 1000))
    }
}
