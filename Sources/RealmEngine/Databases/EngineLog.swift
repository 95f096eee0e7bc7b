// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import RealmStorage

/// What the engine tells operators about one realm: opening and closing, recovery, what is slow, and why something is refused.
///
/// Messages have names of realms, paths, counts and durations; never values, keys of objects or bodies. Methods are called
/// on any thread, the writer's among them, so a handler must not wait.
package struct EngineLog: Sendable {
    private let logger: Logger

    /// Says nothing.
    package static let silent = Logger(label: "realm-rest.engine") { _ in SwiftLogNoOpLogHandler() }

    /// A commit that takes longer is logged.
    static let slowCommit = Duration.seconds(1)
    /// A query of a write, or the evaluation of an observed target, that takes longer is logged.
    static let slowQuery = Duration.seconds(1)

    init(_ logger: Logger, _ name: RealmName) {
        var logger = logger
        logger[metadataKey: "realm"] = .string(name.text)
        self.logger = logger
    }

    // MARK: - Opening and closing

    func opened(_ mode: Database.Mode, _ snapshot: Snapshot, since begin: Instant) {
        logger.info(
            "realm opened",
            metadata: [
                "mode": .string(mode.rawValue), "format": .stringConvertible(snapshot.fileFormat),
                "version": .stringConvertible(snapshot.version), "bytes": .stringConvertible(snapshot.file.fileByteCount),
                "milliseconds": EngineLog.milliseconds(since: begin),
            ])
    }

    func failedToOpen(_ error: StorageError) {
        logger.error("realm not opened", metadata: ["reason": .string(error.description)])
    }

    /// What stood behind the last version of the file was cut off: a commit was interrupted there.
    func recovered(byteCount: Int) {
        logger.notice(
            "the file was left in the middle of a commit; its last version is intact",
            metadata: ["discardedBytes": .stringConvertible(byteCount)])
    }

    func closed() { logger.info("realm closed") }

    // MARK: - What is slow

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

    // MARK: - Refused states

    /// The file is only read, although nobody asked for that.
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

    func copied(to name: String) { logger.notice("file copied", metadata: ["copy": .string(name)]) }

    private static func milliseconds(since begin: Instant) -> Logger.MetadataValue {
        .stringConvertible(Int(Instant.now().seconds(since: begin) * 1000))
    }
}
