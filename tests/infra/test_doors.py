"""How a call comes in, and that each that waits behind waits a little less."""

import tomllib
from pathlib import Path

import pytest
from stack import Stack

ROOT = Path(__file__).parents[2]
HTTP_API_MOST = 30_000  # Milliseconds. SAM and cfn-lint take 60000 without a word.
CLOUDFRONT_MOST = 120  # Seconds that can be set; more than 60 may need a higher quota.
STACK = Stack()
WITH_URLS = Stack(FunctionUrls="true")
WITH_DOMAIN = Stack(DomainName="mcp.example.com", CertificateArn="arn:aws:acm:us-east-1:123456789012:certificate/x")


def timeout(stack, arn):
    return stack.of("AWS::Lambda::Function")[arn.strip("<>").removesuffix(".Arn")]["Timeout"]


def test_no_route_promises_more_time_than_its_door_has():
    routes = STACK.of("AWS::ApiGatewayV2::Route")
    integrations = STACK.of("AWS::ApiGatewayV2::Integration")
    assert routes
    for name, route in routes.items():
        integration = integrations[route["Target"].removeprefix("integrations/").strip("<>")]
        assert integration["TimeoutInMillis"] <= HTTP_API_MOST, name
        # The function ends the call, while the door still waits for what it says.
        assert timeout(STACK, integration["IntegrationUri"]) * 1000 + 1000 < integration["TimeoutInMillis"], name


def test_cloudfront_waits_as_long_as_what_is_behind_it():
    (distribution,) = WITH_DOMAIN.of("AWS::CloudFront::Distribution").values()
    for origin in distribution["DistributionConfig"]["Origins"]:
        waits = origin["CustomOriginConfig"]["OriginReadTimeout"]
        assert HTTP_API_MOST / 1000 <= waits <= CLOUDFRONT_MOST


def test_every_function_has_a_door_and_every_door_sends_payload_2():
    integrations = STACK.of("AWS::ApiGatewayV2::Integration").values()
    reached = {each["IntegrationUri"].strip("<>").removesuffix(".Arn") for each in integrations}
    assert reached == STACK.of("AWS::Lambda::Function").keys()
    assert all(each["PayloadFormatVersion"] == "2.0" and each["IntegrationType"] == "AWS_PROXY" for each in integrations)


def test_http_apis_throttle():
    stages = STACK.of("AWS::ApiGatewayV2::Stage")
    assert {each["ApiId"].strip("<>") for each in stages.values()} == STACK.of("AWS::ApiGatewayV2::Api").keys()
    for stage in stages.values():
        assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 15, "ThrottlingBurstLimit": 100}
    # CORS is the function's matter: the gateway would answer preflights before it is asked.
    assert all("CorsConfiguration" not in each for each in STACK.of("AWS::ApiGatewayV2::Api").values())


def test_there_is_no_way_round_the_throttle_unless_it_is_asked_for():
    assert not STACK.of("AWS::Lambda::Url")
    assert {each["Principal"] for each in STACK.of("AWS::Lambda::Permission").values()} == {"apigateway.amazonaws.com"}
    assert all("execute-api" in each["SourceArn"] for each in STACK.of("AWS::Lambda::Permission").values())


def test_a_url_is_public_and_has_both_permissions_that_one_needs():
    (url,) = WITH_URLS.of("AWS::Lambda::Url").values()
    assert (url["AuthType"], url["InvokeMode"]) == ("NONE", "BUFFERED")
    public = [each for each in WITH_URLS.of("AWS::Lambda::Permission").values() if each["Principal"] == "*"]
    assert {each["Action"] for each in public} == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}
    # Neither lets anybody call the function by other ways.
    assert all(each.get("FunctionUrlAuthType") == "NONE" or each.get("InvokedViaFunctionUrl") for each in public)


def test_a_domain_is_a_distribution_that_changes_nothing_and_proves_itself():
    (distribution,) = WITH_DOMAIN.of("AWS::CloudFront::Distribution").values()
    config = distribution["DistributionConfig"]
    behaviour = config["DefaultCacheBehavior"]
    assert behaviour["ViewerProtocolPolicy"] == "https-only"
    assert behaviour["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    assert behaviour["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"
    assert "OPTIONS" in behaviour["AllowedMethods"] and "POST" in behaviour["AllowedMethods"]
    (header,) = config["Origins"][0]["OriginCustomHeaders"]
    assert header["HeaderName"] == "x-origin-secret"
    assert header["HeaderValue"] == "{{resolve:secretsmanager:<ChecklistsOriginSecret>:SecretString:::}}"
    rotating = Stack(DomainName="d", CertificateArn="c", OriginSecretVersion="v2")
    assert ":SecretString:::v2}}" in str(rotating.of("AWS::CloudFront::Distribution"))


def test_links_lead_to_where_the_product_is_served():
    site = lambda stack: stack.of("AWS::Lambda::Function")["ChecklistsMcp"]["Environment"]["Variables"]["SITE"]
    assert site(STACK) == "<ChecklistsApi.ApiEndpoint>"
    assert site(WITH_DOMAIN) == "https://mcp.example.com"
    assert site(Stack(DomainName="d", CertificateArn="c", ChecklistsSite="https://app.example.com")) == "https://app.example.com"


@pytest.mark.parametrize("template", ["infra/template.yaml"])
def test_sam_local_serves_every_route(template):
    """By the code that `sam local start-api` finds its routes with, which needs no container."""
    from samcli.lib.providers.api_provider import ApiProvider
    from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

    stacks, _ = SamLocalStackProvider.get_stacks(str(ROOT / template))
    served = {(each.function_name, each.path) for each in ApiProvider(stacks).api.routes}
    assert {name for name, _ in served} == STACK.of("AWS::Lambda::Function").keys()
    assert ("ChecklistsMcp", "$default") in served


def test_samconfig_speaks_of_the_template():
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())["default"]
    assert config["build"]["parameters"]["template_file"] == "infra/template.yaml"
    assert config["deploy"]["parameters"]["template_file"] == ".aws-sam/build/template.yaml"
    assert config["deploy"]["parameters"]["tags"] == "project=onepost"
