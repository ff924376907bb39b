"""A door in front of DynamoDB that holds every request against the role that the template gives the function.

The emulators ask for no rights. This is where it shows that the role has those that the function needs.
"""

import json
import re
from urllib.parse import urlsplit

from function import passed_on, served
from stack import Stack, allowed

STACK = Stack()
TABLE = "arn:aws:dynamodb:eu-central-1:123456789012:table/<ChecklistsTable>"


class TableDoor:
    def __init__(self, target, role):
        self.address, self.role = urlsplit(target).netloc, role
        self.used, self.refused = set(), []

    def open(self):
        return served(self.answer)

    def answer(self, method, path, headers, body):
        operation = {name.lower(): value for name, value in headers.items()}["x-amz-target"].split(".")[1]
        for action, index, partitions in asked(operation, json.loads(body)):
            resource = f"{TABLE}/index/{index}" if index else TABLE
            self.used |= {(f"dynamodb:{action}", bool(index), kind(partition)) for partition in partitions}
            if not allowed(STACK, self.role, f"dynamodb:{action}", resource, partitions):
                self.refused.append((action, index, partitions))
        return passed_on(self.address, method, path, headers, body)


def kind(partition):
    """Of what it is, as the policies write it: K#*, L#*, org-*."""
    return re.match(r"K#|L#|org-|", partition)[0] + "*"


def asked(operation, request):
    """What IAM is asked for: action, index and partitions of each part of a request."""
    pk = lambda item: item["pk"]["S"]
    if operation == "TransactWriteItems":
        for part in request["TransactItems"]:
            (kind, one), = part.items()
            action = "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item"
            yield action, None, [pk(one.get("Key") or one["Item"])]
    elif operation == "BatchWriteItem":
        (writes,) = request["RequestItems"].values()
        yield operation, None, [pk(write["DeleteRequest"]["Key"]) for write in writes]
    elif operation == "Query":
        _, value = re.match(r"(#\w+) = (:\w+)", request["KeyConditionExpression"]).groups()
        yield operation, request.get("IndexName"), [request["ExpressionAttributeValues"][value]["S"]]
    else:
        yield operation, None, [pk(request.get("Key") or request["Item"])]
