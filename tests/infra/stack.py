"""The expanded template as a stack with these parameters would be: conditions decided, references followed.

A reference to a resource becomes `<Name>`, an attribute of it `<Name.Attribute>`, AWS's own values stand-ins.
"""

import re
from fnmatch import fnmatchcase

from expand import expanded

NOTHING = object()
OF_AWS = {
    "AWS::Region": "eu-central-1",
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "onepost",
    "AWS::NoValue": NOTHING,
}
TEMPLATE = expanded()


class Stack:
    def __init__(self, **parameters):
        defaults = {name: parameter.get("Default") for name, parameter in TEMPLATE["Parameters"].items()}
        assert parameters.keys() <= defaults.keys(), parameters
        self.parameters = defaults | parameters
        self.resources = {
            name: {part: self.value(inner) for part, inner in resource.items()}
            for name, resource in TEMPLATE["Resources"].items()
            if self.holds(resource.get("Condition"))
        }
        self.outputs = {
            name: self.value(output["Value"])
            for name, output in TEMPLATE["Outputs"].items()
            if self.holds(output.get("Condition"))
        }

    def of(self, kind):
        """Name and properties of all resources of a type."""
        return {name: each.get("Properties", {}) for name, each in self.resources.items() if each["Type"] == kind}

    def holds(self, name):
        return name is None or self.value(TEMPLATE["Conditions"][name])

    def value(self, value):
        if isinstance(value, list):
            return [each for each in map(self.value, value) if each is not NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (function, of), = value.items()
            if function == "Ref":
                return self.parameters.get(of, OF_AWS.get(of, f"<{of}>"))
            if function == "Condition" and isinstance(of, str) and of in TEMPLATE["Conditions"]:
                return self.holds(of)
            if function.startswith("Fn::"):
                return getattr(self, function.removeprefix("Fn::").lower() + "_")(of)
        values = {name: self.value(inner) for name, inner in value.items()}
        return {name: inner for name, inner in values.items() if inner is not NOTHING}

    def if_(self, of):
        return self.value(of[1] if self.holds(of[0]) else of[2])

    def equals_(self, of):
        one, other = map(self.value, of)
        return str(one) == str(other)

    def and_(self, of):
        return all(self.value(each) for each in of)

    def not_(self, of):
        return not self.value(of[0])

    def getatt_(self, of):
        return f"<{'.'.join(of)}>"

    def findinmap_(self, of):
        name, first, second = map(self.value, of)
        return TEMPLATE["Mappings"][name][first][second]

    def sub_(self, of):
        text, names = of if isinstance(of, list) else (of, {})

        def replaced(found):
            name = found[1]
            if name in names:
                return str(self.value(names[name]))
            return str(self.getatt_(name.split(".")) if "." in name else self.value({"Ref": name}))

        return re.sub(r"\$\{([\w.:]+)\}", replaced, text)


def allowed(stack, role, action, resource, leading_keys=()):
    """Whether IAM lets a role do this: as AWS documents it, as far as the policies here use it.

    `ForAllValues` holds where a request has no such values at all, and `Null` asks whether it has.
    """
    for arn in stack.of("AWS::IAM::Role")[role]["ManagedPolicyArns"]:
        policy = stack.of("AWS::IAM::ManagedPolicy")[arn.strip("<>")]
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow", "there is nothing to take away from what was never given"
            if (
                any(fnmatchcase(action, each) for each in listed(statement["Action"]))
                and any(fnmatchcase(resource, each) for each in listed(statement["Resource"]))
                and all(holds(*each, leading_keys) for each in statement.get("Condition", {}).items())
            ):
                return True
    return False


def holds(operator, wanted, leading_keys):
    assert wanted.keys() == {"dynamodb:LeadingKeys"}, wanted
    (patterns,) = wanted.values()
    if operator == "ForAllValues:StringLike":
        return all(any(fnmatchcase(key, pattern) for pattern in patterns) for key in leading_keys)
    assert (operator, patterns) == ("Null", "false"), (operator, patterns)
    return bool(leading_keys)


def listed(one_or_more):
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]
