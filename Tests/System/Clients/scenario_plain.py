# SPDX-License-Identifier: Apache-2.0
"""What an app does, with the client that openapi-python-client makes of the full description."""

import sys

from plain import AuthenticatedClient, Client
from plain import models as store
from plain.api.category import create_category, delete_category, get_category, list_category, update_category
from plain.api.order import list_order
from plain.api.schema import get_class, get_schema


def done(name):
    print("ok", name, flush=True)


client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)

page = list_category.sync(client=client, limit=5)
assert len(page.items) == 5 and page.items[0].name
done("list")

page = list_category.sync(client=client, where="id > $0", args="[3]", sort="-id", limit=2)
assert page.items[0].id > page.items[1].id > 3
done("filter")

classes = {one.name: one for one in get_schema.sync(client=client).classes}
assert {"list", None} <= {one.collection for one in classes["Order"].properties}
assert get_class.sync("Order", client=client).name == "Order"
done("schema")

order = list_order.sync(client=client, limit=1, expand="customer").items[0]
assert order.items[0].product and order.ship_to.city
assert any(one.customer is None for one in list_order.sync(client=client, where="customer == null", limit=3).items)
done("links")

made = create_category.sync(client=client, body=store.CategoryCreate(id=9001, name="Made"))
assert made.id == 9001 and made.parent is None
done("create")

changed = update_category.sync("9001", client=client, body=store.CategoryPatch(name="Changed"), if_match=made.meta.etag)
assert changed.name == "Changed"
changed = update_category.sync("9001", client=client, body=store.CategoryPatch(parent=store.Link.from_dict({"$link": {"class": "Category", "key": "1"}})))
assert changed.parent.link.key == "1"
cleared = update_category.sync("9001", client=client, body=store.CategoryPatch(parent=None))
assert cleared.parent is None
done("patch")

stale = update_category.sync("9001", client=client, body=store.CategoryPatch(name="Lost"), if_match=made.meta.etag)
assert isinstance(stale, store.Problem) and stale.status == 412
done("conflict")

delete_category.sync_detailed("9001", client=client)
gone = get_category.sync("9001", client=client)
assert isinstance(gone, store.Problem) and gone.status == 404
done("delete")

# A server without keys refuses one that is sent.
refused = list_category.sync(client=AuthenticatedClient(base_url=sys.argv[1], token="rr_none"), limit=1)
assert isinstance(refused, store.Problem) and refused.status == 401
done("key")
