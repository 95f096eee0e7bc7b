// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import RealmVerify

/// The breakdown of a realm file by size.
struct StatsEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET …/stats` with the bytes of classes, properties, indexes and free space, of the newest version or that of a
    /// snapshot.
    ///
    /// Sizes reveal hidden classes, properties and objects, so only principals from whom nothing is hidden get them; in a realm that
    /// shows a part of its file only administrators, and the classes that are not shown have no names.
    ///
    /// - Returns: A reply that a worker makes, because it visits all nodes. It ends early when the client leaves.
    /// - Throws: `forbidden`, or the `Problem` of a wrong parameter or of an unknown snapshot.
    func get(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ParameterSet(call)
        let context = try ReadContext(call, snapshot: try parameters.text("snapshot"), version: try parameters.text("version"))
        guard context.showsEverything else { throw AccessPolicy.forbiddenByRoles }
        var options = SizeReport.Options()
        options.shown = (context.snapshot.scope?.base ?? context.snapshot).part?.shown
        guard options.shown == nil || server.directory.access.grant(call.caller) == .administer else {
            throw AccessPolicy.forbiddenByRoles
        }
        let versions = SizeReport.LiveVersions(of: context.database)
        options.oldestVersion = versions?.oldest
        let control = call.request.control(until: .now().adding(seconds: Double(server.limits.http.answerSeconds)))
        return .work { [options] in
            do throws(Problem) {
                let file = context.snapshot.file
                let report = try Problem.mapping { () throws(StorageError) in
                    let report = try SizeReport(measuring: file, options, control)
                    try file.requireWhole()
                    return report
                }
                var writer = JSONWriter(reservingCapacity: 1 << 14)
                report.write(to: &writer, versions: versions)
                var response = Response(unstored: writer.buffer)
                response.add("Realm-Version", context.version.tokenText)
                return response
            } catch {
                return Response(error, for: call)
            }
        }
    }
}
