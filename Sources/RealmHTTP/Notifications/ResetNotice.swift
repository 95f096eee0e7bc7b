// SPDX-License-Identifier: Apache-2.0

/// What is told of subscriptions that lost their position.
struct ResetNotice: Sendable {
    enum Reason: String, Sendable, CaseIterable { case epoch, retention, overflow, schema }

    let subs: [String]
    let reason: Reason
    let version: String

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
