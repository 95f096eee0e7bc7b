// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated Swift client.
import Foundation
import OpenAPIClient

typealias Category = OpenAPIClient.Category

func done(_ name: String) {
    print("ok", name)
    fflush(nil)
}

struct Failed: Error { let what: String }

func check(_ value: Bool, _ what: String) throws { if !value { throw Failed(what: what) } }

func status(_ work: @Sendable () async throws -> Void) async -> Int {
    do {
        try await work()
        return 200
    } catch ErrorResponse.error(let status, _, _, _) {
        return status
    } catch { return -1 }
}

@main struct Scenario {
    static func main() async throws {
        OpenAPIClientAPIConfiguration.shared.basePath = CommandLine.arguments[1]

        let first = try await CategoryAPI.listCategory(limit: 5)
        try check(first.items?.count == 5 && first.items?[0].name != nil, "list")
        done("list")

        var seen: [Int64] = []
        var after: String?
        repeat {
            let page = try await CategoryAPI.listCategory(limit: 7, after: after)
            seen += (page.items ?? []).compactMap(\.id)
            after = page.next
        } while after != nil
        try check(seen.count > 7 && Set(seen).count == seen.count, "page")
        done("page")

        let found = try await CategoryAPI.listCategory(_where: "id > $0", args: "[3]", sort: "-id", count: .exact)
        try check(found.items?.first?.id == seen.max() && found.count == Int64(seen.filter { $0 > 3 }.count), "filter")
        done("filter")

        let order = try await OrderAPI.listOrder(limit: 1, expand: "customer").items?.first
        try check(
            order?.customer?.firstName != nil && order?.items?.first?.product?.link?.key != nil && order?.shipTo?.city != nil,
            "expand")
        done("expand")

        let parent = Link(link: LinkTarget(_class: "Category", key: "1"))
        let made = try await CategoryAPI.createCategory(categoryCreate: CategoryCreate(id: 9001, name: "Made", parent: parent))
        try check(made.id == 9001 && made.parent?.link?.key == "1", "create")
        done("create")

        let changed = try await CategoryAPI.updateCategory(
            key: "9001", categoryPatch: CategoryPatch(name: "Changed"), ifMatch: made.meta?.etag)
        try check(changed?.name == "Changed", "patch")
        done("patch")

        let tag = made.meta?.etag
        let stale = await status {
            _ = try await CategoryAPI.updateCategory(key: "9001", categoryPatch: CategoryPatch(name: "Lost"), ifMatch: tag)
        }
        try check(stale == 412, "conflict")
        done("conflict")

        try await CategoryAPI.deleteCategory(key: "9001")
        let missing = await status { _ = try await CategoryAPI.getCategory(key: "9001") }
        try check(missing == 404, "delete")
        done("delete")

        let create = BatchCreate(_class: "Category", body: ["id": .int(9002), "name": .string("Batch")])
        let delete = BatchDelete(_class: "Category", key: .string("9002"))
        let result = try await ObjectsAPI.batch(
            batch: Batch(ops: [BatchOperation(create: create), BatchOperation(delete: delete)]))
        try check(result.committed && result.results[0].key == "9002", "batch")
        let typed = try await CategoryAPI.batchCategory(
            categoryBatch: CategoryBatch(ops: [
                CategoryBatchOperation(create: CategoryBatchCreate(body: CategoryCreate(id: 9006, name: "Typed"))),
                CategoryBatchOperation(
                    patch: CategoryBatchPatch(key: .string("9006"), body: CategoryPatch(name: "Patched"))),
            ]), prefer: "return=representation")
        try check(typed.results[1].object?.name == "Patched", "batch of a class")
        _ = try await CategoryAPI.batchCategory(
            categoryBatch: CategoryBatch(ops: [CategoryBatchOperation(delete: ClassBatchDelete(key: .string("9006")))]))
        done("batch")

        let transaction = try await TransactionsAPI.beginTransaction(transactionOptions: TransactionOptions(idle: "5s"))
        _ = try await CategoryAPI.createCategory(
            categoryCreate: CategoryCreate(id: 9003, name: "Inside"), realmTransaction: transaction.id)
        _ = try await TransactionsAPI.commitTransaction(id: transaction.id)
        let inside = try await CategoryAPI.getCategory(key: "9003")
        try check(inside.name == "Inside", "transaction")
        done("transaction")

        let since = try await CategoryAPI.pollCategory(since: "now").next
        async let poll = CategoryAPI.pollCategory(since: since, wait: 20)
        _ = try await CategoryAPI.updateCategory(key: "9003", categoryPatch: CategoryPatch(name: "Seen"))
        let changes = try await poll
        try check(changes.changes.first?.modifications?.first?.object?.name == "Seen", "poll")
        done("poll")

        let file = try await TransferAPI.exportRealm(_class: "Category")
        let lines = try String(contentsOf: file, encoding: .utf8)
        try check(lines.split(separator: "\n").count > seen.count, "export")
        done("export")

        let imported = try await TransferAPI.importObjects(
            requestBody: [["id": .int(9003), "name": .string("Imported")]], mode: .upsert, _class: "Category")
        let written = try await CategoryAPI.getCategory(key: "9003")
        try check(imported.updated == 1 && written.name == "Imported", "import")
        done("import")
        try await CategoryAPI.deleteCategory(key: "9003")
    }
}
