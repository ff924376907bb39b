"""Turns infra/template.yaml into the CloudFormation that AWS makes of it, without AWS.

By SAM's own translator. Parameters and conditions stay as they are: `Stack` resolves them.
cfn-lint and checkov see only the result: in a SAM template they pass values that do not exist.
"""

import copy
import json
import os
import sys
from pathlib import Path

TEMPLATE = Path(__file__).resolve().parents[2] / "infra" / "template.yaml"


def expanded(path=TEMPLATE):
    """The CloudFormation template."""
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")
    import boto3
    from samcli.yamlhelper import yaml_parse
    from samtranslator.model.exceptions import InvalidDocumentException
    from samtranslator.parser.parser import Parser
    from samtranslator.translator.translator import Translator

    template = yaml_parse(Path(path).read_text())
    # The translator wants code that is uploaded already, and puts the values of parameters in place of them if told any.
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    parameters = copy.deepcopy(template["Parameters"])
    try:
        session = boto3.Session(region_name=os.environ["AWS_DEFAULT_REGION"])
        out = Translator({}, Parser(), boto_session=session).translate(template, {})
    except InvalidDocumentException as error:
        sys.exit("\n".join(cause.message for cause in error.causes))
    return json.loads(json.dumps(out | {"Parameters": parameters}, default=str))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(expanded(), indent=1))
