"""`/projects/new`, which creates a project from a name."""

from django.test import Client

from projects.models import Member, Project, Role, User


def test_strangers_sign_in_first(client: Client, db: None) -> None:
    response = client.post("/projects/new", {"name": "Acme Shop"})
    assert response.headers["Location"].startswith("/account/login/")
    assert not Project.objects.exists()


def test_whoever_makes_it_owns_it_and_goes_on_to_its_setup(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    response = client.post("/projects/new", {"name": "Acme Shop"})
    assert response.headers["Location"] == "/p/acme-shop/setup"
    assert Member.objects.get(user=charlie).role == Role.OWNER


def test_a_name_that_is_taken_gets_an_id_of_its_own(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    client.post("/projects/new", {"name": "Acme Shop"})
    mine = Project.objects.get(members__user=charlie)
    assert mine.project_id.startswith("acme-shop-")
    assert mine.project_id != project.project_id


def test_an_empty_name_is_told(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    page = client.post("/projects/new", {"name": " "}).content.decode()
    assert 'aria-invalid="true"' in page
    assert not Project.objects.exists()


def test_the_id_is_shown_as_the_name_is_typed(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    shown = client.get("/projects/new/id", {"name": "Señor <b>Shop"}).content.decode()
    assert "<code>se-or-b-shop</code>" in shown


def test_the_id_shown_does_not_tell_what_others_have(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    taken = client.get("/projects/new/id", {"name": "Acme Shop"}).content.decode()
    free = client.get("/projects/new/id", {"name": "Acme Shoq"}).content.decode()
    assert taken == free.replace("acme-shoq", "acme-shop")
