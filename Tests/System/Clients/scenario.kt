// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated Kotlin client.
import kotlin.concurrent.thread
import org.openapitools.client.apis.CategoryApi
import org.openapitools.client.apis.ObjectsApi
import org.openapitools.client.apis.OrderApi
import org.openapitools.client.apis.TransactionsApi
import org.openapitools.client.apis.TransferApi
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.*

fun done(name: String) = println("ok $name")

fun status(work: () -> Unit): Int = try {
    work()
    200
} catch (error: ClientException) {
    error.statusCode
}

fun main(arguments: Array<String>) {
    val url = arguments[0]
    val categories = CategoryApi(url)
    val transactions = TransactionsApi(url)
    val transfer = TransferApi(url)

    val first = categories.listCategory(limit = 5)
    check(first.items?.size == 5 && first.items?.first()?.name != null) { "list" }
    done("list")

    val seen = mutableListOf<Long>()
    var after: String? = null
    do {
        val page = categories.listCategory(limit = 7, after = after)
        page.items?.forEach { one -> one.id?.let { seen.add(it) } }
        after = page.next
    } while (after != null)
    check(seen.size > 7 && seen.toSet().size == seen.size) { "page" }
    done("page")

    val found = categories.listCategory(
        where = "id > \$0", args = "[3]", sort = "-id", count = CategoryApi.CountListCategory.exact)
    check(found.items?.first()?.id == seen.max() && found.count == seen.count { it > 3 }.toLong()) { "filter" }
    done("filter")

    val order = OrderApi(url).listOrder(limit = 1, expand = "customer").items?.first()
    // A class of an open object is a map to Gson, which leaves its properties null.
    val product = order?.items?.first()?.product?.get("\$link") as? Map<*, *>
    check(order?.customer?.firstName != null && product?.get("key") != null && order.shipTo?.city != null) { "expand" }
    done("expand")

    val parent = Link(LinkTarget("Category", "1"))
    val made = categories.createCategory(CategoryCreate(id = 9001, name = "Made", parent = parent))
    check(made.id == 9001L && made.parent?.dollarLink?.key == "1") { "create" }
    done("create")

    val tag = made.dollarMeta?.etag
    val changed = categories.updateCategory("9001", CategoryPatch(name = "Changed"), ifMatch = tag)
    check(changed.name == "Changed") { "patch" }
    done("patch")

    check(status { categories.updateCategory("9001", CategoryPatch(name = "Lost"), ifMatch = tag) } == 412) { "conflict" }
    done("conflict")

    categories.deleteCategory("9001")
    check(status { categories.getCategory("9001") } == 404) { "delete" }
    done("delete")

    val operations = listOf(
        BatchOperation(create = BatchCreate("Category", mapOf("id" to 9002, "name" to "Batch"))),
        BatchOperation(delete = BatchDelete("Category", "9002")))
    val result = ObjectsApi(url).batch(Batch(operations))
    check(result.committed && result.results[0].key == "9002") { "batch" }
    val typed = categories.batchCategory(CategoryBatch(listOf(
        CategoryBatchOperation(create = CategoryBatchCreate(CategoryCreate(id = 9006, name = "Typed"))),
        CategoryBatchOperation(patch = CategoryBatchPatch("9006", CategoryPatch(name = "Patched"))))), prefer = "return=representation")
    check(typed.results[1].`object`?.name == "Patched") { "batch of a class" }
    categories.batchCategory(CategoryBatch(listOf(CategoryBatchOperation(delete = ClassBatchDelete("9006")))))
    done("batch")

    val transaction = transactions.beginTransaction(transactionOptions = TransactionOptions(idle = "5s"))
    categories.createCategory(CategoryCreate(id = 9003, name = "Inside"), realmTransaction = transaction.id)
    transactions.commitTransaction(transaction.id)
    check(categories.getCategory("9003").name == "Inside") { "transaction" }
    done("transaction")

    val since = categories.pollCategory(since = "now").next
    val write = thread {
        Thread.sleep(300)
        categories.updateCategory("9003", CategoryPatch(name = "Seen"))
    }
    val changes = categories.pollCategory(since = since, wait = 20)
    write.join()
    check(changes.changes[0].modifications?.first()?.`object`?.name == "Seen") { "poll" }
    done("poll")

    val file = transfer.exportRealm(propertyClass = "Category")
    check(file.readLines().size > seen.size) { "export" }
    done("export")

    val imported = transfer.importObjects(
        listOf(mapOf("id" to 9003, "name" to "Imported")), mode = TransferApi.ModeImportObjects.upsert, propertyClass = "Category")
    check(imported.updated == 1L && categories.getCategory("9003").name == "Imported") { "import" }
    categories.deleteCategory("9003")
    done("import")
}
