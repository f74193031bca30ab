import pytest

from flamewatch.transport.proxies import Proxy, proxy_for

PROXY = {"https_proxy": "http://proxy.example.org:3128"}


def find(
    environ: dict[str, str], host: str = "profiles.example.com", port: int = 443
) -> Proxy | None:
    return proxy_for("https", host, port, environ)


def test_without_a_variable_there_is_no_proxy() -> None:
    assert find({}) is None
    assert find({"http_proxy": "http://proxy:1"}) is None


def test_proxy_of_the_scheme_is_read_from_variables_of_either_case() -> None:
    expected = Proxy("proxy.example.org", 3128, {})
    assert find(PROXY) == expected
    assert find({"HTTPS_PROXY": "proxy.example.org:3128"}) == expected
    assert find({"ALL_PROXY": "http://proxy.example.org:3128/"}) == expected


def test_password_of_a_proxy_becomes_a_header_and_is_not_shown() -> None:
    found = find({"HTTPS_PROXY": "http://user:p%40ss@proxy:8080"})
    assert found == Proxy("proxy", 8080, {"Proxy-Authorization": "Basic dXNlcjpwQHNz"})
    assert "dXNl" not in repr(found)


@pytest.mark.parametrize(
    "no_proxy",
    ["*", "example.com", ".example.com", "other.org, profiles.example.com", "example.com:443"],
)
def test_excluded_hosts_are_reached_directly(no_proxy: str) -> None:
    assert find(PROXY | {"NO_PROXY": no_proxy}) is None


@pytest.mark.parametrize("no_proxy", ["", "ample.com", "example.com:80", "profiles", ",", "."])
def test_host_that_no_proxy_does_not_match_uses_the_proxy(no_proxy: str) -> None:
    assert find(PROXY | {"no_proxy": no_proxy}) is not None


def test_an_ipv6_address_can_be_excluded() -> None:
    assert find(PROXY | {"no_proxy": "localhost,[::1]"}, "::1") is None


@pytest.mark.parametrize(
    "text", ["socks5://proxy:1080", "http://", "http://proxy:nan", "https://p:1"]
)
def test_unusable_proxy_address_is_ignored(text: str) -> None:
    assert find({"HTTPS_PROXY": text}) is None


def test_http_proxy_of_a_cgi_request_is_ignored() -> None:
    environ = {"HTTP_PROXY": "http://evil:1", "REQUEST_METHOD": "GET"}
    assert proxy_for("http", "profiles.example.com", 80, environ) is None
