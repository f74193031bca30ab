"""`/p/<project>/saved`: views that members saved."""

import pytest
from django.test import Client

from projects import saved_views
from projects.models import Member, Project, Role, SavedView, User
from tests.frontend.html import render_html

SAVED, VIEWS = "/p/acme-shop/saved", "/p/acme-shop/saved/views"
ADDRESS = "/p/acme-shop/flame?service=checkout&type=CPU&span=6h&f=hide:gc"


@pytest.fixture
def view(project: Project, alice: User) -> SavedView:
    return saved_views.create(project, "Checkout <6 h>", ADDRESS, actor=alice)


@pytest.fixture
def vera(project: Project) -> User:
    user = User.objects.create_user("vera@example.org", "a sentence works well")
    Member.objects.create(project=project, user=user, role=Role.VIEWER)
    return user


def test_a_page_is_saved_and_opened_with_its_parameters(
    client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    response = client.post(VIEWS, {"name": "Checkout", "address": ADDRESS})
    assert response.headers["Location"] == ADDRESS
    view = SavedView.objects.get()
    assert client.get(f"{VIEWS}/{view.pk}").headers["Location"] == ADDRESS
    assert f'href="{ADDRESS.replace("&", "&amp;")}">Checkout</a>' in render_html(client.get(SAVED))


def test_without_a_page_to_return_to_the_error_is_on_the_list(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.post(VIEWS, {"name": "x", "address": "/p/acme-shop/settings"})
    assert response.status_code == 400
    assert "This page cannot be saved as a view." in render_html(response)


def test_htmx_request_gets_a_message_only(client: Client, alice: User, view: SavedView) -> None:
    client.force_login(alice)
    for name, sentence in (("other", "View “other” saved"), (view.name, "already exists")):
        response = client.post(
            VIEWS, {"name": name, "address": ADDRESS}, headers={"HX-Request": "true"}
        )
        assert sentence in render_html(response)
        assert "<html" not in render_html(response)


def test_names_are_escaped(client: Client, alice: User, view: SavedView) -> None:
    client.force_login(alice)
    assert "Checkout &lt;6 h&gt;" in render_html(client.get(SAVED))


def test_creator_renames_and_deletes_a_view(client: Client, bob: User, project: Project) -> None:
    view = saved_views.create(project, "mine", ADDRESS, actor=bob)
    client.force_login(bob)
    client.post(f"{VIEWS}/{view.pk}/rename", {"name": "ours"})
    assert SavedView.objects.get().name == "ours"
    client.post(f"{VIEWS}/{view.pk}/delete")
    assert not SavedView.objects.exists()


def test_view_of_another_member_is_changed_by_owners_only(
    client: Client, bob: User, alice: User, view: SavedView
) -> None:
    client.force_login(bob)
    assert "Rename view" not in render_html(client.get(SAVED))
    assert client.post(f"{VIEWS}/{view.pk}/delete").status_code == 403
    mine = saved_views.create(view.project, "bob's", ADDRESS, actor=bob)
    client.force_login(alice)
    assert client.post(f"{VIEWS}/{mine.pk}/delete").status_code == 302


def test_viewer_opens_views_and_saves_none(client: Client, vera: User, view: SavedView) -> None:
    client.force_login(vera)
    assert client.get(f"{VIEWS}/{view.pk}").status_code == 302
    assert 'id="save"' not in render_html(client.get("/p/acme-shop/services"))
    assert client.post(VIEWS, {"name": "x", "address": ADDRESS}).status_code == 403
    assert SavedView.objects.count() == 1


def test_view_of_another_project_is_404(
    client: Client, charlie: User, other_project: Project, view: SavedView
) -> None:
    client.force_login(charlie)
    for path in ("", "/rename", "/delete"):
        address = f"/p/{other_project.project_id}/saved/views/{view.pk}{path}"
        ask = client.post if path else client.get
        assert ask(address, {"name": "x"}).status_code == 404
    assert SavedView.objects.get() == view
    assert "Checkout" not in render_html(client.get(f"/p/{other_project.project_id}/saved"))


def test_view_number_beyond_the_database_is_404(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert client.get(f"{VIEWS}/{'9' * 30}").status_code == 404
