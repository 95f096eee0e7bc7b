// SPDX-License-Identifier: Apache-2.0

/// Checks what the top node says about changes of earlier versions.
///
/// SDKs take the version less the number of kept changes for the oldest one that they can be told apart from, so there
/// are never more changes than versions. Source: docs/format.md, "The top node".
struct HistoryCheck {
    /// The version that is checked.
    let snapshot: Snapshot

    /// Checks what the top node says of the history.
    func run(_ report: inout VerifyReport) throws(StorageError) {
        let top = snapshot.top
        guard let type = TopNode.HistoryType(rawValue: top.historyType) else {
            return report.error("history of unknown type \(top.historyType)")
        }
        switch type {
        case .none:
            if !top.history.isNone { report.error("a history in a file that has no type for it") }
        case .inFile:
            if top.historySchemaVersion > TopNode.writtenHistorySchema {
                report.warn("history of layout \(top.historySchemaVersion), which is unknown")
            }
            try checkChanges(top, &report)
        case .obsolete, .syncClient, .syncServer: return
        }
    }

    /// One binary value for each change.
    private func checkChanges(_ top: TopNode, _ report: inout VerifyReport) throws(StorageError) {
        guard !top.history.isNone else { return }
        let changes = try BPlusTree(
            root: top.history, space: snapshot.space, shape: ElementShape(type: .binary, isNullable: true))
        if UInt64(changes.count) > snapshot.version {
            report.error("\(changes.count) changes are kept for version \(snapshot.version)")
        }
        var cursor = changes.leaves()
        while let leaf = try cursor.next() { _ = leaf }
    }
}
