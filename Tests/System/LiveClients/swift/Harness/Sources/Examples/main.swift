// The examples of clients/swift/README.md, which are copied from here.

import Foundation
import Observation
import RealmRest

struct Category: RealmClass, Equatable {
    var id: Int
    var name: String
    var parent: Link?
    var sortOrder: Int?
}

struct Product: RealmClass, Equatable {
    var sku: String
    var name: String
    var price: Decimal128
    var stock: Int64
    var rating: Float?
    var tags: [String]
    var category: Link?
    var createdAt: Timestamp
    var extra: Mixed
}

@MainActor
func begin(_ url: String) async throws {
    let server = connect(url)  // key: .key("rr_…"), or .renewing { … }
    let realm = server.realm("store")
    let dear = try await realm.objects(Product.self).where("price > $0", Decimal128("150")).sort("-price").limit(10).live()
    print(dear.count, dear[0].name)  // of the newest version; observable by views

    let changes = dear.changes()  // an AsyncSequence of change sets
    try await realm.update(dear[3]) { $0.price = "999.00" }
    for try await change in changes {
        print(change.deletions, change.insertions, change.modifications.map(\.index), change.rows.values.map(\.name))
        break
    }
    await server.close()
}

func shop(_ realm: Realm) async throws {
    let products = realm.objects(Product.self).where("stock > $0", 10).where("category.name == $0", "Lamps")
    let page = try await products.sort("name").page(20, count: true)  // page.items, page.next, page.count
    print(page.items.count, try await products.count(), try await products.aggregate("max:price", "avg:rating"))

    let product = try await realm.object(Product.self, key: "AA-10000").get()
    try await realm.update(product, ifMatch: true) { $0.stock -= 1 }  // a Problem with status 412 if it has changed
    let lamps = try await realm.create(Category(id: 900, name: "Lamps", sortOrder: 9))
    try await realm.batch { batch in  // all or nothing
        try batch.check(product, "stock >= $0", 2)
        try batch.increment(product, "stock", by: -2)
        try batch.patch(product, ["category": lamps.link])
    }
    try await realm.transaction { transaction in  // an error rolls back
        let seen = try await transaction.objects(Category.self).count()
        try await transaction.update(lamps) { $0.sortOrder = seen }
    }
    let all = try await realm.snapshot { version in try await version.objects(Product.self).all() }
    print(all.count)
    let lines = try await realm.export("Category")
    try await realm.importLines(lines, upsert: true)
    try await realm.delete(lamps.link)
}

@MainActor
func follow(_ realm: Realm) async throws {
    let reference = realm.object(Product.self, key: "AA-10000")
    let product = try await reference.live()  // product.contents, nil when it is deleted
    let tags = try await reference.liveList("tags", of: String.self)  // lists, sets, "@links.Class.property"
    let attributes = try await reference.liveDictionary("attributes", of: Mixed.self)
    let cheap = try await realm.objects(Product.self).where("price < 20").sort("price").live()
    do {
        try await cheap.update(cheap[0]) { $0.sku = "other" }  // shown at once, taken back when it is refused
    } catch let problem as Problem {
        print(problem)
    }
    print(product.contents?.name ?? "", tags.contents, attributes.contents, cheap[0].sku)
    let written = try await cheap.update(cheap[0]) { $0.stock = 0 }
    try await cheap.reach(written.version)  // the list includes the write now
}

let url = CommandLine.arguments[1]
try await begin(url)
let server = connect(url)
try await shop(server.realm("store"))
try await follow(server.realm("store"))
await server.close()
