# SPDX-License-Identifier: Apache-2.0
"""What an app does, with the generated Python client."""

import sys
import tempfile
import threading
import time

import store_client as store


def done(name):
    print("ok", name, flush=True)


client = store.ApiClient(store.Configuration(host=sys.argv[1]))
categories, orders = store.CategoryApi(client), store.OrderApi(client)
objects, transfer, transactions = store.ObjectsApi(client), store.TransferApi(client), store.TransactionsApi(client)

page = categories.list_category(limit=5)
assert len(page.items) == 5 and page.items[0].name
done("list")

seen, after = [], None
while True:
    page = categories.list_category(limit=7, after=after)
    seen += [one.id for one in page.items]
    after = page.next
    if not after:
        break
assert len(seen) == len(set(seen)) > 7
done("page")

page = categories.list_category(where="id > $0", args="[3]", sort="-id", count="exact")
assert page.items[0].id == max(seen) and page.count == len([one for one in seen if one > 3])
done("filter")

order = orders.list_order(limit=1, expand="customer").items[0]
assert order.customer.first_name and order.items[0].product.link.key and order.ship_to.city
done("expand")

made = categories.create_category(store.CategoryCreate(id=9001, name="Made", parent=store.Link(**{"$link": {"class": "Category", "key": "1"}})))
assert made.id == 9001 and made.parent.link.key == "1"
done("create")

changed = categories.update_category("9001", store.CategoryPatch(name="Changed"), if_match=made.meta.etag)
assert changed.name == "Changed"
done("patch")

try:
    categories.update_category("9001", store.CategoryPatch(name="Lost"), if_match=made.meta.etag)
    raise SystemExit("a stale tag was taken")
except store.ApiException as error:
    assert error.status == 412
done("conflict")

categories.delete_category("9001")
try:
    categories.get_category("9001")
    raise SystemExit("it is still there")
except store.ApiException as error:
    assert error.status == 404
done("delete")

result = objects.batch(store.Batch(ops=[
    store.BatchOperation(create=store.BatchCreate(**{"class": "Category", "body": {"id": 9002, "name": "Batch"}})),
    store.BatchOperation(delete=store.BatchDelete(**{"class": "Category", "key": "9002"})),
]))
assert result.committed and result.results[0].key == "9002"
typed = categories.batch_category(store.CategoryBatch(ops=[
    store.CategoryBatchOperation(create=store.CategoryBatchCreate(body=store.CategoryCreate(id=9006, name="Typed"))),
    store.CategoryBatchOperation(patch=store.CategoryBatchPatch(key="9006", body=store.CategoryPatch(name="Patched"))),
]), prefer="return=representation")
assert typed.results[1].object.name == "Patched"
categories.batch_category(store.CategoryBatch(ops=[store.CategoryBatchOperation(delete=store.ClassBatchDelete(key="9006"))]))
done("batch")

transaction = transactions.begin_transaction(transaction_options=store.TransactionOptions(idle="5s"))
categories.create_category(store.CategoryCreate(id=9003, name="Inside"), realm_transaction=transaction.id)
assert transactions.commit_transaction(transaction.id).version
assert categories.get_category("9003").name == "Inside"
done("transaction")

start = categories.poll_category(since="now").next
threading.Thread(target=lambda: (time.sleep(0.3), categories.update_category("9003", store.CategoryPatch(name="Seen")))).start()
changes = categories.poll_category(since=start, wait=20)
assert changes.changes[0].modifications[0].object.name == "Seen"
done("poll")

lines = transfer.export_realm(var_class="Category")
assert lines.count(b"\n") > len(seen)
done("export")

imported = transfer.import_objects([{"id": 9003, "name": "Imported"}], mode="upsert", var_class="Category")
assert imported.updated == 1 and categories.get_category("9003").name == "Imported"
categories.delete_category("9003")
done("import")
