// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The notice that subscriptions have lost their position: the client discards their contents and gets snapshots.
///
/// It is the event `reset` of a stream and the member `reset` of a poll's response.
struct ResetNotice: Sendable {
    /// The reason why a position cannot be resumed. `epoch`: the realm was reopened since, or the position is unknown.
    /// `retention`: the change sets after it were dropped. `overflow`: the client read too slowly. `schema`: classes or
    /// properties were changed or removed.
    enum Reason: String, Sendable, CaseIterable { case epoch, retention, overflow, schema }

    /// The names of the subscriptions whose contents have to be discarded.
    let subs: [String]
    /// The reason why the subscriptions lost their position.
    let reason: Reason
    /// The token of the version that the snapshots after the reset show.
    let version: String

    /// Writes the notice as a JSON object.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("subs")
        writer.beginArray()
        for sub in subs { writer.string(sub) }
        writer.endArray()
        writer.member("reason", text: reason.rawValue)
        writer.member("version", text: version)
        writer.endObject()
    }
}
