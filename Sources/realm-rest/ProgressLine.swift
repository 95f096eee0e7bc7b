// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmEngine
internal import RealmPlatform
import RealmStorage
import Synchronization

/// Shows the progress of long work in the last line of a terminal.
enum ProgressLine {
    /// The shortest duration of work whose progress is shown.
    private static let patience = Duration.seconds(1)

    /// Returns a control that shows the progress on standard error; nil when that is no terminal and nothing can cancel the work.
    ///
    /// - Parameters:
    ///   - activity: The kind of work, such as "converting".
    ///   - isWanted: As in `WorkControl.init`.
    static func control(showing activity: String, isWanted: (@Sendable () -> Bool)? = nil) -> WorkControl? {
        guard isatty(STDERR_FILENO) != 0 else { return isWanted.map { WorkControl(isWanted: $0) } }
        let begin = Instant.now()
        let shown = Atomic(-1)
        let report: @Sendable (Double) -> Void = { part in
            let percent = Int(part * 100)
            guard Instant.now().duration(since: begin) >= patience, shown.exchange(percent, ordering: .relaxed) != percent else {
                return
            }
            // The line is overwritten by the next one, and the last one is empty.
            let line = percent < 100 ? "\r\(activity) \(percent) %" : "\r\u{1b}[K"
            try? System.write(STDERR_FILENO, Array(line.utf8))
        }
        return WorkControl(report, isWanted: isWanted)
    }
}
