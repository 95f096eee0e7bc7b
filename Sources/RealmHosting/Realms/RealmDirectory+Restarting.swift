// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Realms that were attached over HTTP are served again after a restart of the server.
extension RealmDirectory {
    /// Lists the realms that earlier servers have attached. Those that were attached with a key have failed until
    /// they get it again.
    ///
    /// - Parameter report: Called with a sentence about each realm that is no longer served.
    package func restoreAttached(_ report: (String) -> Void) {
        attachedRealms?.makeFolder()
        let entries: [AttachedRealms.Entry]
        do throws(StorageError) {
            entries = try attachedRealms?.load() ?? []
        } catch {
            return report("realms that were attached before are not served: \(error)")
        }
        for entry in entries {
            guard let path = folders.attach?.resolve(entry.path) else {
                report("\(entry.name): not served: its file is outside of the folders from which files may be attached")
                continue
            }
            do throws(Problem) {
                try restore(entry, path)
            } catch {
                report("\(entry.name): not served: \(error.detail)")
            }
        }
    }

    private func restore(_ entry: AttachedRealms.Entry, _ path: String) throws(Problem) {
        let name = entry.name.text
        var settings = try RealmSettings(entry.options)
        do throws(StorageError) { settings.key = try options.key(of: entry.name) } catch { throw Problem(opening: error) }
        var opening = settings.adding(to: options.openOptions)
        opening.isExactPath = true
        do throws(Catalog.Failure) {
            try catalog.restore(entry.name, path: path, opening, lacksKey: entry.hasKey && settings.key == nil)
        } catch {
            throw Problem(error)
        }
        var writer = JSONWriter(reservingCapacity: 256)
        writer.write(.object(entry.options))
        attachedOptions.withLock { $0[name] = writer.buffer.text }
    }

    /// Keeps a realm that was attached, so that it is served again after the next start. One that is not kept is
    /// logged, and served nevertheless.
    func keep(_ attachment: RealmAttachment) {
        guard let attachedRealms, let entry = attachment.entry else { return }
        do throws(StorageError) {
            try attachedRealms.add(entry)
        } catch {
            catalog.logger.error("a realm is not served after the next start: \(error)")
        }
    }

    /// Forgets a realm that was detached.
    func forget(_ name: String) {
        do throws(StorageError) {
            try attachedRealms?.remove(name)
        } catch {
            catalog.logger.error("a detached realm is served again after the next start: \(error)")
        }
    }
}
