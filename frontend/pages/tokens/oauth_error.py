"""Error responses of OAuth (RFC 6749, section 5.2), for programs."""

from http import HTTPStatus

from django.http import JsonResponse


def oauth_error(
    code: str, description: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST
) -> JsonResponse:
    return JsonResponse({"error": code, "error_description": description}, status=status)
