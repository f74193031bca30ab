"""`/projects/new`, which creates a project from a name."""

from django.test import Client

from projects.models import Member, Project, Role, User


def test_stranger_is_redirected_to_sign_in(client: Client, db: None) -> None:
    response = client.post("/projects/new", {"name": "Acme Shop"})
    assert response.headers["Location"].startswith("/account/login/")
    assert not Project.objects.exists()


def test_creator_becomes_owner_and_is_redirected_to_the_setup(
    client: Client, charlie: User
) -> None:
    client.force_login(charlie)
    response = client.post("/projects/new", {"name": "Acme Shop"})
    assert response.headers["Location"] == "/p/acme-shop/setup"
    assert Member.objects.get(user=charlie).role == Role.OWNER


def test_taken_name_gets_a_distinct_id(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    client.post("/projects/new", {"name": "Acme Shop"})
    mine = Project.objects.get(members__user=charlie)
    assert mine.project_id.startswith("acme-shop-")
    assert mine.project_id != project.project_id


def test_empty_name_is_an_error(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    page = client.post("/projects/new", {"name": " "}).content.decode()
    assert 'aria-invalid="true"' in page
    assert not Project.objects.exists()


def test_suggested_id_follows_the_name(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    shown = client.get("/projects/new/id", {"name": "Señor <b>Shop"}).content.decode()
    assert "<code>se-or-b-shop</code>" in shown


def test_suggested_id_does_not_reveal_taken_ids(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    taken = client.get("/projects/new/id", {"name": "Acme Shop"}).content.decode()
    free = client.get("/projects/new/id", {"name": "Acme Shoq"}).content.decode()
    assert taken == free.replace("acme-shoq", "acme-shop")
